"""Other kernels, ours or the BLAS's: the same units, and predictions that differ by rounding."""

import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

from stagenets import _core

# Well-conditioned problems, both types: the units chosen, what is predicted, and the path.
SCRIPT = """
import sys
import numpy as np
import stagenets
from stagenets import _core
from threadpoolctl import threadpool_info

found = {"kernels": _core.kernel_name()}
blas = [library for library in threadpool_info() if "scipy" in library["filepath"]]
found["blas"] = [library.get("architecture", "") for library in blas]
rng = np.random.default_rng(0)
X = rng.normal(size=(1500, 8))
y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
labels = np.digitize(y, [-0.5, 0.5])
sizes = {"n_hidden": 30}
squared = {"loss": "squared", "selection": "random"}
broad = {"n_windows": 2, "n_feature_nodes": 5, "n_enhancement": 15}
for dtype in ("float64", "float32"):
    inputs = X.astype(dtype)
    for name, params in {
        "RVFLRegressor": sizes,
        "RVFLClassifier": {**sizes, "weight_init": "mixed", "loss": "log"},
        "ELMRegressor": {**sizes, "selection": "joint", "block_size": 3, "activation": "tanh"},
        "ELMClassifier": {**sizes, **squared, "weight_init": "normal"},
        "BLSRegressor": broad,
        "BLSClassifier": {**broad, **squared},
    }.items():
        target = y if name.endswith("Regressor") else labels
        model = getattr(stagenets, name)(alpha=1.0, random_state=0, **params).fit(inputs, target)
        key = f"{dtype} {name} "
        found[key + "units"] = model.selected_
        scores = getattr(model, "decision_function", model.predict)(inputs)
        found[key + "scores"] = scores
        found[key + "objective"] = model.objective_path_
np.savez(sys.argv[1], **found)
"""
# How far predictions may be apart, relative to their largest. Readouts by log-loss, here those of
# RVFLClassifier, are iterated on features of this type and magnify their rounding.
TOLERANCES = {"float64": 1e-8, "float32": 1e-4}
OF_LOG_LOSS = {"float64": 1e-8, "float32": 3e-3}
NO_CHOICE = {"STAGENETS_KERNELS": "", "OPENBLAS_CORETYPE": ""}


def run(folder, **choice):
    path = folder / ("-".join(choice.values()) or "default")
    environment = {**os.environ, **NO_CHOICE, **choice}
    if not environment["OPENBLAS_CORETYPE"]:
        del environment["OPENBLAS_CORETYPE"]
    command = [sys.executable, "-c", SCRIPT, f"{path}.npz"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    with np.load(f"{path}.npz") as found:
        return dict(found)


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    return run(tmp_path_factory.mktemp("usual"))


def assert_differs_by_rounding(found, usual):
    for name in usual:
        if name in ("kernels", "blas"):
            continue
        if name.endswith("units"):
            np.testing.assert_array_equal(found[name], usual[name], err_msg=name)
            continue
        dtype, model, _ = name.split()
        tolerances = OF_LOG_LOSS if model == "RVFLClassifier" else TOLERANCES
        atol = tolerances[dtype] * np.abs(usual[name]).max()
        np.testing.assert_allclose(found[name], usual[name], rtol=0, atol=atol, err_msg=name)


@pytest.mark.parametrize("name", _core.available_kernels()[:-1])
def test_every_kernel_of_this_cpu_finds_the_same_network(name, usual, tmp_path):
    found = run(tmp_path, STAGENETS_KERNELS=name)
    assert (found["kernels"], usual["kernels"]) == (name, _core.available_kernels()[-1])
    assert_differs_by_rounding(found, usual)


def cores():
    """Types of processor that SciPy's BLAS has kernels for, and that this one can stand in for."""
    try:
        flags = pathlib.Path("/proc/cpuinfo").read_text().split()
    except OSError:
        return []
    needs = {"Prescott": "pni", "Sandybridge": "avx", "Haswell": "avx2", "SkylakeX": "avx512bw"}
    return [core for core, flag in needs.items() if flag in flags]


@pytest.mark.parametrize("core", cores())
def test_every_kernel_of_the_blas_finds_the_same_network(core, usual, tmp_path):
    found = run(tmp_path, OPENBLAS_CORETYPE=core)
    if core not in found["blas"] and core != "Prescott":  # which goes by several names
        pytest.skip(f"SciPy's BLAS has no choice of kernels: {found['blas']}")
    assert_differs_by_rounding(found, usual)


def test_unknown_kernels_are_refused_on_import():
    done = subprocess.run(
        [sys.executable, "-c", "import stagenets"],
        env={**os.environ, "STAGENETS_KERNELS": "avx1024"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 1
    message = "STAGENETS_KERNELS must be one of baseline, .*which this CPU can run.*; got avx1024"
    assert re.search(f"ImportError: .*{message}", done.stderr), done.stderr
