"""The base of all estimators: from parameters to the core and back."""

from __future__ import annotations

import os
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from stagenets import _core
from stagenets.estimators._attributes import FittedAttributes
from stagenets.estimators._streams import StreamFits
from stagenets.fitting._choice import choice_of
from stagenets.fitting._draws import core_draws
from stagenets.fitting._few_labels import neighbor_graph
from stagenets.fitting._fitted_network import FitHistory, FittedNetwork, FloatArray
from stagenets.fitting._growing import Memory, known_stages, memory_for, seed_for
from stagenets.fitting._importances import importances_of
from stagenets.fitting._input_encoding import InputEncoding
from stagenets.fitting._parameters import (
    WEIGHT_FAMILIES,
    check_choice,
    check_count,
    check_flag,
    check_number,
    check_penalty,
    check_pool,
    check_scaling,
    check_score_fraction,
    check_size,
    contiguous,
    is_one_shot,
)
from stagenets.fitting._progress import StageInfo, watched_fit
from stagenets.fitting._rows import Rows, checked_rows
from stagenets.fitting._scikit_callbacks import CallbackSupportMixin
from stagenets.fitting._stopping import Labels, stopping_of, warn_if_nothing_helped
from stagenets.fitting._streaming import Stream
from stagenets.fitting._threads import effective_threads, single_threaded_blas
from stagenets.fitting._uncertainty import Uncertainty, check_intervals, uncertainty_of
from stagenets.fitting._weights import Weights, counted
from stagenets.inspection._html import SummaryHTML

if TYPE_CHECKING:
    from typing_extensions import Self


