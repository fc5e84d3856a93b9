"""The plots of the report."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import stagenets
from stagenets.study._data import Dataset
from stagenets.study._models import ARCHITECTURES
from stagenets.study._results import Results, Table
from stagenets.study._statistics import Friedman, indistinct_groups
from stagenets.study._tables import guided_pairs, mean

_COLOURS = ("#2166ac", "#b2522b", "#3f8f5a")
#: Penalty of the networks whose stages are drawn.
_STAGES_ALPHA = 1.0

_SAMPLE_TICKS = [m * 10**e for e in range(1, 8) for m in (1, 3)]

_STYLE: dict[Any, Any] = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 10,
    "grid.alpha": 0.3,
    "savefig.bbox": "tight",
    "savefig.dpi": 150,
}


@contextmanager
def _figure(path: Path, rows: int = 1, columns: int = 1, **options: Any) -> Iterator[Any]:
    """A figure and its axes (rows × columns), saved to `path` at the end."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        share = {name: options.pop(name) for name in ("sharex", "sharey") if name in options}
        figure = Figure(layout="constrained", **options)
        FigureCanvasAgg(figure)
        yield figure, figure.subplots(rows, columns, squeeze=False, **share)
        figure.savefig(path, metadata={"Software": None})


def draw_ranks(path: Path, models: Sequence[str], test: Friedman) -> None:
    """Critical-difference diagram: average ranks on a line, bars over models that do not differ."""
    order = np.argsort(test.average_ranks, kind="stable")
    names, places = [models[i] for i in order], test.average_ranks[order]
    groups = indistinct_groups(test.average_ranks, test.critical_difference)
    left = (len(names) + 1) // 2  # the better half is labelled on the left
    bars = 0.34 * len(groups)
    first_label = bars + 0.55
    depth = first_label + 0.5 * left
    low, high = math.floor(places[0]), max(math.ceil(places[-1]), math.floor(places[0]) + 1)
    with _figure(path, figsize=(9, 0.9 + 0.45 * depth)) as (_, axes):
        panel = axes[0, 0]
        panel.axis("off")
        panel.set_xlim(low - 0.02 * (high - low), high + 0.02 * (high - low))
        panel.set_ylim(depth, -1.6)
        panel.plot([low, high], [0, 0], color="black", linewidth=1.2)
        for tick in range(low, high + 1):
            panel.plot([tick, tick], [-0.18, 0], color="black", linewidth=1.2)
            panel.text(tick, -0.28, str(tick), ha="center", va="bottom")
        panel.plot([low, low + test.critical_difference], [-1.0, -1.0], color="black", linewidth=2)
        panel.text(
            low,
            -1.15,
            f"critical difference {test.critical_difference:.2f} (5 %), {test.sets} sets",
            va="bottom",
        )
        for row, (first, last) in enumerate(groups):
            height = 0.34 * (row + 1)
            ends = [places[first], places[last]]
            panel.plot(
                ends, [height, height], color=_COLOURS[1], linewidth=4, solid_capstyle="butt"
            )
        margin = 0.03 * (high - low)
        for i, (name, place) in enumerate(zip(names, places, strict=True)):
            on_left = i < left
            height = first_label + 0.5 * (i if on_left else len(names) - 1 - i)
            end = low - margin if on_left else high + margin
            line = {"color": "0.4", "linewidth": 0.8, "clip_on": False}
            panel.plot([place, place, end], [0, height, height], **line)
            panel.plot([place], [0], "o", color=_COLOURS[0], markersize=4, clip_on=False)
            label = f"{name}  {place:.2f}" if on_left else f"{place:.2f}  {name}"
            side = "right" if on_left else "left"
            gap = -0.4 * margin if on_left else 0.4 * margin
            panel.text(end + gap, height, label, ha=side, va="center")


