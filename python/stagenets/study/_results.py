"""Results as tables: one row per data set, one column per model."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from stagenets.study._records import Row

Table = NDArray[np.float64]
Mask = NDArray[np.bool_]
Published = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Results:
    """Accuracies and their deviations in per cent; NaN if a model has no result on a data set.

    `errors` are log-losses, or relative errors in regression, and `areas` those under ROC curves.
    `scores` are those of each test part, by data set and model.
    """

    sets: list[str]
    models: list[str]
    samples: NDArray[np.int64]
    classes: NDArray[np.int64]
    accuracy: Table
    deviation: Table
    seconds: Table
    errors: Table
    areas: Table
    calibration_errors: Table
    scores: dict[tuple[str, str], Table] = field(default_factory=dict)

    @property
    def tasks(self) -> dict[str, Mask]:
        """The non-empty groups for which averages are given."""
        groups = {
            "binary": self.classes == 2,
            "multiclass": self.classes > 2,
            "all": self.classes > 0,
        }
        return {name: mask for name, mask in groups.items() if mask.any()}

    @property
    def sizes(self) -> dict[str, Mask]:
        """Small, medium and large data sets."""
        n = self.samples
        groups = {
            "n < 300": n < 300,
            "300 ≤ n < 1000": (n >= 300) & (n < 1000),
            "n ≥ 1000": n >= 1000,
        }
        return {name: mask for name, mask in groups.items() if mask.any()}

    def column(self, model: str) -> Table:
        """The accuracies of one model."""
        return self.accuracy[:, self.models.index(model)]

    def complete(self, models: Sequence[str]) -> Mask:
        """Mask of the data sets on which all these models have a result."""
        columns = [self.models.index(model) for model in models]
        return np.asarray(np.isfinite(self.accuracy[:, columns]).all(axis=1))


def collect(rows: Sequence[Row], order: Sequence[str]) -> Results:
    """Tables from rows: binary sets first, then by name; models in the given order, then others."""
    shape = {row.dataset: (row.n, row.q) for row in rows}
    sets = sorted(shape, key=lambda name: (shape[name][1] > 2, name.lower()))
    found = list(dict.fromkeys(row.model for row in rows))
    models = [model for model in order if model in found]
    models += [model for model in found if model not in models]
    tables = np.full((6, len(sets), len(models)), np.nan)
    for row in rows:
        place = sets.index(row.dataset), models.index(row.model)
        means = [_mean_of(numbers) for numbers in (row.errors, row.areas, row.calibration_error)]
        tables[:, place[0], place[1]] = row.accuracy, row.deviation, row.seconds, *means
    accuracy, deviation, seconds, errors, areas, calibration_errors = tables
    return Results(
        sets,
        models,
        np.array([shape[name][0] for name in sets], dtype=np.int64),
        np.array([shape[name][1] for name in sets], dtype=np.int64),
        accuracy,
        deviation,
        seconds,
        errors,
        areas,
        calibration_errors,
        scores={(row.dataset, row.model): _numbers_in(row.scores) for row in rows},
    )


def _numbers_in(text: str) -> Table:
    return np.array([float(number) for number in text.split()])


def _mean_of(numbers: str) -> float:
    """The mean of numbers separated by spaces, NaN if there are none."""
    values = _numbers_in(numbers)
    return float(np.mean(values)) if len(values) else np.nan


def read_published(path: Path) -> Published:
    """Published accuracies: one row per data set, one column per model."""
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if "dataset" not in (reader.fieldnames or ()):
            raise ValueError(f"--published must be a CSV file with a column 'dataset'; got {path}")
        return {
            line["dataset"]: {
                model: float(value) for model, value in line.items() if model != "dataset"
            }
            for line in reader
        }


def as_table(published: Published, results: Results) -> Table:
    """Published accuracies in the shape of the results, NaN if there are none."""
    return np.array(
        [
            [published.get(name, {}).get(model, np.nan) for model in results.models]
            for name in results.sets
        ]
    )
