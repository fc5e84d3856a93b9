"""Networks cut back to fewer units, and files without stages: against staged predictions."""

import os
import pickle

import numpy as np
import pytest

import stagenets
from stagenets.export._files import save_model

rng = np.random.default_rng(0)
X, X_new = rng.normal(size=(2, 60, 4))
LABELS = np.where(X[:, 0] * X[:, 1] > 0, "a", np.where(X[:, 2] > 0, "b", "c"))
NUMBERS = np.column_stack([X[:, 0] ** 2, X[:, 1] * X[:, 2]])

MODELS = {
    "RVFLClassifier": (stagenets.RVFLClassifier(n_hidden=7, block_size=2, random_state=0), LABELS),
    "ELMRegressor": (stagenets.ELMRegressor(n_hidden=6, random_state=0), NUMBERS[:, 0]),
    "RVFLRegressor, stopped": (
        stagenets.RVFLRegressor(n_hidden=12, early_stopping="loo", random_state=0),
        NUMBERS,
    ),
    "BLSRegressor": (
        stagenets.BLSRegressor(n_windows=3, n_feature_nodes=2, n_enhancement=5, random_state=0),
        NUMBERS,
    ),
}


@pytest.fixture(params=MODELS)
def model(request):
    estimator, y = MODELS[request.param]
    return estimator.fit(X, y)


def same(found, expected):
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)
    else:
        np.testing.assert_array_equal(found, expected)


def test_truncated_models_predict_like_the_stages(model):
    for stage, expected in enumerate(model.staged_predict(X_new)):
        cut = model.truncated(n_hidden=int(model.units_path_[stage]))
        same(cut.predict(X_new), expected)
        assert cut.n_hidden_ == model.units_path_[stage]
        assert len(cut.objective_path_) == stage + 1
        assert len(cut.selected_) == cut.n_hidden_
        same(cut.transform(X_new), model.transform(X_new)[:, : cut.n_hidden_])
    assert stage == model.best_iter_ and model.n_hidden_ == cut.n_hidden_


def test_files_without_stages_predict_the_same_and_are_smaller(model, tmp_path):
    whole, last = tmp_path / "whole", tmp_path / "last"
    save_model(model, whole)
    save_model(model, last, staged=False)
    assert os.path.getsize(last) < os.path.getsize(whole)
    loaded = stagenets.load(last)
    np.testing.assert_array_equal(loaded.predict(X_new), model.predict(X_new))
    np.testing.assert_array_equal(loaded.objective_path_, model.objective_path_)
    for again in (loaded, pickle.loads(pickle.dumps(loaded))):
        with pytest.raises(ValueError, match="saved without its stages"):
            next(iter(again.staged_predict(X_new)))
        with pytest.raises(ValueError, match="saved without its stages"):
            again.truncated(int(model.units_path_[model.best_iter_ - 1]))
        same(again.truncated(model.n_hidden_).predict(X_new), model.predict(X_new))
    save_model(loaded, whole)  # what was left out stays out
    assert whole.read_bytes() == last.read_bytes()


def test_truncated_models_are_saved_and_loaded(model, tmp_path):
    cut = model.truncated(int(model.units_path_[2]))
    save_model(cut, tmp_path / "cut")
    np.testing.assert_array_equal(
        stagenets.load(tmp_path / "cut").predict(X_new), cut.predict(X_new)
    )
    assert model.n_hidden_ > cut.n_hidden_  # the model itself is as it was


def test_stages_are_most_of_a_file(tmp_path):
    model = stagenets.RVFLRegressor(n_hidden=60, random_state=0).fit(X, NUMBERS[:, 0])
    save_model(model, tmp_path / "whole")
    save_model(model, tmp_path / "last", staged=False)
    saved = os.path.getsize(tmp_path / "whole") - os.path.getsize(tmp_path / "last")
    path = model.network_.core.path
    arrays = (path.start, path.directions, path.steps, path.ends)
    assert saved == pytest.approx(sum(array.nbytes for array in arrays), rel=0.05)


def test_networks_of_leaves_are_cut_between_units():
    model = stagenets.RVFLRegressor(n_hidden=9, weight_init="leaf", random_state=0)
    model.fit(X, NUMBERS[:, 0])
    for units, expected in enumerate(model.staged_predict(X_new)):
        cut = model.truncated(units)
        same(cut.predict(X_new), expected)
        assert len(cut.hidden_biases_) == (model.hidden_ends_[units - 1] if units else 0)


def test_wrong_sizes_are_refused(model):
    for size, message in [
        (-1, "n_hidden must be an integer"),
        (1.5, "n_hidden must be an integer"),
        (model.n_hidden_ + 1, f"n_hidden must be at most {model.n_hidden_}"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.truncated(size)
    in_pairs = stagenets.ELMRegressor(n_hidden=6, block_size=2, random_state=0).fit(X, NUMBERS)
    with pytest.raises(ValueError, match="at the end of a stage, such as 2 or 4; got 3"):
        in_pairs.truncated(3)
    one_shot = stagenets.ELMRegressor(n_hidden=3, selection="random").fit(X, NUMBERS)
    with pytest.raises(ValueError, match="a one-shot network has no stages"):
        one_shot.truncated(0)
