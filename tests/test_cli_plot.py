"""stagenets plot: which pictures there are, and that they show the model's own numbers."""

import json
import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import permutation_importance

import stagenets
from stagenets.cli._importance import Importance
from stagenets.cli._search_note import display_of, note_of
from stagenets.export._files import notes_in, save_model
from tables import flowers

FIT = ("fit", "flowers.csv", "--target", "kind", "--n-hidden", 6, "--folds", 0, "--out", "model")


@pytest.fixture
def figures(monkeypatch):
    """The figures drawn by the command, which closes them."""
    drawn = []
    monkeypatch.setattr(plt, "close", drawn.append)
    yield drawn
    monkeypatch.undo()
    plt.close("all")


def test_pictures_of_a_searched_model(run, folder, figures):
    run(*FIT, "--search", "--set", "alphas=[0.1, 1.0]", "--set", "cv=3")
    out, _ = run("plot", "model", "flowers.parquet", "--out", "new/pictures", "--quiet")
    names = ["path", "units", "search", "importance"]
    assert out.split() == [f"new/pictures/{name}.png" for name in names]
    for name in out.split():
        assert (folder / name).read_bytes().startswith(b"\x89PNG")

    model, table = stagenets.load("model"), pd.read_parquet("flowers.parquet")
    path, _, search, importance = (figure.axes for figure in figures)
    np.testing.assert_array_equal(path[0].lines[0].get_ydata(), model["network"].objective_path_)
    assert path[1].lines[0].get_ydata()[-1] == model.score(table, table["kind"])
    assert search[0].get_title().startswith("best ")
    columns = [column.name for column in model["table"].columns_]
    expected = permutation_importance(model, table[columns], table["kind"], random_state=0)
    shown = dict(
        zip(
            [label.get_text() for label in importance[0].get_yticklabels()],
            [bar.get_width() for bar in importance[0].patches],
            strict=True,
        )
    )
    assert shown == pytest.approx(dict(zip(columns, expected.importances_mean, strict=True)))


def test_without_data_or_search_there_are_two_pictures_as_svg(run, folder):
    run(*FIT)
    out, err = run("plot", "model", "--out", "pictures", "--format", "svg")
    assert out.split() == ["pictures/path.svg", "pictures/units.svg"]
    assert "<svg" in (folder / "pictures" / "path.svg").read_text()
    assert "no picture of importance: add a table with the target as DATA" in err


def test_one_shot_networks_have_no_stages_to_draw(run, folder):
    run(*FIT, "--set", "selection=random")
    out, err = run("plot", "model", "--out", "pictures")
    assert out == "" and "a one-shot network has no stages" in err


def test_very_many_rows_are_drawn_by_some_of_them(run, folder, figures, monkeypatch):
    run(*FIT)
    monkeypatch.setattr("stagenets.cli._plot._MOST_ROWS", 50)
    _, err = run("plot", "model", "flowers.parquet", "--out", "pictures")
    assert "the pictures use 50 of the 120 rows" in err
    shares = 50 * figures[0].axes[1].lines[0].get_ydata()
    np.testing.assert_allclose(shares, np.round(shares), atol=1e-9)


def test_names_of_columns_are_shown_as_they_are_and_the_best_come_first():
    names = ["$h$ " + "x" * 50, *map(str, range(30))]
    losses = np.arange(31.0)[::-1, None] * [0.9, 1.1]
    _, ax = plt.subplots()
    Importance(names, losses, "R²").plot(ax)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels[::-1] == ["$h$ " + "x" * 35 + "…", *names[1:20]]
    plt.close(ax.figure)


def test_plot_names_what_is_wrong(run, folder, monkeypatch):
    run(*FIT)
    assert "'model' is a file" in run("plot", "model", "--out", "model", code=1)[1]
    _, err = run("plot", "flowers.csv", "model", "--out", "pictures", code=1)
    assert "flowers.csv is not a model file" in err
    flowers().drop(columns="kind").to_csv("blind.csv", index=False)
    _, err = run("plot", "model", "blind.csv", "--out", "pictures", code=1)
    assert "target column 'kind'" in err and not (folder / "pictures").exists()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "stagenets[plot]" in run("plot", "model", "--out", "pictures", code=1)[1]


def test_notes_of_a_search_survive_json_and_damage_is_refused():
    search = stagenets.ELMRegressorCV(alphas=[0.1, 1.0], max_hidden=3, cv=2, random_state=0)
    search.fit(np.random.default_rng(0).normal(size=(20, 2)), np.arange(20.0))
    note = json.loads(json.dumps(note_of(search)))
    display = display_of(note)
    expected = search.cv_results_["mean_test_score"].reshape(2, 3)
    np.testing.assert_allclose(display.scores, expected, rtol=1e-5)
    assert display.y_values[display.best[1]] == search.best_params_["alpha"]
    for name, value in [
        ("scores", [[1.0]]),
        ("scores", [["x"] * 3] * 2),
        ("scores", [[1.0], [1.0, 2.0]]),
        ("best", [9, 0]),
        ("best", None),
        ("x_name", 3),
        ("fixed", []),
    ]:
        with pytest.raises(ValueError, match="must hold scores and their axes"):
            display_of({**note, name: value})


def test_info_shows_the_scores_of_the_fit(run, folder):
    run(*FIT[:-4], "--folds", 3, "--out", "model", "--quiet")
    scores = notes_in("model")["scores"]
    assert f"accuracy {scores['held_out']['mean']['accuracy']:.4g} ± " in run("info", "model")[0]
    assert json.loads(run("info", "model", "--json")[0])["scores"] == scores
    network = stagenets.load("model")["network"]
    for notes in ({"scores": 3}, {"scores": {"held_out": {"folds": 2, "mean": {"a": "x"}}}}):
        save_model(network, "model", notes=notes)
        assert "held out" not in run("info", "model")[0]
    save_model(network, "model", notes=[])
    assert "its notes must be a table" in run("info", "model", code=1)[1]
