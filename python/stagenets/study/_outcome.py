"""The result of evaluating one model on one data set, whatever the protocol."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Outcome:
    """Accuracy or R² on every test part, and the hyper-parameters chosen for it.

    Regression also has the error on every test part, and classification, of models that give
    probabilities, the log-loss (as errors) and the area under the ROC curve, and the calibration
    error over all test parts. `seconds` are those spent on fitting.
    """

    scores: list[float]
    chosen: list[dict[str, Any]]
    inputs: str
    seconds: float
    errors: list[float] = field(default_factory=list)
    areas: list[float] = field(default_factory=list)
    calibration_error: float = float("nan")


def powers_of_ten(first: int, last: int, step: int = 1) -> tuple[float, ...]:
    """10^first, …, 10^last."""
    return tuple(float(f"1e{exponent}") for exponent in range(first, last + 1, step))


def plain_params(params: dict[str, Any]) -> dict[str, Any]:
    """Parameters with NumPy numbers as Python numbers, for JSON."""
    return {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in params.items()
    }
