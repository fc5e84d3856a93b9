"""The plots show the data of the models."""

import subprocess
import sys

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.metrics import balanced_accuracy_score, mean_squared_error
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import problems
from pool_scores import pool_scores
from stagenets import (
    RVFLClassifier,
    RVFLClassifierCV,
    RVFLRegressor,
    SearchDisplay,
    StagewiseDisplay,
    UnitsDisplay,
)

matplotlib.use("Agg")

from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def curve(display, name):
    return np.array(display.lines_[name].get_data())


@pytest.fixture(scope="module")
def classifier():
    X, y = problems.data_for(RVFLClassifier, 120)
    return problems.small(RVFLClassifier).fit(X[::2], y[::2]), X, y


# -- StagewiseDisplay


@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
@pytest.mark.parametrize(
    "params", [{}, {"block_size": 5}, {"selection": "random"}], ids=["single", "blocks", "one-shot"]
)
def test_objective_is_drawn_over_the_number_of_units(cls, params):
    X, y = problems.data_for(cls)
    model = problems.small(cls, **params).fit(X, y)
    display = StagewiseDisplay.from_estimator(model)
    units, objective = curve(display, "objective")
    np.testing.assert_array_equal(objective, model.objective_path_)
    np.testing.assert_array_equal(curve(display, "residual")[1], model.residual_path_)
    counts = [np.sum(model.selected_[:, 0] < stage) for stage in range(model.n_iter_ + 1)]
    np.testing.assert_array_equal(units, counts)
    assert units[-1] == model.n_hidden_
    assert display.score_ax_ is None and display.best_ is None
    display.figure_.canvas.draw()


@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
def test_last_scores_are_the_models_own(cls):
    X, y = problems.data_for(cls, 120)
    model = problems.small(cls).fit(X[::2], y[::2])
    display = StagewiseDisplay.from_estimator(model, X[::2], y[::2], X_val=X[1::2], y_val=y[1::2])
    assert curve(display, "train")[1][-1] == pytest.approx(model.score(X[::2], y[::2]))
    assert curve(display, "validation")[1][-1] == pytest.approx(model.score(X[1::2], y[1::2]))
    assert len(curve(display, "train")[1]) == model.n_iter_ + 1
    display.figure_.canvas.draw()


def test_scores_on_the_way_are_those_of_smaller_fits(classifier):
    model, X, y = classifier
    display = StagewiseDisplay.from_estimator(model, X_val=X[1::2], y_val=y[1::2])
    units, scores = curve(display, "validation")
    for n_hidden, score in zip(units[1:].astype(int), scores[1:], strict=True):
        smaller = problems.small(RVFLClassifier, n_hidden=int(n_hidden)).fit(X[::2], y[::2])
        assert smaller.score(X[1::2], y[1::2]) == score
    best_units, best_score = np.ravel(display.best_.get_data())
    assert best_score == scores.max()
    assert best_units == units[scores.argmax()]
    assert "train" not in display.lines_


def test_another_metric_and_its_name(classifier):
    model, X, y = classifier
    display = StagewiseDisplay.from_estimator(model, X, y, metric=balanced_accuracy_score)
    expected = balanced_accuracy_score(y, model.predict(X))
    assert curve(display, "train")[1][-1] == expected
    assert display.score_name == "balanced_accuracy_score"
    X, y = problems.data_for(RVFLRegressor)
    model = problems.small(RVFLRegressor).fit(X, y)
    display = StagewiseDisplay.from_estimator(
        model, X, y, metric=lambda t, p: -mean_squared_error(t, p), score_name="−MSE"
    )
    assert display.score_ax_.get_title().endswith("−MSE")


def test_pipelines_and_searches_show_the_network_inside_them():
    X, y = problems.data_for(RVFLClassifier, 120)
    pipeline = make_pipeline(MinMaxScaler(), problems.small(RVFLClassifier))
    search = GridSearchCV(pipeline, {"rvflclassifier__alpha": [0.1, 10.0]}, cv=2).fit(X, y)
    display = StagewiseDisplay.from_estimator(search, X, y)
    assert curve(display, "train")[1][-1] == search.score(X, y)
    alone = StagewiseDisplay.from_estimator(make_pipeline(search.best_estimator_[-1]))
    np.testing.assert_array_equal(curve(display, "objective"), curve(alone, "objective"))


