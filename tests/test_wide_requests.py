"""What takes long says so; what this machine cannot hold is refused with its size."""

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import stagenets
from stagenets.cli import _fit, _usage
from stagenets.cli._table_columns import kind_of, numbers_of
from stagenets.cli._table_files import read_table


def test_one_shot_fit_says_how_much_it_begins(capsys):
    model = stagenets.ELMRegressor(n_hidden=7, selection="random", random_state=0, verbose=1)
    model.fit(np.eye(5), np.arange(5.0))
    first, *_ = capsys.readouterr().err.splitlines()
    assert first == "[ELMRegressor] 7 units at once"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere memory may grow")
def test_one_shot_fit_beyond_the_memory_of_the_machine_is_refused_before_any_work():
    """Each matrix alone might be granted by a system that promises memory it does not have."""
    known = re.findall(r"(?:MemTotal|SwapTotal): +(\d+) kB", Path("/proc/meminfo").read_text())
    rows = sum(map(int, known)) // 10**4  # with a million units: 1.6 times that, in two matrices
    X = np.zeros((rows, 1))
    X[0] = 1
    calls = []

    def weights(rng, pool_size, n_features):
        calls.append(pool_size)
        return np.zeros((n_features, pool_size)), np.zeros(pool_size)

    model = stagenets.ELMRegressor(
        n_hidden=10**6, selection="random", weight_init=weights, random_state=0
    )
    with pytest.raises(MemoryError) as refusal:
        model.fit(X, X[:, 0])
    found = re.fullmatch(
        r"a fit of this size needs at least ([0-9.]+) ([GT])B of memory", str(refusal.value)
    )
    needed = float(found[1]) * {"G": 1e9, "T": 1e12}[found[2]]
    assert needed == pytest.approx(16e6 * rows, rel=0.05)
    assert calls == []


def test_wide_table_tells_of_its_progress(run, folder, monkeypatch):
    monkeypatch.setattr(_fit, "_MANY_COLUMNS", 3)
    monkeypatch.setattr(_usage, "_TAKES_A_WHILE", 1000)
    command = ("fit", "flowers.csv", "--target", "kind", "--folds", 0, "--out", "model")
    _, err = run(*command)
    assert re.search(r"\[reading flowers.csv\] (\d+)/\1 megabytes", err)
    assert re.search(r"\[reading\] (\d+)/\1 columns", err)
    assert "[reading]" not in run(*command, "--quiet")[1]


def test_names_of_a_hundred_thousand_columns_are_compared_in_no_time(tmp_path):
    """Pair by pair it would take minutes."""
    names = [f"c{number}" for number in range(100_000)]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join([",".join([*names, "c7"]), ",".join(["1"] * 100_001)]))
    with pytest.raises(ValueError, match=r"must have different names; there are several 'c7' "):
        read_table(str(path))


def test_unknown_column_of_a_wide_table_is_a_short_message(run, folder):
    wide = pd.DataFrame([range(50)] * 5, columns=[f"c{number}" for number in range(50)])
    wide.to_csv("wide.csv", index=False)
    _, err = run("fit", "wide.csv", "--target", "x", "--out", "model", code=1)
    assert "'x' is not a column of wide.csv; it has 'c0', 'c1'" in err
    assert "'c9' and 40 more" in err


@pytest.mark.parametrize("dtype", ["int8", "uint64", "bool", "float32", "float64"])
def test_columns_of_numpys_types_are_what_pandas_says_they_are(dtype):
    plain = pd.Series([0, 1, 1, 0]).astype(dtype)
    slow = plain.astype(object)
    assert kind_of(plain) == kind_of(slow) == "numbers"
    np.testing.assert_array_equal(numbers_of("c", plain), numbers_of("c", slow))


def test_columns_of_nan_hold_nothing_and_infinity_is_refused():
    assert kind_of(pd.Series([np.nan, np.nan])) == "nothing"
    assert kind_of(pd.Series([np.nan, 1.0])) == "numbers"
    with pytest.raises(ValueError, match="column 'c' must hold finite numbers"):
        numbers_of("c", pd.Series([1.0, -np.inf]))


@pytest.mark.parametrize("most", [2**40, 2**62])
def test_search_of_too_many_sizes_is_refused_before_any_work(most):
    search = stagenets.ELMRegressorCV(max_hidden=most, cv=2, random_state=0)
    with pytest.raises(
        MemoryError, match=r"a search of this size needs at least [0-9.]+ [TZ]B of "
    ):
        search.fit(np.eye(5), np.arange(5.0))