def draw_gains(path: Path, results: Results, published: Table | None) -> None:
    """Points gained by choosing units, over the number of samples."""
    pairs = guided_pairs(results.models)
    low, high = results.samples.min() / 1.5, results.samples.max() * 1.5
    ticks = [tick for tick in _SAMPLE_TICKS if low <= tick <= high]
    with _figure(path, 1, len(pairs), figsize=(4 * len(pairs), 3.8), sharey=True) as (_, axes):
        for panel, (guided, one_shot), colour in zip(axes[0], pairs, _COLOURS, strict=False):
            columns = [results.models.index(name) for name in (guided, one_shot)]
            gain = results.accuracy[:, columns[0]] - results.accuracy[:, columns[1]]
            known = np.isfinite(gain)
            panel.axhline(0, color="0.5", linewidth=1)
            panel.scatter(
                results.samples[known], gain[known], s=22, color=colour, alpha=0.75, linewidth=0
            )
            average = mean(gain[known])
            panel.axhline(average, color=colour, label=f"mean {average:+.2f}")
            if published is not None:
                there = published[known][:, columns[0]] - published[known][:, columns[1]]
                if np.isfinite(there).all():
                    panel.axhline(
                        mean(there),
                        color="0.2",
                        linestyle=":",
                        label=f"published {mean(there):+.2f}",
                    )
            panel.set_xscale("log")
            panel.set_xlim(low, high)
            panel.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
            panel.minorticks_off()
            panel.set_title(f"{guided} − {one_shot}", pad=24)
            panel.set_xlabel("samples")
            above = {"loc": "lower center", "bbox_to_anchor": (0.5, 0.99)}
            panel.legend(**above, ncols=2, frameon=False, fontsize=9)
        axes[0, 0].set_ylabel("points gained")


def draw_agreement(path: Path, results: Results, published: Table) -> None:
    """Accuracies found here against the published ones."""
    columns = [c for c in range(len(results.models)) if np.isfinite(published[:, c]).any()]
    tall = 1 if len(columns) <= 3 else 2  # a network above its guided twin
    wide = math.ceil(len(columns) / tall)
    size = (3.4 * wide, 3.4 * tall)
    with _figure(path, tall, wide, figsize=size, sharex=True, sharey=True) as (figure, axes):
        for panel in axes.T.flat[len(columns) :]:
            panel.axis("off")
        for panel, column in zip(axes.T.flat, columns, strict=False):
            here, there = results.accuracy[:, column], published[:, column]
            known = np.isfinite(here - there)
            colour = _COLOURS[columns.index(column) // 2 % len(_COLOURS)]
            middle = mean(there[known])
            panel.axline((middle, middle), slope=1, color="0.5", linewidth=1)
            panel.scatter(there[known], here[known], s=18, color=colour, alpha=0.75, linewidth=0)
            apart = mean(np.abs(here - there)[known])
            panel.set_title(f"{results.models[column]}: {apart:.2f} apart")
            panel.set_aspect("equal")
        figure.supxlabel("published accuracy (%)")
        figure.supylabel("accuracy here (%)")


def _sizes(architecture: str) -> list[dict[str, int]]:
    """Parameters of networks with increasing numbers of units, up to 50."""
    if architecture != "BLS":
        return [{"n_hidden": units} for units in range(5, 51, 5)]
    features = {"n_windows": 2, "n_feature_nodes": 10}
    return [features | {"n_enhancement": units} for units in range(0, 31, 5)]


def draw_stages(path: Path, data: Dataset, seed: int = 0) -> None:
    """Objective and residual energy of the guided networks, stage by stage.

    The panel over hidden units also shows one-shot networks of the same sizes.
    """
    with _figure(path, 1, 3, figsize=(12, 3.8)) as (figure, axes):
        for architecture, colour in zip(ARCHITECTURES, _COLOURS, strict=True):
            cls = getattr(stagenets, f"{architecture}Classifier")
            sizes = _sizes(architecture)
            shared = {"alpha": _STAGES_ALPHA, "random_state": seed}
            guided = {"selection": "residual", "block_size": 2, "pool_size": 100}
            model = cls(**sizes[-1], **guided, **shared).fit(data.X, data.y)
            stages = np.arange(model.n_iter_ + 1)
            units = np.searchsorted(model.selected_[:, 0], stages)
            line = {"label": f"RG-{architecture}", "color": colour, "linewidth": 1.8}
            axes[0, 0].plot(stages, model.objective_path_, **line)
            axes[0, 1].plot(units, model.objective_path_, **line)
            axes[0, 2].plot(stages, model.residual_path_, **line)
            blind = [
                cls(**size, selection="random", **shared).fit(data.X, data.y) for size in sizes
            ]
            axes[0, 1].plot(
                [network.n_hidden_ for network in blind],
                [network.objective_path_[-1] for network in blind],
                **line | {"label": architecture, "linestyle": ":"},
            )
        for panel, title, below in zip(
            axes[0],
            ("(a) objective J", "(b) objective J", "(c) residual energy ‖R‖²"),
            ("stage", "hidden units", "stage"),
            strict=True,
        ):
            panel.set_title(title)
            panel.set_xlabel(below)
        figure.legend(*axes[0, 1].get_legend_handles_labels(), loc="outside lower center", ncols=6)
        title = f"{data.name}: guided (k = 2, M = 100) and one-shot networks, λ = {_STAGES_ALPHA:g}"
        figure.suptitle(title, fontsize=11)
