"""Tables, tests and plots from the rows of a study: ``report.md``, CSV and PNG files."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from stagenets.study import _pictures, _tables
from stagenets.study._data import available, load
from stagenets.study._protocols import PROTOCOLS
from stagenets.study._records import Records, read_rows
from stagenets.study._results import Published, Results, Table, as_table, collect
from stagenets.study._statistics import Friedman, friedman

#: The set whose stages the published supplement shows.
STAGES_OF = "breast_cancer"

#: With more models than this, the tables by data set omit the deviations (rows.csv has them).
MANY_MODELS = 8


class Report:
    """Markdown under construction, with a CSV file for every table."""

    def __init__(self, folder: Path, title: str) -> None:
        self.folder = folder
        self.parts = [f"# {title}\n"]

    def say(self, text: str) -> None:
        """A paragraph."""
        self.parts.append(text + "\n")

    def heading(self, text: str) -> None:
        """The start of a section."""
        self.parts.append(f"## {text}\n")

    def table(self, records: Sequence[_tables.Record], file: str | None = None) -> None:
        """A table, also written to a CSV file if `file` is given."""
        self.parts.append(_tables.markdown(records))
        if file is not None and records:
            _tables.write_csv(self.folder / file, records)

    def picture(self, file: str, caption: str) -> None:
        """A picture from the folder."""
        self.parts.append(f"![{caption}]({file})\n")

    def write(self) -> Path:
        """Save the report."""
        path = self.folder / "report.md"
        path.write_text("\n".join(self.parts), encoding="utf-8")
        return path


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_shown, value)) or _tables.NOTHING
    return f"{value:g}" if isinstance(value, float) else str(value)


def about(report: Report, records: Records, results: Results) -> None:
    """What was run, with which settings."""
    settings = records.settings()
    report.say((PROTOCOLS[settings["protocol"]].__doc__ or "").strip().replace("\n    ", "\n"))
    runs = [run for run in records.runs() if run["command"]]
    if runs:
        commands = "\n".join(dict.fromkeys(run["command"] for run in runs))
        report.say(f"Made by\n\n```sh\n{commands}\n```")
    names = [name for name in settings if name != "protocol"]
    report.table([{"setting": f"`{name}`", "value": _shown(settings[name])} for name in names])
    whole = results.complete(results.models)
    lacking = [name for name, there in zip(results.sets, whole, strict=True) if not there]
    report.say(f"{len(results.sets)} data sets, {len(results.models)} models.")
    if lacking:
        report.say(
            f"Some models have no result on {', '.join(lacking)}. Averages and ranks leave these "
            "data sets out; comparisons of two models only if one of the two has no result."
        )


def failed(report: Report, records: Records) -> None:
    path = records.folder / "failures.csv"
    if not path.exists():
        return
    with path.open(encoding="utf-8", newline="") as file:
        failed = [
            {name: line[name] for name in ("dataset", "model", "message")}
            for line in csv.DictReader(file)
        ]
    report.heading("Failures")
    report.table(failed)


def _averages(report: Report, results: Results, published: Table | None) -> None:
    report.heading("Averages")
    report.say(
        "Accuracy in percent; standard deviation across test folds; average rank of a network "
        "against its one-shot or guided counterpart (as published), and among all models here."
    )
    report.table(_tables.summary(results, published), "summary.csv")


def _by_size(report: Report, results: Results) -> None:
    if not np.isfinite(results.errors).any():
        return
    report.heading("Labels and probabilities")
    report.say(
        "Means over the data sets of a size. The area under the ROC curve of more than two classes "
        "is the mean over the classes, each against the others. The calibration error is that of "
        "the labels predicted, in 15 bins of their probability, over all test parts of a set."
    )
    report.table(_tables.by_size(results), "by_size.csv")


def _gains(report: Report, results: Results, published: Table | None, draw: bool) -> None:
    if not _tables.guided_pairs(results.models):
        return
    report.heading("Guided against one-shot")
    report.say("Points of accuracy gained by choosing units; two-sided Wilcoxon signed-rank test.")
    report.table(_tables.gains(results, published), "gains.csv")
    if draw:
        _pictures.draw_gains(report.folder / "gains.png", results, published)
        report.picture("gains.png", "Points gained over the number of samples")


def _comparisons(report: Report, results: Results) -> None:
    pairs = _tables.guided_pairs(results.models) + _tables.other_pairs(results.models)
    if pairs:
        report.heading("Comparisons by size of the data set")
        report.say(
            "Mean difference in accuracy in points, first model minus second. *Surely* counts the "
            "data sets on which the first is better, and worse, by a t-test of the differences in "
            "the test parts at the 5 % level; of equal models, 1 in 40 would be counted on either "
            "side."
        )
        report.table(_tables.comparisons(results, pairs), "comparisons.csv")


def _distances(report: Report, results: Results, published: Table, draw: bool) -> None:
    report.heading("Distance to the published figures")
    report.say("In points, ours minus published: for each data set, and for the averages.")
    report.table(_tables.distances(results, published), "distances.csv")
    if draw and np.isfinite(published).any():
        _pictures.draw_agreement(report.folder / "agreement.png", results, published)
        report.picture("agreement.png", "Accuracy here against the published accuracy")


def _ranks_line(results: Results, test: Friedman) -> str:
    order = np.argsort(test.average_ranks, kind="stable")
    return ", ".join(f"{results.models[i]} {test.average_ranks[i]:.2f}" for i in order)


def together(report: Report, results: Results, draw: bool) -> None:
    whole = results.complete(results.models)
    if len(results.models) < 3 or whole.sum() < 2:
        return
    test = friedman(results.accuracy[whole])
    report.heading("All models together")
    report.say(
        f"Friedman's test on {test.sets} sets: χ² = {test.statistic:.2f}, p = {test.p_value:.2g}. "
        f"Average ranks further apart than {test.critical_difference:.2f} differ at the 5 % level "
        f"(Nemenyi): {_ranks_line(results, test)}."
    )
    if draw:
        _pictures.draw_ranks(report.folder / "ranks.png", results.models, test)
        report.picture("ranks.png", "Average ranks; bars join models that do not differ")


def _stages(report: Report, data: Path | None, draw: bool) -> None:
    if not draw or data is None or STAGES_OF not in available(data):
        return
    _pictures.draw_stages(report.folder / "stages.png", load(data, STAGES_OF))
    report.heading("Stage by stage")
    report.say(f"Guided networks on {STAGES_OF}. The objective never rises.")
    report.picture("stages.png", "Objective and residual energy over stages and hidden units")


def _every_set(report: Report, results: Results, published: Table | None) -> None:
    few = len(results.models) <= MANY_MODELS
    for task in results.tasks:
        if task != "all":
            report.heading(f"Every {task} set")
            report.table(_tables.by_set(results, task, published, deviations=few))
    _tables.write_csv(
        report.folder / "accuracy.csv", _tables.by_set(results, "all", deviations=False)
    )


def time_taken(report: Report, records: Records, results: Results) -> None:
    report.heading("Time taken")
    report.table(_tables.times(results), "times.csv")
    total = float(np.nansum(results.seconds))
    wall = sum(float(run["seconds"]) for run in records.runs())
    text = f"All rows together: {total / 60:.1f} min of fitting"
    report.say(text + (f", {wall / 60:.1f} min elapsed." if wall else "."))


def write_report(folder: Path, published: Published | None, data: Path | None) -> tuple[Path, str]:
    """Write the report on the rows in `folder`; returns its path and a remark, "" if none."""
    records = Records(folder)
    rows = read_rows(records.rows_file)
    if not rows:
        raise ValueError(f"{records.rows_file} must hold rows of a study; there are none")
    protocol = PROTOCOLS[records.settings()["protocol"]]
    results = collect(rows, protocol.models())
    theirs = None if published is None else as_table(published, results)
    draw = find_spec("matplotlib") is not None
    report = Report(folder, f"Study, protocol `{protocol.name}`")
    about(report, records, results)
    failed(report, records)
    # Accuracies are not comparable between protocols; gains may be.
    comparable = theirs if protocol.name == "paper" else None
    _averages(report, results, comparable)
    _by_size(report, results)
    _gains(report, results, theirs, draw)
    if comparable is not None:
        _distances(report, results, comparable, draw)
    together(report, results, draw)
    _comparisons(report, results)
    _stages(report, data, draw)
    _every_set(report, results, comparable)
    time_taken(report, records, results)
    remark = "" if draw else "no plots: matplotlib is missing (pip install 'stagenets[study]')"
    return report.write(), remark
