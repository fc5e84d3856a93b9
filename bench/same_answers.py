"""Does this version give the answers of another one? Units, predictions and paths of many fits.

Run ``python bench/same_answers.py write FILE`` in an environment with either version, then
``python bench/same_answers.py compare OLD NEW``: units must be the same and numbers agree to 1e-12
(relative to the largest of an array; 1e-11 for readouts, 1e-5 in float32). Before it was called
stagenets, the package was called residuum.
"""

from __future__ import annotations

import sys
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np
from sklearn.datasets import make_classification, make_friedman1, make_regression
from sklearn.model_selection import KFold, StratifiedKFold

TOLERANCE = {"float64": 1e-12, "float32": 1e-5}


def package() -> Any:
    try:
        return import_module("stagenets")
    except ImportError:
        return import_module("residuum")


def problems() -> dict[str, tuple[Any, Any, bool]]:
    X, y = make_classification(700, 12, n_informative=8, n_classes=4, random_state=0)
    X2, y2 = make_classification(300, 5, random_state=1)
    wide, wide_y = make_classification(60, 90, n_informative=10, n_classes=3, random_state=2)
    F, f = make_friedman1(600, noise=0.3, random_state=3)
    G, g = make_regression(200, 9, n_targets=3, random_state=4, noise=5.0)
    return {
        "four_classes": (X, y, True),
        "two_classes": (X2 * 3 + 10, y2, True),
        "wide": (wide, wide_y, True),
        "friedman": (F, f, False),
        "targets": (G * 100, g, False),
        "four_classes_float32": (np.asfortranarray(X.astype(np.float32)), y, True),
    }


def settings(architecture: str) -> list[dict[str, Any]]:
    size = {"n_enhancement": 25, "n_windows": 3} if architecture == "BLS" else {"n_hidden": 40}
    base: dict[str, Any] = {"random_state": 7, "pool_size": 30, **size}
    changes: list[dict[str, Any]] = [
        {},
        {"selection": "joint", "block_size": 4},
        {"selection": "random"},
        {"block_size": 3, "alpha": 0.1},
        {"solver": "dual"},
        {"standardize": False, "fit_intercept": False},
        {"weight_init": "normal", "alpha": 30.0},
        {"weight_init": "uniform"},
        {"weight_init": "sparse", "fan_in": 3, "weight_scale": 0.5},
        {"early_stopping": "loo", "n_iter_no_change": 5},
        {"tol": 0.01},
    ]
    if architecture != "BLS":
        changes += [{"activation": name} for name in ("tanh", "relu", "radbas", "selu", "sine")]
    return [{**base, **change} for change in changes]


def facts(model: Any, X: Any) -> dict[str, Any]:
    readout = "readout_" if hasattr(model, "readout_") else "coef_"
    found = {
        "selected": model.selected_,
        "objective": model.objective_path_,
        "readout": getattr(model, readout),
        "hidden": model.transform(X[:50]),
        "staged": np.asarray(list(model.staged_predict(X[:50])))[-3:],
    }
    if hasattr(model, "classes_"):
        found["decision"] = model.decision_function(X)
        found["proba"] = model.predict_proba(X)
        found["temperature"] = model.temperature_
    else:
        found["predict"] = model.predict(X)
    if hasattr(model, "loo_path_"):
        found["loo"] = model.loo_path_
    return found


def write(path: str) -> None:
    networks = package()
    arrays = {}
    for (name, (X, y, classes)), architecture in product(
        problems().items(), ("RVFL", "ELM", "BLS")
    ):
        kind = "Classifier" if classes else "Regressor"
        estimator = getattr(networks, architecture + kind)
        for parameters in settings(architecture):
            label = " ".join(f"{key}={value}" for key, value in parameters.items())
            try:
                model = estimator(**parameters).fit(X, y)
            except ValueError as error:
                arrays[f"{name} {architecture} {label}: error"] = np.array(type(error).__name__)
                continue
            for fact, value in facts(model, X).items():
                arrays[f"{name} {architecture} {label}: {fact}"] = np.asarray(value)
        if len(X) > 400:
            continue
        splitter = (StratifiedKFold if classes else KFold)(4)
        search = getattr(networks, architecture + kind + "CV")(
            alphas=[0.1, 1.0, 10.0],
            selections=["residual", "joint", "random"],
            pool_sizes=[20],
            block_sizes=[1, 2],
            cv=splitter,
            random_state=3,
            **({"max_enhancement": 12} if architecture == "BLS" else {"max_hidden": 25}),
        ).fit(X, y)
        arrays[f"{name} {architecture} search: scores"] = search.cv_results_["mean_test_score"]
        arrays[f"{name} {architecture} search: best"] = np.array(str(search.best_params_))
    np.savez_compressed(path, **arrays)
    print(f"{len(arrays)} arrays in {path}")


def compare(old_path: str, new_path: str) -> int:
    old, new = np.load(old_path), np.load(new_path)
    worst: dict[str, float] = {}
    wrong = sorted(set(old.files) ^ set(new.files))
    for name in sorted(set(old.files) & set(new.files)):
        a, b = old[name], new[name]
        if a.shape != b.shape or a.dtype.kind not in "f":
            if not np.array_equal(a, b):
                wrong.append(name)
            continue
        kind = "float32" if "float32" in name else "float64"
        scale = max(float(np.abs(a).max(initial=0.0)), np.finfo(float).tiny)
        gap = float(np.abs(a - b).max(initial=0.0)) / scale
        worst[kind] = max(worst.get(kind, 0.0), gap)
        if gap > TOLERANCE[kind] * (10 if name.endswith("readout") else 1):
            wrong.append(f"{name}: {gap:.2g}")
    print(*wrong, sep="\n")
    print(f"{len(old.files)} arrays, {len(wrong)} differ; largest gaps {worst}")
    return int(bool(wrong))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["write", path]:
            write(path)
        case ["compare", old, new]:
            sys.exit(compare(old, new))
        case _:
            sys.exit(__doc__)
