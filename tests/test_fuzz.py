"""Whatever one passes: a finite result, or an error that says what is wrong.

Some hundred cases take half a minute. ``STAGENETS_FUZZ=10000`` tries that many of estimators and of
generators, a quarter of searches and draws, and new ones every time (``nox -s fuzz``).
"""

import pickle
import tempfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

import stagenets
from fuzzing import cases, rarely


class Refusal(Exception):
    """What our own callbacks and generators raise: it must come through."""


CLEAR = (ValueError, TypeError, MemoryError, Refusal)  # NotFittedError is a ValueError

pytestmark = pytest.mark.filterwarnings("ignore")


# Inputs.


def stored(X, how):
    """The same numbers in another place."""
    if how == "fortran":
        return np.asfortranarray(X)
    if how == "strided":
        wide = np.full((2 * X.shape[0], 3 * X.shape[1]), np.nan).astype(X.dtype)
        wide[::2, ::3] = X
        return wide[::2, ::3]
    if how == "backwards":
        return np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]
    if how == "memmap" and X.size:
        file = tempfile.TemporaryFile()
        file.write(np.ascontiguousarray(X).tobytes())
        file.flush()
        return np.memmap(file, dtype=X.dtype, mode="r", shape=X.shape)
    if how == "swapped":
        return X.astype(X.dtype.newbyteorder())
    if how == "list":
        return X.tolist()
    if how == "object":
        return X.astype(object)
    if how == "sparse":
        return sparse.csr_matrix(X if X.dtype != np.float16 else X.astype(np.float32))
    if how == "one-dimensional":
        return X.ravel()[: len(X)]
    return X


