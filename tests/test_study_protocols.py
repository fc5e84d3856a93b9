"""What the two protocols fit, choose and report, against plain loops."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from problems import inputs, labels
from stagenets import ELMClassifierCV, RVFLClassifier
from stagenets.study._data import Dataset
from stagenets.study._folds import contiguous_folds, stratified_folds
from stagenets.study._models import (
    MODELS,
    Plain,
    all_models,
    find_model,
    split_names,
)
from stagenets.study._preparation import scaled
from stagenets.study._protocols import (
    PaperProtocol,
    SoundProtocol,
    block_and_pool_sizes,
    hidden_budget,
    make_protocol,
    settings_of,
)
from stagenets.study._records import row_of

FEW = {"alphas": (0.01, 1.0), "sizes": (5, 15), "activations": ("sigmoid", "sine")}


def dataset(n=70, p=5, q=3, name="made_up", seed=0, collection=None):
    rng = np.random.default_rng(seed)
    X = inputs(rng, n, p)
    return Dataset(name, X, labels(rng, X, q), collection)


# The published rule, word for word: three cases, joined by "or".
@pytest.mark.parametrize(
    ("n", "p", "blocks", "pools"),
    [
        (2000, 1000, (1, 2), (50, 100)),
        (50000, 50, (1, 2), (50, 100)),
        (2001, 51, (1, 2, 4), (100, 200)),
        (20000, 1000, (1, 2, 4), (100, 200)),
        (50000, 300, (1, 2, 4), (100, 200)),
        (20001, 301, (2, 4), (100, 200)),
    ],
)
def test_block_and_pool_sizes_follow_the_published_rule(n, p, blocks, pools):
    assert block_and_pool_sizes(n, p) == (blocks, pools)


def test_the_published_grid_is_complete():
    protocol = PaperProtocol()
    grid = protocol.grid(MODELS["RG-RVFL"], 100, 5)
    assert grid["alphas"] == tuple(10.0**e for e in range(-5, 6))
    assert grid["n_hidden"] == list(range(5, 206, 10))
    assert set(grid["activations"]) == set("selu relu sigmoid sine tribas radbas tanh".split())
    assert (grid["block_sizes"], grid["pool_sizes"]) == ((1, 2), (50, 100))
    assert "block_sizes" not in protocol.grid(MODELS["RVFL"], 100, 5)
    broad = protocol.grid(MODELS["RG-BLS"], 100, 5)
    assert set(broad["block_sizes"]) <= {1, 2} and set(broad["pool_sizes"]) <= {50, 100}
    assert broad["alphas"] == tuple(10.0**e for e in range(-6, 7, 2))
    assert set(broad["n_windows"]) <= set(range(1, 22, 2))
    assert set(broad["n_feature_nodes"]) <= set(range(5, 51, 5))
    assert broad["n_enhancement"] == list(range(5, 106, 10))


def test_large_sets_are_searched_with_every_other_penalty_in_single_precision():
    protocol = PaperProtocol(large=50, **FEW)
    assert protocol.grid(MODELS["RG-ELM"], 50, 5)["alphas"] == (0.01, 1.0)
    assert protocol.grid(MODELS["RG-ELM"], 51, 5)["alphas"] == (0.01,)
    assert protocol.grid(MODELS["ELM"], 51, 5)["alphas"] == (0.01, 1.0)
    single = protocol.evaluate(MODELS["ELM"], dataset(), threads=1)
    double = PaperProtocol(**FEW).evaluate(MODELS["ELM"], dataset(), threads=1)
    assert single.inputs == f"{double.inputs}, single precision"
    assert np.mean(single.scores) == pytest.approx(np.mean(double.scores), abs=0.05)


def test_the_budget_formula_limits_guided_networks_only():
    protocol = PaperProtocol(budget="formula")
    assert hidden_budget(500, 20) == 100
    assert max(protocol.grid(MODELS["RG-ELM"], 500, 20)["n_hidden"]) == 95
    assert max(protocol.grid(MODELS["ELM"], 500, 20)["n_hidden"]) == 205
    with pytest.raises(ValueError, match="budget must be 'grid' or 'formula'; got 'none'"):
        PaperProtocol(budget="none").grid(MODELS["RG-ELM"], 500, 20)


def test_inputs_are_chosen_set_by_set():
    other = np.random.default_rng(5).normal(size=(70, 5))
    data = dataset(name="monks_1", collection=other)
    protocol = PaperProtocol(column_scaled=("c",), unscaled=("u",))
    np.testing.assert_array_equal(protocol.inputs(data)[0], scaled(other, "rows"))
    assert protocol.inputs(data)[1] == "X_collection, scaling: rows"
    np.testing.assert_array_equal(
        protocol.inputs(replace(data, name="c"))[0], scaled(data.X, "columns")
    )
    assert protocol.inputs(replace(data, name="u"))[0] is data.X
    assert protocol.inputs(replace(data, collection=None))[1] == "X, scaling: rows"


@pytest.mark.parametrize("model", ["RVFL", "RG-RVFL"])
def test_paper_reports_the_best_of_a_plain_loop(model):
    data = dataset()
    outcome = PaperProtocol(**FEW).evaluate(MODELS[model], data, threads=1)
    X = scaled(data.X, "rows")
    found = {}
    guided = model.startswith("RG")
    rule = block_and_pool_sizes(56, 5) if guided else ((1,), (1,))
    for alpha, size, activation, block, pool in itertools.product(*FEW.values(), *rule):
        network = RVFLClassifier(
            loss="squared",
            alpha=alpha,
            n_hidden=size,
            activation=activation,
            selection="residual" if guided else "random",
            block_size=block,
            pool_size=pool,
            weight_init="uniform",
            standardize=False,
            random_state=0,
        )
        found[alpha, size, activation, block, pool] = [
            network.fit(X[train], data.y[train]).score(X[test], data.y[test])
            for train, test in contiguous_folds(len(X), 5)
        ]
    best = max(np.mean(scores) for scores in found.values())
    assert np.mean(outcome.scores) == pytest.approx(best)
    chosen = outcome.chosen[0]
    key = (chosen["alpha"], chosen["n_hidden"], chosen["activation"])
    if guided:
        key += (chosen["block_size"], chosen["pool_size"])
    else:
        key += (1, 1)
    assert outcome.scores == pytest.approx(found[key])
    assert outcome.inputs == "X, scaling: rows"


def test_paper_takes_folds_that_lack_a_class():
    data = dataset(q=3)
    sorted_data = replace(data, X=data.X[np.argsort(data.y)], y=np.sort(data.y))
    outcome = PaperProtocol(**FEW).evaluate(MODELS["RVFL"], sorted_data, threads=1)
    assert len(outcome.scores) == 5


def test_paper_refuses_models_without_a_grid():
    with pytest.raises(ValueError, match=r"must be tuned networks, such as RVFL.*; got 'MLP'"):
        PaperProtocol().evaluate(MODELS["MLP"], dataset(), threads=1)


@pytest.mark.parametrize("model", ["ELM", "RG-RVFL"])
def test_sound_scores_are_those_of_a_nested_search(model):
    data = dataset(n=60, q=2)
    protocol = SoundProtocol(repeats=1, **FEW)
    outcome = protocol.evaluate(MODELS[model], data, threads=1)
    cls = type(find_model(f"{model.removeprefix('RG-')}Classifier()").make(data.y, 0, 1))
    splits = StratifiedKFold(5, shuffle=True, random_state=0).split(data.X, data.y)
    for number, (train, test) in enumerate(splits):
        inner = stratified_folds(data.y[train], protocol.inner_folds, number)
        network = cls(
            selection="residual" if model.startswith("RG") else "random",
            block_size=1,
            pool_size=100,
            random_state=number,
        )
        grid = {
            "alpha": FEW["alphas"],
            "n_hidden": FEW["sizes"],
            "activation": FEW["activations"],
        }
        search = GridSearchCV(network, grid, cv=inner).fit(data.X[train], data.y[train])
        chosen = outcome.chosen[number]
        tried = search.cv_results_["params"].index({name: chosen[name] for name in grid})
        means = search.cv_results_["mean_test_score"]
        assert means[tried] == pytest.approx(means.max())
        refitted = cls(**network.get_params() | search.cv_results_["params"][tried])
        score = refitted.fit(data.X[train], data.y[train]).score(data.X[test], data.y[test])
        assert outcome.scores[number] == pytest.approx(score)


class Spy(BaseEstimator):
    """Notes the rows it meets; the first input is a row's number."""

    def __init__(self, met):
        self.met = met

    def fit(self, X, y):
        self.met.append([set(X[:, 0])])
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        self.met[-1].append(set(X[:, 0]))
        return np.zeros(len(X), dtype=int)


