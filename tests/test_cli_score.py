"""stagenets score."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

import stagenets
from tables import flowers


def test_classes_that_look_like_numbers_in_one_file_only(run, folder):
    table = pd.DataFrame({"x": np.arange(60.0), "y": ["7"] * 30 + ["b"] * 30})
    table.to_csv("table.csv", index=False)
    run("fit", "table.csv", "--target", "y", "--out", "model")
    table[:30].to_csv("sevens.csv", index=False)
    out, _ = run("score", "model", "sevens.csv", "--json")
    assert json.loads(out)["scores"]["accuracy"] == 1.0


def test_score_needs_the_target(run, folder):
    run("fit", "flowers.csv", "--target", "kind", "--folds", 0, "--out", "model")
    flowers().drop(columns="kind").to_csv("blind.csv", index=False)
    assert "target column 'kind'" in run("score", "model", "blind.csv", code=1)[1]
    flowers().assign(kind=None).to_csv("blind.csv", index=False)
    assert "column 'kind' has no values" in run("score", "model", "blind.csv", code=1)[1]


@pytest.fixture
def iris(folder):
    """Files train.csv and test.csv with three classes that overlap; the test table."""
    rng = np.random.default_rng(0)
    for name in ("train", "test"):
        kind = rng.choice(["a", "b", "c"], 150, p=[0.6, 0.3, 0.1])
        x = rng.normal(size=(150, 2)) + 1.5 * np.array([kind == "b", kind == "c"]).T
        table = pd.DataFrame({"x0": x[:, 0], "x1": x[:, 1], "kind": kind})
        table["size"] = x.sum(axis=1) + rng.normal(size=150)
        table.to_csv(f"{name}.csv", index=False)
    return table


def test_measures_of_classes_agree_with_scikit_learn(run, iris):
    run("fit", "train.csv", "--target", "kind", "--folds", 0, "--out", "model")
    model, y = stagenets.load("model"), iris["kind"]
    labels, chances = model.predict(iris), model.predict_proba(iris)
    expected = {
        "accuracy": metrics.accuracy_score(y, labels),
        "balanced_accuracy": metrics.balanced_accuracy_score(y, labels),
        "log_loss": metrics.log_loss(y, chances),
        "roc_auc": metrics.roc_auc_score(y, chances, multi_class="ovr"),
        "f1": metrics.f1_score(y, labels, average="macro"),
    }
    out, _ = run("score", "model", "test.csv", "--json", "--metrics", ",".join(expected))
    assert json.loads(out) == {"rows": 150, "scores": pytest.approx(expected)}
    out, _ = run("score", "model", "test.csv")
    assert out.splitlines()[0] == "150 rows"
    assert f"balanced accuracy  {expected['balanced_accuracy']:.4f}" in out
    assert "F1" not in out


def test_two_classes_have_one_roc_curve(run, iris):
    for name in ("train", "test"):
        table = pd.read_csv(f"{name}.csv")
        table[table["kind"] != "c"].to_csv(f"{name}.csv", index=False)
    run("fit", "train.csv", "--target", "kind", "--folds", 0, "--out", "model")
    found = json.loads(run("score", "model", "test.csv", "--json")[0])["scores"]
    table = pd.read_csv("test.csv")
    chances = stagenets.load("model").predict_proba(table)[:, 1]
    assert found["roc_auc"] == pytest.approx(metrics.roc_auc_score(table["kind"] == "b", chances))


def test_measures_of_numbers_agree_with_scikit_learn(run, iris):
    fit = ("fit", "train.csv", "--target", "size", "--target", "x0", "--folds", 0)
    run(*fit, "--out", "model")
    found = json.loads(run("score", "model", "test.csv", "--json")[0])["scores"]
    pair = iris[["size", "x0"]], stagenets.load("model").predict(iris)
    assert found == pytest.approx(
        {
            "r2": metrics.r2_score(*pair),
            "rmse": np.sqrt(metrics.mean_squared_error(*pair)),
            "mae": metrics.mean_absolute_error(*pair),
        }
    )


def test_unknown_classes_count_as_wrong_and_leave_log_loss_undefined(run, iris):
    run("fit", "train.csv", "--target", "kind", "--folds", 0, "--out", "model")
    iris.assign(kind="new").to_csv("new.csv", index=False)
    out, err = run("score", "model", "new.csv", "--json")
    assert json.loads(out)["scores"] == {
        "accuracy": 0.0,
        "balanced_accuracy": 0.0,
        "log_loss": None,
        "roc_auc": None,
    }
    assert err == "150 rows are of a class that the model does not know\n"
    assert "log-loss           not defined" in run("score", "model", "new.csv")[0]
    _, err = run("score", "model", "new.csv", "--metrics", "r2", code=2)
    assert "--metrics of a classifier are accuracy, balanced_accuracy" in err