def test_large_falls_are_drawn_on_a_logarithmic_axis():
    X, y = problems.data_for(RVFLRegressor)
    model = problems.small(RVFLRegressor, n_hidden=60, alpha=1e-6).fit(X, y)
    assert StagewiseDisplay.from_estimator(model).ax_.get_yscale() == "log"
    model = problems.small(RVFLRegressor, n_hidden=2, alpha=10).fit(X, y)
    assert StagewiseDisplay.from_estimator(model).ax_.get_ylim()[0] == 0


@pytest.mark.filterwarnings("ignore:early_stopping=.* kept no units")
@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
def test_stages_discarded_by_early_stopping_are_drawn_too(cls):
    X, y = problems.data_for(cls, 120)
    model = problems.small(cls, early_stopping="validation", n_iter_no_change=3).fit(X, y)
    display = StagewiseDisplay.from_estimator(model, X, y)
    units, objective = curve(display, "objective")
    assert len(objective) == model.n_iter_ + 1
    np.testing.assert_array_equal(units, model.units_path_)
    np.testing.assert_array_equal(curve(display, "validation")[1], model.validation_path_)
    kept, scores = curve(display, "train")
    assert kept[-1] == model.n_hidden_
    assert scores[-1] == pytest.approx(model.score(X, y))
    labels = display.ax_.get_legend_handles_labels()[1]
    assert (f"kept: {model.n_hidden_}" in labels) == (model.n_hidden_ < units[-1])


@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
def test_cross_validated_scores_are_drawn_at_the_sizes_tried(cls):
    X, y = problems.data_for(cls)
    model = problems.small(cls, early_stopping="cv").fit(X, y)
    display = StagewiseDisplay.from_estimator(model)
    units, scores = curve(display, "cross-validated")
    np.testing.assert_array_equal(scores, model.cv_path_)
    assert units[np.argmax(scores)] == model.n_hidden_ == display.best_.get_xdata()[0]
    assert np.all(np.diff(units) == 1)
    kept = [line for line in display.score_ax_.lines if line.get_label().startswith("kept")]
    assert bool(kept) == (model.n_hidden_ < units[-1])
    other = StagewiseDisplay.from_estimator(model, X, y, metric=lambda true, found: 0.0)
    assert "cross-validated" not in other.lines_


def test_draws_on_axes_that_are_given(classifier):
    model, X, y = classifier
    figure, axes = plt.subplots(1, 2)
    display = StagewiseDisplay.from_estimator(model, X, y, ax=axes)
    assert (display.ax_, display.score_ax_, display.figure_) == (*axes, figure)
    assert StagewiseDisplay.from_estimator(model, ax=axes[0]).ax_ is axes[0]
    assert len(plt.get_fignums()) == 1
    with pytest.raises(ValueError, match=r"ax must be 2 Axes for this display; got 1"):
        StagewiseDisplay.from_estimator(model, X, y, ax=axes[0])


def test_inputs_and_targets_must_be_given_together(classifier):
    model, X, y = classifier
    with pytest.raises(ValueError, match="X and y must be given together"):
        StagewiseDisplay.from_estimator(model, X)
    with pytest.raises(ValueError, match="X_val and y_val must be given together"):
        StagewiseDisplay.from_estimator(model, X, y, y_val=y)


@pytest.mark.parametrize("display", [StagewiseDisplay, UnitsDisplay])
def test_foreign_and_unfitted_models_are_refused(display):
    with pytest.raises(NotFittedError):
        display.from_estimator(RVFLClassifier())
    with pytest.raises(TypeError, match=r"a fitted stagenets estimator.*got Ridge\(\)"):
        display.from_estimator(Ridge().fit([[0.0], [1.0]], [0, 1]))


# -- UnitsDisplay


@pytest.mark.parametrize("selection", ["residual", "joint"])
@pytest.mark.parametrize("block_size", [1, 4])
def test_units_are_drawn_at_their_scores_over_their_pools(selection, block_size):
    X, y = problems.data_for(RVFLClassifier)
    model = problems.small(RVFLClassifier, block_size=block_size, selection=selection).fit(X, y)
    display = UnitsDisplay.from_estimator(model)
    pools = pool_scores(model, X, y)
    stages, scores = display.chosen_.get_data()
    np.testing.assert_array_equal(stages, model.selected_[:, 0] + 1)
    np.testing.assert_allclose(scores, pools[tuple(model.selected_.T)], rtol=1e-9)
    quantiles = np.quantile(pools, [0, 0.25, 0.5, 0.75, 1], axis=1, method="higher")
    # Pools are ranked in single precision first, and so is what is shown of all their scores.
    np.testing.assert_allclose(display.median_.get_ydata()[:-1], quantiles[2], rtol=1e-5)
    for band, low, high in ((display.range_, 0, 4), (display.quartiles_, 1, 3)):
        heights = band.get_paths()[0].vertices[:, 1]
        np.testing.assert_allclose(heights.min(), quantiles[low].min(), rtol=1e-5)
        np.testing.assert_allclose(heights.max(), quantiles[high].max(), rtol=1e-5)
    ratios = [pools[stage, i] / quantiles[2, stage] for stage, i in model.selected_]
    assert display.advantage == pytest.approx(np.median(ratios), rel=1e-5)
    assert display.advantage > 1
    display.figure_.canvas.draw()


