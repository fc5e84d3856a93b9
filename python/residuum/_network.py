"""What all estimators share: from parameters to the core and back."""

from __future__ import annotations

import os
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from residuum import _core
from residuum._draws import core_draws
from residuum._html import SummaryHTML
from residuum._progress import StageInfo, watched_fit
from residuum._scikit_callbacks import CallbackSupportMixin
from residuum._stopping import evidence_for
from residuum._threads import effective_threads, single_threaded_blas
from residuum._validation import (
    ACTIVATIONS,
    SELECTIONS,
    check_choice,
    check_count,
    check_flag,
    check_fraction,
    check_number,
    check_penalty,
    check_pool,
    contiguous,
    seed_of,
)

FloatArray = NDArray[np.floating[Any]]

FLOAT_TYPES = (np.float64, np.float32)


# What only some fits leave behind.
_EVIDENCE = (
    "best_iter_",
    "units_path_",
    "unit_scores_",
    "pool_quantiles_",
    "loo_path_",
    "loo_accuracy_path_",
    "validation_path_",
    "cv_path_",
)


def automatic_units(samples: int) -> int:
    """Hidden units that suit so many samples."""
    return max(50, min(300, samples // 5))


class StagewiseNetwork(
    SummaryHTML,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    CallbackSupportMixin,
    BaseEstimator,
    metaclass=ABCMeta,
):
    """A network built stage by stage; classifiers and regressors add their targets to it."""

    _architecture: str

    # Parameters that every subclass's __init__ sets.
    alpha: float
    selection: str
    pool_size: int
    block_size: int
    score_fraction: float
    weight_init: Any
    weight_scale: float
    fan_in: int
    standardize: bool
    fit_intercept: bool
    solver: str
    tol: float
    early_stopping: bool | str
    validation_fraction: float
    n_iter_no_change: int
    random_state: Any
    n_jobs: int | None
    verbose: int
    callback: Callable[[StageInfo], object] | None

    @abstractmethod
    def _set_units(
        self, settings: _core.NetworkSettings, shape: tuple[int, int], pool: int, block: int
    ) -> int:
        """Put the architecture's own parameters into the settings; return the number of units."""

    @abstractmethod
    def _network(self) -> _core.Network:
        """The fitted network as the core evaluates it."""

    def _store_units(self, fit: dict[str, Any]) -> None:
        self.hidden_weights_ = fit["hidden_weights"]
        self.hidden_biases_ = fit["hidden_biases"]

    def _settings(self, shape: tuple[int, int]) -> tuple[_core.NetworkSettings, int]:
        one_shot = check_choice("selection", self.selection, SELECTIONS) == "random"
        pool, block = (1, 1) if one_shot else check_pool(self.pool_size, self.block_size)
        seed = seed_of(self.random_state)
        settings = _core.NetworkSettings()
        settings.set_architecture(self._architecture)
        settings.set_draws(
            core_draws(self.weight_init, seed),
            check_number("weight_scale", self.weight_scale, positive=True),
            check_count("fan_in", self.fan_in),
            seed,
        )
        settings.set_selection(
            self.selection, check_fraction("score_fraction", self.score_fraction)
        )
        settings.set_ridge(*check_penalty(self.alpha, self.solver), check_number("tol", self.tol))
        settings.intercept = check_flag("fit_intercept", self.fit_intercept)
        settings.standardize = check_flag("standardize", self.standardize)
        settings.threads = effective_threads(self.n_jobs)
        return settings, self._set_units(settings, shape, pool, block)

    def _fit(
        self, X: FloatArray, targets: NDArray[np.float64], labels: NDArray[np.int64] | None
    ) -> NDArray[np.float64]:
        """Fit to targets (n, q); returns the readout, a row a column of the design, ones last."""
        settings, units = self._settings(X.shape)
        largest = settings.size
        evidence = evidence_for(self, settings, X, targets, labels)
        units -= largest - settings.size  # what cross-validation found to be too many
        with watched_fit(self, units, self._planned_stages(units)) as watcher:
            with single_threaded_blas():
                fit = _core.fit_network(
                    contiguous(X), targets, labels, evidence.root_weights, settings, watcher
                )
            if watcher and self.selection == "random":  # built in one go: told of once, at the end
                ends = fit["objective_path"], fit["residual_path"]
                watcher(len(ends[0]) - 2, units, *(float(path[-1]) for path in ends))
        self._store_units(fit)
        self.n_hidden_ = len(fit["selected"])
        self.selected_ = fit["selected"]
        self.objective_path_ = fit["objective_path"]
        self.residual_path_ = fit["residual_path"]
        self.n_iter_ = len(self.objective_path_) - 1
        self._store_evidence(fit)
        if evidence.cv_path is not None:
            self.cv_path_ = evidence.cv_path
        self._path = {
            name: fit[f"path_{name}"] for name in ("start", "directions", "steps", "ends")
        }
        self._temperature = fit["temperature"]
        self._profile = fit["profile"]
        return np.asarray(fit["readout"])

    def _store_evidence(self, fit: dict[str, Any]) -> None:
        for name in _EVIDENCE:  # of an earlier fit, with other settings
            self.__dict__.pop(name, None)
        if self.selection == "random":  # no stages
            return
        self.best_iter_ = fit["best_stage"]
        self.units_path_ = fit["units_path"]
        self.unit_scores_ = fit["unit_scores"]
        self.pool_quantiles_ = fit["pool_quantiles"]
        self.loo_path_ = fit["loo_error_path"]
        if len(fit["loo_accuracy_path"]):
            self.loo_accuracy_path_ = fit["loo_accuracy_path"]
        if len(fit["validation_path"]):
            self.validation_path_ = fit["validation_path"]

    def _planned_stages(self, units: int) -> int:
        return 1 if self.selection == "random" else -(-units // self.block_size)

    def _readout(self) -> NDArray[np.float64]:
        coef = np.atleast_2d(self.coef_)
        return np.vstack([coef.T, np.reshape(self.intercept_, (1, len(coef)))])

    def _validated(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        return contiguous(validate_data(self, X, reset=False, dtype=FLOAT_TYPES))

    def _scores(self, X: Any) -> FloatArray:
        """What the readout gives, a column an output."""
        return self._evaluate(self._validated(X), self._readout())

    def _evaluate(self, X: FloatArray, readout: NDArray[np.float64]) -> FloatArray:
        with single_threaded_blas():
            return self._network().evaluate(X, readout, effective_threads(self.n_jobs))

    def _staged_scores(self, X: Any) -> Iterator[FloatArray]:
        X = self._validated(X)
        path = self._path
        columns = self._evaluate(X, np.hstack([path["start"], path["directions"]]))
        outputs = path["start"].shape[1]
        scores, changes = columns[:, :outputs].copy(), columns[:, outputs:]
        yield scores.copy()
        for first, last in zip(path["ends"][:-1], path["ends"][1:], strict=True):
            steps = path["steps"][first:last].astype(scores.dtype)
            scores += changes[:, first:last] @ steps
            yield scores.copy()

    def transform(self, X: Any) -> FloatArray:
        """Activations of the hidden units.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_hidden_)
        """
        X = self._validated(X)
        with single_threaded_blas():
            return self._network().transform(X, effective_threads(self.n_jobs))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a file that `residuum.load` reads.

        The file is in safetensors format: arrays and a JSON header, nothing executable. Parameters
        that are not plain data (a `weight_init` or `callback` of your own, a RandomState) are
        written as None, and so is `n_jobs`, which belongs to the machine. Predictions do not need
        them; to fit a loaded model again, set them first.

        Parameters
        ----------
        path : str or path-like
            The file; it is overwritten if it exists.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import residuum
        >>> model = residuum.ELMRegressor(n_hidden=5, random_state=0)
        >>> model = model.fit([[0], [1], [2]], [0, 1, 4])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "squares.safetensors"
        ...     model.save(path)
        ...     print(residuum.load(path).n_hidden_)
        5
        """
        from residuum._files import save_model

        save_model(self, path)

    @property
    def _n_features_out(self) -> int:
        return self.n_hidden_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class AffineNetwork(StagewiseNetwork):
    """Hidden units φ(x·w + β) of the inputs: what RVFL and ELM have in common."""

    def __init__(
        self,
        *,
        n_hidden: int | str = "auto",
        alpha: float = 3.0,
        selection: str = "residual",
        pool_size: int = 100,
        block_size: int = 1,
        score_fraction: float = 1.0,
        activation: str = "sigmoid",
        weight_init: Any = "sparse",
        weight_scale: float = 1.0,
        fan_in: int = 6,
        standardize: bool = True,
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 0.0,
        early_stopping: bool | str = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 20,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[StageInfo], object] | None = None,
    ) -> None:
        self.n_hidden = n_hidden
        self.alpha = alpha
        self.selection = selection
        self.pool_size = pool_size
        self.block_size = block_size
        self.score_fraction = score_fraction
        self.activation = activation
        self.weight_init = weight_init
        self.weight_scale = weight_scale
        self.fan_in = fan_in
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _set_units(
        self, settings: _core.NetworkSettings, shape: tuple[int, int], pool: int, block: int
    ) -> int:
        if isinstance(self.n_hidden, str):
            check_choice("n_hidden", self.n_hidden, ("auto",))
            units = automatic_units(shape[0])
        else:
            units = check_count("n_hidden", self.n_hidden)
        settings.set_activation(check_choice("activation", self.activation, ACTIVATIONS))
        settings.set_units(units, pool, block, self.selection == "random")
        return units

    def _network(self) -> _core.Network:
        return _core.Network(
            hidden_weights=self.hidden_weights_,
            hidden_biases=self.hidden_biases_,
            activation=self.activation,
            direct_links=self._architecture == "rvfl",
            features=None,
        )
