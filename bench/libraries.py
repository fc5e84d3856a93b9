"""Alternatives to stagenets: fit and predict time, peak memory, model size, test accuracy.

    python bench/libraries.py                                    synthetic data, 200 units
    python bench/libraries.py --dataset letter --data DIR --units 400

Compares RVFLClassifier (guided and one-shot) with other libraries for random networks, with
scikit-learn's random features plus ridge, with a trained network and with boosted trees, using the
same number of units where a model has units. All models get standardised inputs and a penalty of 1
if they have one. Times are taken in turn in one process; peak memory is measured in a separate
process for each. A library that is not installed is named and left out. Writes a table to
docs/benchmarks/.
"""

from __future__ import annotations

import argparse
import importlib
import json
import pickle
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import RidgeClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from memory import MEBIBYTE, peak_extra
from report_tables import add_output_option, markdown, write_csv, write_markdown
from stagenets import RVFLClassifier
from study_data import Dataset, add_data_option, load
from timing import Timings, run_round


class Standardized:
    """A model on standardised inputs; a Pipeline would need an interface that some models lack."""

    def __init__(self, model: Any) -> None:
        self._scaler, self._model = StandardScaler(), model

    def fit(self, X: Any, y: Any) -> Standardized:
        self._model.fit(self._scaler.fit_transform(X), y)
        return self

    def predict(self, X: Any) -> Any:
        return np.ravel(self._model.predict(self._scaler.transform(X)))


class HpElm:
    """hpelm with the interface of an estimator: sigmoid neurons and direct links."""

    def __init__(self, units: int) -> None:
        self.units = units

    def fit(self, X: Any, y: Any) -> HpElm:
        from hpelm import ELM

        self.classes_, labels = np.unique(y, return_inverse=True)
        p, q = X.shape[1], len(self.classes_)
        self._elm = ELM(p, q, classification="c", norm=1.0)
        self._elm.add_neurons(self.units, "sigm")
        self._elm.add_neurons(p, "lin")
        self._elm.train(X, np.eye(q)[labels], "c")
        return self

    def predict(self, X: Any) -> Any:
        return self.classes_[np.argmax(self._elm.predict(X), axis=1)]

    def __getstate__(self) -> dict[str, Any]:
        # Its networks hold functions that cannot be pickled; this is what it stores itself.
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "elm"
            self._elm.save(str(file))
            return {"units": self.units, "classes_": self.classes_, "elm": file.read_bytes()}


class Swim:
    """swimnetworks with the interface of a classifier: one sampled layer, one linear layer."""

    def __init__(self, units: int) -> None:
        self.units = units

    def fit(self, X: Any, y: Any) -> Swim:
        from swimnetworks import Dense, Linear

        self.classes_, labels = np.unique(y, return_inverse=True)
        targets = np.eye(len(self.classes_))[labels]
        layer = Dense(
            layer_width=self.units, activation="tanh", parameter_sampler="tanh", random_seed=0
        )
        self._network = make_pipeline(layer, Linear(regularization_scale=1e-8))
        self._network.fit(X, targets)
        return self

    def predict(self, X: Any) -> Any:
        return self.classes_[np.argmax(self._network.transform(X), axis=1)]


def _gfdl(units: int) -> Any:
    from gfdl.model import GFDLClassifier

    return GFDLClassifier((units,), "sigmoid", "uniform", reg_alpha=1.0, seed=0)


def _graforvfl(units: int) -> Any:
    from graforvfl import RvflClassifier

    return RvflClassifier(units, "sigmoid", "random_uniform", reg_alpha=1.0, seed=0)


def _intelelm(units: int) -> Any:
    from intelelm import ElmClassifier

    return ElmClassifier((units,), "sigmoid", seed=0)


def _nnetsauce(units: int) -> Any:
    from nnetsauce import CustomClassifier

    return CustomClassifier(
        RidgeClassifier(), n_hidden_features=units, activation_name="sigmoid", n_clusters=0
    )


def _scikit_elm(units: int) -> Any:
    from skelm import ELMClassifier

    return ELMClassifier(
        n_neurons=units, ufunc="sigm", alpha=1.0, include_original_features=True, random_state=0
    )


def _lightgbm(units: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=0, verbose=-1)


@dataclass(frozen=True)
class Library:
    """A rival: the module it needs, and how to create its model for a number of units."""

    name: str
    module: str
    make: Callable[[int], Any]

    def missing(self) -> str | None:
        """The reason why it cannot run here, or None."""
        try:
            with quiet():
                importlib.import_module(self.module)
        except Exception as error:
            return f"{self.name}: cannot import {self.module} ({error})"
        return None

    def model(self, units: int) -> Any:
        return Standardized(self.make(units))


def ridge_on(features: Any) -> Any:
    return make_pipeline(features, RidgeClassifier(alpha=1.0))


def network(units: int, **params: Any) -> RVFLClassifier:
    return RVFLClassifier(n_hidden=units, alpha=1.0, random_state=0, **params)


