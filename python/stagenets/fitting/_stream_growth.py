"""Hidden units added in the middle of a stream, whose values on earlier rows nobody knows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stagenets import _core
from stagenets.fitting._fitted_network import core_network, no_path, plain_network
from stagenets.fitting._parameters import check_count, refusal, seed_of
from stagenets.fitting._threads import effective_threads, single_threaded_blas

if TYPE_CHECKING:
    from stagenets.estimators._network import StagewiseNetwork
    from stagenets.fitting._fitted_network import FitHistory, FittedNetwork, FloatArray, Matrix
    from stagenets.fitting._streaming import Stream


def check_growth(model: StagewiseNetwork, grow: Any) -> int:
    """The number of units to add with a batch."""
    count = check_count("grow", grow, minimum=0)
    if count > 0 and model._n_layers > 1:
        raise refusal("grow", grow, "0 for networks with feature nodes")
    return count


def with_units(
    model: StagewiseNetwork,
    network: FittedNetwork,
    stream: Stream,
    X: FloatArray,
    errors: Matrix,
    count: int,
) -> tuple[FittedNetwork, Stream]:
    """The network and its stream with more units, chosen by the errors on a batch.

    The design A of the rows so far gets columns A C, with C the ridge regression of the new units
    on the old columns over the batch: earlier rows then say nothing about the new units that the
    old columns do not say, and can be fitted as well as before whatever the new coefficients are.
    """
    from stagenets.estimators._elm import ELMRegressor

    threads = effective_threads(model.n_jobs)
    own = {
        name: getattr(model, name)
        for name in ELMRegressor._get_param_names()
        if name not in ("early_stopping", "intervals", "warm_start", "callback", "verbose")
    }
    # Pools that no batch before has drawn.
    seed = (seed_of(model.random_state) + network.core.n_units) % 2**64
    chooser = ELMRegressor(**{**own, "n_hidden": count, "fit_intercept": False})
    chooser.set_params(loss="squared", random_state=seed)
    with single_threaded_blas():
        # Errors are not scaled any further: the task is one of indicators only in this respect.
        found = _core.fit(
            X,
            _core.Targets.indicators(errors),
            chooser._settings(X.shape, alpha=stream.alpha),
            threads=threads,
        )
        fresh = found.network.activations(X, threads).astype(np.float64, copy=False)
        cross = _core.readout_gram(network.core, X, stream.map, fresh, threads=threads)
        alone = np.eye(stream.map.shape[1])
        shares, _ = _core.solve_gram(cross, alone, stream.alpha, threads=threads)
    plain = plain_network(network.core)
    readout = np.insert(plain["readout"], [-1] * fresh.shape[1], 0.0, axis=0)
    core = core_network(
        {
            **plain,
            "layers": [_joined(plain["layers"][0], plain_network(found.network)["layers"][0])],
            "readout": readout,
            "path": no_path(readout),
        }
    )
    wider = np.insert(stream.map, [-1] * fresh.shape[1], 0.0, axis=0)
    units = np.zeros((len(wider), fresh.shape[1]))
    units[-1 - fresh.shape[1] : -1] = np.eye(fresh.shape[1])
    columns = stream.map.shape[1]
    spread = np.insert(np.eye(len(stream.gram)), [columns] * fresh.shape[1], 0.0, axis=1)
    spread[:columns, columns : columns + fresh.shape[1]] = shares
    whole = np.tril(stream.gram) + np.tril(stream.gram, -1).T
    return (
        replace(network, core=core, history=_longer(network.history, found.history)),
        replace(stream, map=np.hstack([wider, units]), gram=spread.T @ whole @ spread),
    )


def _longer(history: FitHistory, more: _core.FitHistory) -> FitHistory:
    """A history with more units in its last stage, which is all that is known of its stages."""
    found: dict[str, Any] = {"selected": np.vstack([history.selected, more.selected])}
    if history.unit_scores is not None:
        found["unit_scores"] = np.concatenate([history.unit_scores, more.unit_scores])
    if history.units_path is not None:
        found["units_path"] = history.units_path.copy()
        found["units_path"][history.n_kept] = len(found["selected"])
    return replace(history, **found)


def _joined(layer: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Two layers of units of the inputs as one."""
    ends = None
    if layer["ends"] is not None or more["ends"] is not None:
        first, second = (
            np.arange(1, len(each["biases"]) + 1) if each["ends"] is None else each["ends"]
            for each in (layer, more)
        )
        ends = np.concatenate([first, len(layer["biases"]) + second])
    return {
        **layer,
        "weights": np.hstack([layer["weights"], more["weights"]]),
        "biases": np.concatenate([layer["biases"], more["biases"]]),
        "ends": ends,
    }