class StagewiseNetwork(
    FittedAttributes,
    StreamFits,
    SummaryHTML,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    CallbackSupportMixin,
    BaseEstimator,
    metaclass=ABCMeta,
):
    """A network built stage by stage; classifiers and regressors add the targets.

    An architecture is a subclass that defines what the core builds (`_architecture`), which
    parameter varies along a path of networks (`_size_name`), whether the inputs feed the readout
    (`_links_inputs`), the number of layers of units (`_n_layers`) and, if they are not all, the
    families of weights that it can draw from (`_weight_families`).
    """

    _size_name: ClassVar[str]
    _links_inputs: ClassVar[bool]
    _n_layers: ClassVar[int]
    _weight_families: ClassVar[tuple[str, ...]] = WEIGHT_FAMILIES
    _losses: ClassVar[tuple[str, ...]] = ("squared",)
    # Defaults of the class in place of those that its architecture's __init__ shows.
    _defaults: ClassVar[dict[str, Any]] = {}
    _interval_kinds: ClassVar[tuple[str, ...]] = ("loo", "cv")
    # What alpha="auto" chooses from, by loss: a small, a usual and a large penalty.
    _alphas: ClassVar[dict[str, tuple[float, float, float]]] = {
        "squared": (0.03, 3.0, 100.0),
        "log": (0.3, 3.0, 30.0),
    }
    # Losses that have the penalties of another, which they are like.
    _like: ClassVar[dict[str, str]] = {}
    _memory: Memory | None = None  # of the last fit, with warm_start=True
    # Parameters, with their defaults, that the architecture's __init__ does not have.
    _more_parameters: ClassVar[dict[str, Any]] = {}
    _stream: Stream | None = None  # of all batches so far, with partial_fit

    # Parameters that every subclass's __init__ sets.
    loss: str
    alpha: float | str
    selection: str
    pool_size: int | str
    block_size: int | str
    score_fraction: float | str
    weight_init: Any
    weight_scale: float
    fan_in: int
    categorical_features: Any
    max_categories: int
    standardize: bool | str
    extrapolate: bool
    fit_intercept: bool
    solver: str
    tol: float
    early_stopping: bool | str
    validation_fraction: float
    n_iter_no_change: int
    intervals: str | None
    unlabeled: Any
    manifold: float
    n_neighbors: int
    warm_start: bool
    random_state: Any
    n_jobs: int | None
    verbose: int
    callback: Callable[[StageInfo], object] | None

    @abstractmethod
    def _architecture(self, shape: tuple[int, int]) -> _core.Architecture:
        """What the core is to build for data of this shape; checks the parameters involved."""

    def _pool_and_block(self, samples: int) -> tuple[int, int]:
        """How many candidates a stage draws and how many it keeps, given so many samples."""
        return (1, 1) if self._is_one_shot else check_pool(self.pool_size, self.block_size, samples)

    def _most_stages(self, units: int) -> int:
        """The number of stages in which so many units are built, at most."""
        if self._is_one_shot:
            return 1
        return -(-units // check_size("block_size", self.block_size, automatic=1))

    @classmethod
    def _alphas_for(cls, loss: str) -> tuple[float, float, float]:
        return cls._alphas[cls._like.get(loss, loss)]

    @property
    def _is_one_shot(self) -> bool:
        return is_one_shot(self.selection)

    def _settings(
        self,
        shape: tuple[int, int],
        stopping: _core.Stopping | None = None,
        classes: NDArray[Any] | None = None,
        *,
        alpha: float | None = None,
        several_labels: bool = False,
    ) -> _core.NetworkSettings:
        """All settings of the core, checked, for so many samples and inputs.

        The penalty may be given, if the fit has chosen it.
        """
        pool, block = self._pool_and_block(shape[0])
        seed = seed_for(self)
        loss = check_choice("loss", self.loss, self._losses)
        given = self.alpha if alpha is None else alpha
        alpha, solver = check_penalty(given, self.solver, loss, usual=self._alphas_for(loss)[1])
        return _core.NetworkSettings(
            architecture=self._architecture(shape),
            weight_init=core_draws(self.weight_init, seed, self._weight_families),
            weight_scale=check_number("weight_scale", self.weight_scale, positive=True),
            fan_in=check_count("fan_in", self.fan_in),
            seed=seed,
            intercept=check_flag("fit_intercept", self.fit_intercept),
            scaling=check_scaling(self.standardize),
            extrapolate=check_flag("extrapolate", self.extrapolate),
            loss=loss,
            alpha=alpha,
            solver=solver,
            tol=check_number("tol", self.tol),
            pool_size=pool,
            block_size=block,
            selection=self.selection,
            score_fraction=check_score_fraction(self.score_fraction),
            class_weights=self._class_weights(classes, several_labels),
            stopping=_core.Stopping() if stopping is None else stopping,
        )

    def _class_weights(
        self, classes: NDArray[Any] | None, several_labels: bool
    ) -> _core.ClassWeights:
        return _core.ClassWeights([])

    def _fitted_network(
        self,
        X: FloatArray,
        targets: _core.Targets,
        labels: Labels | None,
        weights: Weights | None,
        groups: Any,
        **meaning: Any,
    ) -> FittedNetwork:
        """Fit a network to these targets; `meaning` describes its outputs.

        Samples without a label come last in X, and have no targets.
        """
        several = targets.task == _core.Task.SEVERAL_LABELS
        labelled = len(targets.values)
        check_intervals(self, weighted=weights is not None, several_labels=several)
        stopping = stopping_of(self, labelled, labels, groups)
        shape = counted(weights, X.shape[0]), X.shape[1]
        settings = self._settings(shape, stopping, meaning.get("classes"), several_labels=several)
        judging = counted(None if weights is None else weights[:labelled], labelled)
        X = contiguous(X)
        choice = choice_of(self, X[:labelled], targets, labels, groups, judging, settings.seed)
        no_weights = np.empty(0)
        memory = memory_for(
            self,
            settings.seed,
            X,
            targets.values,
            no_weights if weights is None else weights,
            stopping.validation_rows,
        )
        graph = neighbor_graph(self, X)
        with watched_fit(self, settings.max_units) as watcher, single_threaded_blas():
            fit = _core.fit(
                X,
                targets,
                settings,
                weights=weights,
                choice=choice,
                threads=effective_threads(self.n_jobs),
                callback=watcher.stage,
                progress=watcher.folds,
                known=known_stages(self, memory),
                remember=memory is not None,
                graph=graph,
            )
        self._memory = None if memory is None else replace(memory, stages=fit.known)
        self._stream = None
        network = self._network_of(fit, several_labels=several, **meaning)
        warn_if_nothing_helped(self, network.history)
        apart = stopping.validation_rows
        used = np.delete(np.arange(X.shape[0]), apart) if len(apart) else None
        return replace(
            network,
            importances=importances_of(
                fit.network, X, targets, meaning.get("encoding"), effective_threads(self.n_jobs)
            ),
            uncertainty=uncertainty_of(self, fit.network, fit.alpha, X, targets, used, groups),
        )

    def _network_of(
        self, fit: _core.Fit, *, several_labels: bool = False, **meaning: Any
    ) -> FittedNetwork:
        """What the core has fitted; `meaning` describes the outputs."""
        link: dict[str, Any] = (
            {"temperature": fit.temperatures, "thresholds": fit.thresholds}
            if several_labels
            else {"temperature": float(fit.temperatures[0])}
        )
        history = FitHistory.of(fit, staged=not self._is_one_shot)
        names = tuple(map(str, getattr(self, "feature_names_in_", ())))
        return FittedNetwork(fit.network, history, feature_names=names, **link, **meaning)

    def _uncertainty(self) -> Uncertainty:
        found = self._checked_network().uncertainty
        if found is None:
            kinds = " or ".join(f"intervals={kind!r}" for kind in self._interval_kinds)
            raise ValueError(f"the errors of this network are not known; fit it with {kinds}")
        return found

    def _scores(self, X: Any) -> FloatArray:
        """Scores from the readout, one column per output."""
        return self._checked_network().scores(self._validated(X), effective_threads(self.n_jobs))

    def _staged_scores(self, X: Any) -> Iterator[FloatArray]:
        network = self._checked_network()
        return network.staged_scores(self._validated(X), effective_threads(self.n_jobs))

    def _checked_network(self) -> FittedNetwork:
        check_is_fitted(self)
        return self.network_

    def _validated(self, X: Any) -> FloatArray:
        rows, _ = checked_rows(self, X, reset=False)
        inputs: FloatArray = contiguous(self.network_.inputs(rows))
        return inputs

    def _encoding(self, rows: Rows, weights: Weights | None) -> InputEncoding:
        """How the columns of these training rows become inputs."""
        most = check_count("max_categories", self.max_categories)
        return InputEncoding.learnt(rows, weights, most)

    def transform(self, X: Any) -> FloatArray:
        """Activations of the hidden units.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_hidden_)
        """
        network = self._checked_network()
        return network.activations(self._validated(X), effective_threads(self.n_jobs))

    def save(self, path: str | os.PathLike[str], *, staged: bool = True) -> None:
        """Write the fitted estimator to a file that `stagenets.load` reads.

        The file is in safetensors format: arrays and a JSON header, nothing executable. Parameters
        that are not plain data (a custom `weight_init` or `callback`, a RandomState) are written as
        None, and so is `n_jobs`, which depends on the machine. Predictions do not need them; set
        them before fitting a loaded model again.

        Parameters
        ----------
        path : str or path-like
            The file to write. An existing file is replaced once the new one is complete: a save
            that fails or is killed leaves the old file as it was.
        staged : bool, default=True
            Whether to keep the readouts of all stages, which are most of a file. Without them,
            predictions are the same and `staged_predict` is not available.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import stagenets
        >>> model = stagenets.ELMRegressor(n_hidden=5, random_state=0)
        >>> model = model.fit([[0], [1], [2]], [0, 1, 4])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "squares.safetensors"
        ...     model.save(path)
        ...     print(stagenets.load(path).n_hidden_)
        5
        """
        from stagenets.export._files import save_model

        save_model(self, path, staged=check_flag("staged", staged))

    def truncated(self, n_hidden: int) -> Self:
        """A copy of the fitted estimator with fewer hidden units, made without any data.

        It is the network as it was when it had this many units: it predicts what `staged_predict`
        yields for that stage, and is smaller, since later units and the readouts of the stages
        before are left out. Probabilities are scaled by the temperature of the whole network. To
        build a larger network, see `warm_start`.

        Parameters
        ----------
        n_hidden : int
            Number of units to keep, all kinds counted, as in `n_hidden_`: one of `units_path_`,
            from 0 on.

        Returns
        -------
        estimator

        Examples
        --------
        >>> from stagenets import ELMRegressor
        >>> model = ELMRegressor(n_hidden=5, random_state=0).fit([[0], [1], [2]], [0, 1, 4])
        >>> model.truncated(n_hidden=2).n_hidden_
        2
        """
        from stagenets.export._truncated import truncated

        return truncated(self, n_hidden)

    @property
    def _n_features_out(self) -> int:
        return self.n_hidden_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags
