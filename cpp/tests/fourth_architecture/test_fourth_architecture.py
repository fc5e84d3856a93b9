"""One C++ file, one Python file and their registration make an architecture that can do everything.

`.ci/run` builds the extension with the architecture in it and runs this with STAGENETS_TEST_CORE
naming the folder of that extension.
"""

import importlib.util
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

(EXTENSION,) = Path(os.environ["STAGENETS_TEST_CORE"]).glob("_core*.so")
spec = importlib.util.spec_from_file_location("stagenets._core", EXTENSION)
sys.modules["stagenets._core"] = core = importlib.util.module_from_spec(spec)
spec.loader.exec_module(core)
sys.path.insert(0, str(Path(__file__).parent))

from threshold_network import ThresholdClassifier, ThresholdRegressor  # noqa: E402

import stagenets  # noqa: E402
from stagenets.fitting._rows import Rows  # noqa: E402
from stagenets.search._path_search import PathSearch  # noqa: E402

X = np.random.default_rng(0).normal(3, 2, size=(300, 4))
STEPS = (X[:, 0] > 3) * 2.0 - (X[:, 2] > 4) + 0.1 * X[:, 1]
CLASSES = np.digitize(STEPS, [0.0, 1.0, 2.0])


def test_scores_are_those_of_the_formula():
    model = ThresholdRegressor(n_hidden=30, random_state=0).fit(X, STEPS)
    assert model.score(X, STEPS) > 0.98
    assert (np.count_nonzero(model.hidden_weights_, axis=0) == 1).all()
    middles = -model.hidden_biases_ / model.hidden_weights_.sum(axis=0)
    inputs = np.argmax(model.hidden_weights_ != 0, axis=0)
    for middle, column in zip(middles, inputs, strict=True):
        assert np.abs(X[:, column] - middle).min() < 1e-9  # a training value
    design = np.hstack([X, expit(X @ model.hidden_weights_ + model.hidden_biases_)])
    expected = design @ model.readout_ + model.readout_intercept_
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-10)
    assert (np.diff(model.objective_path_) <= 0).all()


def test_searches_files_and_exports_know_it(tmp_path):
    grid = {"n_hidden": [3, 10, 20], "alpha": [0.1, 10.0], "selection": ["residual", "random"]}
    model, folds = ThresholdClassifier(random_state=0), KFold(3)
    plain = GridSearchCV(model, grid, cv=folds).fit(X, CLASSES)
    splits = [(train.astype(np.int64), test.astype(np.int64)) for train, test in folds.split(X)]
    targets = core.Targets.labels(CLASSES.astype(np.int64), 4)
    quality = PathSearch(model, grid, splits, 1e9).run(Rows(X, {}, complete=True), targets)
    np.testing.assert_allclose(quality.mean(axis=1), plain.cv_results_["mean_test_score"])

    best = plain.best_estimator_
    best.save(tmp_path / "model")
    loaded = stagenets.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X), best.predict_proba(X))
    module = {}
    exec(stagenets.to_numpy_source(best), module)
    np.testing.assert_allclose(module["predict_proba"](X), best.predict_proba(X), atol=1e-9)
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(
        stagenets.to_onnx(best, dtype=np.float64).SerializeToString()
    )
    np.testing.assert_allclose(session.run(None, {"X": X})[1], best.predict_proba(X), atol=1e-9)


# It draws rows by their number, so one row of weight two is not two rows.
FAILING = {
    f"check_sample_weight_equivalence_on_{kind}_data": "thresholds are rows drawn by number"
    for kind in ("dense", "sparse")
}


@parametrize_with_checks(
    [ThresholdClassifier(n_hidden=10), ThresholdRegressor(n_hidden=10)],
    expected_failed_checks=lambda estimator: FAILING,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
