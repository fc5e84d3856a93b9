"""How far off predictions may be: the posterior of a readout, and errors on rows left out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from stagenets import _core
from stagenets.fitting._parameters import check_number, refusal
from stagenets.fitting._stopping import folds_of, group_numbers
from stagenets.fitting._threads import effective_threads, single_threaded_blas

Rows = NDArray[np.int64]

if TYPE_CHECKING:
    from stagenets.estimators._network import StagewiseNetwork
    from stagenets.fitting._fitted_network import FloatArray, Matrix

_MOST_ERRORS = 10_000
_CROSS_FIT_BYTES = 2e9


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Errors of a network on rows left out and, for numbers, the posterior of its readout.

    The variance of a prediction is ``noise · (1 + ‖[x if linked, units, 1] · root‖²)``. `errors`,
    in ascending order, are of each output, in units of the root of the term in parentheses; or one
    minus the probability of the right class.
    """

    kind: str
    errors: Matrix
    root: Matrix | None = None
    noise: Matrix | None = None

    def quantile(self, coverage: Any) -> Matrix:
        """The error that a new row exceeds with a probability of at most ``1 - coverage``."""
        level = check_number("coverage", coverage, positive=True)
        if level >= 1:
            raise refusal("coverage", coverage, "a number between 0 and 1")
        rank = math.ceil(level * (len(self.errors) + 1))
        if rank > len(self.errors):  # too few rows to tell
            return np.full(self.errors.shape[1], np.inf)
        quantile: Matrix = self.errors[rank - 1]
        return quantile

    def spread(self, core: _core.Network, X: FloatArray, threads: int) -> Matrix:
        """The root of one plus the leverage of each row, shape (rows, 1)."""
        assert self.root is not None
        with single_threaded_blas():
            return np.sqrt(1 + _core.leverages(core, X, self.root, threads=threads))[:, None]


def check_intervals(
    model: StagewiseNetwork, *, weighted: bool = False, several_labels: bool = False
) -> str | None:
    """The kind of errors to collect, if any."""
    value, accepted = model.intervals, model._interval_kinds
    if value is not None and not (isinstance(value, str) and value in accepted):
        raise refusal("intervals", value, ", ".join(["None", *map(repr, accepted)]))
    if value is not None and (weighted or getattr(model, "class_weight", None) is not None):
        raise refusal("intervals", value, "None with sample_weight or class_weight")
    if value is not None and not hasattr(model, "class_weight") and model.loss != "squared":
        raise refusal("intervals", value, f"None with loss={model.loss!r}")
    if value is not None and several_labels:
        raise refusal("intervals", value, "None with several labels")
    if value is not None and model.manifold != 0:
        raise refusal("intervals", value, "None with manifold > 0")
    return value


def uncertainty_of(
    model: StagewiseNetwork,
    core: _core.Network,
    alpha: float,
    X: FloatArray,
    targets: _core.Targets,
    rows: Rows | None,
    groups: Any,
) -> Uncertainty | None:
    """What the model is to know about its errors, with the penalty of its fit.

    `rows` are those of the fit, if not all.

    Samples of a group are left out together.
    """
    kind = check_intervals(model)
    if kind is None:
        return None
    if targets.task == _core.Task.NUMBERS:
        return _of_numbers(model, kind, core, alpha, X, targets, rows, groups)
    scores = _cross_fitted(model, core, alpha, X, targets, groups)
    probabilities = softmax(scores, axis=1)
    errors = 1 - probabilities[targets.values > 0.5]
    return Uncertainty(kind, _sorted_errors(errors[:, None]))


def _of_numbers(
    model: StagewiseNetwork,
    kind: str,
    core: _core.Network,
    alpha: float,
    X: FloatArray,
    targets: _core.Targets,
    rows: Rows | None,
    groups: Any,
) -> Uncertainty:
    used = np.arange(X.shape[0]) if rows is None else rows
    roots = np.zeros(X.shape[0])
    roots[used] = 1
    threads = effective_threads(model.n_jobs)
    values = targets.values
    settings = model._settings(X.shape)
    with single_threaded_blas():
        mapped = _core.design_map(core, X, settings, root_weights=roots, threads=threads)
        gram = _core.readout_gram(core, X, mapped, values, root_weights=roots, threads=threads)
        _, root = _core.solve_gram(gram, mapped, alpha, threads=threads)
        leverages = _core.leverages(core, X, root, threads=threads)[used, None]
        residuals = values - core.scores(X, threads).astype(np.float64, copy=False)
    centered = values[used] - values[used].mean(axis=0)
    # The likeliest noise, given the penalty, of targets ~ N(0, noise · (I + A Aᵀ / alpha)).
    noise = np.maximum((centered * residuals[used]).mean(axis=0), 0)
    if kind == "loo":
        left_out = residuals[used] / np.maximum(1 - leverages, 1e-10)
    else:
        left_out = (values - _cross_fitted(model, core, alpha, X, targets, groups))[used]
    # The leverage of a row that is left out is h / (1 - h), so one plus that is 1 / (1 - h).
    errors = np.abs(left_out) * np.sqrt(np.maximum(1 - leverages, 0))
    return Uncertainty(kind, _sorted_errors(errors), root, noise)


def _cross_fitted(
    model: StagewiseNetwork,
    core: _core.Network,
    alpha: float,
    X: FloatArray,
    targets: _core.Targets,
    groups: Any,
) -> Matrix:
    """Scores of every row by networks of the same size that were built without it."""
    one_label = targets.task == _core.Task.ONE_LABEL
    labels = np.argmax(targets.values, axis=1) if one_label else None
    splits = folds_of(model, X.shape[0], labels, group_numbers(groups, X.shape[0]))
    scores = np.empty(targets.values.shape)

    def keep(split: int, found: Matrix, temperature: Matrix) -> float:
        scores[splits[split][1]] = temperature * found if one_label else found
        return 0.0

    layer = core.layers[-1]
    size = len(layer.biases if layer.ends is None else layer.ends)
    with single_threaded_blas():
        _core.search_networks(
            X,
            targets,
            families=[[model._settings(X.shape, alpha=alpha)]],
            sizes=[size],
            splits=splits,
            judge=keep,
            links=one_label,
            max_memory=_CROSS_FIT_BYTES,
            threads=effective_threads(model.n_jobs),
            progress=None,
        )
    return scores


def _sorted_errors(errors: Matrix) -> Matrix:
    """The errors of each output in ascending order; of very many, evenly spaced ones."""
    ordered = np.sort(errors, axis=0)
    count = len(ordered)
    if count <= _MOST_ERRORS:
        return ordered
    ranks = -(-np.arange(1, _MOST_ERRORS + 1) * count // _MOST_ERRORS)
    return ordered[ranks - 1]