LIBRARIES = [
    Library("stagenets", "stagenets", network),
    Library("stagenets, one-shot", "stagenets", lambda h: network(h, selection="random")),
    Library("gfdl", "gfdl", _gfdl),
    Library("hpelm", "hpelm", HpElm),
    Library("graforvfl", "graforvfl", _graforvfl),
    Library("intelelm", "intelelm", _intelelm),
    Library("nnetsauce", "nnetsauce", _nnetsauce),
    Library("scikit-elm", "skelm", _scikit_elm),
    Library("swimnetworks", "swimnetworks", Swim),
    Library(
        "RBFSampler + ridge",
        "sklearn",
        lambda h: ridge_on(RBFSampler(gamma="scale", n_components=h, random_state=0)),
    ),
    Library(
        "Nystroem + ridge",
        "sklearn",
        lambda h: ridge_on(Nystroem(n_components=h, random_state=0)),
    ),
    Library(
        "MLPClassifier",
        "sklearn",
        lambda h: MLPClassifier(hidden_layer_sizes=(h,), random_state=0),
    ),
    Library(
        "HistGradientBoosting", "sklearn", lambda h: HistGradientBoostingClassifier(random_state=0)
    ),
    Library("LightGBM", "lightgbm", _lightgbm),
]


class quiet(warnings.catch_warnings):
    """Silence the rivals' warnings, which do not matter here."""

    def __enter__(self) -> Any:
        result = super().__enter__()
        warnings.simplefilter("ignore")
        return result


def fit(library: Library, data: Dataset, units: int) -> Any:
    with quiet():
        return library.model(units).fit(data.X, data.y)


def accuracy(model: Any, data: Dataset) -> float:
    """Fraction of the test rows that the model classifies correctly."""
    with quiet():
        return float(np.mean(model.predict(data.X_test) == data.y_test))


def peak_in_own_process(library: Library, options: argparse.Namespace) -> int:
    """Peak extra bytes of one fit, measured by this file in a fresh process."""
    command = [sys.executable, __file__, "--peak-of", library.name]
    command += ["--dataset", options.dataset, "--units", str(options.units)]
    command += ["--size", str(options.size)]
    if options.data:
        command += ["--data", str(options.data)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return int(json.loads(answer.splitlines()[-1])["peak"])  # some libraries print too


def available(libraries: list[Library]) -> list[Library]:
    """The libraries that can be imported; reports the others."""
    here = []
    for library in libraries:
        reason = library.missing()
        if reason:
            print(f"left out: {reason}")
        else:
            here.append(library)
    return here


def compare(data: Dataset, libraries: list[Library], options: argparse.Namespace) -> list[dict]:
    """One row per library; a library that fails on these data is reported and left out."""
    models: dict[str, Any] = {}
    for library in list(libraries):
        try:
            model = fit(library, data, options.units)
            with quiet():
                model.predict(data.X_test)
                pickle.dumps(model)
            models[library.name] = model
        except Exception as error:
            print(f"left out: {library.name}: {error}")
            libraries.remove(library)
    fits = {m.name: lambda m=m: fit(m, data, options.units) for m in libraries}
    fitting, predicting = Timings(), Timings()
    for round_ in range(options.repeats):
        run_round(fitting, fits, round_, {})
    for round_ in range(options.repeats):
        with quiet():
            calls = {name: lambda m=m: m.predict(data.X_test) for name, m in models.items()}
            run_round(predicting, calls, round_, {})
    rows = []
    for library in libraries:
        name, model = library.name, models[library.name]
        with quiet():
            size = len(pickle.dumps(model))
        rows.append(
            {
                "library": name,
                "fit (s)": fitting.median(name),
                "fit / stagenets": fitting.ratio(name, "stagenets"),
                "predict (s)": predicting.median(name),
                "peak memory (MiB)": peak_in_own_process(library, options) / MEBIBYTE,
                "model (KiB)": size / 1024,
                "test accuracy": accuracy(model, data),
            }
        )
        print(rows[-1], flush=True)
    return rows


def print_peak(library: Library, data: Dataset, units: int) -> None:
    few = slice(0, max(200, 5 * units))
    with quiet():
        library.model(min(units, 20)).fit(data.X[few], data.y[few])
    print(json.dumps({"peak": peak_extra(lambda: fit(library, data, units))}))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    add_output_option(parser)
    parser.add_argument("--dataset", default="classification")
    parser.add_argument("--size", type=int, default=20_000, help="rows of synthetic data")
    parser.add_argument("--units", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--peak-of", metavar="LIBRARY", help=argparse.SUPPRESS)
    options = parser.parse_args()
    data = load(options.dataset, options.data, size=options.size)
    if options.peak_of:
        library = next(m for m in LIBRARIES if m.name == options.peak_of)
        print_peak(library, data, options.units)
        return
    rows = compare(data, available(LIBRARIES), options)
    print(markdown(rows))
    stem = f"libraries_{options.dataset}"
    note = (
        f"{options.dataset}: {len(data.X)} rows to fit on, {data.X.shape[1]} inputs, "
        f"{len(np.unique(data.y))} classes, {options.units} units; median of {options.repeats} "
        "interleaved runs. Made by `bench/libraries.py`."
    )
    write_csv(options.out / f"{stem}.csv", rows)
    write_markdown(options.out / f"{stem}.md", "Libraries side by side", note, rows)


if __name__ == "__main__":
    main()
