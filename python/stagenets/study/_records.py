"""Rows of results on disk, appended one at a time so that an interrupted run can be resumed."""

from __future__ import annotations

import csv
import io
import json
import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from stagenets.study._data import Dataset
from stagenets.study._outcome import Outcome
from stagenets.study._regression_data import RegressionSet


@dataclass(frozen=True)
class Row:
    """The result of one model on one data set; accuracies (or R²) are in per cent."""

    dataset: str
    model: str
    n: int
    p: int
    q: int
    accuracy: float
    deviation: float
    seconds: float
    inputs: str
    scores: str
    chosen: str
    errors: str = ""  # on every test part: relative error in regression, otherwise log-loss
    areas: str = ""  # under the ROC curve, on every test part
    calibration_error: str = ""  # over all test parts

    @property
    def key(self) -> tuple[str, str]:
        return self.dataset, self.model


_COLUMNS = [field.name for field in fields(Row)]
_NUMBERS: dict[str, Any] = {"n": int, "p": int, "q": int} | dict.fromkeys(
    ("accuracy", "deviation", "seconds"), float
)


def row_of(data: Dataset | RegressionSet, model: str, outcome: Outcome) -> Row:
    """A row with the mean and deviation (using n − 1) over the test parts."""
    percent = 100 * np.asarray(outcome.scores)
    return Row(
        dataset=data.name,
        model=model,
        n=data.X.shape[0],
        p=data.X.shape[1],
        q=data.n_outputs,
        accuracy=round(float(percent.mean()), 6),
        deviation=round(float(percent.std(ddof=1)), 6),
        seconds=round(outcome.seconds, 3),
        inputs=outcome.inputs,
        scores=" ".join(f"{score:.6f}" for score in outcome.scores),
        chosen=json.dumps(outcome.chosen),
        errors=" ".join(f"{error:.6f}" for error in outcome.errors),
        areas=" ".join(f"{area:.6f}" for area in outcome.areas),
        calibration_error=f"{outcome.calibration_error:.6f}" if outcome.areas else "",
    )


def _line(values: list[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue()


def read_rows(path: Path) -> list[Row]:
    """All complete rows of a file; an incomplete last line is ignored."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    rows = []
    for values in csv.DictReader(io.StringIO(text[: text.rfind("\n") + 1])):
        known = {name: values[name] for name in _COLUMNS if name in values}
        rows.append(Row(**{name: _NUMBERS.get(name, str)(value) for name, value in known.items()}))
    return rows


class Records:
    """The folder of one protocol's results: ``rows.csv`` and the settings they were made with."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows_file = folder / "rows.csv"
        self.settings_file = folder / "settings.json"
        self.runs_file = folder / "runs.csv"

    def open(self, settings: dict[str, Any]) -> list[Row]:
        """Prepare for appending; returns the rows of earlier runs, which need the same settings."""
        self.folder.mkdir(parents=True, exist_ok=True)
        rows = read_rows(self.rows_file)
        if rows:
            stored = self.settings()
            differing = [
                f"{key} (stored {stored.get(key)!r}, now {settings.get(key)!r})"
                for key in sorted(stored.keys() | settings.keys())
                if stored.get(key) != settings.get(key)
            ]
            if differing:
                raise ValueError(
                    f"the rows in {self.rows_file} were made with other settings: "
                    f"{'; '.join(differing)}. Choose another --out, or delete that folder"
                )
        self._replace(self.settings_file, json.dumps(settings, indent=1) + "\n")
        text = _line(_COLUMNS) + "".join(_line(list(asdict(row).values())) for row in rows)
        self._replace(self.rows_file, text)
        return rows

    def append(self, row: Row) -> None:
        """Add a row; it is on disk when this returns."""
        self._append(self.rows_file, list(asdict(row).values()))

    def log_run(self, command: str, added: int, seconds: float) -> None:
        """Record a command that produced rows, and how long it took."""
        if not self.runs_file.exists():
            self._append(self.runs_file, ["command", "rows", "seconds"])
        self._append(self.runs_file, [command, added, round(seconds, 1)])

    def runs(self) -> list[dict[str, str]]:
        """The commands that produced the rows."""
        if not self.runs_file.exists():
            return []
        with self.runs_file.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def settings(self) -> dict[str, Any]:
        """The settings that the rows were made with."""
        if not self.settings_file.exists():
            raise ValueError(f"{self.folder} must hold rows.csv and settings.json of a study")
        settings: dict[str, Any] = json.loads(self.settings_file.read_text(encoding="utf-8"))
        return settings

    @staticmethod
    def _append(path: Path, values: list[Any]) -> None:
        with path.open("a", encoding="utf-8", newline="") as file:
            file.write(_line(values))
            file.flush()
            os.fsync(file.fileno())

    @staticmethod
    def _replace(path: Path, text: str) -> None:
        """Replace a file atomically: readers see the old file or the new one, never a part."""
        draft = path.with_suffix(".part")
        with draft.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
