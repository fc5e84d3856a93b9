"""Bad input gets its error before any work, in words that name the argument and the value."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import problems
import stagenets

nan, inf = float("nan"), float("inf")

BAD_PARAMETERS = [
    ("alpha", -1.0),
    ("alpha", nan),
    ("alpha", inf),
    ("alpha", "large"),
    ("selection", "greedy"),
    ("pool_size", 0),
    ("pool_size", -3),
    ("pool_size", 2.5),
    ("block_size", 0),
    ("block_size", -1),
    ("weight_init", "cauchy"),
    ("weight_init", 7),
    ("weight_scale", -1.0),
    ("weight_scale", nan),
    ("weight_scale", inf),
    ("fan_in", 0),
    ("solver", "qr"),
    ("tol", -0.1),
    ("tol", nan),
    ("standardize", "yes"),
    ("extrapolate", "yes"),
    ("fit_intercept", "no"),
    ("random_state", -1),
    ("random_state", "lucky"),
    ("n_jobs", 0),
    ("n_jobs", "all"),
]
BAD_AFFINE = [
    ("n_hidden", 0),
    ("n_hidden", -5),
    ("n_hidden", 2.5),
    ("n_hidden", "many"),
    ("n_hidden", None),
    ("activation", "swish"),
    ("activation", None),
]
BAD_BLS = [
    ("n_windows", 0),
    ("n_feature_nodes", 0),
    ("n_feature_nodes", 1.5),
    ("n_enhancement", -1),
    ("feature_activation", "swish"),
    ("enhancement_activation", "swish"),
    ("sparse_features", "maybe"),
]


def cases():
    for cls in problems.ALL:
        for name, value in BAD_PARAMETERS + (BAD_BLS if cls in problems.BLS else BAD_AFFINE):
            yield pytest.param(cls, name, value, id=f"{cls.__name__}-{name}={value}")


@pytest.mark.parametrize(("cls", "name", "value"), list(cases()))
def test_bad_parameter_is_refused_by_name_and_value(cls, name, value):
    X, y = problems.data_for(cls)
    model = problems.small(cls, **{name: value})
    with pytest.raises((ValueError, TypeError)) as caught:
        model.fit(X, y)
    message = str(caught.value)
    assert name in message
    assert str(value) in message
    assert not hasattr(model, "readout_")


@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
@pytest.mark.parametrize(
    ("name", "accepted"),
    [
        ("selection", ["residual", "random"]),
        ("solver", ["auto", "primal", "dual"]),
        ("weight_init", ["uniform", "normal", "sparse"]),
        ("activation", ["sigmoid", "tanh", "relu", "sine", "selu", "tribas", "radbas", "identity"]),
    ],
)
def test_unknown_name_is_answered_with_the_known_ones(cls, name, accepted):
    X, y = problems.data_for(cls)
    if name == "activation" and cls in problems.BLS:
        name = "enhancement_activation"
    with pytest.raises(ValueError, match=name) as caught:
        problems.small(cls, **{name: "unheard-of"}).fit(X, y)
    assert all(known in str(caught.value) for known in accepted)


@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
def test_pool_smaller_than_block_is_refused_with_both_values(cls):
    X, y = problems.data_for(cls)
    with pytest.raises(ValueError, match="pool_size") as caught:
        problems.small(cls, pool_size=3, block_size=4).fit(X, y)
    assert "block_size" in str(caught.value)
    assert "3" in str(caught.value)
    assert "4" in str(caught.value)


@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
def test_parameters_are_keyword_only(cls):
    with pytest.raises(TypeError):
        cls(10)


def bad_data(cls):
    """name -> (X, y, a word that the message must hold)."""
    X, y = problems.data_for(cls)
    spoiled = {value: X.copy() for value in (inf, -inf)}
    for value, rows in spoiled.items():
        rows[3, 1] = value
        rows[4, 2] = nan  # which alone is accepted
    words = np.full(X.shape, "three", dtype=object)
    return {
        "inf": (spoiled[inf], y, "infinity"),
        "minus-inf": (spoiled[-inf], y, "infinity"),
        "float32-inf": (spoiled[inf].astype(np.float32), y, "infinity"),
        "no-rows": (X[:0], y[:0], "0 sample"),
        "no-columns": (X[:, :0], y, "0 feature"),
        "one-dimension": (X[:, 0], y, "1D array"),
        "three-dimensions": (X[:, :, None], y, "dim 3"),
        "fewer-targets": (X, y[:-1], "inconsistent"),
        "more-targets": (X[:-1], y, "inconsistent"),
        "no-targets": (X, None, "y"),
        "complex": (X + 1j, y, "[Cc]omplex"),
        "words": (words, y, "could not convert"),
        "strings": (words.astype(str), y, None),
        "mixed-objects": (np.where(X > 0, X.astype(object), {}), y, None),
    }


@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
@pytest.mark.parametrize("kind", bad_data(stagenets.ELMClassifier))
def test_bad_data_is_refused_before_any_work(cls, kind):
    X, y, word = bad_data(cls)[kind]
    model = problems.small(cls)
    with pytest.raises((ValueError, TypeError), match=word):
        model.fit(X, y)
    assert not hasattr(model, "readout_")


@pytest.mark.parametrize("cls", problems.CLASSIFIERS, ids=problems.name_of)
def test_one_class_is_refused(cls):
    X, y = problems.data_for(cls)
    with pytest.raises(ValueError, match="class"):
        problems.small(cls).fit(X, np.zeros_like(y))


@pytest.mark.parametrize("cls", problems.CLASSIFIERS, ids=problems.name_of)
@pytest.mark.parametrize("kind", ["continuous", "nan", "two classes"])
def test_targets_that_are_not_classes_are_refused(cls, kind):
    X, y = problems.data_for(cls)
    bad = {"continuous": X[:, 0], "nan": np.where(y == 0, nan, y)}
    bad = {**bad, "two classes": np.column_stack([y, y])}[kind]
    with pytest.raises(ValueError, match=r"label|NaN|y should be a 1d array|Multi"):
        problems.small(cls).fit(X, bad)


@pytest.mark.parametrize("cls", problems.REGRESSORS, ids=problems.name_of)
@pytest.mark.parametrize("bad", [nan, inf, 1j, "three"])
def test_targets_that_are_not_finite_numbers_are_refused(cls, bad):
    X, y = problems.data_for(cls)
    y = y.astype(object if isinstance(bad, str) else np.result_type(y, bad))
    y[2, 0] = bad
    with pytest.raises((ValueError, TypeError)):
        problems.small(cls).fit(X, y)


def methods(cls):
    common = ["predict", "transform", "staged_predict"]
    if cls in problems.REGRESSORS:
        return common
    return [*common, "predict_proba", "decision_function", "staged_decision_function"]


METHODS = [(cls, method) for cls in problems.ALL for method in methods(cls)]


def call(model, method, X):
    result = getattr(model, method)(X)
    return list(result) if method.startswith("staged") else result


@pytest.mark.parametrize(("cls", "method"), METHODS)
def test_method_before_fit_is_refused(cls, method):
    X, _ = problems.data_for(cls)
    with pytest.raises(NotFittedError):
        call(problems.small(cls), method, X)


@pytest.mark.parametrize(("cls", "method"), METHODS)
@pytest.mark.parametrize("kind", ["narrow", "wide", "inf", "complex", "words", "empty"])
def test_bad_rows_are_refused_after_fit(cls, method, kind):
    X, y = problems.data_for(cls)
    model = problems.small(cls).fit(X, y)
    bad = {
        "narrow": X[:, :3],
        "wide": np.hstack([X, X]),
        "inf": np.where(X > 1, inf, X),
        "complex": X + 0j,
        "words": np.full(X.shape, "three", dtype=object),
        "empty": X[:0],
    }[kind]
    with pytest.raises((ValueError, TypeError)) as caught:
        call(model, method, bad)
    if kind in ("narrow", "wide"):
        assert str(bad.shape[1]) in str(caught.value)
        assert "4" in str(caught.value)


@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
def test_failed_refit_leaves_the_estimator_usable(cls):
    X, y = problems.data_for(cls)
    model = problems.small(cls).fit(X, y)
    with pytest.raises(ValueError, match="alpha"):
        model.set_params(alpha=-1.0).fit(X, y)
    model.set_params(alpha=1.0).fit(X, y).predict(X)


@pytest.mark.parametrize("cls", [stagenets.RVFLClassifier, stagenets.BLSRegressorCV])
def test_unknown_arguments_are_refused_in_the_name_of_the_class(cls):
    with pytest.raises(TypeError, match=rf"^{cls.__name__}.__init__\(\) got .* 'nhidden'"):
        cls(nhidden=5)


@pytest.mark.parametrize("value", ["many", 0, 1.5, None])
def test_sizes_may_be_numbers_or_auto(value):
    X, y = problems.data_for(stagenets.RVFLClassifier)
    with pytest.raises(ValueError, match="n_hidden must be an integer of at least 1 or 'auto'"):
        stagenets.RVFLClassifier(n_hidden=value).fit(X, y)


def test_numpy_scalars_are_shown_as_plain_numbers():
    X, y = problems.data_for(stagenets.RVFLClassifier)
    with pytest.raises(ValueError, match=r"alpha must be .*; got -1.0$"):
        stagenets.RVFLClassifier(alpha=np.float64(-1)).fit(X, y)
    with pytest.raises(ValueError, match=r"got one class, 1$"):
        stagenets.RVFLClassifier().fit(X, np.ones(len(X), dtype=int))
