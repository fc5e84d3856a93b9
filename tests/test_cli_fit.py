"""stagenets fit: the network it fits, the task it finds, the scores it reports."""

import io
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold, cross_validate

import problems
import stagenets
from stagenets.cli._column_types import ColumnTypes
from stagenets.export._files import notes_in
from tables import flowers

FIT = ("fit", "flowers.csv", "--target", "kind", "--out", "model")
SIZES = {
    "rvfl": ["--n-hidden", 8],
    "elm": ["--n-hidden", 8],
    "bls": ["--set", "n_windows=2", "--set", "n_enhancement=5"],
}


@pytest.mark.parametrize("data", ["flowers.csv", "flowers.parquet"])
@pytest.mark.parametrize("target", ["kind", "price"])
@pytest.mark.parametrize("name", ["rvfl", "elm", "bls"])
def test_fit_predict_and_score_agree_with_the_estimator(run, folder, name, target, data):
    options = ["--pool-size", 10, "--block-size", 2, "--alpha", 0.5, "--seed", 3, *SIZES[name]]
    options += ["--folds", 0, "--out", "model"]
    run("fit", data, "--target", target, "--model", name, *options)

    size = {"n_windows": 2, "n_enhancement": 5} if name == "bls" else {"n_hidden": 8}
    kind = "Classifier" if target == "kind" else "Regressor"
    expected = getattr(stagenets, name.upper() + kind)(
        pool_size=10, block_size=2, alpha=0.5, random_state=3, **size
    )
    table = flowers(seed=data == "flowers.parquet")
    types = ColumnTypes(target=target).fit(table)
    expected.fit(types.transform(table), table[target])

    new = flowers(seed=2)
    new.to_csv("new.csv", index=False)
    out, err = run("predict", "model", "new.csv")
    assert err == ""
    found = pd.read_csv(io.StringIO(out))
    assert list(found) == ["prediction"]
    predictions = expected.predict(types.transform(new))
    if target == "kind":
        assert list(found["prediction"]) == list(predictions)
    else:
        np.testing.assert_allclose(found["prediction"], predictions, rtol=1e-9)

    out, _ = run("score", "model", "new.csv", "--json")
    score = expected.score(types.transform(new), new[target])
    found = json.loads(out)
    assert found["rows"] == 120
    assert found["scores"]["accuracy" if target == "kind" else "r2"] == pytest.approx(score)


@pytest.mark.parametrize(("name", "target"), [("rvfl", "kind"), ("elm", "price"), ("bls", "kind")])
def test_search_saves_the_best_estimator(run, folder, name, target):
    sizes = {"max_enhancement": 10, "n_windows": [2]} if name == "bls" else {"max_hidden": 10}
    options = [word for size in sizes for word in ("--set", f"{size}={sizes[size]}")]
    options += ["--set", "alphas=[0.1, 10.0]", "--set", "cv=3", "--folds", 3]
    fit = ("fit", "flowers.csv", "--target", target, "--model", name, "--search")
    _, err = run(*fit, *options, "--out", "model")
    assert "cross-validated score" in err and "alpha = " in err
    assert "the same rows chose the size and the penalty, so expect slightly worse" in err
    kind = "Classifier" if target == "kind" else "Regressor"
    search = getattr(stagenets, f"{name.upper()}{kind}CV")(
        alphas=[0.1, 10.0], cv=3, random_state=0, **sizes
    )
    table = flowers()
    types = ColumnTypes(target=target).fit(table)
    search.fit(types.transform(table), table[target])
    found = stagenets.load("model")["network"]
    np.testing.assert_array_equal(found.readout_, search.best_estimator_.readout_)
    means = notes_in("model")["scores"]["held_out"]["mean"]
    assert means["accuracy" if target == "kind" else "r2"] == pytest.approx(search.best_score_)


def test_held_out_scores_are_of_the_penalty_that_the_fit_chose(run, folder):
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.normal(size=(300, 5)), columns=list("abcde"))
    table["y"] = rng.choice(["p", "q"], 300)  # pure noise asks for a large penalty
    table.to_csv("noise.csv", index=False)
    fit = ("fit", "noise.csv", "--target", "y", "--out", "model")
    _, err = run(*fit)
    assert "(5 folds; the same rows chose the penalty, so expect slightly worse)" in err
    chosen = stagenets.load("model")["network"]
    assert chosen.alpha_ > chosen._alphas["log"][1]
    found = notes_in("model")["scores"]
    assert f"penalty     {chosen.alpha_:g}, chosen by cross-validation" in run("info", "model")[0]
    _, err = run(*fit, "--alpha", chosen.alpha_)
    assert "scores on held-out rows (5 folds):" in err
    assert notes_in("model")["scores"] == found


