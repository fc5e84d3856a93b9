"""Two ways to judge a model on a data set: as published, and as one should."""

from __future__ import annotations

import time
import warnings
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from residuum._study.data import Dataset
from residuum._study.folds import Split, contiguous_folds, stratified_folds
from residuum._study.models import Model, Tuned, all_models, published_models
from residuum._study.preparation import scaled


@dataclass(frozen=True)
class Outcome:
    """Accuracy on every test part, and what was chosen there."""

    scores: list[float]
    chosen: list[dict[str, Any]]
    inputs: str
    seconds: float


def powers_of_ten(first: int, last: int, step: int = 1) -> tuple[float, ...]:
    """10^first, …, 10^last."""
    return tuple(float(f"1e{exponent}") for exponent in range(first, last + 1, step))


def block_and_pool_sizes(n: int, p: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """k and M that the published study tries with n training rows and p inputs."""
    if n <= 2000 or p <= 50:
        return (1, 2), (50, 100)
    if n <= 20000 or p <= 300:
        return (1, 2, 4), (100, 200)
    return (2, 4), (100, 200)


def hidden_budget(n: int, p: int) -> int:
    """Most hidden units the published study allows a guided network."""
    return max(50, min(1000, n // 5, 5 * p))


def _plain(value: Any) -> Any:
    """Python's own numbers in place of NumPy's, for JSON."""
    return value.item() if isinstance(value, np.generic) else value


@dataclass(frozen=True)
class PaperProtocol:
    """The published protocol: contiguous folds in file order, best mean test-fold accuracy.

    The best of the grid is picked by the same folds it is judged by, so accuracies are optimistic;
    that is what was published. Inputs are scaled before splitting. Grids are the published ones;
    that of BLS is thinned, in windows (1, 3, …, 21) and nodes (5, 10, …, 50). With more than
    `large` training rows guided networks try every other penalty, blocks of 2 and pools of 100
    (BLS: 50), both kinds of BLS every other penalty, and features are in single precision.
    Activations were not stated.
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
    #: "grid": guided networks go as far as the grid; "formula": no further than `hidden_budget`,
    #: with which the published accuracies on large sets with few inputs are out of reach.
    budget: str = "grid"
    #: Above this many rows features are in single precision, and guided networks and BLS try fewer
    #: combinations: the published grid would take hours.
    large: int = 2000
    scaling: str = "rows"
    #: Sets that differ from `scaling`, and sets whose inputs are X_collection, where there is one.
    row_scaled: tuple[str, ...] = ()
    column_scaled: tuple[str, ...] = ()
    unscaled: tuple[str, ...] = ()
    from_collection: tuple[str, ...] = ("monks_1", "monks_3", "annealing", "audiology_std")

    @staticmethod
    def models() -> list[str]:
        """Models of a run that names none."""
        return published_models()

    def inputs(self, data: Dataset) -> tuple[NDArray[np.float64], str]:
        """The inputs as the networks see them, and what they are."""
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
        """What is searched with n training rows and p inputs."""
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
            weight_init=self.weight_init,
            standardize=False,
            random_state=self.seed,
            n_jobs=threads,
        )
        started = time.perf_counter()
        search.fit(X, data.y)
        seconds = time.perf_counter() - started
        results, best = search.cv_results_, search.best_index_
        scores = [float(results[f"split{i}_test_score"][best]) for i in range(self.folds)]
        chosen = {name: _plain(value) for name, value in search.best_params_.items()}
        return Outcome(scores, [chosen], inputs, seconds)


@dataclass(frozen=True)
class SoundProtocol:
    """What one should do: nothing is scaled, chosen or fitted on rows that judge it.

    Stratified, shuffled folds, repeated; hyper-parameters chosen by cross-validation inside each
    training part. Guided and one-shot networks search grids of the same size. Sets with more than
    `large` rows get fewer repeats.
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
    bls_alphas: tuple[float, ...] = powers_of_ten(-4, 0)
    bls_windows: tuple[int, ...] = (2, 5)
    bls_nodes: tuple[int, ...] = (10,)
    bls_enhancement: tuple[int, ...] = (10, 20, 50, 100)
    bls_activations: tuple[str, ...] = ("tanh",)
    bls_block_size: int = 5
    #: None is the estimators' own default.
    weight_init: str | None = None

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
        """What is fitted on a training part with these labels."""
        if not isinstance(model, Tuned):
            return model.make(y, seed, threads)
        broad = model.architecture == "BLS"
        grid: dict[str, Any] = {"alphas": self.bls_alphas if broad else self.alphas}
        if model.guided:
            block = self.bls_block_size if broad else self.block_size
            grid |= {"block_sizes": (block,), "pool_sizes": (self.pool_size,)}
        if self.weight_init is not None:
            grid["weight_init"] = self.weight_init
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
        """Fit on every training part, judge on its test part."""
        started = time.perf_counter()
        scores: list[float] = []
        chosen: list[dict[str, Any]] = []
        for number, (train, test) in enumerate(self.splits(data.y)):
            estimator = self.estimator(model, data.y[train], self.seed + number, threads)
            with threadpool_limits(threads), warnings.catch_warnings():
                # Rivals at their defaults complain of slow convergence and few rows: so be it.
                if not isinstance(model, Tuned):
                    warnings.simplefilter("ignore")
                estimator.fit(data.X[train], data.y[train])
                scores.append(float(estimator.score(data.X[test], data.y[test])))
            if isinstance(model, Tuned):
                best = estimator.best_params_
                chosen.append({name: _plain(value) for name, value in best.items()})
        return Outcome(scores, chosen, "X", time.perf_counter() - started)


Protocol = PaperProtocol | SoundProtocol

PROTOCOLS: dict[str, type[PaperProtocol] | type[SoundProtocol]] = {
    cls.name: cls for cls in (PaperProtocol, SoundProtocol)
}


def settings_of(protocol: Protocol) -> dict[str, Any]:
    """Everything that decides what a row says, as JSON would give it back."""
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
