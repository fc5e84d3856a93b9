"""Ways to evaluate a model on a data set: the published one, a sound one, one for regression."""

from __future__ import annotations

import time
import warnings
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from stagenets.study import _data
from stagenets.study._data import Dataset
from stagenets.study._folds import Split, contiguous_folds, stratified_folds
from stagenets.study._measures import Judged, area, calibration_error, log_loss
from stagenets.study._models import Model, Tuned, all_models, find_model, published_models
from stagenets.study._outcome import Outcome, plain_params, powers_of_ten
from stagenets.study._preparation import scaled
from stagenets.study._regression_protocol import RegressionProtocol


def block_and_pool_sizes(n: int, p: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The values of k and M in the published study for n training rows and p inputs."""
    if n <= 2000 or p <= 50:
        return (1, 2), (50, 100)
    if n <= 20000 or p <= 300:
        return (1, 2, 4), (100, 200)
    return (2, 4), (100, 200)


def hidden_budget(n: int, p: int) -> int:
    """The most hidden units that the published study allows a guided network."""
    return max(50, min(1000, n // 5, 5 * p))


@dataclass(frozen=True)
class PaperProtocol:
    """The published protocol: contiguous folds in file order, best mean test-fold accuracy.

    The same folds select the best combination and evaluate it, so accuracies are optimistic; that
    is what was published. Inputs are scaled before splitting. The grids are the published ones,
    except that the BLS grid is thinned in windows (1, 3, …, 21) and nodes (5, 10, …, 50). With more
    than `large` training rows, guided networks try every other penalty, blocks of 2 and pools of
    100 (BLS: 50), one-shot BLS also tries every other penalty, and features are in single
    precision. The paper does not state the activations.
    """

    name: ClassVar[str] = "paper"

    seed: int = 0
    folds: int = 5
    alphas: tuple[float, ...] = powers_of_ten(-5, 5)
    sizes: tuple[int, ...] = tuple(range(5, 206, 10))
    activations: tuple[str, ...] = ("selu", "relu", "sigmoid", "sine", "tribas", "radbas", "tanh")
    bls_alphas: tuple[float, ...] = powers_of_ten(-6, 6, 2)
    bls_windows: tuple[int, ...] = (1, 5)
    bls_nodes: tuple[int, ...] = (5, 10, 20)
    bls_enhancement: tuple[int, ...] = tuple(range(5, 106, 10))
    bls_activations: tuple[str, ...] = ("tanh",)
    weight_init: str = "uniform"
    #: "grid": guided networks use the whole grid of sizes; "formula": at most `hidden_budget`
    #: units, which puts the published accuracies on large sets with few inputs out of reach.
    budget: str = "grid"
    #: With more rows than this, features are in single precision, and guided networks and BLS try
    #: fewer combinations: the published grid would take hours.
    large: int = 2000
    scaling: str = "rows"
    #: Data sets with another scaling, and data sets that use X_collection if they have one.
    row_scaled: tuple[str, ...] = ()
    column_scaled: tuple[str, ...] = ()
    unscaled: tuple[str, ...] = ()
    from_collection: tuple[str, ...] = ("monks_1", "monks_3", "annealing", "audiology_std")

    load = staticmethod(_data.load)
    choose = staticmethod(_data.choose)
    find = staticmethod(find_model)

    @staticmethod
    def models() -> list[str]:
        """Models of a run that names none."""
        return published_models()

    def inputs(self, data: Dataset) -> tuple[NDArray[np.float64], str]:
        """The inputs as the networks see them, and a description of them."""
        X, origin = data.X, "X"
        if data.name in self.from_collection and data.collection is not None:
            X, origin = data.collection, "X_collection"
        scaling = self.scaling
        for other, names in (
            ("rows", self.row_scaled),
            ("columns", self.column_scaled),
            ("none", self.unscaled),
        ):
            if data.name in names:
                scaling = other
        return scaled(X, scaling), f"{origin}, scaling: {scaling}"

    def grid(self, model: Tuned, n: int, p: int) -> dict[str, Any]:
        """The grid to search with n training rows and p inputs."""
        grid: dict[str, Any] = {}
        thinned = model.guided and n > self.large
        if model.guided:
            blocks, pools = block_and_pool_sizes(n, p)
            if thinned:
                blocks, pools = (2,), ((50,) if model.architecture == "BLS" else (100,))
            grid = {"block_sizes": blocks, "pool_sizes": pools}
        if model.architecture == "BLS":
            return grid | {
                "alphas": self.bls_alphas[::2] if n > self.large else self.bls_alphas,
                "n_windows": list(self.bls_windows),
                "n_feature_nodes": list(self.bls_nodes),
                "n_enhancement": list(self.bls_enhancement),
                "activations": self.bls_activations,
                "feature_activation": "identity",
                "sparse_features": True,
            }
        if self.budget not in ("grid", "formula"):
            raise ValueError(f"budget must be 'grid' or 'formula'; got {self.budget!r}")
        sizes = list(self.sizes)
        if model.guided and self.budget == "formula":
            sizes = [size for size in sizes if size <= hidden_budget(n, p)]
        return grid | {
            "alphas": self.alphas[::2] if thinned else self.alphas,
            "n_hidden": sizes,
            "activations": self.activations,
        }

    def evaluate(self, model: Model, data: Dataset, threads: int) -> Outcome:
        """Search the grid on all folds and keep the best."""
        if not isinstance(model, Tuned):
            raise ValueError(
                f"models of protocol 'paper' must be tuned networks, such as "
                f"{', '.join(self.models())}; got {model.name!r}"
            )
        X, inputs = self.inputs(data)
        if len(X) > self.large:
            X, inputs = X.astype(np.float32), f"{inputs}, single precision"
        splits = contiguous_folds(len(X), self.folds)
        search = model.search(
            **self.grid(model, len(splits[0][0]), X.shape[1]),
            cv=splits,
            scoring="accuracy",
            refit=False,
            losses=("squared",),
            weight_inits=(self.weight_init,),
            standardize=False,
            random_state=self.seed,
            n_jobs=threads,
        )
        started = time.perf_counter()
        search.fit(X, data.y)
        seconds = time.perf_counter() - started
        results, best = search.cv_results_, search.best_index_
        scores = [float(results[f"split{i}_test_score"][best]) for i in range(self.folds)]
        return Outcome(scores, [plain_params(search.best_params_)], inputs, seconds)


@dataclass(frozen=True)
class SoundProtocol:
    """A sound protocol: nothing is scaled, chosen or fitted on the rows that evaluate it.

    Folds are stratified, shuffled and repeated; hyper-parameters are chosen by cross-validation
    inside each training part. Guided and one-shot networks search grids of the same size. Data
    sets with more than `large` rows get fewer repeats.
    """

    name: ClassVar[str] = "sound"

    seed: int = 0
    folds: int = 5
    repeats: int = 3
    large: int = 5000
    large_repeats: int = 1
    inner_folds: int = 3
    alphas: tuple[float, ...] = powers_of_ten(-2, 2)
    sizes: tuple[int, ...] = (5, 10, 20, 40, 70, 100, 150, 200)
    activations: tuple[str, ...] = ("sigmoid", "relu", "tanh")
    block_size: int = 1
    pool_size: int = 100
    bls_alphas: tuple[float, ...] = powers_of_ten(-2, 2)
    bls_windows: tuple[int, ...] = (2, 5)
    bls_nodes: tuple[int, ...] = (10,)
    bls_enhancement: tuple[int, ...] = (10, 20, 50, 100)
    bls_activations: tuple[str, ...] = ("tanh",)
    bls_block_size: int = 5
    #: None means the estimators' own default.
    weight_init: str | None = None

    load = staticmethod(_data.load)
    choose = staticmethod(_data.choose)
    find = staticmethod(find_model)

    @staticmethod
    def models() -> list[str]:
        """Models of a run that names none."""
        return all_models()

    def splits(self, y: NDArray[np.int64]) -> list[Split]:
        """The outer folds of all repeats."""
        repeats = self.large_repeats if len(y) > self.large else self.repeats
        return [
            split
            for repeat in range(repeats)
            for split in stratified_folds(y, self.folds, self.seed + repeat)
        ]

    def estimator(self, model: Model, y: NDArray[np.int64], seed: int, threads: int) -> Any:
        """The estimator to fit on a training part with these labels."""
        if not isinstance(model, Tuned):
            return model.make(y, seed, threads)
        broad = model.architecture == "BLS"
        grid: dict[str, Any] = {"alphas": self.bls_alphas if broad else self.alphas}
        if model.guided:
            block = self.bls_block_size if broad else self.block_size
            grid |= {"block_sizes": (block,), "pool_sizes": (self.pool_size,)}
        if self.weight_init is not None:
            grid["weight_inits"] = (self.weight_init,)
        if broad:
            grid |= {
                "n_windows": list(self.bls_windows),
                "n_feature_nodes": list(self.bls_nodes),
                "n_enhancement": list(self.bls_enhancement),
                "activations": self.bls_activations,
            }
        else:
            grid |= {"n_hidden": list(self.sizes), "activations": self.activations}
        return model.search(
            **grid,
            cv=stratified_folds(y, self.inner_folds, seed),
            scoring="accuracy",
            standardize=True,
            random_state=seed,
            n_jobs=threads,
        )

    def evaluate(self, model: Model, data: Dataset, threads: int) -> Outcome:
        """Fit on every training part and evaluate on its test part."""
        seconds = 0.0
        judged: list[Judged] = []
        chosen: list[dict[str, Any]] = []
        for number, (train, test) in enumerate(self.splits(data.y)):
            estimator = self.estimator(model, data.y[train], self.seed + number, threads)
            with threadpool_limits(threads), warnings.catch_warnings():
                # Rivals at their defaults warn of slow convergence and few rows; ignore that.
                if not isinstance(model, Tuned):
                    warnings.simplefilter("ignore")
                started = time.perf_counter()
                estimator.fit(data.X[train], data.y[train])
                seconds += time.perf_counter() - started
                judged.append(Judged.of(estimator, data.X[test], data.y[test]))
            if isinstance(model, Tuned):
                chosen.append(plain_params(estimator.best_params_))
        outcome = Outcome([part.accuracy for part in judged], chosen, "X", seconds)
        if any(part.probabilities.size == 0 for part in judged):
            return outcome
        return replace(
            outcome,
            errors=[log_loss(part) for part in judged],
            areas=[area(part) for part in judged],
            calibration_error=calibration_error(judged),
        )


Protocol = PaperProtocol | SoundProtocol | RegressionProtocol

PROTOCOLS: dict[str, type[Protocol]] = {
    cls.name: cls for cls in (PaperProtocol, SoundProtocol, RegressionProtocol)
}


def settings_of(protocol: Protocol) -> dict[str, Any]:
    """Everything that determines a row's contents, in the form that JSON would return."""
    lists = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(protocol).items()
    }
    return {"protocol": protocol.name, **lists}


def make_protocol(name: str, changes: dict[str, list[Any]]) -> Protocol:
    """A protocol by name, with some of its settings replaced."""
    if name not in PROTOCOLS:
        raise ValueError(f"--protocol must be one of {', '.join(PROTOCOLS)}; got {name!r}")
    cls = PROTOCOLS[name]
    defaults = {field.name: field.default for field in fields(cls)}
    values: dict[str, Any] = {}
    for key, given in changes.items():
        if key not in defaults:
            raise ValueError(
                f"a setting of protocol {name!r} must be one of {', '.join(defaults)}; got {key!r}"
            )
        if isinstance(defaults[key], tuple):
            values[key] = tuple(given)
        elif len(given) == 1:
            values[key] = given[0]
        else:
            raise ValueError(f"{key} must be one value; got {given}")
    return cls(**values)
