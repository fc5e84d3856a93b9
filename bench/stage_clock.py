"""When each stage of a fit was done: the accuracy-over-time curve of one fit.

The core calls back after every stage; the clock notes the time. What the fit still does after its
last stage (the readout, the temperature) it would do wherever it stopped, so that is added to
every stage.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, r2_score

from residuum import StageInfo
from study_data import Dataset


@dataclass(frozen=True)
class StageTimes:
    """Units and seconds of every stage, had the fit ended there."""

    units: NDArray[np.int64]
    seconds: NDArray[np.float64]


def clocked_fit(network: Any, X: Any, y: Any) -> StageTimes:
    """Fit the network and note when each stage was done."""
    units: list[int] = []
    seconds: list[float] = []

    def note(info: StageInfo) -> None:
        units.append(info.n_units)
        seconds.append(time.perf_counter() - started)

    started = time.perf_counter()
    network.set_params(callback=note).fit(X, y)
    total = time.perf_counter() - started
    if not units:
        raise RuntimeError("the fit called back after no stage: a one-shot network has none")
    return StageTimes(np.array(units), np.array(seconds) + (total - seconds[-1]))


def score(data: Dataset, predicted: NDArray[Any]) -> float:
    """Test accuracy, or R² of a regression."""
    metric = r2_score if data.regression else accuracy_score
    return float(metric(data.y_test, predicted))


def staged_scores(network: Any, data: Dataset) -> list[float]:
    """The score on the test rows after each stage, that before the first left out."""
    return [score(data, predicted) for predicted in network.staged_predict(data.X_test)][1:]