def test_loaded_model_is_a_pipeline_that_takes_frames(run, folder):
    run("fit", "flowers.csv", "--target", "kind", "--folds", 0, "--out", "model")
    model = stagenets.load("model")
    assert list(model.named_steps) == ["table", "network"]
    assert model.predict(flowers(seed=1)).shape == (120,)
    assert model["network"].verbose == 0


@pytest.mark.parametrize("flag", [True, False], ids=["flags", "numbers"])
def test_flags_and_whole_numbers_are_classes(run, folder, flag):
    values = np.arange(40) % 2 == 0
    table = pd.DataFrame({"x": values + 0.1, "y": values if flag else values + 4})
    table["y"] = table["y"].astype(object)
    table.loc[3, "y"] = None
    table.to_csv("table.csv", index=False)
    _, err = run("fit", "table.csv", "--target", "y", "--out", "model")
    assert "rows without 'y' left out: 1" in err
    assert "classification of 'y' (2 classes): 39 rows" in err
    out, _ = run("predict", "model", "table.csv")
    assert out.split()[1:3] == (["True", "False"] if flag else ["5", "4"])
    out, _ = run("score", "model", "table.csv", "--json")
    assert json.loads(out)["rows"] == 39 and json.loads(out)["scores"]["accuracy"] == 1.0


def test_columns_left_out_are_reported_and_columns_can_be_dropped(run, folder):
    _, err = run("fit", "flowers.csv", "--target", "kind", "--drop", "price", "--out", "model")
    assert "column 'nothing' is left out: it has no values" in err
    assert "column 'id' is left out: it holds 120 different texts in 120 rows (--keep id" in err
    columns = [column.name for column in stagenets.load("model")["table"].columns_]
    assert columns == ["height", "petals", "colour", "wild", "picked"]


def test_quiet_fit_says_nothing(run, folder):
    assert run(*FIT, "--quiet") == ("", "")


def held_out(run, *arguments):
    return json.loads(run("fit", *arguments, "--out", "model", "--quiet", "--json")[0])


@pytest.mark.parametrize("weights", ["sparse", "leaf"])  # a leaf has several terms
def test_held_out_scores_are_those_of_cross_validation(run, folder, weights):
    options = ["--n-hidden", 8, "--alpha", 1, "--set", f"weight_init={weights}", "--folds", 4]
    found = held_out(run, "flowers.csv", "--target", "price", *options)
    table = flowers()
    X = ColumnTypes(target="price").fit(table).transform(table)
    model = stagenets.RVFLRegressor(n_hidden=8, alpha=1, weight_init=weights, random_state=0)
    scorers = {"r2": "r2", "rmse": "neg_root_mean_squared_error", "mae": "neg_mean_absolute_error"}
    folds = KFold(4, shuffle=True, random_state=0)
    expected = cross_validate(model, X, table["price"], cv=folds, scoring=scorers)
    assert found["held_out"]["folds"] == 4
    for name in scorers:
        scores = np.abs(expected[f"test_{name}"])
        assert found["held_out"]["mean"][name] == pytest.approx(scores.mean(), rel=1e-6)
        assert found["held_out"]["std"][name] == pytest.approx(scores.std(), rel=1e-5)
    assert found["training"]["r2"] == pytest.approx(
        model.fit(X, table["price"]).score(X, table["price"])
    )


def test_noise_has_no_held_out_score_worth_naming(run, folder):
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.normal(size=(80, 6))).add_prefix("x").to_csv("noise.csv", index=False)
    _, err = run("fit", "noise.csv", "--target", "x0", "--out", "model")
    assert "scores on held-out rows (5 folds" in err
    found = held_out(run, "noise.csv", "--target", "x0")
    assert found["held_out"]["mean"]["r2"] < 0 < 0.1 < found["training"]["r2"]
    mean, std = (found["held_out"][name]["r2"] for name in ("mean", "std"))
    assert f"R²    {mean:.4f} ± {std:.4f}  ({found['training']['r2']:.4f} on the training" in err


def test_rare_classes_and_few_rows_are_no_obstacle(run, folder):
    table = pd.DataFrame({"x": np.linspace(0, 1, 30), "y": ["a"] * 14 + ["b"] * 15 + ["c"]})
    table.to_csv("rare.csv", index=False)
    scores = held_out(run, "rare.csv", "--target", "y")["held_out"]["mean"]
    assert scores["accuracy"] > 0.8 and None not in scores.values()
    table[12:16].to_csv("few.csv", index=False)
    assert held_out(run, "few.csv", "--target", "y")["held_out"]["folds"] == 2
    table[13:15].to_csv("few.csv", index=False)
    assert "held_out" not in held_out(run, "few.csv", "--target", "y")
    _, err = run("fit", "few.csv", "--target", "y", "--out", "model")
    assert "scores on the training rows, which flatter every model:" in err