@st.composite
def tables(draw, rows):
    """Inputs of that many rows: (what to pass, the numbers in it)."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    columns = draw(rarely([1, 2, 3, 5, 9], [0, 60]))
    X = rng.normal(size=(rows, columns))
    exponents = [-320, -310, -160, -45, -20, -3, 3, 20, 38, 100, 155, 300, 308]
    X = X * 10.0 ** draw(rarely([0], exponents))
    X = X + 10.0 ** draw(rarely([-3], [0, 3, 6, 9, 12, 155, 300]))
    for _ in range(draw(rarely([0, 1], [2, 3]))):
        if columns:
            j, k = rng.integers(0, columns, 2)
            near = X[:, k] * (1 + 1e-9 * rng.normal(size=rows))
            X[:, j] = draw(st.sampled_from([X[:, k], 0 * X[:, k] + 7, near, np.round(X[:, k])]))
    if draw(rarely([False], [True])) and X.size:
        X.flat[rng.integers(X.size)] = draw(
            st.sampled_from([np.nan, np.inf, -np.inf, 1e308, 5e-324])
        )
    dtype = draw(rarely(["float64", "float32"], ["int64", "int8", "uint64", "bool", "float16"]))
    with np.errstate(all="ignore"):
        X = X.astype(dtype)
    odd = ["strided", "backwards", "memmap", "swapped", "list", "object", "sparse"]
    how = draw(rarely(["as-it-is", "fortran", "strided"], [*odd, "one-dimensional"]))
    return stored(X, how)


@st.composite
def class_labels(draw, rows):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    y = rng.integers(0, draw(rarely([2, 3], [1, 20])), rows)
    kinds = [str, bool, float, object, np.uint8, lambda y: -y, lambda y: y[:-1], lambda y: y + 0.5]
    if draw(rarely([False], [True])):
        kind = draw(st.sampled_from(kinds))
        y = y.astype(kind) if isinstance(kind, type) else kind(y)
    return y


@st.composite
def responses(draw, rows):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    outputs = draw(rarely([0, 1, 2], [30]))
    y = rng.normal(size=(rows, outputs) if outputs else rows)
    y = y * 10.0 ** draw(rarely([0], [-320, -160, -40, 9, 40, 154, 160, 300]))
    y = y + 10.0 ** draw(rarely([-3], [6, 9, 12, 300]))
    if draw(rarely([False], [True])):
        y = draw(st.sampled_from([0 * y, y.astype("float32"), y * np.nan, y[:-1], y.tolist()]))
    return y


# Parameters.


def raising(*arguments):
    raise Refusal("no")


def reentering(*arguments):
    X = np.arange(12.0).reshape(6, 2)
    stagenets.ELMRegressor(n_hidden=2, pool_size=2, random_state=0, n_jobs=2).fit(X, X[:, 0])


def stopping(info):
    return True


def odd_weights(rng, pool_size, n_features):
    return rng.normal(size=(n_features, pool_size)) * 1e200, rng.normal(size=pool_size)


def wrong_weights(rng, pool_size, n_features):
    return rng.normal(size=(pool_size, n_features + 1)), np.zeros(3)


def nan_weights(rng, pool_size, n_features):
    return np.full((n_features, pool_size), np.nan), np.zeros(pool_size)


ACTIVATIONS = ["sigmoid", "tanh", "relu", "sine", "selu", "tribas", "radbas", "identity", "hardlim"]
COUNTS = [0, -1, 2**62, 2**63, 1.5, None, True, "3", np.int8(3), np.float64("nan")]
PARAMETERS = {
    "n_hidden": rarely([1, 3, 12, 50], COUNTS),
    "max_hidden": rarely([1, 3, 12, "auto"], COUNTS),
    "n_windows": rarely([1, 2], COUNTS),
    "n_feature_nodes": rarely([1, 3], COUNTS),
    "n_enhancement": rarely([0, 1, 5], COUNTS),
    "max_enhancement": rarely([1, 5], COUNTS),
    "alpha": rarely([0.0, 1e-12, 0.1, 10.0], [-1, 1e-320, 1e300, np.inf, np.nan, "a", None]),
    "alphas": rarely([[0.1], [1e-6, 1.0]], [[], [0.0], [-1.0], None, 3, [1e300, 1e-300]]),
    "pool_size": rarely([1, 5, 20], COUNTS),
    "block_size": rarely([1, 2, 7], COUNTS),
    "score_fraction": rarely([1.0, 0.5], [0, 1e-9, 2, -1, np.nan, "x"]),
    "selection": rarely(["residual", "joint", "random"], ["best", None, 3]),
    "selections": rarely([["residual"], ["random", "joint"]], [[], "residual", [None]]),
    "loss": rarely(["squared", "log"], ["hinge", None]),
    "activation": st.sampled_from(ACTIVATIONS),
    "activations": st.sampled_from([["tanh"], ["relu", "sine"], [], "tanh"]),
    "feature_activation": st.sampled_from(ACTIVATIONS),
    "enhancement_activation": st.sampled_from(ACTIVATIONS),
    "sparse_features": rarely([True, False], ["yes"]),
    "weight_init": rarely(
        ["sparse", "uniform", "normal", "threshold", "leaf", "mixed"],
        ["none", odd_weights, wrong_weights, nan_weights, raising, reentering, None],
    ),
    "weight_scale": rarely([1.0, 0.1, 30.0], [0, -1, 1e-300, 1e300, np.inf, "x"]),
    "fan_in": rarely([1, 3], COUNTS),
    "standardize": rarely([True, False, "robust"], ["yes", 1, None]),
    "extrapolate": rarely([True, False], ["yes"]),
    "fit_intercept": rarely([True, False], ["yes", None]),
    "solver": rarely(["auto", "primal", "dual"], ["svd", None]),
    "tol": rarely([0.0, 1e-3], [-1, np.nan, np.inf, "x"]),
    "early_stopping": rarely([False, "loo", "validation"], ["cv", True, "maybe", 3]),
    "validation_fraction": rarely([0.1, 0.5], [0, 1, 2, "x"]),
    "n_iter_no_change": rarely([1, 20], COUNTS),
    "n_jobs": rarely([None, 1, 2], [0, -1, 1000, "x", 1.5]),
    "verbose": rarely([0], [-1, "x"]),
    "callback": rarely([None], [raising, reentering, 3, stopping]),
    "cv": rarely([2, 3], [0, 1, 10**6, None, "x", []]),
    "max_memory": rarely(["2GB", "1MB"], [0, -1, "much", None]),
}


@st.composite
def estimators(draw, classes):
    cls = draw(st.sampled_from(classes))
    names = [name for name in cls().get_params() if name in PARAMETERS]
    small = {"pool_size": 8, "n_hidden": 6, "n_windows": 2, "n_feature_nodes": 3}
    small |= {"n_enhancement": 4, "max_hidden": 6, "max_enhancement": 4, "cv": 2}
    if cls.__name__.endswith("CV"):
        for name in ("n_hidden", "n_windows", "n_feature_nodes", "n_enhancement"):
            small.pop(name)
        small |= {"alphas": [0.1, 1.0], "pool_sizes": [8]}
        names = [name for name in names if not name.startswith("n_") or name == "n_jobs"]
    params = {name: value for name, value in small.items() if name in cls().get_params()}
    for name in draw(st.lists(st.sampled_from(names), max_size=4, unique=True)):
        params[name] = draw(PARAMETERS[name])
    return cls(random_state=0, **params)


PLAIN = [stagenets.RVFLClassifier, stagenets.ELMClassifier, stagenets.BLSClassifier]
PLAIN += [stagenets.RVFLRegressor, stagenets.ELMRegressor, stagenets.BLSRegressor]
SEARCHES = [stagenets.RVFLClassifierCV, stagenets.ELMRegressorCV, stagenets.BLSClassifierCV]


def finite(values):
    return np.isfinite(np.asarray(values, dtype=float)).all()


def check_answers(model, X):
    """All that a fitted model can be asked for is finite, and the same after a round trip."""
    before = model.predict(X)
    if hasattr(model, "predict_proba"):
        proba = model.predict_proba(X)
        assert finite(proba) and np.allclose(proba.sum(axis=1), 1)
        assert set(before) <= set(model.classes_)
    else:
        assert finite(before)
    assert finite(model.transform(X))
    assert finite(model.objective_path_) and (np.diff(model.objective_path_) <= 0).all()
    assert finite(model.readout_) and finite(model.readout_intercept_)
    for staged in model.staged_predict(X):
        assert np.shape(staged) == np.shape(before)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), before)
    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/model")
        np.testing.assert_array_equal(stagenets.load(f"{folder}/model").predict(X), before)
    assert "predict" in stagenets.to_numpy_source(model)
    assert repr(model) and model._repr_html_()


def attempt(model, X, y, **fit_params):
    """Whether it could be fitted; if not, the error says something and nothing is half fitted."""
    try:
        with np.errstate(all="ignore"):
            model.fit(X, y, **fit_params)
    except CLEAR as error:
        assert str(error)
        with pytest.raises(ValueError):
            check_is_fitted(model)
        return False
    return True


@cases()
@given(st.data())
def test_estimators(data):
    rows = data.draw(rarely([2, 5, 12, 40], [0, 1, 600]))
    X, model = data.draw(tables(rows)), data.draw(estimators(PLAIN))
    of_classes = hasattr(model, "predict_proba")
    y = data.draw(class_labels(rows) if of_classes else responses(rows))
    weights = data.draw(
        rarely(["none"], ["ones", "zeros", "huge", "tiny", "nan", "negative", "some"])
    )
    sizes = {
        "ones": 1.0,
        "zeros": 0.0,
        "huge": 1e300,
        "tiny": 1e-300,
        "nan": np.nan,
        "negative": -1.0,
    }
    fit_params = {}
    if weights == "some":
        fit_params["sample_weight"] = np.arange(rows) % 3
    elif weights != "none":
        fit_params["sample_weight"] = np.full(rows, sizes[weights])
    if attempt(model, X, y, **fit_params):
        check_answers(model, X)


@cases(4)
@given(st.data())
def test_searches(data):
    rows = data.draw(rarely([12, 40], [1, 3]))
    X, model = data.draw(tables(rows)), data.draw(estimators(SEARCHES))
    y = data.draw(class_labels(rows) if "Classifier" in repr(model) else responses(rows))
    if attempt(model, X, y):
        assert finite(model.cv_results_["mean_test_score"]) or not finite(
            np.asarray(y, dtype=float)
        )
        model.predict(X)


@cases(40)
@given(st.data())
def test_pictures_and_exports(data):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    rows = data.draw(st.sampled_from([5, 12, 40]))
    X, model = data.draw(tables(rows)), data.draw(estimators(PLAIN))
    y = data.draw(class_labels(rows) if hasattr(model, "predict_proba") else responses(rows))
    if not attempt(model, X, y):
        return
    for display in ("StagewiseDisplay", "UnitsDisplay", "ImportancesDisplay"):
        try:
            getattr(stagenets, display).from_estimator(model)
            pyplot.gcf().canvas.draw()
        except ValueError as error:  # such as: of one-shot networks there are no pools
            assert str(error)
        finally:
            pyplot.close("all")
    pytest.importorskip("skl2onnx")
    assert stagenets.to_onnx(model).SerializeToString()


def generated(kind, n, rng):
    def candidates(stage, size):
        pool = rng.normal(size=(n, size))
        if kind == "raises" and stage:
            raise Refusal("no")
        if kind == "re-enters":
            reentering()
        odd = {
            "nothing": None,
            "nan": pool * np.nan,
            "huge": pool * 1e200,
            "tiny": pool * 1e-320,
            "zeros": 0 * pool,
            "twins": np.repeat(pool[:, :1], size, axis=1),
            "too-few": pool[:, :-1],
            "too-short": pool[:-1],
            "complex": pool * 1j,
            "text": pool.astype(str),
            "list": pool.tolist(),
            "float32": pool.astype("float32"),
            "fortran": np.asfortranarray(pool),
            "strided": np.repeat(pool, 2, axis=1)[:, ::2],
            "three-dimensional": pool[None],
        }
        return odd.get(kind, pool)

    return candidates


KINDS = [
    "nothing",
    "nan",
    "huge",
    "tiny",
    "zeros",
    "twins",
    "too-few",
    "too-short",
    "complex",
    "text",
]
KINDS += [
    "list",
    "float32",
    "fortran",
    "strided",
    "three-dimensional",
    "raises",
    "re-enters",
    "plain",
]


@cases()
@given(st.data())
def test_candidates_of_ones_own(data):
    n = data.draw(rarely([3, 12, 40], [1, 600]))
    names = ["n_hidden", "alpha", "pool_size", "block_size", "selection", "score_fraction"]
    names += ["fit_intercept", "solver", "tol", "n_jobs"]
    params = {"n_hidden": 5, "pool_size": 6}
    for name in data.draw(st.lists(st.sampled_from(names), max_size=3, unique=True)):
        params[name] = data.draw(PARAMETERS[name])
    candidates = generated(data.draw(st.sampled_from(KINDS)), n, np.random.default_rng(0))
    inputs = data.draw(st.one_of(st.none(), tables(n)))
    try:
        with np.errstate(all="ignore"):
            fit = stagenets.fit_stagewise(
                candidates, data.draw(responses(n)), inputs=inputs, **params
            )
    except CLEAR as error:
        assert str(error)
        return
    assert finite(fit.readout) and finite(fit.readout_intercept) and finite(fit.objective_path)
    assert (np.diff(fit.objective_path) <= 0).all()


@cases(4)
@given(
    st.integers(-2, 2**65),
    st.integers(-2, 2**64),
    rarely([1, 5, 40], [0, -1, 2**61, 2**63, 1.5, None]),
    rarely([1, 5], [0, -1, 2**61, 2**63, "x"]),
    PARAMETERS["weight_init"],
    PARAMETERS["weight_scale"],
)
def test_draws(seed, stage, size, n_features, weight_init, weight_scale):
    try:
        weights, bias = stagenets.draw_candidates(
            seed, stage, size, n_features, weight_init=weight_init, weight_scale=weight_scale
        )[:2]
    except (*CLEAR, OverflowError) as error:
        assert str(error) and not isinstance(error, OverflowError)
        return
    assert weight_init is nan_weights or (finite(weights) and finite(bias))


def test_errors_of_generators_are_their_own():
    """The net above would also catch a Refusal that was never raised."""
    with pytest.raises(Refusal):
        stagenets.fit_stagewise(raising, np.ones(5), n_hidden=2)
    with pytest.raises(Refusal):
        stagenets.ELMRegressor(callback=raising).fit(np.eye(5), np.arange(5.0))
