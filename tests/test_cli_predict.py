"""stagenets predict."""

import io
import json

import numpy as np
import pandas as pd

import stagenets
from stagenets.cli import _table_answers
from tables import flowers


def test_probabilities_have_one_column_per_class(run, folder):
    run("fit", "flowers.csv", "--target", "kind", "--folds", 0, "--out", "model")
    out, _ = run("predict", "model", "flowers.csv", "--proba")
    found = pd.read_csv(io.StringIO(out))
    assert list(found) == ["prediction", *(f"probability_{x}" for x in ("iris", "lily", "rose"))]
    expected = stagenets.load("model").predict_proba(pd.read_csv("flowers.csv"))
    np.testing.assert_allclose(found.iloc[:, 1:], expected, rtol=1e-12)

    run("fit", "flowers.csv", "--target", "price", "--folds", 0, "--out", "other")
    _, err = run("predict", "other", "flowers.csv", "--proba", code=1)
    assert "--proba is for classifiers; other is a regressor" in err


def test_tables_are_read_from_standard_input_and_written_as_parquet(run, folder, type_in):
    type_in(flowers().to_csv(index=False))
    run("fit", "-", "--target", "kind", "--folds", 0, "--out", "model")
    type_in(flowers(seed=1).to_csv(index=False))
    run("predict", "model", "-", "--out", "found.parquet")
    out, _ = run("predict", "model", "flowers.parquet")
    found = pd.read_parquet("found.parquet")
    pd.testing.assert_frame_equal(found, pd.read_csv(io.StringIO(out)), check_dtype=False)
    run("predict", "model", "flowers.parquet", "--out", "found.csv")
    assert (folder / "found.csv").read_text().splitlines() == out.splitlines()


def test_kept_columns_come_first_as_they_were_written(run, folder):
    table = flowers(20).assign(code=[f"{number:03}" for number in range(20)])
    table.to_csv("codes.csv", index=False)
    run("fit", "flowers.csv", "--target", "kind", "--folds", 0, "--out", "model")
    for keep in (["code,height"], ["code", "--keep", "height"]):
        out, _ = run("predict", "model", "codes.csv", "--keep", *keep)
        found = pd.read_csv(io.StringIO(out), dtype={"code": str})
        assert list(found) == ["code", "height", "prediction"]
        assert list(found["code"]) == list(table["code"])
        np.testing.assert_allclose(found["height"], table["height"])
    _, err = run("predict", "model", "codes.csv", "--keep", "size", code=1)
    assert "'size' is not a column of codes.csv; it has 'id', 'height'" in err


def test_long_tables_are_predicted_in_parts_with_progress(run, folder, monkeypatch):
    run("fit", "flowers.csv", "--target", "kind", "--folds", 0, "--out", "model")
    whole, _ = run("predict", "model", "flowers.csv", "--proba")
    scores, _ = run("score", "model", "flowers.csv")
    monkeypatch.setattr(_table_answers, "_ROWS_AT_A_TIME", 50)
    parts, err = run("predict", "model", "flowers.csv", "--proba")
    assert parts == whole
    assert "[predicting] 120/120 rows" in err and "[predicting probabilities]" in err
    assert run("score", "model", "flowers.csv", "--quiet") == (scores, "")


def test_messy_columns_at_prediction(run, folder):
    """Reordered and additional columns, unseen categories, columns without any value."""
    run("fit", "flowers.csv", "--target", "kind", "--folds", 0, "--out", "model")
    plain = flowers(seed=1).drop(columns=["kind", "id", "nothing"])
    plain["colour"], plain["height"] = None, np.nan
    messy = plain[plain.columns[::-1]].assign(colour="purple", more="x")
    model = stagenets.load("model")
    messy.to_csv("messy.csv", index=False)
    out, err = run("predict", "model", "messy.csv")
    assert err == (
        "column 'colour': 120 of 120 rows hold texts that the model does not know, such as "
        "'purple'\n"
    )
    assert out.split()[1:] == list(model.predict(messy))
    plain.to_csv("plain.csv", index=False)
    out, _ = run("predict", "model", "plain.csv")
    assert out.split()[1:] == list(model.predict(plain))

    messy.drop(columns=["wild", "petals"]).to_csv("short.csv", index=False)
    out, err = run("predict", "model", "short.csv", code=1)
    assert out == ""
    assert "columns that the model was fitted on; it lacks 'petals', 'wild'" in err


def test_numerals_in_a_text_column_stay_texts(run, folder):
    """A file whose codes all look like numbers, or are partly missing, is read like the first."""
    rng = np.random.default_rng(0)
    codes = rng.choice(["1", "2", "x"], 60)
    table = pd.DataFrame({"code": codes, "y": np.where(codes == "1", "one", "other")})
    table.to_csv("codes.csv", index=False)
    run("fit", "codes.csv", "--target", "y", "--folds", 0, "--out", "model")
    (folder / "new.csv").write_text("code,y\n1,one\n2,other\n,other\n")
    out, _ = run("predict", "model", "new.csv")
    assert out.split()[1:3] == ["one", "other"]
    out, _ = run("score", "model", "new.csv", "--json")
    assert json.loads(out)["scores"]["accuracy"] == 1.0


def test_intervals_have_a_lower_and_an_upper_end(run, folder):
    table = flowers()
    run("fit", "flowers.csv", "--target", "price", "--set", "intervals=cv", "--out", "model")
    out, _ = run("predict", "model", "flowers.csv", "--interval", 0.8)
    found = pd.read_csv(io.StringIO(out))
    assert list(found) == ["prediction", "lower", "upper"]
    assert (found["lower"] < found["prediction"]).all()
    held = (found["lower"] <= table["price"]) & (table["price"] <= found["upper"])
    assert held.mean() > 0.75
    assert found["upper"].max() < 10 * table["price"].max()
    _, err = run("predict", "model", "flowers.csv", "--interval", 80, code=1)
    assert "coverage must be a number between 0 and 1; got 80.0" in err
    run("fit", "flowers.csv", "--target", "price", "--folds", 0, "--out", "plain")
    _, err = run("predict", "plain", "flowers.csv", "--interval", 0.8, code=1)
    assert "plain does not know its errors: fit it with --set intervals=cv" in err
    run("fit", "flowers.csv", "--target", "kind", "--folds", 0, "--out", "kinds")
    _, err = run("predict", "kinds", "flowers.csv", "--interval", 0.8, code=1)
    assert "--interval is for regressors; kinds is a classifier" in err