@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
def test_units_of_every_network_can_be_drawn(cls):
    X, y = problems.data_for(cls)
    model = problems.small(cls, early_stopping="loo").fit(X, y)
    display = UnitsDisplay.from_estimator(model)
    assert len(display.chosen_.get_xdata()) == model.n_hidden_
    assert len(display.median_.get_xdata()) == model.n_iter_ + 1  # where stages begin and end


def test_a_useless_candidate_does_not_dominate_the_plot():
    quantiles = np.array([[0.0, 1.0, 2.0, 3.0, 4.0], [1e-30, 1.0, 2.0, 3.0, 4.0]])
    display = UnitsDisplay(
        unit_scores=np.array([4.0, 4.0]), unit_stages=np.array([0, 1]), pool_quantiles=quantiles
    )
    assert display.plot().ax_.get_ylim()[0] > 0.1
    display.pool_quantiles = np.array([[0.0, 0.0, 2.0, 3.0, 4.0]] * 2)
    display.plot().figure_.canvas.draw()


def test_one_shot_networks_have_no_scores_to_draw():
    X, y = problems.data_for(RVFLClassifier)
    model = problems.small(RVFLClassifier, selection="random").fit(X, y)
    with pytest.raises(ValueError, match=r"selection='residual' or 'joint'; got a one-shot RVFL"):
        UnitsDisplay.from_estimator(model)


# -- SearchDisplay

GRID = {
    "n_hidden": [12, 3, 6],
    "alpha": [100.0, 0.01, 1.0],
    "activation": ["sigmoid", "tanh"],
}


@pytest.fixture(scope="module")
def search():
    X, y = problems.data_for(RVFLClassifier, 90)
    return GridSearchCV(problems.small(RVFLClassifier), GRID, cv=3).fit(X, y)


def test_search_shows_mean_scores_with_other_parameters_at_their_best(search):
    display = SearchDisplay.from_estimator(search)
    table = pd.DataFrame(search.cv_results_)
    table = table[table["param_activation"] == search.best_params_["activation"]]
    expected = table.pivot(index="param_alpha", columns="param_n_hidden", values="mean_test_score")
    np.testing.assert_array_equal(display.scores, expected.to_numpy(float))
    assert display.x_values == [3, 6, 12] and display.y_values == [0.01, 1.0, 100.0]
    np.testing.assert_array_equal(display.image_.get_array().reshape(3, 3), display.scores)
    column, row = display.best
    assert display.scores[row, column] == search.best_score_
    assert display.x_values[column] == search.best_params_["n_hidden"]
    assert display.y_values[row] == search.best_params_["alpha"]
    np.testing.assert_array_equal(np.ravel(display.best_.get_data()), [column + 0.5, row + 0.5])
    assert f"activation={search.best_params_['activation']}" in display.ax_.get_title()
    labels = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert labels == ["3", "6", "12"]
    display.figure_.canvas.draw()


def test_search_over_other_parameters_and_scores(search):
    display = SearchDisplay.from_estimator(
        search, x="activation", y="n_hidden", score="std_test_score", score_name="deviation"
    )
    assert display.x_values == ["sigmoid", "tanh"]
    assert display.scores.shape == (3, 2)
    assert display.colorbar_.ax.get_ylabel() == "deviation"
    _, ax = plt.subplots()
    assert SearchDisplay.from_estimator(search, ax=ax).ax_ is ax


