"""How the study splits and scales rows."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import StandardScaler

from stagenets.study._folds import contiguous_folds, stratified_folds
from stagenets.study._preparation import scaled


@given(st.integers(2, 10), st.integers(0, 500))
def test_contiguous_folds_are_those_of_the_formula(folds, extra):
    n = folds + extra
    splits = contiguous_folds(n, folds)
    for i, (train, test) in enumerate(splits, start=1):
        first, last = math.ceil((i - 1) * n / folds), math.ceil(i * n / folds)
        np.testing.assert_array_equal(test, np.arange(first, last))
        np.testing.assert_array_equal(train, np.setdiff1d(np.arange(n), test))
        assert len(test) > 0
    np.testing.assert_array_equal(np.concatenate([test for _, test in splits]), np.arange(n))


def test_contiguous_folds_need_a_row_each():
    with pytest.raises(ValueError, match="5 folds need at least 5 rows; got 4"):
        contiguous_folds(4, 5)


def test_stratified_folds_spread_every_class_evenly():
    y = np.repeat([0, 1, 2], [50, 30, 20])
    for train, test in stratified_folds(y, 5, seed=3):
        np.testing.assert_array_equal(np.bincount(y[test]), [10, 6, 4])
        np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(100))


@pytest.mark.parametrize("sizes", [[40, 2], [3, 3, 2]])
def test_tiny_classes_do_not_stop_stratified_folds(sizes):
    y = np.repeat(np.arange(len(sizes)), sizes)
    tested = np.concatenate([test for _, test in stratified_folds(y, 5, seed=0)])
    np.testing.assert_array_equal(np.sort(tested), np.arange(len(y)))


def test_column_scaling_is_that_of_scikit_learn_up_to_the_deviations_denominator():
    X = np.random.default_rng(0).normal(2, 3, size=(30, 4))
    expected = StandardScaler().fit_transform(X) * math.sqrt(29 / 30)
    np.testing.assert_allclose(scaled(X, "columns"), expected)


def test_row_scaling_is_column_scaling_of_the_transpose():
    X = np.random.default_rng(1).normal(size=(20, 6))
    np.testing.assert_allclose(scaled(X, "rows"), scaled(X.T, "columns").T)


def test_constant_rows_become_zero():
    X = np.array([[0.1, 0.1, 0.1], [1.0, 2.0, 3.0]])
    np.testing.assert_allclose(scaled(X, "rows"), [[0, 0, 0], [-1, 0, 1]])


def test_no_scaling_leaves_the_inputs_alone():
    X = np.arange(6.0).reshape(2, 3)
    assert scaled(X, "none") is X


@pytest.mark.parametrize(
    ("X", "scaling", "message"),
    [
        (np.ones((3, 1)), "rows", "needs at least two columns"),
        (np.ones((3, 2)), "sideways", "rows, columns, none; got 'sideways'"),
    ],
)
def test_impossible_scalings_are_refused(X, scaling, message):
    with pytest.raises(ValueError, match=message):
        scaled(X, scaling)
