"""The pictures of the landing page and of *Getting started*.

    python docs/pictures.py

The first is drawn from docs/benchmarks/curves.csv, which `python bench/curves.py` has measured, the
second from a fit of the example on the page. Both are written to docs/_static, once for light and
once for dark pages.
"""

import csv
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from stagenets import RVFLClassifier, StagewiseDisplay

DOCS = Path(__file__).resolve().parent
DATASET = "friedman1"
INK = {"light": "#2f3437", "dark": "#d6d9dc"}
LINES = {"guided": "#0f8b8d", "one-shot": "#e07a3f"}


def measured() -> dict[str, list[tuple[float, float, float]]]:
    """(units, seconds, R²) of both kinds of network, by the number of units."""
    points: dict[str, list[tuple[float, float, float]]] = {name: [] for name in LINES}
    with (DOCS / "benchmarks" / "curves.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["dataset"] == DATASET and row["method"] in LINES:
                point = (float(row["units"]), float(row["fit (s)"]), float(row["score"]))
                points[row["method"]].append(point)
    return {name: sorted(of_one) for name, of_one in points.items()}


def landing() -> None:
    points = measured()
    figure, (by_units, by_time) = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True)
    for name, color in LINES.items():
        units, seconds, scores = zip(*points[name], strict=True)
        style = {"color": color, "lw": 2.5, "label": name}
        if name == "one-shot":
            style |= {"marker": "o", "ms": 5}
        by_units.plot(units, scores, **style)
        by_time.plot(seconds, scores, **style)
    for axes, label in ((by_units, "hidden units"), (by_time, "fit time in seconds")):
        axes.set(xscale="log", xlabel=label, ylim=(0.8, 0.97))
        axes.xaxis.set_major_formatter("{x:g}")
    by_units.set(ylabel="R² on test data", xlim=(4, 2000), xticks=(5, 10, 25, 100, 400, 1600))
    by_time.set(xlim=(0.01, 1), xticks=(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1))
    for axes in (by_units, by_time):
        axes.minorticks_off()
    (guided, one_shot) = (points[name] for name in LINES)
    by_units.annotate(
        "guided", _at(guided, 25), (6, -14), textcoords="offset points", color=LINES["guided"]
    )
    by_units.annotate(
        "one-shot",
        _at(one_shot, 100),
        (10, -8),
        textcoords="offset points",
        color=LINES["one-shot"],
    )
    figure.tight_layout()
    save(figure, "landing")


def _at(points: list[tuple[float, float, float]], units: float) -> tuple[float, float]:
    nearest = min(points, key=lambda point: abs(point[0] - units))
    return nearest[0], nearest[2]


def growth() -> None:
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    model = RVFLClassifier(n_hidden=150, random_state=0).fit(X_train, y_train)
    display = StagewiseDisplay.from_estimator(model, X_train, y_train, X_val=X_test, y_val=y_test)
    save(display.figure_, "growth")


def save(figure: plt.Figure, name: str) -> None:
    """Write the figure in the ink of both kinds of page, on no ground of its own."""
    figure.patch.set_alpha(0)
    for theme, ink in INK.items():
        for axes in figure.axes:
            axes.patch.set_alpha(0)
            axes.tick_params(colors=ink, which="both")
            axes.xaxis.label.set_color(ink)
            axes.yaxis.label.set_color(ink)
            axes.title.set_color(ink)
            for side, spine in axes.spines.items():
                spine.set_color(ink)
                spine.set_visible(side in ("left", "bottom") or axes.get_title() != "")
            legend = axes.get_legend()
            if legend is not None:
                legend.get_frame().set_alpha(0)
                for text in legend.get_texts():
                    text.set_color(ink)
        # No date and no random identifiers: the same picture is the same file.
        with plt.rc_context({"svg.hashsalt": name}):
            figure.savefig(DOCS / "_static" / f"{name}_{theme}.svg", metadata={"Date": None})


if __name__ == "__main__":
    with plt.rc_context({"font.size": 11}):
        landing()
        growth()
