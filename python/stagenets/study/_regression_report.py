"""The report of the regression study."""

from __future__ import annotations

import math
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from stagenets.study import _tables
from stagenets.study._records import Records, Row, read_rows
from stagenets.study._regression_protocol import RegressionProtocol
from stagenets.study._report import Report, about, failed, time_taken, together
from stagenets.study._results import Results, Table, collect
from stagenets.study._statistics import ranks
from stagenets.study._tables import Record, mean, number

#: Networks that are compared with all other models.
_OURS = ("RG-RVFL", "RG-RVFL default")


def write_regression_report(folder: Path) -> tuple[Path, str]:
    """Write the report on the rows in `folder`; returns its path and a remark, "" if none."""
    records = Records(folder)
    rows = read_rows(records.rows_file)
    if not rows:
        raise ValueError(f"{records.rows_file} must hold rows of a study; there are none")
    results = collect(rows, RegressionProtocol.models())
    draw = find_spec("matplotlib") is not None
    report = Report(folder, "Study of regression")
    about(report, records, results)
    failed(report, records)
    report.heading("Averages")
    report.say(
        "R² in per cent, averaged over test folds: its mean, median and least value over the data "
        "sets. The error is the root mean square error in units of the targets' standard "
        "deviation. Ranks are by R²."
    )
    report.table(_averages(results, _errors(rows, results)), "summary.csv")
    together(report, results, draw)
    pairs = [(own, other) for own in _OURS for other in results.models if own != other]
    pairs = [pair for pair in pairs if set(pair) <= set(results.models)]
    if pairs:
        report.heading("Comparisons by size of the data set")
        report.say("Mean difference in R² in points, first model minus second.")
        report.table(_tables.comparisons(results, pairs), "comparisons.csv")
    report.heading("R² on every set")
    report.table(_tables.by_set(results, "all", deviations=False), "r2.csv")
    report.heading("Error on every set")
    report.table(_by_set(results, _errors(rows, results)), "errors.csv")
    time_taken(report, records, results)
    remark = "" if draw else "no plots: matplotlib is missing (pip install 'stagenets[study]')"
    return report.write(), remark


def _errors(rows: list[Row], results: Results) -> Table:
    """Mean error over the test folds, one row per data set and one column per model."""
    errors = np.full(results.accuracy.shape, math.nan)
    for row in rows:
        place = results.sets.index(row.dataset), results.models.index(row.model)
        errors[place] = np.mean([float(error) for error in row.errors.split()])
    return errors


def _averages(results: Results, errors: Table) -> list[Record]:
    """A line for every model, over the data sets that all models have, best rank first."""
    whole = results.complete(results.models)
    if not whole.any():
        return []
    average_ranks = ranks(results.accuracy[whole]).mean(axis=0)
    records = []
    for column in np.argsort(average_ranks, kind="stable"):
        scores = results.accuracy[whole, column]
        worst = [name for name, there in zip(results.sets, whole, strict=True) if there]
        records.append(
            {
                "model": results.models[column],
                "mean R²": number(mean(scores)),
                "median R²": number(float(np.median(scores))),
                "least R²": f"{number(float(scores.min()))} ({worst[int(scores.argmin())]})",
                "error": number(mean(errors[whole, column]), 3),
                "rank": number(float(average_ranks[column])),
            }
        )
    return records


def _by_set(results: Results, errors: Table) -> list[Record]:
    return [
        {"dataset": name}
        | {model: number(float(errors[i, j]), 3) for j, model in enumerate(results.models)}
        for i, name in enumerate(results.sets)
    ]
