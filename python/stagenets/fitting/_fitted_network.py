"""The result of a fit. Everything that comes after a fit reads this and nothing else."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stagenets import _core
from stagenets.fitting._threads import single_threaded_blas

if TYPE_CHECKING:
    from stagenets.fitting._input_encoding import InputEncoding
    from stagenets.fitting._rows import Rows
    from stagenets.fitting._uncertainty import Uncertainty

FloatArray = NDArray[np.floating[Any]]
Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FitHistory:
    """How a network was built.

    A path has an entry for the state before the first unit and one for each stage that was run.
    Fields that do not apply are None: one-shot networks have no stages, and most fits have no
    validation samples.
    """

    selected: NDArray[np.int64]
    objective_path: Matrix
    residual_path: Matrix
    units_path: NDArray[np.int64] | None = None
    best_iter: int | None = None
    unit_scores: Matrix | None = None
    pool_quantiles: Matrix | None = None
    loo_path: Matrix | None = None
    loo_accuracy_path: Matrix | None = None
    validation_path: Matrix | None = None
    cv_sizes: NDArray[np.int64] | None = None
    cv_path: Matrix | None = None
    alpha: float | None = None  # unknown in old files

    @classmethod
    def of(cls, fit: _core.Fit, *, staged: bool) -> FitHistory:
        """The history of a fit made by the core."""
        history = fit.history
        stages: dict[str, Any] = (
            {
                "units_path": history.units_path,
                "best_iter": history.best_stage,
                "unit_scores": history.unit_scores,
                "pool_quantiles": history.pool_quantiles,
                "loo_path": history.loo_error_path,
                "loo_accuracy_path": _unless_empty(history.loo_accuracy_path),
                "validation_path": _unless_empty(history.validation_path),
            }
            if staged
            else {}
        )
        return cls(
            selected=history.selected,
            objective_path=history.objective_path,
            residual_path=history.residual_path,
            cv_sizes=fit.cv_sizes if len(fit.cv_sizes) else None,
            cv_path=_unless_empty(fit.cv_path),
            alpha=fit.alpha,
            **stages,
        )

    @property
    def n_iter(self) -> int:
        """Number of stages that were run."""
        return len(self.objective_path) - 1

    @property
    def n_kept(self) -> int:
        """Number of stages that were kept; early stopping may go back to fewer than were run."""
        return self.n_iter if self.best_iter is None else self.best_iter

    def until(self, stage: int, units: int) -> FitHistory:
        """The history up to a stage with this many units."""
        points = {
            name: path[: stage + 1] for name in _PATHS if (path := getattr(self, name)) is not None
        }
        cut: dict[str, Any] = {**points, "selected": self.selected[:units], "best_iter": stage}
        if self.unit_scores is not None:
            cut["unit_scores"] = self.unit_scores[:units]
        if self.pool_quantiles is not None:
            cut["pool_quantiles"] = self.pool_quantiles[:stage]
        return replace(self, **cut)


# The fields of a history with an entry per stage and one before the first.
_PATHS = (
    "objective_path",
    "residual_path",
    "units_path",
    "loo_path",
    "loo_accuracy_path",
    "validation_path",
)


def _unless_empty(path: Matrix) -> Matrix | None:
    return path if len(path) else None


@dataclass(frozen=True, eq=False)
class FittedNetwork:
    """A fitted network: its layers and readout, the meaning of its outputs, and its history.

    ``scores = [x if linked, layers(x)] · readout + intercept``, where each layer reads the one
    before it and x is clamped to the bounds of the inputs, if there are any. The inputs x are made
    of columns by the encoding; without one they are the columns, which must be complete then.
    """

    core: _core.Network
    history: FitHistory
    one_target: bool = False
    classes: NDArray[Any] | None = None
    temperature: float | Matrix = 1.0
    thresholds: Matrix | None = None  # of several labels
    feature_names: tuple[str, ...] = ()
    uncertainty: Uncertainty | None = None
    importances: Matrix | None = None
    encoding: InputEncoding | None = None

    @property
    def categorical_columns(self) -> Collection[int]:
        """Numbers of the columns that hold categories."""
        return () if self.encoding is None else self.encoding.categories.keys()

    @property
    def input_names(self) -> list[str]:
        """Names of the inputs, made from those of the columns if these have names."""
        columns = self.n_inputs if self.encoding is None else self.encoding.n_columns
        names = self.feature_names or [f"x{number}" for number in range(columns)]
        return list(names) if self.encoding is None else self.encoding.names(names)

    def inputs(self, rows: Rows) -> FloatArray:
        """The inputs that rows of columns are."""
        if self.encoding is not None:
            return self.encoding.inputs(rows)
        if not rows.complete:
            raise ValueError(
                "Input X contains NaN, and this network does not know what to put in its place: it "
                "was fitted by an earlier version of stagenets, or by stagenets.dask"
            )
        return rows.values

    @property
    def layers(self) -> list[_core.Layer]:
        """The layers of units, first to last; arrays are read-only."""
        return self.core.layers

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return self.core.n_inputs

    @property
    def n_outputs(self) -> int:
        """Number of outputs: classes or targets."""
        return int(self.core.readout.shape[1])

    @property
    def direct_links(self) -> bool:
        """Whether the inputs feed the readout."""
        return self.core.direct_links

    @property
    def bounds(self) -> Matrix | None:
        """Least and greatest value of each input, shape (2, inputs); None if it extrapolates."""
        return self.core.bounds

    @property
    def readout(self) -> Matrix:
        """Readout weights of the inputs (if linked) and the units, shape (columns, outputs)."""
        return self.core.readout[:-1]

    @property
    def intercept(self) -> Matrix:
        """Intercept of the readout, shape (outputs,)."""
        intercept: Matrix = self.core.readout[-1]
        return intercept

    def scores(self, X: FloatArray, threads: int) -> FloatArray:
        """Scores from the readout, one column per output."""
        with single_threaded_blas():
            return self.core.scores(X, threads)

    def activations(self, X: FloatArray, threads: int) -> FloatArray:
        """Activations of the units, one column per unit."""
        with single_threaded_blas():
            return self.core.activations(X, threads)

    def staged_scores(self, X: FloatArray, threads: int) -> Iterator[FloatArray]:
        """Scores before the first unit and after each stage that was kept.

        The last readout may have been refined after the last stage, so what comes last is `scores`.
        """
        if not self.is_staged:
            raise ValueError(
                "this network was saved without its stages: only the final one is known"
            )
        with single_threaded_blas():
            columns = self.core.path_scores(X, threads)
        path, outputs = self.core.path, self.n_outputs
        scores, changes = columns[:, :outputs].copy(), columns[:, outputs:]
        steps = path.steps.astype(scores.dtype, copy=False)
        first = 0
        for last in path.ends[:-1]:
            scores += changes[:, first:last] @ steps[first:last]
            yield scores.copy()
            first = last
        yield self.scores(X, threads)

    @property
    def is_staged(self) -> bool:
        """Whether the readouts of all stages are known, or only the last one."""
        return len(self.core.path.ends) == self.history.n_kept + 1

    def without_stages(self) -> FittedNetwork:
        """The same network with its last readout alone, which takes less space."""
        plain = plain_network(self.core)
        return replace(self, core=core_network({**plain, "path": no_path(plain["readout"])}))

    def truncated(self, units: int) -> FittedNetwork:
        """The network as it was after the stage with this many units, without the stages before."""
        kept = self.history.n_kept
        stage = self._stage_with(units)
        if stage == kept:
            readout = self.core.readout
        elif self.is_staged:
            path = self.core.path
            end = path.ends[stage]
            readout = path.start + path.directions[:, :end] @ path.steps[:end]
        else:
            raise ValueError(
                "this network was saved without its stages: only the final one is known"
            )
        columns = units + (self.n_inputs if self.direct_links else 0)
        readout = np.vstack([readout[:columns], readout[-1:]])
        plain = plain_network(self.core)
        core = core_network(
            {
                **plain,
                "layers": _first_units(plain["layers"], units),
                "readout": readout,
                "path": no_path(readout),
            }
        )
        history = self.history.until(stage, units)
        uncertainty = self.uncertainty if stage == kept else None  # of the whole network
        return replace(self, core=core, history=history, uncertainty=uncertainty)

    def _stage_with(self, units: int) -> int:
        """The stage that ended with this many units."""
        if self.history.units_path is None:
            raise ValueError("n_hidden cannot be lowered: a one-shot network has no stages")
        sizes = self.history.units_path[: self.history.n_kept + 1]
        stage = int(np.searchsorted(sizes, units))
        if stage == len(sizes):
            raise ValueError(f"n_hidden must be at most {sizes[-1]}; got {units}")
        if sizes[stage] != units:
            raise ValueError(
                f"n_hidden must be the number of units at the end of a stage, such as "
                f"{sizes[stage - 1]} or {sizes[stage]}; got {units}"
            )
        return stage

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "core": plain_network(self.core)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(
            {
                **dict.fromkeys(("uncertainty", "importances", "encoding", "thresholds")),
                **state,
            },
            core=core_network(state["core"]),
        )


_LAYER = ("weights", "biases", "activation", "scales", "offsets", "ends")
_PATH = ("start", "directions", "steps", "ends")


def no_path(readout: Matrix) -> dict[str, Any]:
    """The plain form of a path that begins and ends with this readout."""
    rows, outputs = readout.shape
    return {
        "start": readout,
        "directions": np.zeros((rows, 0)),
        "steps": np.zeros((0, outputs)),
        "ends": [0],
    }


def _first_units(layers: list[dict[str, Any]], units: int) -> list[dict[str, Any]]:
    """The layers with their first units in all; the first layer is built first."""
    cut, inputs = [], slice(None)
    for layer in layers:
        ends = layer["ends"]
        kept = slice(min(units, len(layer["biases"] if ends is None else ends)))
        terms = kept if ends is None else slice(int(ends[kept.stop - 1]) if kept.stop else 0)
        per_unit = {
            name: None if layer[name] is None else layer[name][kept]
            for name in ("scales", "offsets", "ends")
        }
        per_term = {"biases": layer["biases"][terms], "weights": layer["weights"][inputs, terms]}
        cut.append({**layer, **per_unit, **per_term})
        units, inputs = units - kept.stop, kept
    return cut


def plain_network(core: _core.Network) -> dict[str, Any]:
    """A network of the core as strings, flags and arrays."""
    return {
        "layers": [{name: getattr(layer, name) for name in _LAYER} for layer in core.layers],
        "direct_links": core.direct_links,
        "bounds": core.bounds,
        "readout": core.readout,
        "path": {name: getattr(core.path, name) for name in _PATH},
    }


def core_network(plain: dict[str, Any]) -> _core.Network:
    """A network of the core from its plain form; ValueError unless all sizes match."""
    return _core.Network(
        layers=[_core.Layer(**layer) for layer in plain["layers"]],
        direct_links=plain["direct_links"],
        bounds=plain.get("bounds"),  # networks pickled earlier have none
        readout=plain["readout"],
        path=_core.ReadoutPath(**plain["path"]),
    )
