"""Tables, tests and pictures from the rows of a study: ``report.md``, CSV and PNG files."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from residuum._study import pictures, tables
from residuum._study.data import available, load
from residuum._study.protocols import PROTOCOLS
from residuum._study.records import Records, read_rows
from residuum._study.results import Published, Results, Table, as_table, collect
from residuum._study.statistics import Friedman, friedman

#: The set whose stages the published supplement shows.
STAGES_OF = "breast_cancer"

#: With more models than this, tables by set leave the deviations to rows.csv.
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

    def table(self, records: Sequence[tables.Record], file: str | None = None) -> None:
        """A table, also written to a CSV file if one is named."""
        self.parts.append(tables.markdown(records))
        if file is not None and records:
            tables.write_csv(self.folder / file, records)

    def picture(self, file: str, caption: str) -> None:
        """A picture that is in the folder."""
        self.parts.append(f"![{caption}]({file})\n")

    def write(self) -> Path:
        """Save what has been said."""
        path = self.folder / "report.md"
        path.write_text("\n".join(self.parts), encoding="utf-8")
        return path


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_shown, value)) or tables.NOTHING
    return f"{value:g}" if isinstance(value, float) else str(value)


def _about(report: Report, records: Records, results: Results) -> None:
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
            f"Some models have no result on {', '.join(lacking)}; averages and ranks leave these "
            "sets out, comparisons of two models only where one of the two is missing."
        )


def _failures(report: Report, records: Records) -> None:
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
        "against its one-shot or guided twin (as published), and among all models here."
    )
    report.table(tables.summary(results, published), "summary.csv")


def _gains(report: Report, results: Results, published: Table | None, draw: bool) -> None:
    if not tables.guided_pairs(results.models):
        return
    report.heading("Guided against one-shot")
    report.say("Points of accuracy gained by choosing units; two-sided Wilcoxon signed-rank test.")
    report.table(tables.gains(results, published), "gains.csv")
    if draw:
        pictures.draw_gains(report.folder / "gains.png", results, published)
        report.picture("gains.png", "Points gained over the number of samples")


def _comparisons(report: Report, results: Results) -> None:
    pairs = tables.guided_pairs(results.models) + tables.other_pairs(results.models)
    if pairs:
        report.heading("Comparisons by size of the set")
        report.say("Mean difference of accuracies in points, the first model minus the second.")
        report.table(tables.comparisons(results, pairs), "comparisons.csv")


def _distances(report: Report, results: Results, published: Table, draw: bool) -> None:
    report.heading("Distance to the published figures")
    report.say("In points: found here minus published; set by set, and of the averages.")
    report.table(tables.distances(results, published), "distances.csv")
    if draw and np.isfinite(published).any():
        pictures.draw_agreement(report.folder / "agreement.png", results, published)
        report.picture("agreement.png", "Accuracy here against the published accuracy")


def _ranks_line(results: Results, test: Friedman) -> str:
    order = np.argsort(test.average_ranks, kind="stable")
    return ", ".join(f"{results.models[i]} {test.average_ranks[i]:.2f}" for i in order)


def _friedman(report: Report, results: Results, draw: bool) -> None:
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
        pictures.draw_ranks(report.folder / "ranks.png", results.models, test)
        report.picture("ranks.png", "Average ranks; bars join models that do not differ")


def _stages(report: Report, data: Path | None, draw: bool) -> None:
    if not draw or data is None or STAGES_OF not in available(data):
        return
    pictures.draw_stages(report.folder / "stages.png", load(data, STAGES_OF))
    report.heading("Stage by stage")
    report.say(f"Guided networks on {STAGES_OF}: the objective never rises.")
    report.picture("stages.png", "Objective and residual energy over stages and hidden units")


def _every_set(report: Report, results: Results, published: Table | None) -> None:
    few = len(results.models) <= MANY_MODELS
    for task in results.tasks:
        if task != "all":
            report.heading(f"Every {task} set")
            report.table(tables.by_set(results, task, published, deviations=few))
    tables.write_csv(
        report.folder / "accuracy.csv", tables.by_set(results, "all", deviations=False)
    )


def _times(report: Report, records: Records, results: Results) -> None:
    report.heading("Time taken")
    report.table(tables.times(results), "times.csv")
    total = float(np.nansum(results.seconds))
    wall = sum(float(run["seconds"]) for run in records.runs())
    text = f"All rows together: {total / 60:.1f} min of fitting"
    report.say(text + (f", {wall / 60:.1f} min by the clock." if wall else "."))


def write_report(folder: Path, published: Published | None, data: Path | None) -> tuple[Path, str]:
    """Write the report of the rows in `folder`; returns its path and a remark, if there is one."""
    records = Records(folder)
    rows = read_rows(records.rows_file)
    if not rows:
        raise ValueError(f"{records.rows_file} must hold rows of a study; there are none")
    protocol = PROTOCOLS[records.settings()["protocol"]]
    results = collect(rows, protocol.models())
    theirs = None if published is None else as_table(published, results)
    draw = find_spec("matplotlib") is not None
    report = Report(folder, f"Study, protocol `{protocol.name}`")
    _about(report, records, results)
    _failures(report, records)
    # Accuracies of another protocol are not comparable, gains perhaps are.
    comparable = theirs if protocol.name == "paper" else None
    _averages(report, results, comparable)
    _gains(report, results, theirs, draw)
    if comparable is not None:
        _distances(report, results, comparable, draw)
    _friedman(report, results, draw)
    _comparisons(report, results)
    _stages(report, data, draw)
    _every_set(report, results, comparable)
    _times(report, records, results)
    remark = "" if draw else "no pictures: matplotlib is missing (pip install 'residuum[study]')"
    return report.write(), remark
