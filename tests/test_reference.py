"""The oracle itself, against scikit-learn and against what its parts must satisfy."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import reference


@pytest.mark.parametrize("shape", [(40, 7), (10, 25)])
@pytest.mark.parametrize("solve", [reference.ridge, reference.svd_ridge])
def test_ridge_equals_scikit_learn(solve, shape):
    rng = np.random.default_rng(0)
    A, T = rng.normal(size=shape), rng.normal(size=(shape[0], 3))
    expected = Ridge(alpha=0.7, fit_intercept=False, solver="svd").fit(A, T).coef_.T
    np.testing.assert_allclose(solve(A, T, 0.7), expected, rtol=1e-9, atol=1e-12)


def test_score_is_the_drop_that_one_coefficient_brings():
    rng = np.random.default_rng(1)
    A, T, g = rng.normal(size=(30, 4)), rng.normal(size=(30, 2)), rng.normal(size=(30, 1))
    residual = T - A @ reference.ridge(A, T, 0.5)
    alone = reference.ridge(g, residual, 0.5)
    drop = np.sum(residual**2) - reference.objective(g, residual, 0.5, alone)
    score = np.sum((g.T @ residual) ** 2) / (np.sum(g**2) + 0.5)
    assert drop == pytest.approx(score, rel=1e-12)


def test_leave_one_out_equals_the_leverage_formula():
    rng = np.random.default_rng(2)
    A, T = rng.normal(size=(25, 6)), rng.normal(size=(25, 2))
    hat = A @ np.linalg.solve(A.T @ A + 0.3 * np.eye(6), A.T)
    closed_form = T - (T - hat @ T) / (1 - np.diag(hat))[:, None]
    np.testing.assert_allclose(reference.leave_one_out_scores(A, T, 0.3), closed_form, rtol=1e-10)


def test_sparse_autoencoder_solves_its_lasso():
    rng = np.random.default_rng(3)
    X, W, b = rng.normal(size=(60, 5)), rng.normal(size=(5, 4)), rng.normal(size=4)
    weights, biases = reference.sparse_autoencoder(X, W, b, iterations=4000)
    codes = X @ W + b
    gain, middle = reference.range_scaling(codes)
    codes = gain * (codes - middle)
    x = np.vstack([weights, biases / 0.1]).T
    gradient = codes.T @ (codes @ x - np.hstack([X, np.full((60, 1), 0.1)]))
    assert np.abs(gradient).max() <= 1e-3 * (1 + 1e-6)
    np.testing.assert_allclose(gradient[x != 0], -1e-3 * np.sign(x[x != 0]), rtol=1e-5)


@pytest.mark.parametrize("shape", [(9, 4), (4, 9)])
def test_orthonormal_columns_have_unit_grams_and_keep_their_spans(shape):
    matrix = np.random.default_rng(4).normal(size=shape)
    result = reference.orthonormal(matrix)
    for first in range(0, shape[1], shape[0]):
        group = result[:, first : first + shape[0]]
        np.testing.assert_allclose(group.T @ group, np.eye(group.shape[1]), atol=1e-14)
        triangle = group.T @ matrix[:, first : first + shape[0]]
        np.testing.assert_allclose(np.tril(triangle, -1), 0, atol=1e-13)
        assert (np.diag(triangle) > 0).all()


def test_sparse_units_see_distinct_inputs_within_the_fan_in():
    weights, _ = reference.draw_pool(5, 0, 400, 12, family="sparse", fan_in=6)
    counts = np.count_nonzero(weights, axis=0)
    assert set(counts) == {1, 2, 3, 4, 5, 6}
    assert (np.count_nonzero(weights, axis=1) > 50).all()
