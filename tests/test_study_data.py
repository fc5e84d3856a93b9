"""Reading a folder of data sets."""

import numpy as np
import pytest

from stagenets.study._data import choose, load
from study_problems import write_set


def test_a_set_comes_back_as_it_was_written(tmp_path):
    X, y = write_set(tmp_path, "plain", q=3)
    data = load(tmp_path, "plain")
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, y)
    assert (data.name, data.n_outputs, data.collection) == ("plain", 3, None)


def test_labels_of_any_kind_are_coded(tmp_path):
    y = np.array(["no", "yes", "no", "maybe"])
    np.savez(tmp_path / "words.npz", X=np.eye(4), y=y, X_collection=2 * np.eye(4))
    data = load(tmp_path, "words")
    np.testing.assert_array_equal(data.y, [1, 2, 1, 0])
    np.testing.assert_array_equal(data.collection, 2 * np.eye(4))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"X": np.eye(3)}, "must hold X and y; got X"),
        ({"X": np.eye(3), "y": np.arange(4)}, r"X of bad.npz must be a table .* \(3, 3\)"),
        ({"X": np.arange(3.0), "y": np.arange(3)}, "must be a table"),
        ({"X": np.full((3, 2), np.nan), "y": np.arange(3)}, "X of bad.npz must be finite"),
        ({"X": np.eye(3), "y": np.zeros(3)}, "at least two classes; got 1"),
        (
            {"X": np.eye(3), "y": np.arange(3), "X_collection": np.eye(2)},
            "X_collection of bad.npz must be a table",
        ),
    ],
)
def test_damaged_sets_are_refused(tmp_path, content, message):
    np.savez(tmp_path / "bad.npz", **content)
    with pytest.raises(ValueError, match=message):
        load(tmp_path, "bad")


def test_sets_are_chosen_by_name_or_all(tmp_path):
    for name in ("b", "a"):
        write_set(tmp_path, name)
    assert choose(tmp_path, None) == ["a", "b"]
    assert choose(tmp_path, ["b", "b"]) == ["b"]
    with pytest.raises(ValueError, match=r"--sets must name files in .*; got c, available: a, b"):
        choose(tmp_path, ["a", "c"])


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"--data must be a folder of NAME.npz files"):
        choose(tmp_path, None)
