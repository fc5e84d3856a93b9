"""The time at which each stage of a fit ended: the accuracy-over-time curve of one fit.

The core calls back after every stage, and the clock records the time. The work after the last
stage (the readout, the temperature) would be done wherever the fit stopped, so its time is added to
every stage.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, r2_score

from stagenets import StageInfo
from study_data import Dataset


@dataclass(frozen=True)
class StageTimes:
    """Units and seconds of every stage, as if the fit had ended there."""

    units: NDArray[np.int64]
    seconds: NDArray[np.float64]


def clocked_fit(network: Any, X: Any, y: Any) -> StageTimes:
    """Fit the network and record when each stage ended."""
    units: list[int] = []
    seconds: list[float] = []

    def note(info: StageInfo) -> None:
        units.append(info.n_units)
        seconds.append(time.perf_counter() - started)

    started = time.perf_counter()
    network.set_params(callback=note).fit(X, y)
    total = time.perf_counter() - started
    if not units:
        raise RuntimeError("the fit had no stages to time: is this a one-shot network?")
    return StageTimes(np.array(units), np.array(seconds) + (total - seconds[-1]))


def score(data: Dataset, predicted: NDArray[Any]) -> float:
    """Test accuracy, or R² for regression."""
    metric = r2_score if data.regression else accuracy_score
    return float(metric(data.y_test, predicted))


def staged_scores(network: Any, data: Dataset) -> list[float]:
    """The score on the test rows after each stage, without the one before the first stage."""
    return [score(data, predicted) for predicted in network.staged_predict(data.X_test)][1:]