def test_our_own_search_looks_like_scikit_learns():
    X, y = problems.data_for(RVFLClassifier, 90)
    grid = {"n_hidden": [3, 6, 12], "alpha": [0.01, 1.0, 100.0]}
    folds = StratifiedKFold(3)
    plain = GridSearchCV(problems.small(RVFLClassifier), grid, cv=folds).fit(X, y)
    method = {name: [value] for name, value in problems.plain(RVFLClassifier).items()}
    ours = RVFLClassifierCV(
        losses=method["loss"],
        selections=method["selection"],
        weight_inits=method["weight_init"],
        n_hidden=grid["n_hidden"],
        alphas=grid["alpha"],
        pool_sizes=[10],
        cv=folds,
        random_state=0,
    ).fit(X, y)
    expected, display = map(SearchDisplay.from_estimator, (plain, ours))
    np.testing.assert_allclose(display.scores, expected.scores, rtol=1e-9)
    assert (display.best, display.x_values, display.y_values) == (
        expected.best,
        expected.x_values,
        expected.y_values,
    )


def test_search_in_a_pipeline_with_holes():
    X, y = problems.data_for(RVFLClassifier, 90)
    pipeline = make_pipeline(MinMaxScaler(), problems.small(RVFLClassifier))
    grid = {f"rvflclassifier__{name}": GRID[name] for name in ("n_hidden", "alpha")}
    search = RandomizedSearchCV(pipeline, grid, n_iter=6, cv=2, random_state=0).fit(X, y)
    display = SearchDisplay.from_estimator(search)
    assert np.isfinite(display.scores).sum() == 6
    assert (display.x_name, display.y_name) == ("n_hidden", "alpha")
    column, row = display.best
    assert display.scores[row, column] == search.best_score_


def test_search_over_grids_that_differ_shows_the_best_ones(search):
    X, y = problems.data_for(RVFLClassifier, 90)
    sizes = {"n_hidden": [3, 6], "alpha": [1.0]}
    grids = [sizes, {**sizes, "alpha": [0.1, 10.0], "activation": ["tanh"]}]
    found = GridSearchCV(problems.small(RVFLClassifier), grids, cv=2).fit(X, y)
    display = SearchDisplay.from_estimator(found)
    assert len(display.y_values) == (2 if "activation" in found.best_params_ else 1)
    column, row = display.best
    assert display.scores[row, column] == found.best_score_


def test_bls_searches_show_enhancement_nodes():
    cls = problems.BLS[0]
    X, y = problems.data_for(cls, 90)
    grid = {"n_enhancement": [2, 4], "n_windows": [1, 2], "alpha": [0.1, 1.0]}
    display = SearchDisplay.from_estimator(GridSearchCV(problems.small(cls), grid, cv=2).fit(X, y))
    assert display.x_name == "n_enhancement"
    assert list(display.fixed) == ["n_windows"]


def test_many_sizes_get_few_ticks():
    sizes = list(range(1, 201))
    display = SearchDisplay(
        scores=np.random.default_rng(0).random((2, 200)),
        x_values=sizes,
        y_values=[0.1, True],
        best=(0, 0),
        x_name="n_hidden",
        y_name="alpha",
    ).plot()
    assert len(display.ax_.get_xticks()) <= 12
    assert display.ax_.get_xticklabels()[1].get_text() == str(sizes[17])
    assert display.ax_.get_yticklabels()[1].get_text() == "True"


def test_parameters_that_were_not_searched_are_refused(search):
    with pytest.raises(NotFittedError):
        SearchDisplay.from_estimator(GridSearchCV(RVFLClassifier(), GRID))
    with pytest.raises(ValueError, match=r"x must be a parameter that was searched.*got tol"):
        SearchDisplay.from_estimator(search, x="tol")
    with pytest.raises(
        ValueError, match=r"x and y must be different parameters; got 'alpha' twice"
    ):
        SearchDisplay.from_estimator(search, x="alpha")
    with pytest.raises(ValueError, match=r"score must be a column.*mean_test_score.*got 'r2'"):
        SearchDisplay.from_estimator(search, score="r2")


# -- matplotlib


def test_package_does_not_import_matplotlib():
    code = "import sys, stagenets; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_without_matplotlib_the_message_names_the_extra(monkeypatch, classifier):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"StagewiseDisplay needs matplotlib: pip .*\[plot\]"):
        StagewiseDisplay.from_estimator(classifier[0])


def test_a_network_that_has_searched_nothing_is_refused_by_name():
    X, y = problems.data_for(RVFLClassifier)
    model = problems.small(RVFLClassifier).fit(X, y)
    with pytest.raises(TypeError, match=r"search must be a fitted search.*got RVFLClassifier"):
        SearchDisplay.from_estimator(model)
