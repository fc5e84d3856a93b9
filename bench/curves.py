"""Test accuracy over fit time and over units: guided networks, one-shot networks, other models.

    python bench/curves.py --data DIR                            all data sets
    python bench/curves.py classification friedman1              those that need no files

Every point of a curve is a fit of its own, so that its time holds all that a model of its size
costs. All fits run in turn, in `--repeats` rounds with one seed each: times are medians over the
rounds, scores are means. Writes curves.csv, curves.md and one picture per data set to
docs/benchmarks/.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sklearn.metrics import accuracy_score, r2_score

from curve_models import GUIDED_DEFAULT, ONE_SHOT, Point, points
from report_tables import Row, add_output_option, markdown, write_csv
from study_data import Dataset, add_data_option, load
from timing import rest

DATASETS = ("letter", "optical", "pendigits", "classification", "friedman1")


@dataclass(frozen=True)
class Measured:
    """One round's measurement of one point of a curve; trees have no units."""

    method: str
    setting: str
    units: int | None
    seconds: float
    score: float


def measure_point(point: Point, data: Dataset, seed: int) -> Measured:
    model = point.make(data, seed)
    rest()
    started = time.perf_counter()
    model.fit(data.X, data.y)
    seconds = time.perf_counter() - started
    metric = r2_score if data.regression else accuracy_score
    value = float(metric(data.y_test, model.predict(data.X_test)))
    return Measured(point.method, point.setting, point.units, seconds, value)


def measure(data: Dataset, options: argparse.Namespace) -> list[Row]:
    """All curves on one data set, round by round, joined over the rounds."""
    found: dict[tuple[str, str], list[Measured]] = defaultdict(list)
    for seed in range(options.repeats):
        for point in points(data, options.units, options.most_units):
            measured = measure_point(point, data, seed)
            found[measured.method, measured.setting].append(measured)
        print(f"{data.name}: round {seed + 1} of {options.repeats}", flush=True)
    return [
        {
            "dataset": data.name,
            "method": method,
            "setting": setting,
            "units": runs[0].units,
            "fit (s)": statistics.median(run.seconds for run in runs),
            data.score_name: statistics.fmean(run.score for run in runs),
        }
        for (method, setting), runs in found.items()
    ]


def bought_with(rows: list[Row], limit: str, value: float, score_name: str) -> float | None:
    """The score of the largest model that costs at most `value`.

    This is not the best score among them: picking stages by their test score would favour the
    method with the most stages.
    """
    affordable = [r for r in rows if r[limit] is not None and r[limit] <= value]
    return max(affordable, key=lambda r: r[limit])[score_name] if affordable else None


def summary(data: Dataset, rows: list[Row]) -> str:
    """Tables of scores within the fit times, and within the sizes, of the one-shot networks."""
    methods: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        methods[row["method"]].append(row)
    budgets = [row for row in rows if row["method"] == ONE_SHOT]
    text = f"## {data.name}\n\n{len(data.X)} rows to fit on, {data.X.shape[1]} inputs.\n\n"
    titles = {"fit (s)": "within the fit time of", "units": "with no more units than"}
    for limit, title in titles.items():
        lines = []
        for budget in budgets:
            line: Row = {f"{data.score_name}, {title}": f"{ONE_SHOT}, {budget['setting']}"}
            line["budget"] = budget[limit]
            for method, own in methods.items():
                if limit == "units" and own[0]["units"] is None:
                    continue
                line[method] = bought_with(own, limit, budget[limit], data.score_name)
            lines.append(line)
        text += markdown(lines) + "\n"
    return text + f"![{data.name}](curves_{data.name}.png)\n"


def races_to_their_best(data: Dataset, rows: list[Row]) -> Iterator[Row]:
    """How many times as long each other model takes to its best score as networks of ours to that.

    The fastest network that is as good counts: of guided ones, and of all. A dash means that none
    of those tried is.
    """

    def is_ours(row: Row) -> bool:
        return row["method"].startswith((GUIDED_DEFAULT, ONE_SHOT))

    guided = [row for row in rows if row["method"] == GUIDED_DEFAULT]
    rivals = dict.fromkeys(row["method"] for row in rows if not is_ours(row))
    for name, ours in (("guided", guided), ("any", list(filter(is_ours, rows)))):
        line: Row = {"dataset": data.name, "our networks": name}
        for rival in rivals:
            of_rival = [row for row in rows if row["method"] == rival]
            best = max(of_rival, key=lambda row: row[data.score_name])
            as_good = [r["fit (s)"] for r in ours if r[data.score_name] >= best[data.score_name]]
            line[rival] = best["fit (s)"] / min(as_good) if as_good else None
        yield line


def draw(data: Dataset, rows: list[Row], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(12, 4.8), sharey=True)
    colors = plt.get_cmap("tab20").colors
    for axis, limit in zip(axes, ("fit (s)", "units"), strict=True):
        for number, method in enumerate(dict.fromkeys(row["method"] for row in rows)):
            own = [r for r in rows if r["method"] == method and r[limit] is not None]
            own.sort(key=lambda r: r[limit])
            guided = method.startswith("guided")
            style = {"linewidth": 2} if guided else {"marker": "o", "linestyle": "--", "ms": 4}
            style["color"] = colors[2 * number % 20 + number // 10]  # the same in both panels
            if own:
                scores = [r[data.score_name] for r in own]
                axis.plot([r[limit] for r in own], scores, label=method, **style)
        axis.set_xscale("log")
        axis.set_xlabel("fit time (s)" if limit == "fit (s)" else "hidden units")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel(data.score_name)
    # The worst of the tiny models would flatten everything else.
    best = max(r[data.score_name] for r in rows)
    worst = min(r[data.score_name] for r in rows)
    axes[0].set_ylim(bottom=max(worst, best - 0.35) - 0.01)
    axes[0].legend(fontsize=7)
    figure.suptitle(data.name)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
    print(f"wrote {path.name}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("datasets", nargs="*", default=DATASETS, help=", ".join(DATASETS))
    add_data_option(parser)
    add_output_option(parser)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--units", type=int, default=800, help="units of guided networks")
    parser.add_argument("--most-units", type=int, default=3200, help="units of the others")
    parser.add_argument("--size", type=int, default=20_000, help="rows of synthetic data")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # briefly trained MLPs warn that they have not converged
    options.out.mkdir(parents=True, exist_ok=True)
    everything, text = [], "# Accuracy over fit time and over units\n\n"
    text += (
        "Networks have `alpha=1` and the defaults otherwise, unless their name says more; those "
    )
    text += "of one draw minimise the squared error and have sparse weights. "
    text += f"Made by `bench/curves.py`, rounds: {options.repeats}; a dash means that no model of "
    text += "that kind fits the budget.\n\n"
    races = []
    for name in options.datasets:
        data = load(name, options.data, size=options.size)
        rows = measure(data, options)
        draw(data, rows, options.out / f"curves_{name}.png")
        text += summary(data, rows) + "\n"
        races += races_to_their_best(data, rows)
        everything += [{"score": row.pop(data.score_name), **row} for row in rows]
        # Written after every data set, so that an interrupted run keeps its results.
        write_csv(options.out / "curves.csv", everything)
        (options.out / "curves.md").write_text(text, encoding="utf-8")
    text += "## As good as the best of the others\n\nThe fit time of each method's best model, "
    text += (
        "divided by that of the fastest of our networks whose test score is no lower: of guided "
    )
    text += "ones as by default, and of all. A dash means that none of those tried is as good.\n\n"
    text += markdown(races)
    (options.out / "curves.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
