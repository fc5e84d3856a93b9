"""The models of the regression study; rivals are scikit-learn's and LightGBM's at their defaults.

Models that do not scale their inputs or targets themselves, as the networks here do, get scalers.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stagenets.study._models import ARCHITECTURES, Model, Plain, Tuned, parse_call, untuned

Targets = NDArray[np.float64]


def _scaled(model: Any) -> Any:
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return TransformedTargetRegressor(
        make_pipeline(StandardScaler(), model), transformer=StandardScaler()
    )


def _one_by_one(model: Any, targets: Targets) -> Any:
    """A model of single targets, repeated if there are several."""
    from sklearn.multioutput import MultiOutputRegressor

    return model if targets.ndim == 1 else MultiOutputRegressor(model)


def _ridge(targets: Targets, seed: int, threads: int) -> Any:
    from sklearn.linear_model import Ridge

    return _scaled(Ridge())


def _svr(targets: Targets, seed: int, threads: int) -> Any:
    from sklearn.svm import SVR

    return _scaled(_one_by_one(SVR(), targets))


def _perceptron(targets: Targets, seed: int, threads: int) -> Any:
    from sklearn.neural_network import MLPRegressor

    return _scaled(MLPRegressor(random_state=seed))


def _forest(targets: Targets, seed: int, threads: int) -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(random_state=seed, n_jobs=threads)


def _boosting(targets: Targets, seed: int, threads: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return _one_by_one(HistGradientBoostingRegressor(random_state=seed), targets)


def _lightgbm(targets: Targets, seed: int, threads: int) -> Any:
    from lightgbm import LGBMRegressor

    return _one_by_one(LGBMRegressor(random_state=seed, n_jobs=threads, verbose=-1), targets)


_KIND = "Regressor"
_OWN: list[Model] = [
    Tuned("RG-RVFL", "RVFL", "joint", _KIND),
    *(untuned(f"RG-{name} default", name, _KIND) for name in ARCHITECTURES),
    untuned("RVFL default", "RVFL", _KIND, selection="random"),
]
_RIVALS: list[Model] = [
    Plain("Ridge", _ridge),
    Plain("SVR", _svr),
    Plain("MLP", _perceptron),
    Plain("RandomForest", _forest),
    Plain("HistGradientBoosting", _boosting),
    Plain("LightGBM", _lightgbm),
]

REGRESSORS: dict[str, Model] = {model.name: model for model in (*_OWN, *_RIVALS)}


def all_regressors() -> list[str]:
    """All models; LightGBM only if it is installed."""
    return [name for name in REGRESSORS if name != "LightGBM" or find_spec("lightgbm")]


def find_regressor(name: str) -> Model:
    """A model by its name, or an untuned network such as ``RVFLRegressor(alpha=0.1)``."""
    return REGRESSORS.get(name) or parse_call(name, REGRESSORS, _KIND)
