"""Scoring of a search's networks on the samples left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context, get_config
from sklearn.metrics import check_scoring, get_scorer_names

from stagenets.estimators._network import StagewiseNetwork
from stagenets.estimators._rvfl import RVFLClassifier, RVFLRegressor
from stagenets.fitting._fitted_network import FloatArray
from stagenets.fitting._weights import Weights
from stagenets.search._measures import Judge
from stagenets.search._splits import Split

Scorer = Callable[..., float]


def checked_scorer(scoring: Any, model: StagewiseNetwork) -> Scorer:
    """The scorer specified by `scoring`."""
    if isinstance(scoring, str):
        if scoring not in get_scorer_names():
            raise ValueError(
                f"scoring must be one of sklearn.metrics.get_scorer_names(); got {scoring!r}"
            )
    elif scoring is not None and not callable(scoring):
        raise ValueError(
            "scoring must be None, the name of a scorer or a callable "
            f"(estimator, X, y) -> float; got {scoring!r}"
        )
    scorer: Scorer = check_scoring(model, scoring=scoring)
    return scorer


def is_the_cores_own(scoring: Any, *, classification: bool) -> bool:
    """Whether the core can compute this measure itself."""
    return scoring is None or (
        isinstance(scoring, str) and scoring == ("accuracy" if classification else "r2")
    )


def needs_probabilities(scorer: Scorer) -> bool:
    """Whether a scorer may use probabilities; assumed if it does not declare what it uses."""
    method = getattr(scorer, "_response_method", "predict_proba")
    first = method if isinstance(method, str) else next(iter(method))
    return bool(first == "predict_proba")


def takes_weights(scorer: Scorer) -> bool:
    """Whether a scorer can count samples by their weights."""
    measure = getattr(scorer, "_score_func", scorer)
    return "sample_weight" in signature(measure).parameters


def judge_by(
    scorer: Scorer,
    X: FloatArray,
    y: NDArray[Any],
    splits: list[Split],
    classes: NDArray[Any] | None,
    weights: Weights | None = None,
) -> Judge:
    """A judge that calls the scorer with an estimator holding the scores of the test rows.

    Weights are for scorers that take them.
    """
    config = get_config()  # specific to this thread; other threads call the judge as well
    reads_inputs = not hasattr(scorer, "_response_method")

    @lru_cache(maxsize=2)
    def inputs(split: int) -> Any:
        rows = splits[split][1]
        return X[rows] if reads_inputs else rows  # scikit-learn's scorers pass X on unread

    def judge(split: int, scores: NDArray[np.float64], temperature: float) -> float:
        meaning = _Meaning(scores, temperature, classes, one_target=y.ndim == 1)
        model = _HeldOutRegressor() if classes is None else _HeldOutClassifier()
        model.network_ = meaning
        test = splits[split][1]
        weighted = {} if weights is None else {"sample_weight": weights[test]}
        with config_context(**config):
            return float(scorer(model, inputs(split), y[test], **weighted))

    return judge


@dataclass(frozen=True)
class _Meaning:
    """Known scores and their meaning: all that predictions need from a network."""

    held_out: NDArray[np.float64]
    temperature: float
    classes: NDArray[Any] | None
    one_target: bool


class _HeldOut:
    """Makes an estimator behave like a fitted one whose scores are already known."""

    network_: Any

    def _scores(self, X: Any) -> FloatArray:
        scores: FloatArray = self.network_.held_out
        return scores


class _HeldOutClassifier(_HeldOut, RVFLClassifier):
    pass


class _HeldOutRegressor(_HeldOut, RVFLRegressor):
    pass
