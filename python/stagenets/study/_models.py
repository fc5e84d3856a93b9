"""The models of the study: tuned networks, untuned networks, and rivals."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

import stagenets

# Rivals are imported where they are created, so that workers that do not use them start sooner.

ARCHITECTURES = ("RVFL", "ELM", "BLS")


@dataclass(frozen=True)
class Tuned:
    """A network whose hyper-parameters are searched; the protocol provides the grid."""

    name: str
    architecture: str
    selection: str
    kind: str = "Classifier"

    @property
    def guided(self) -> bool:
        return self.selection != "random"

    def search(self, **grid: Any) -> Any:
        """The one-pass search over a grid."""
        cls = getattr(stagenets, f"{self.architecture}{self.kind}CV")
        return cls(selections=(self.selection,), **grid)


@dataclass(frozen=True)
class Plain:
    """An estimator without a search: `make(targets, seed, threads)` returns a new one."""

    name: str
    make: Callable[[NDArray[Any], int, int], Any]


Model = Tuned | Plain


def untuned(name: str, architecture: str, kind: str = "Classifier", **params: Any) -> Plain:
    """A network with these parameters and otherwise its defaults."""
    cls = getattr(stagenets, f"{architecture}{kind}")

    def make(targets: NDArray[Any], seed: int, threads: int) -> Any:
        return cls(**{"random_state": seed, "n_jobs": threads, **params})

    return Plain(name, make)


def _nystroem(labels: NDArray[np.int64], seed: int, threads: int) -> Any:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import RidgeClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), Nystroem(random_state=seed), RidgeClassifier())


def _perceptron(labels: NDArray[np.int64], seed: int, threads: int) -> Any:
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), MLPClassifier(random_state=seed))


def _boosting(labels: NDArray[np.int64], seed: int, threads: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    # Its early stopping sets a stratified sample aside, which fails for a class with one member.
    sizes = np.bincount(labels)
    lonely = sizes[sizes > 0].min() < 2
    return HistGradientBoostingClassifier(
        random_state=seed, early_stopping=False if lonely else "auto"
    )


def _lightgbm(labels: NDArray[np.int64], seed: int, threads: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=seed, n_jobs=threads, verbose=-1)


def _tuned_lightgbm(labels: NDArray[np.int64], seed: int, threads: int) -> Any:
    from stagenets.study._tuned_lightgbm import TunedLightGBM

    return TunedLightGBM(random_state=seed, n_jobs=threads)


def _logistic(labels: NDArray[np.int64], seed: int, threads: int) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


_TUNED = [
    model
    for architecture in ARCHITECTURES
    for model in (
        Tuned(architecture, architecture, "random"),
        Tuned(f"RG-{architecture}", architecture, "residual"),
    )
]
_JOINT = [Tuned(f"RG-{name}-joint", name, "joint") for name in ARCHITECTURES]
_UNTUNED = [
    model
    for architecture in ARCHITECTURES
    for model in (
        untuned(f"{architecture} default", architecture, selection="random"),
        untuned(f"RG-{architecture} default", architecture),
    )
]
_RIVALS = [
    Plain("LogisticRegression", _logistic),
    Plain("Nystroem+Ridge", _nystroem),
    Plain("MLP", _perceptron),
    Plain("HistGradientBoosting", _boosting),
    Plain("LightGBM", _lightgbm),
]

_SLOW: list[Model] = [*_JOINT, Plain("LightGBM tuned", _tuned_lightgbm)]

_EVERY: list[Model] = [*_TUNED, *_SLOW, *_UNTUNED, *_RIVALS]

MODELS: dict[str, Model] = {model.name: model for model in _EVERY}


def published_models() -> list[str]:
    """The six models of the published study."""
    return [model.name for model in _TUNED]


def all_models() -> list[str]:
    """All models except slow ones; LightGBM only if it is installed."""
    names = [*published_models(), *(model.name for model in (*_UNTUNED, *_RIVALS))]
    return [name for name in names if name != "LightGBM" or find_spec("lightgbm")]


def find_model(name: str) -> Model:
    """A model by its name, or a call such as ``RVFLClassifier(alpha=0.1)``."""
    return MODELS.get(name) or parse_call(name, MODELS, "Classifier")


def parse_call(name: str, models: Iterable[str], kind: str) -> Plain:
    """The network, or the search, that a call describes; a refusal lists `models`."""
    accepted = f"one of {', '.join(models)}, or a call such as RVFL{kind}(alpha=0.1)"
    refusal = ValueError(f"a model must be {accepted}; got {name!r}")
    try:
        call = ast.parse(name, mode="eval").body
    except SyntaxError:
        raise refusal from None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)) or call.args:
        raise refusal
    architecture, found, search = call.func.id.partition(kind)
    if architecture not in ARCHITECTURES or not found or search not in ("", "CV"):
        raise refusal
    params = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            raise refusal
        value = keyword.value
        params[keyword.arg] = value.id if isinstance(value, ast.Name) else ast.literal_eval(value)
    return untuned(name, architecture, kind + search, **params)


def split_names(text: str) -> list[str]:
    """Names separated by commas; commas inside brackets do not separate."""
    names, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            names.append("")
        else:
            names[-1] += character
    return [name.strip() for name in names if name.strip()]


def check_models(names: Sequence[str], find: Callable[[str], Model]) -> list[str]:
    """The names without repeats, if all of them are models."""
    for name in names:
        find(name)
    return list(dict.fromkeys(names))
