"""The tables of the report; a table is a list of records that share their keys."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from stagenets.study._models import ARCHITECTURES, MODELS, Plain
from stagenets.study._results import Mask, Results, Table
from stagenets.study._statistics import ranks, surely_better, wilcoxon, win_tie_loss

Record = dict[str, Any]
Pair = tuple[str, str]

NOTHING = "–"


def number(value: float, digits: int = 2, sign: bool = False) -> str:
    """A rounded number, or a dash for NaN."""
    if not math.isfinite(value):
        return NOTHING
    return f"{value:{'+' if sign else ''}.{digits}f}"


def mean(values: Table) -> float:
    """The mean, or NaN if there are no values."""
    return float(values.mean()) if values.size else math.nan


def _probability(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else f"{value:.1e}"


def guided_pairs(models: Sequence[str]) -> list[Pair]:
    """Guided network and its one-shot counterpart, for every architecture that has both."""
    pairs = [(f"RG-{name}", name) for name in ARCHITECTURES]
    return [pair for pair in pairs if set(pair) <= set(models)]


def other_pairs(models: Sequence[str]) -> list[Pair]:
    """Further comparisons: joint selection, untuned against tuned, and against rivals."""
    pairs: list[Pair] = []
    for name in ARCHITECTURES:
        guided = f"RG-{name}"
        pairs.append((f"{guided}-joint", guided))
        pairs.append((f"{guided}-joint", name))
        pairs.append((f"{guided} default", f"{name} default"))
        pairs += [(f"{model} default", model) for model in (name, guided)]
    rivals = [
        name
        for name, model in MODELS.items()
        if isinstance(model, Plain) and not name.endswith(" default")
    ]
    own = [f"RG-{ARCHITECTURES[0]}", f"RG-{ARCHITECTURES[0]} default"]
    pairs += [(name, rival) for name in own for rival in rivals]
    return [pair for pair in pairs if set(pair) <= set(models)]


def _twin(model: str, models: Sequence[str]) -> Pair | None:
    return next((pair for pair in guided_pairs(models) if model in pair), None)


def _pair_rank(results: Results, accuracy: Table, model: str, mask: Mask) -> float:
    """Average rank of a network within its pair only, as in the published study."""
    pair = _twin(model, results.models)
    if pair is None:
        return math.nan
    columns = [results.models.index(name) for name in pair]
    values = accuracy[mask][:, columns]
    values = values[np.isfinite(values).all(axis=1)]
    return mean(ranks(values)[:, pair.index(model)]) if len(values) else math.nan


def summary(results: Results, published: Table | None) -> list[Record]:
    """Average accuracy, deviation and rank per task, on data sets that all models have."""
    whole = results.complete(results.models)
    records = []
    for task, group in results.tasks.items():
        mask = group & whole
        overall = ranks(results.accuracy[mask]).mean(axis=0) if mask.any() else None
        lines: dict[str, list[str]] = {"accuracy": [], "published accuracy": []}
        lines |= {"std. dev.": [], "rank in pair": [], "published rank": [], "rank": []}
        for column, model in enumerate(results.models):
            lines["accuracy"].append(number(mean(results.accuracy[mask, column])))
            lines["std. dev."].append(number(mean(results.deviation[mask, column])))
            rank = _pair_rank(results, results.accuracy, model, mask)
            lines["rank in pair"].append(number(rank))
            lines["rank"].append(NOTHING if overall is None else number(overall[column]))
            if published is not None:
                lines["published accuracy"].append(number(mean(published[mask, column])))
                rank = _pair_rank(results, published, model, mask)
                lines["published rank"].append(number(rank))
        for metric, values in lines.items():
            if values and set(values) != {NOTHING}:
                label = f"{task} ({int(mask.sum())})"
                record = {"task": label, "metric": metric}
                records.append(record | dict(zip(results.models, values, strict=True)))
    return records


def by_size(results: Results) -> list[Record]:
    """How good labels and probabilities of every model are, on all data sets and by their size."""
    whole = results.complete(results.models)
    groups = {"all": whole} | {name: group & whole for name, group in results.sizes.items()}
    measures = (
        ("accuracy", results.accuracy, 2),
        ("log-loss", results.errors, 3),
        ("ROC AUC", results.areas, 3),
        ("calibration error", results.calibration_errors, 3),
    )
    records = []
    for measure, table, digits in measures:
        for column, model in enumerate(results.models):
            if np.isfinite(table[whole, column]).all() and whole.any():
                record = {"measure": measure, "model": model}
                for name, mask in groups.items():
                    record[name] = number(mean(table[mask, column]), digits)
                records.append(record)
    return records


def gains(results: Results, published: Table | None) -> list[Record]:
    """Points gained by choosing units, beside the published gains."""
    records = []
    for guided, one_shot in guided_pairs(results.models):
        both = results.complete([guided, one_shot])
        columns = [results.models.index(name) for name in (guided, one_shot)]
        for task, group in results.tasks.items():
            mask = group & both
            first, second = results.accuracy[mask][:, columns].T
            wins, ties, losses = win_tie_loss(first, second)
            record = {
                "network": guided,
                "against": one_shot,
                "task": f"{task} ({int(mask.sum())})",
                "gain": number(mean(first - second), sign=True),
            }
            if published is not None:
                there, here = published[mask][:, columns].T
                record["published gain"] = number(mean(there - here), sign=True)
            record["win / tie / loss"] = f"{wins} / {ties} / {losses}"
            if published is not None:
                counts = win_tie_loss(there, here) if np.isfinite(there - here).all() else ()
                record["published w / t / l"] = " / ".join(map(str, counts)) or NOTHING
            record["Wilcoxon p"] = _probability(wilcoxon(first, second))
            records.append(record)
    return records


def sure_wins_and_losses(results: Results, first: str, second: str) -> tuple[int, int]:
    """On how many data sets the first model is surely better, and worse."""
    found = []
    for name in results.sets:
        one, other = (results.scores.get((name, model)) for model in (first, second))
        if one is not None and other is not None and len(one) == len(other):
            found.append(surely_better(one, other))
    return found.count(1), found.count(-1)


def comparisons(results: Results, pairs: Sequence[Pair]) -> list[Record]:
    """First model minus second, overall and by size of the data set."""
    records = []
    for first, second in pairs:
        both = results.complete([first, second])
        if not both.any():
            continue
        difference = results.column(first) - results.column(second)
        record = {"model": first, "against": second, "sets": str(int(both.sum()))}
        record["difference"] = number(mean(difference[both]), sign=True)
        for size, group in results.sizes.items():
            record[size] = number(mean(difference[both & group]), sign=True)
        wins, ties, losses = win_tie_loss(results.column(first)[both], results.column(second)[both])
        record["win / tie / loss"] = f"{wins} / {ties} / {losses}"
        record["surely"] = "{} / {}".format(*sure_wins_and_losses(results, first, second))
        p_value = wilcoxon(results.column(first)[both], results.column(second)[both])
        record["Wilcoxon p"] = _probability(p_value)
        records.append(record)
    return records


def distances(results: Results, published: Table) -> list[Record]:
    """Distances to the published accuracies: for each data set, and for the averages."""
    records = []
    for column, model in enumerate(results.models):
        difference = results.accuracy[:, column] - published[:, column]
        known = np.isfinite(difference)
        if not known.any():
            continue
        record = {"model": model, "sets": str(int(known.sum()))}
        record["mean absolute difference"] = number(mean(np.abs(difference[known])))
        record["median"] = number(float(np.median(np.abs(difference[known]))))
        worst = int(np.nanargmax(np.abs(difference)))
        for task, group in results.tasks.items():
            record[f"average, {task}"] = number(mean(difference[known & group]), sign=True)
        record["furthest"] = f"{results.sets[worst]} ({number(difference[worst], 1, sign=True)})"
        records.append(record)
    return records


def times(results: Results) -> list[Record]:
    """Seconds spent on each model."""
    records = []
    for column, model in enumerate(results.models):
        seconds = results.seconds[:, column]
        longest = int(np.nanargmax(seconds))
        records.append(
            {
                "model": model,
                "sets": str(int(np.isfinite(seconds).sum())),
                "seconds": number(float(np.nansum(seconds)), 1),
                "longest": f"{results.sets[longest]} ({number(float(seconds[longest]), 1)})",
            }
        )
    return records


def by_set(
    results: Results, task: str, published: Table | None = None, *, deviations: bool = True
) -> list[Record]:
    """Every data set of a task: each model's accuracy ± deviation, then the published accuracy."""
    records = []
    for place in np.flatnonzero(results.tasks[task]):
        record: Record = {"dataset": results.sets[place]}
        for column, model in enumerate(results.models):
            record[model] = number(float(results.accuracy[place, column]))
            if deviations and record[model] != NOTHING:
                record[model] += f" ± {results.deviation[place, column]:.2f}"
            if published is not None and np.isfinite(published[:, column]).any():
                record[f"{model}, published"] = number(float(published[place, column]))
        records.append(record)
    return records


def _escaped(cells: Iterator[Any]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def markdown(records: Sequence[Record]) -> str:
    """A Markdown table, with names left-aligned and figures right-aligned."""
    if not records:
        return "Nothing to show.\n"
    names = list(records[0])
    lines = [_escaped(iter(names)), _escaped(iter([":--"] + ["--:"] * (len(names) - 1)))]
    lines += [_escaped(record[name] for name in names) for record in records]
    return "\n".join(lines) + "\n"


def write_csv(path: Path, records: Sequence[Record]) -> None:
    """The same table as a file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(records[0]) if records else [], lineterminator="\n")
        writer.writeheader()
        for record in records:
            writer.writerow({k: "" if value == NOTHING else value for k, value in record.items()})
