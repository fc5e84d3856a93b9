"""The regression study: its data sets, its protocol and its report."""

import csv
import json

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

from stagenets.study._generated import GENERATED, generate
from stagenets.study._models import Plain
from stagenets.study._regression_data import RegressionSet, choose, load
from stagenets.study._regression_protocol import RegressionProtocol
from stagenets.study._regressors import all_regressors, find_regressor
from study_problems import command


@pytest.fixture
def folder(tmp_path):
    """One set with its own folds, and one with two targets and none."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=40)
    np.savez(tmp_path / "folded.npz", X=X, y=y[:, None], fold=np.arange(40) % 4)
    np.savez(tmp_path / "pairs.npz", X=X, y=np.column_stack([y, -1e6 * y]))
    return tmp_path


@pytest.mark.parametrize("name", GENERATED)
def test_generated_sets_are_the_same_every_time(name):
    X, y = generate(name)
    assert len(X) == len(y) <= 1000
    assert np.isfinite(X).all() and np.isfinite(y).all()
    for first, second in zip((X, y), generate(name), strict=True):
        np.testing.assert_array_equal(first, second)


def test_sets_bring_their_own_folds_or_get_shuffled_ones(folder):
    folded, pairs = load(folder, "folded"), load(folder, "pairs")
    assert (folded.n_outputs, pairs.n_outputs) == (1, 2)
    tests = [test for _, test in folded.splits(10, 0)]
    np.testing.assert_array_equal(tests[1], np.arange(1, 40, 4))
    splits = pairs.splits(10, 0)
    assert len(splits) == 10
    np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in splits])), range(40))
    assert choose(folder, None)[:2] == ["folded", "pairs"]
    assert choose(None, None) == list(GENERATED)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"X": np.ones((4, 2))}, "must hold X and y"),
        ({"X": np.ones((4, 2)), "y": np.ones(3)}, "one row per target"),
        ({"X": np.ones((4, 2)), "y": np.array([1, 2, np.nan, 4])}, "must be finite"),
        ({"X": np.ones((4, 2)), "y": np.ones(4), "fold": np.zeros(4)}, "at least two numbers"),
    ],
)
def test_unusable_files_are_refused(tmp_path, content, message):
    np.savez(tmp_path / "bad.npz", **content)
    with pytest.raises(ValueError, match=message):
        load(tmp_path, "bad")
    with pytest.raises(ValueError, match="--sets must name"):
        choose(tmp_path, ["unknown"])


def test_scores_and_errors_of_a_known_model(folder):
    """Each part is fitted on the other folds; the error is relative to the targets' deviation."""
    data = load(folder, "folded")
    line = Plain("line", lambda targets, seed, threads: LinearRegression())
    outcome = RegressionProtocol(tested=3).evaluate(line, data, 1)
    assert len(outcome.scores) == len(outcome.errors) == 3
    for number, (score, error) in enumerate(zip(outcome.scores, outcome.errors, strict=True)):
        test = data.fold == number
        model = LinearRegression().fit(data.X[~test], data.y[~test])
        predicted = model.predict(data.X[test])
        assert score == pytest.approx(r2_score(data.y[test], predicted))
        squares = np.mean((data.y[test] - predicted) ** 2)
        assert error == pytest.approx(np.sqrt(squares / np.var(data.y)))


def test_all_models_get_the_same_sample_of_many_rows():
    rng = np.random.default_rng(0)
    data = RegressionSet("many", rng.normal(size=(300, 2)), rng.normal(size=300))
    seen = []

    class Watcher(LinearRegression):
        def fit(self, X, y):
            seen.append(X)
            return super().fit(X, y)

    watcher = Plain("watcher", lambda targets, seed, threads: Watcher())
    for _ in range(2):
        RegressionProtocol(tested=2, most_rows=50).evaluate(watcher, data, 1)
    assert [len(X) for X in seen] == [50] * 4
    np.testing.assert_array_equal(seen[0], seen[2])
    assert not np.array_equal(seen[0], seen[1])


@pytest.mark.parametrize("name", all_regressors())
def test_every_model_copes_with_several_targets(folder, name):
    protocol = RegressionProtocol(tested=1, alphas=(1.0,), inner_folds=2)
    outcome = protocol.evaluate(find_regressor(name), load(folder, "pairs"), 1)
    assert -1 < outcome.scores[0] <= 1


def test_models_are_named_or_called():
    assert find_regressor("ELMRegressor(alpha=0.1)").make(np.zeros(3), 0, 1).alpha == 0.1
    with pytest.raises(ValueError, match=r"one of RG-RVFL, .* RVFLRegressor\(alpha=0.1\)"):
        find_regressor("RVFLClassifier(alpha=0.1)")


def test_the_command_from_end_to_end(folder, tmp_path, capsys):
    out = tmp_path / "out"
    options = ["study", "--task", "regression", "--data", folder, "--sets", "folded,noise"]
    options += ["--models", "RG-RVFL,Ridge,RG-RVFL default", "--setting", "tested=2"]
    options += ["--setting", "alphas=0.1,10", "--quiet", "--out", out]
    assert command(*options) == 0
    assert "6 rows" in capsys.readouterr().out
    with (out / "regression" / "rows.csv").open(newline="") as file:
        rows = {(row["dataset"], row["model"]): row for row in csv.DictReader(file)}
    assert len(rows["noise", "Ridge"]["errors"].split()) == 2
    chosen = json.loads(rows["folded", "RG-RVFL"]["chosen"])
    assert {params["alpha"] for params in chosen} <= {0.1, 10}
    report = (out / "regression" / "report.md").read_text(encoding="utf-8")
    assert "--task regression" in report and str(tmp_path) not in report
    with (out / "regression" / "summary.csv").open(newline="") as file:
        ranks = [float(line["rank"]) for line in csv.DictReader(file)]
    assert ranks == sorted(ranks) and np.mean(ranks) == 2
    with (out / "regression" / "r2.csv").open(newline="") as file:
        table = {line["dataset"]: line for line in csv.DictReader(file)}
    mean = np.mean([float(score) for score in rows["folded", "Ridge"]["scores"].split()])
    assert float(table["folded"]["Ridge"]) == pytest.approx(100 * mean, abs=0.01)
    assert command(*options, "--report-only") == 0