def test_sound_never_fits_the_rows_it_evaluates():
    data = dataset(n=53)
    numbered = replace(data, X=np.column_stack([np.arange(53.0), data.X]))
    met = []
    outcome = SoundProtocol(repeats=3).evaluate(
        Plain("spy", lambda labels, seed, threads: Spy(met)), numbered, threads=1
    )
    assert len(outcome.scores) == len(met) == 15
    assert all(not fitted & judged for fitted, judged in met)
    for repeat in range(3):
        judged = [row for _, part in met[5 * repeat : 5 * repeat + 5] for row in part]
        assert sorted(judged) == list(range(53))
    assert met[0][1] != met[5][1]


def test_sound_gives_large_sets_fewer_repeats():
    protocol = SoundProtocol(large=50)
    assert len(protocol.splits(np.arange(51) % 2)) == 5
    assert len(protocol.splits(np.arange(50) % 2)) == 15


@pytest.mark.parametrize("architecture", ["RVFL", "ELM", "BLS"])
def test_sound_searches_grids_of_the_same_size_guided_or_not(architecture, monkeypatch):
    import stagenets

    grids = []
    monkeypatch.setattr(
        stagenets, f"{architecture}ClassifierCV", lambda **grid: grids.append(grid), raising=False
    )
    y = np.arange(40) % 2
    for name in (architecture, f"RG-{architecture}"):
        SoundProtocol().estimator(MODELS[name], y, seed=0, threads=1)
    lists = ("alphas", "n_hidden", "activations", "n_windows", "n_feature_nodes", "n_enhancement")
    one_shot, guided = ({key: grid.get(key) for key in lists} for grid in grids)
    assert one_shot == guided
    assert len(grids[1]["block_sizes"]) == len(grids[1]["pool_sizes"]) == 1
    assert all(grid["standardize"] for grid in grids)
    for train, test in grids[1]["cv"]:
        np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(40))


