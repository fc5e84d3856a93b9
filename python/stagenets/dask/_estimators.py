"""The estimators for Dask's arrays and data frames."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

import stagenets
from stagenets.dask import _partition, _score
from stagenets.dask._blocks import blocks_of_rows, is_array, is_collection, mapped
from stagenets.dask._driver import (
    choice_on_partitions,
    common_facts,
    fit_on_partitions,
    importances_on_partitions,
    places_of,
)
from stagenets.dask._partition import Facts, Plan
from stagenets.dask._supported import check_columns, check_supported
from stagenets.dask._tasks import Tasks, tasks_of
from stagenets.estimators._network import StagewiseNetwork
from stagenets.fitting._fitted_network import FittedNetwork
from stagenets.fitting._parameters import check_choice, seed_of
from stagenets.fitting._progress import watched_fit
from stagenets.fitting._scikit_callbacks import tells_callbacks
from stagenets.fitting._stopping import stopping_of, warn_if_nothing_helped
from stagenets.fitting._unchanged import unchanged_on_failure
from stagenets.fitting._weights import samples_counted

if TYPE_CHECKING:
    from typing_extensions import Self


class DaskNetwork(StagewiseNetwork):
    """What the estimators share: `fit` on the partitions, and predictions block by block."""

    _local: ClassVar[type[StagewiseNetwork]]
    client: Any
    store: str

    @tells_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose the hidden units and fit the readout, where the rows are.

        Parameters
        ----------
        X : dask array or data frame of shape (n_samples, n_features)
            Training inputs. Lengths of chunks need not be known, and partitions may be empty or of
            very different lengths. Computations are in float32 if all partitions are.
        y : dask array, series or data frame
            Class labels of shape (n_samples,), zeros and ones for several labels of shape
            (n_samples, n_labels), or targets of shape (n_samples,) or (n_samples,
            n_targets), in the same partitions.
        sample_weight : dask array or series of shape (n_samples,), optional
            Weights of the samples, in the same partitions.

        Returns
        -------
        self
        """
        with unchanged_on_failure(self):
            self.network_ = self._network_on(X, y, sample_weight)
        return self

    def _network_on(self, X: Any, y: Any, sample_weight: Any) -> FittedNetwork:
        model = self._local(**{**self._local_params(), "random_state": seed_of(self.random_state)})
        check_supported(model)
        check_columns(model, X)
        store = check_choice("store", self.store, ("memory", "recompute"))
        blocks = blocks_of_rows(X, y=y, sample_weight=sample_weight)
        tasks = self._tasks()
        classifier = is_classifier(self)
        rows = tasks.begin("load", _partition.load, [(*some, classifier) for some in blocks])
        parts = tasks.fetch(tasks.each("facts", _partition.facts, rows))
        facts = common_facts(parts)
        rows = [part for part, known in zip(rows, parts, strict=True) if known.rows]
        lengths = [part.rows for part in parts if part.rows]
        model.set_params(callback=None, verbose=0)
        shape = (samples_counted(facts.weight), facts.inputs)
        stopping = stopping_of(model, facts.rows, self._labels_to_stratify(tasks, rows, facts))
        several = classifier and facts.outputs != ()
        steered = self.callback is not None or bool(getattr(self, "_skl_callbacks", None))
        set_aside = stopping.validation_rows
        weighted = facts.weighted or len(set_aside) > 0
        plan = Plan(model, shape, facts.dtype, facts.classes, several, weighted, steered, store)
        settings = plan.settings(stopping)  # or a refusal
        choice = choice_on_partitions(tasks, rows, facts, plan)
        if choice is not None:
            model.set_params(**{"alpha": choice.alpha, model._size_name: choice.size})
            settings = plan.settings(stopping)
        with watched_fit(self, settings.max_units) as watcher:
            places = places_of(lengths, set_aside)
            network = fit_on_partitions(tasks, rows, places, plan, watcher.stage)
        self._set_inputs(facts)
        warn_if_nothing_helped(self, network.history)
        network = replace(
            network,
            classes=facts.classes,
            one_target=not classifier and facts.outputs == (),
            feature_names=() if facts.names is None else tuple(map(str, facts.names)),
        )
        if choice is not None:
            history = replace(network.history, cv_sizes=choice.sizes, cv_path=choice.means)
            network = replace(network, history=history)
        importances = importances_on_partitions(tasks, rows, lengths, network)
        return replace(network, importances=importances)

    def _labels_to_stratify(self, tasks: Tasks, rows: list[Any], facts: Facts) -> Any:
        """The number of each row's class, if rows of every class are to be set aside."""
        if facts.classes is None or facts.outputs or self.early_stopping != "validation":
            return None
        classes = [facts.classes] * len(rows)
        return np.concatenate(
            tasks.fetch(tasks.each("labels", _partition.classes_of, rows, classes))
        ).astype(np.int64)

    def _tasks(self) -> Tasks:
        return tasks_of(self.client, type(self).__name__)

    def _local_params(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._local._get_param_names()}

    def _set_inputs(self, facts: Facts) -> None:
        self.n_features_in_ = facts.inputs
        if facts.names is not None:
            self.feature_names_in_ = facts.names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _validated(self, X: Any) -> Any:
        # What is left to the methods of the local class, which would bring all rows here.
        if is_collection(X):
            raise TypeError(
                f"X must be in memory here; got {type(X).__name__} (use to_local() on its blocks)"
            )
        return super()._validated(X)

    @property
    def partial_fit(self) -> Any:
        """Batches are for the local estimator."""
        raise AttributeError(f"{type(self).__name__} has no partial_fit; use to_local()")

    def to_local(self) -> Any:
        """The same fitted model as the estimator of this name in stagenets.

        Returns
        -------
        estimator
        """
        self._checked_network()
        local = self._local(**self._local_params())
        for name in ("network_", "n_features_in_", "feature_names_in_"):
            if name in vars(self):
                setattr(local, name, getattr(self, name))
        return local

    def save(self, path: str | os.PathLike[str], *, staged: bool = True) -> None:
        """Write the fitted estimator to a file, from which `stagenets.load` makes a local one.

        Parameters
        ----------
        path : str or path-like
            The file to write.
        staged : bool, default=True
            Whether to keep the readouts of all stages.
        """
        self.to_local().save(path, staged=staged)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of a classifier, or R² of a regressor, computed where the rows are.

        Parameters
        ----------
        X : dask or local array or data frame of shape (n_samples, n_features)
        y : the same kind of collection
            Class labels or targets.
        sample_weight : the same kind of collection, optional
            Weights of the samples.

        Returns
        -------
        float
        """
        local = self._predictor()
        if not is_collection(X):
            return float(local.score(X, y, sample_weight))
        tasks, blocks = self._tasks(), blocks_of_rows(X, y=y, sample_weight=sample_weight)
        parts = tasks.begin("score", _score.tallied, [(*some, local) for some in blocks])
        return _score.score_of(tasks.fetch(parts))

    def transform(self, X: Any) -> Any:
        """Activations of the hidden units.

        Parameters
        ----------
        X : dask or local array or data frame of shape (n_samples, n_features)

        Returns
        -------
        the same kind of collection, of shape (n_samples, n_hidden_)
        """
        return self._mapped("transform", X, self.get_feature_names_out)

    def _predictor(self) -> Any:
        """The local model without its stages, which predictions do not need."""
        local = self.to_local()
        local.network_ = local.network_.without_stages()
        return local.set_params(callback=None)

    def _mapped(self, method: str, X: Any, columns: Callable[[], Any] | None = None) -> Any:
        local = self._predictor()
        if not is_collection(X):
            return getattr(local, method)(X)
        dtype = np.float32 if is_array(X) and X.dtype == np.float32 else np.float64
        like = getattr(local, method)(_one_row(self, dtype))[:0]
        names = None if columns is None or like.ndim == 1 else columns()
        return mapped(X, _predict, like, names, model=local, method=method)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.allow_nan = False
        tags.input_tags.categorical = False
        return tags

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "client": None}  # which belongs to this process


def _one_row(model: DaskNetwork, dtype: Any) -> Any:
    row = np.zeros((1, model.n_features_in_), dtype)
    if not hasattr(model, "feature_names_in_"):
        return row
    import pandas as pd

    return pd.DataFrame(row, columns=model.feature_names_in_)


def _predict(X: Any, model: Any, method: str) -> NDArray[Any]:
    return getattr(model, method)(X)  # type: ignore[no-any-return]


class DaskClassifier(DaskNetwork):
    """Classifier methods on Dask's collections."""

    classes_: NDArray[Any]

    def predict(self, X: Any) -> Any:
        """Class with the highest score, block by block when it is computed.

        Parameters
        ----------
        X : dask or local array or data frame of shape (n_samples, n_features)

        Returns
        -------
        the same kind of collection, of shape (n_samples,)
        """
        return self._mapped("predict", X)

    def predict_proba(self, X: Any) -> Any:
        """Class probabilities, block by block when they are computed.

        Parameters
        ----------
        X : dask or local array or data frame of shape (n_samples, n_features)

        Returns
        -------
        the same kind of collection, of shape (n_samples, n_classes)
        """
        return self._mapped("predict_proba", X, lambda: self.classes_)

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of the class probabilities, block by block when they are computed.

        Parameters
        ----------
        X : dask or local array or data frame of shape (n_samples, n_features)

        Returns
        -------
        the same kind of collection, of shape (n_samples, n_classes)
        """
        return self._mapped("predict_log_proba", X, lambda: self.classes_)

    def decision_function(self, X: Any) -> Any:
        """Scores of the classes, block by block when they are computed.

        Parameters
        ----------
        X : dask or local array or data frame of shape (n_samples, n_features)

        Returns
        -------
        the same kind of collection, of shape (n_samples,) or (n_samples, n_classes)
        """
        return self._mapped("decision_function", X, lambda: self.classes_)


class DaskRegressor(DaskNetwork):
    """Regressor methods on Dask's collections."""

    def predict(self, X: Any) -> Any:
        """Predicted targets, block by block when they are computed.

        Parameters
        ----------
        X : dask or local array or data frame of shape (n_samples, n_features)

        Returns
        -------
        the same kind of collection, of shape (n_samples,) or (n_samples, n_targets)
        """
        return self._mapped("predict", X)