def test_a_network_that_kept_no_unit_is_scored_with_one(run, folder):
    rng = np.random.default_rng(1)
    pd.DataFrame(rng.normal(size=(40, 3))).add_prefix("x").to_csv("noise.csv", index=False)
    stop = ["--set", "early_stopping=loo", "--set", "n_iter_no_change=2", "--alpha", 1e-6]
    for name, value in problems.PLAIN.items():
        stop += ["--set", f"{name}={value}"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says that no unit helped
        found = held_out(run, "noise.csv", "--target", "x0", *stop)
    assert stagenets.load("model")["network"].n_hidden_ == 0
    assert found["held_out"]["folds"] == 5


def test_several_targets_are_fitted_together(run, folder):
    fit = ("flowers.csv", "--target", "price", "--target", "petals", "--n-hidden", 8)
    assert held_out(run, *fit)["task"] == "regression"
    out, _ = run("predict", "model", "flowers.parquet")
    found = pd.read_csv(io.StringIO(out))
    table, names = flowers(), ["price", "petals"]
    types = ColumnTypes(target=names).fit(table)
    expected = stagenets.RVFLRegressor(n_hidden=8, random_state=0)
    expected.fit(types.transform(table), table[names])
    assert list(found) == ["prediction_price", "prediction_petals"]
    np.testing.assert_allclose(found, expected.predict(types.transform(flowers(seed=1))))
    assert "target      price, petals" in run("info", "model")[0]


def test_decimal_commas_give_the_same_model(run, folder):
    flowers().to_csv("comma.csv", sep=";", decimal=",", index=False)
    fit = ("--target", "price", "--n-hidden", 8, "--folds", 0)
    _, err = run("fit", "comma.csv", *fit, "--out", "comma.model")
    assert "numbers are read with a decimal comma" in err
    run("fit", "flowers.csv", *fit, "--out", "model")
    assert (folder / "comma.model").stat().st_size > 0
    expected = stagenets.load("model")
    same = stagenets.load("comma.model")
    assert same["table"].decimal == ","
    np.testing.assert_array_equal(same.predict(flowers()), expected.predict(flowers()))


def test_column_of_weights_counts_rows(run, folder):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    table["y"] = table["a"] - table["b"] ** 2
    table["often"] = rng.integers(0, 4, 60)
    table.to_csv("weighted.csv", index=False)
    repeated = table.loc[table.index.repeat(table["often"])].drop(columns="often")
    repeated.to_csv("repeated.csv", index=False)
    predictions, scores = [], []
    for name, more in (("weighted", ["--weights", "often"]), ("repeated", [])):
        options = ["--target", "y", "--out", name, "--n-hidden", 9, "--json"]
        scores.append(json.loads(run("fit", f"{name}.csv", *options, *more)[0])["training"]["r2"])
        predictions.append(stagenets.load(name).predict(table[["a", "b"]]))
    np.testing.assert_allclose(predictions[0], predictions[1], rtol=1e-9, atol=1e-9)
    assert scores[0] == pytest.approx(scores[1])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2, -1], "column 'w' of weights: sample_weight must be numbers >= 0; got -1.0"),
        ([1, 2, ""], "column 'w' of weights must have a number in every row; 1 rows have none"),
    ],
)
def test_bad_weights_are_refused(run, folder, weights, message):
    table = pd.DataFrame({"a": [1.0, 2.5, 3.1], "y": [1.5, 2.2, 7.7], "w": weights})
    table.to_csv("t.csv", index=False)
    fit = run("fit", "t.csv", "--target", "y", "--out", "m", "--weights", "w", code=1)
    assert message in fit[1]


def test_classes_can_be_balanced(run, folder):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"])
    table["y"] = np.where(table["a"] + rng.normal(size=300) > 2, "rare", "often")
    table.to_csv("t.csv", index=False)
    options = ["--out", "m", "--n-hidden", 5, "--class-weight", "balanced"]
    run("fit", "t.csv", "--target", "y", *options)
    model = stagenets.load("m")
    assert model[-1].class_weight == "balanced"
    assert np.mean(model.predict(table[table["y"] == "rare"]) == "rare") > 0.7
    wrong = run("fit", "t.csv", "--target", "a", *options, code=2)
    assert "--class-weight is for classes" in wrong[1]


def test_loss_is_an_option(run, folder):
    options = ["--out", "m", "--n-hidden", 5, "--alpha", 1, "--folds", 0]
    run("fit", "flowers.csv", "--target", "price", "--loss", "huber", *options)
    assert stagenets.load("m")[-1].loss == "huber"
    wrong = run("fit", "flowers.csv", "--target", "kind", "--loss", "huber", *options, code=1)
    assert "loss must be one of 'squared', 'log', 'bounded'; got 'huber'" in wrong[1]