@pytest.mark.parametrize("name", [name for name in all_models() if isinstance(MODELS[name], Plain)])
def test_untuned_models_and_rivals_cope_with_tiny_classes(name):
    data = dataset(n=45, q=2)
    data.y[:2] = 2  # in some training parts this class has one member, in none two folds' worth
    outcome = SoundProtocol(repeats=1).evaluate(find_model(name), data, threads=1)
    assert len(outcome.scores) == 5
    assert 0 <= min(outcome.scores) <= max(outcome.scores) <= 1


def test_models_can_be_calls():
    model = find_model("BLSClassifier(alpha=0.5, weight_init=sparse, n_windows=2)")
    network = model.make(np.arange(4), 7, 1)
    assert type(network).__name__ == "BLSClassifier"
    assert (network.alpha, network.weight_init, network.n_windows) == (0.5, "sparse", 2)
    assert (network.random_state, network.n_jobs) == (7, 1)


def test_a_call_may_be_a_search():
    search = find_model("ELMClassifierCV(alphas=[0.1, 3], max_hidden=7)").make(None, 5, 2)
    assert isinstance(search, ELMClassifierCV)
    assert (search.alphas, search.max_hidden, search.random_state) == ([0.1, 3], 7, 5)


@pytest.mark.parametrize(
    "name",
    [
        "XYZ",
        "print(1)",
        "RVFLClassifier(0.1)",
        "RVFL()",
        "RVFLClassifier(",
        "f(**{})",
        "RVFLClassifierX()",
    ],
)
def test_unknown_models_are_refused(name):
    with pytest.raises(ValueError, match=r"a model must be one of RVFL, .*; got"):
        find_model(name)


def test_names_are_split_outside_brackets():
    text = "RVFL, RG-RVFL default,ELMClassifier(alpha=1,n_hidden=5),"
    assert split_names(text) == ["RVFL", "RG-RVFL default", "ELMClassifier(alpha=1,n_hidden=5)"]


def test_settings_survive_json_and_can_be_replaced():
    protocol = make_protocol("sound", {"alphas": [1, 10.0], "repeats": [2]})
    assert (protocol.alphas, protocol.repeats) == ((1, 10.0), 2)
    assert json.loads(json.dumps(settings_of(protocol))) == settings_of(protocol)


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("best", {}, "--protocol must be one of paper, sound, regression; got 'best'"),
        ("paper", {"repeats": [3]}, "must be one of seed, folds, .*; got 'repeats'"),
        ("paper", {"seed": [1, 2]}, r"seed must be one value; got \[1, 2\]"),
    ],
)
def test_settings_that_do_not_exist_are_refused(name, changes, message):
    with pytest.raises(ValueError, match=message):
        make_protocol(name, changes)


def test_rows_hold_means_and_deviations_in_percent():
    protocol = SoundProtocol(repeats=1)
    data = dataset()
    outcome = protocol.evaluate(find_model("RVFL default"), data, threads=1)
    row = row_of(data, "RVFL default", outcome)
    assert row.accuracy == pytest.approx(100 * np.mean(outcome.scores), abs=1e-6)
    assert row.deviation == pytest.approx(100 * np.std(outcome.scores, ddof=1), abs=1e-6)
    assert (row.n, row.p, row.q) == (70, 5, 3)


@pytest.mark.filterwarnings("ignore")  # LightGBM's own
def test_tuned_lightgbm_is_lightgbm_with_what_inner_folds_chose():
    lightgbm = pytest.importorskip("lightgbm")
    data = dataset()
    tuned = MODELS["LightGBM tuned"].make(data.y, 3, 1).fit(data.X, data.y)
    chosen = tuned.best_params_
    assert chosen["num_leaves"] in tuned.leaves and chosen["learning_rate"] in tuned.rates
    assert 1 <= chosen["n_estimators"] <= tuned.most_trees
    plain = lightgbm.LGBMClassifier(**chosen, random_state=3, n_jobs=1, verbose=-1)
    plain.fit(data.X, data.y)
    np.testing.assert_array_equal(tuned.predict_proba(data.X), plain.predict_proba(data.X))
    np.testing.assert_array_equal(tuned.predict(data.X), plain.predict(data.X))
    outcome = SoundProtocol(repeats=1).evaluate(MODELS["LightGBM tuned"], data, threads=1)
    assert len(outcome.scores) == 5 and np.isfinite(outcome.errors).all()
