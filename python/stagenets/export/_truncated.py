"""A model cut back to fewer units."""

from __future__ import annotations

import copy
from typing import TypeVar

from sklearn.utils.validation import check_is_fitted

from stagenets.estimators._network import StagewiseNetwork
from stagenets.fitting._parameters import check_count

Model = TypeVar("Model", bound=StagewiseNetwork)


def truncated(model: Model, n_hidden: int) -> Model:
    """A copy of a fitted estimator that ends with the stage that had this many units.

    It predicts what ``staged_predict`` yields for that stage, and holds no readouts of the stages
    before. Its probabilities are scaled by the temperature of the whole network.
    """
    check_is_fitted(model)
    cut = copy.copy(model)
    cut.network_ = model.network_.truncated(check_count("n_hidden", n_hidden, minimum=0))
    return cut
