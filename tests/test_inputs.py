"""Kinds of input: what is accepted, and that memory layout and type of numbers do not matter."""

import numpy as np
import pandas as pd
import pytest

import problems
import stagenets

each_estimator = pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)


def strided(X):
    wide = np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)
    return wide[::2, ::2]


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


LAYOUTS = {
    "fortran": np.asfortranarray,
    "strided": strided,
    "reversed": lambda X: X[:, ::-1].copy()[:, ::-1],
    "read-only": read_only,
    "list": lambda X: X.tolist(),
    "object": lambda X: X.astype(object),
    "big-endian": lambda X: X.astype(">f8"),
    "frame": pd.DataFrame,
}


@each_estimator
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layout_of_the_rows_does_not_change_the_model(cls, layout):
    X, y = problems.data_for(cls)
    same = LAYOUTS[layout](X)
    expected = problems.scores_of(problems.small(cls).fit(X, y), X)
    scores = problems.scores_of(problems.small(cls).fit(same, y), same)
    # Columns that are contiguous are summed in another order than rows are (a frame has them too).
    if layout in ("fortran", "frame"):
        np.testing.assert_allclose(scores, expected, rtol=1e-10, atol=1e-10)
    else:
        np.testing.assert_array_equal(scores, expected)


@each_estimator
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint16, bool])
def test_integers_and_booleans_are_taken_as_numbers(cls, dtype):
    X, y = problems.data_for(cls)
    X = (X > 0).astype(dtype) if dtype is bool else np.clip(10 * X + 50, 0, 100).astype(dtype)
    model = problems.small(cls).fit(X, y)
    expected = problems.small(cls).fit(X.astype(float), y)
    np.testing.assert_array_equal(model.predict(X), expected.predict(X.astype(float)))


@each_estimator
@pytest.mark.parametrize("selection", ["residual", "random"])
@pytest.mark.parametrize("solver", ["primal", "dual"])
def test_float32_gives_float32_features_and_nearly_the_same_scores(cls, selection, solver):
    X, y = problems.data_for(cls)
    X = X.astype(np.float32)
    params = {"selection": selection, "solver": solver, "alpha": 1.0}
    single = problems.small(cls, **params).fit(X, y)
    double = problems.small(cls, **params).fit(X.astype(float), y)
    assert single.transform(X).dtype == np.float32
    assert double.transform(X.astype(float)).dtype == np.float64
    np.testing.assert_array_equal(single.selected_, double.selected_)
    np.testing.assert_allclose(
        problems.scores_of(single, X), problems.scores_of(double, X.astype(float)), atol=1e-4
    )
    np.testing.assert_allclose(single.objective_path_, double.objective_path_, rtol=1e-5)


@each_estimator
def test_fit_and_predict_leave_their_arguments_alone(cls):
    X, y = problems.data_for(cls)
    X_before, y_before = X.copy(), y.copy()
    model = problems.small(cls).fit(X, y)
    model.predict(X)
    model.transform(X)
    np.testing.assert_array_equal(X, X_before)
    np.testing.assert_array_equal(y, y_before)


@each_estimator
def test_model_does_not_remember_the_callers_array(cls):
    X, y = problems.data_for(cls)
    model = problems.small(cls).fit(X, y)
    rows = X.copy()
    expected = problems.scores_of(model, rows)
    X[:] = 0
    np.testing.assert_array_equal(problems.scores_of(model, rows), expected)


@each_estimator
def test_frame_gives_feature_names_and_minds_them(cls):
    X, y = problems.data_for(cls)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = problems.small(cls).fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"d": "e"}))


@each_estimator
def test_transform_can_give_a_frame(cls):
    X, y = problems.data_for(cls)
    model = problems.small(cls).fit(X, y).set_output(transform="pandas")
    frame = model.transform(X)
    assert list(frame.columns) == list(model.get_feature_names_out())


LABELS = {
    "words": np.array(["pike", "carp", "eel"]),
    "objects": np.array(["pike", "carp", "eel"], dtype=object),
    "negative": np.array([-7, 3, 100]),
    "floats": np.array([1.0, 2.0, 5.0]),
}


@pytest.mark.parametrize("cls", problems.CLASSIFIERS, ids=problems.name_of)
@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_kind_come_back_as_given(cls, kind):
    X, y = problems.data_for(cls)
    named = LABELS[kind][y]
    model = problems.small(cls).fit(X, named)
    np.testing.assert_array_equal(model.classes_, np.unique(named))
    assert model.classes_.dtype == named.dtype
    assert set(model.predict(X)) <= set(named)
    columns = np.searchsorted(model.classes_, LABELS[kind])  # class c of y, in sorted order
    plain = problems.small(cls).fit(X, columns[y])
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))


@pytest.mark.parametrize("cls", problems.CLASSIFIERS, ids=problems.name_of)
@pytest.mark.parametrize("labels", [np.array([False, True]), np.array(["no", "yes"])])
def test_two_classes_have_one_score_for_the_second(cls, labels):
    X, y = problems.data_for(cls, n_outputs=2)
    model = problems.small(cls).fit(X, labels[y])
    decision = model.decision_function(X)
    assert decision.shape == (len(X),)
    assert model.readout_.shape[0] == 2
    assert model.readout_intercept_.shape == (2,)
    np.testing.assert_array_equal(model.predict(X), labels[(decision > 0).astype(int)])
    assert model.predict_proba(X).shape == (len(X), 2)


@pytest.mark.parametrize("cls", problems.CLASSIFIERS, ids=problems.name_of)
def test_series_of_words_is_accepted_as_target(cls):
    X, y = problems.data_for(cls)
    names = pd.Series(np.array(["x", "y", "z"])[y])
    assert problems.small(cls, alpha=1.0).fit(X, names).score(X, names) > 0.5


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_that_are_not_aligned(dtype):
    X, y = problems.data_for(stagenets.RVFLRegressor, n=60)
    X = X.astype(dtype)
    buffer = np.empty(X.nbytes + 1, dtype=np.uint8)
    crooked = buffer[1:].view(dtype).reshape(X.shape)
    crooked[:] = X
    assert not crooked.flags.aligned
    model = problems.small(stagenets.RVFLRegressor).fit(X, y)
    again = problems.small(stagenets.RVFLRegressor).fit(crooked, y)
    np.testing.assert_array_equal(again.predict(crooked), model.predict(X))