Class = TypeVar("Class", bound=type[DaskNetwork])


def _on_dask(cls: Class) -> Class:
    """Give a class the parameters of its local sibling, and `client`."""
    local: Any = next(base for base in cls.__mro__ if base.__module__.startswith("stagenets.est"))
    cls._local = local
    inherited = inspect.signature(local.__init__)

    def __init__(
        self: Any, *, client: Any = None, store: str = "memory", **parameters: Any
    ) -> None:
        local.__init__(self, **parameters)
        self.client = client
        self.store = store

    own = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
        for name, default in (("client", None), ("store", "memory"))
    ]
    # scikit-learn looks for the names of the parameters here.
    __init__.__signature__ = inherited.replace(  # type: ignore[attr-defined]
        parameters=[*inherited.parameters.values(), *own]
    )
    __init__.__qualname__ = f"{cls.__qualname__}.__init__"
    cls.__init__ = __init__  # type: ignore[method-assign]
    cls.__doc__ = _DOCUMENTATION.format(name=local.__name__)
    return cls


_DOCUMENTATION = """`stagenets.{name}` for Dask's arrays and data frames.

    A fit chooses the units that the local one with the same seed and penalty chooses, whatever the
    partitions: each partition keeps its rows, and only sums over them travel. A partition that is
    lost with its worker is made again. Fitted attributes are those of `stagenets.{name}`.

    Parameters
    ----------
    client : distributed.Client, optional
        Where to compute. By default the current client, or the threads of this process if there is
        none.
    store : {{"memory", "recompute"}}, default="memory"
        What a partition keeps for each of its rows besides the row itself: a number for every unit,
        or only residuals. The latter needs little memory, and takes more time, as the activations
        of all units are computed again at every stage.
    **parameters
        All parameters of `stagenets.{name}`, with the same defaults. `early_stopping` must be
        False, "loo" or "validation", and `solver` not "dual". ``alpha="auto"`` is chosen by
        cross-validation on one worker if all rows take no more than 32 MiB; otherwise it stands
        for the usual penalty. `n_jobs` is the number of threads for one partition,
        one by default, as partitions are worked on side by side.
    """


@_on_dask
class RVFLClassifier(DaskClassifier, stagenets.RVFLClassifier):  # type: ignore[misc]
    pass


@_on_dask
class RVFLRegressor(DaskRegressor, stagenets.RVFLRegressor):  # type: ignore[misc]
    pass


@_on_dask
class ELMClassifier(DaskClassifier, stagenets.ELMClassifier):  # type: ignore[misc]
    pass


@_on_dask
class ELMRegressor(DaskRegressor, stagenets.ELMRegressor):  # type: ignore[misc]
    pass


@_on_dask
class BLSClassifier(DaskClassifier, stagenets.BLSClassifier):  # type: ignore[misc]
    pass


@_on_dask
class BLSRegressor(DaskRegressor, stagenets.BLSRegressor):  # type: ignore[misc]
    pass
