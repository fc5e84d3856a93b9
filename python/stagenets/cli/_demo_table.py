"""``python -m stagenets demo``: guided against one-shot networks on scikit-learn's data."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_wine,
    make_friedman1,
)
from sklearn.model_selection import train_test_split

from stagenets import (
    BLSClassifier,
    BLSRegressor,
    ELMClassifier,
    ELMRegressor,
    RVFLClassifier,
    RVFLRegressor,
)

_BARS = "▁▂▃▄▅▆▇█"

Loader = Callable[[], tuple[NDArray[Any], NDArray[Any]]]

# Name, loader, whether it is classification, units per network.
_DATA: list[tuple[str, Loader, bool, int]] = [
    ("digits", lambda: load_digits(return_X_y=True), True, 150),
    ("breast cancer", lambda: load_breast_cancer(return_X_y=True), True, 50),
    ("wine", lambda: load_wine(return_X_y=True), True, 30),
    ("friedman1", lambda: make_friedman1(4000, noise=1.0, random_state=0), False, 150),
    ("diabetes", lambda: load_diabetes(return_X_y=True), False, 30),
]


def _networks(classify: bool, units: int) -> Iterator[tuple[str, Any]]:
    """One network of each architecture, all with the same number of units and a usual penalty."""
    rvfl, elm, bls = (
        (RVFLClassifier, ELMClassifier, BLSClassifier)
        if classify
        else (RVFLRegressor, ELMRegressor, BLSRegressor)
    )
    yield "RVFL", rvfl(n_hidden=units, alpha=3.0)
    yield "ELM", elm(n_hidden=units, alpha=3.0)
    nodes, alpha = units // 6, 3.0 if classify else 1.0
    rest = units - 3 * nodes
    yield "BLS", bls(n_windows=3, n_feature_nodes=nodes, n_enhancement=rest, alpha=alpha)


def sparkline(values: NDArray[np.float64], width: int = 40) -> str:
    width = min(width, len(values))
    points = np.interp(np.linspace(0, 1, width), np.linspace(0, 1, len(values)), values)
    levels = (points - points.min()) / max(np.ptp(points), 1e-300) * (len(_BARS) - 1)
    return "".join(_BARS[round(level)] for level in levels)


def run_demo(repeats: int) -> None:
    """Train, compare and print."""
    started = time.perf_counter()
    print("Guided (units chosen from pools of 100) against one-shot (units drawn once), same size")
    print("and penalty.")
    print(f"Mean test score over {repeats} random splits: accuracy; R² for friedman1, diabetes.\n")
    print(f"{'data':15}{'units':>6}  {'network':9}{'one-shot':>10}{'guided':>9}{'gain':>8}")
    falls: list[str] = []
    for name, load, classify, units in _DATA:
        X, y = load()
        for label, network in _networks(classify, units):
            scores: dict[str, list[float]] = {"random": [], network.selection: []}
            for seed in range(repeats):
                parts = train_test_split(X, y, random_state=seed, stratify=y if classify else None)
                for selection, found in scores.items():
                    model = clone(network).set_params(selection=selection, random_state=seed)
                    model.fit(parts[0], parts[2])
                    found.append(float(model.score(parts[1], parts[3])))
            if name == "digits":
                path = model.objective_path_
                falls.append(
                    f"  {label:5}{path[0]:8.1f} {sparkline(path)} {path[-1]:.1f}"
                    f"   ({model.n_iter_} stages)"
                )
            one_shot, guided = (np.mean(found) for found in scores.values())
            print(
                f"{name:15}{units:6d}  {label:9}{one_shot:10.4f}{guided:9.4f}"
                f"{guided - one_shot:+8.4f}"
            )
    print("\nOn small noisy sets (diabetes) a closer fit is not always a better one.")
    print("\nThe objective of the guided networks on digits, stage by stage:")
    print("\n".join(falls))
    print(f"\nDone in {time.perf_counter() - started:.1f} s.")
