"""A model cut back to one of its stages."""

from __future__ import annotations

import copy
from typing import TypeVar

from sklearn.utils.validation import check_is_fitted

from stagenets.estimators._network import StagewiseNetwork
from stagenets.fitting._parameters import check_count

Model = TypeVar("Model", bound=StagewiseNetwork)


def truncated(model: Model, stage: int) -> Model:
    """A copy of a fitted estimator that ends with a stage, 0 being the one before the first unit.

    It predicts what ``staged_predict`` yields for that stage, and holds no readouts of the stages
    before. Its probabilities are scaled by the temperature of the whole network.
    """
    check_is_fitted(model)
    cut = copy.copy(model)
    cut.network_ = model.network_.truncated(check_count("stage", stage, minimum=0))
    return cut
