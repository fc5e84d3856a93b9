"""What goes wrong is said in one line."""

import sys
import warnings

import numpy as np
import pandas as pd
import pytest

import stagenets
from stagenets.cli import _demo as demo
from stagenets.cli import _main as _cli
from stagenets.cli._column_types import ColumnTypes
from tables import flowers

FIT = ("fit", "flowers.csv", "--target", "kind", "--folds", 0, "--out", "model")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, "COMMAND"),
        (("dance",), 2, "invalid choice: 'dance'"),
        (("fit", "flowers.csv"), 2, "--target"),
        ((*FIT, "--model", "svm"), 2, "invalid choice: 'svm'"),
        ((*FIT, "--set", "n_hidden"), 2, "--set must be NAME=VALUE; got 'n_hidden'"),
        ((*FIT, "--set", "depth=3"), 2, "--model rvfl has no parameter depth; it has activation,"),
        ((*FIT, "--model", "bls", "--n-hidden", 5), 2, "--model bls has no parameter n_hidden"),
        ((*FIT, "--alpha", -1), 1, "alpha must be a finite number >= 0; got -1.0"),
        ((*FIT, "--set", "activation=swish"), 1, "activation must be one of 'sigmoid'"),
        (
            (*FIT, "--drop", "size"),
            1,
            "'size' is not a column of flowers.csv; it has 'id', 'height'",
        ),
        ((*FIT, "--task", "regression"), 1, "column 'kind' must hold numbers; got "),
        (
            (*FIT, "--out", "no/such/folder/model"),
            1,
            "--out must be a file in a folder that exists",
        ),
        (("fit", "flowers.csv", "--target", "size", "--out", "m"), 1, "'size' is not a column"),
        (("fit", "flowers.csv", "--target", "nothing", "--out", "m"), 1, "'nothing' has no values"),
        (("fit", "none.csv", "--target", "kind", "--out", "m"), 1, "none.csv"),
        (("fit", "none.parquet", "--target", "kind", "--out", "m"), 1, "none.parquet"),
        (("fit", "empty.csv", "--target", "kind", "--out", "m"), 1, "empty.csv cannot be read"),
        (("fit", "header.csv", "--target", "kind", "--out", "m"), 1, "header.csv has no rows"),
        (("fit", "ragged.csv", "--target", "kind", "--out", "m"), 1, "ragged.csv cannot be read"),
        (("fit", "bad.parquet", "--target", "kind", "--out", "m"), 1, "bad.parquet cannot be read"),
        (("predict", "none", "flowers.csv"), 1, "none"),
        (
            ("predict", "flowers.csv", "model"),
            1,
            "flowers.csv is not a model file; the model",
        ),
        (("predict", "x", "flowers.csv", "--out", "p.xlsx"), 1, "--out must end in .csv, .tsv or"),
        (("predict", "x", "flowers.csv", "--out", "."), 1, "--out must be a file; '.' is a folder"),
        (("predict", "x", "y.csv", "--out", "y.csv"), 1, "another file than those read"),
        ((*FIT, "--out", "."), 1, "--out must be a file; '.' is a folder"),
        ((*FIT, "--out", "flowers.csv"), 1, "another file than those read; got 'flowers.csv'"),
        ((*FIT, "--target", "price"), 1, "several targets must all hold numbers; 'kind' holds"),
        ((*FIT, "--max-categories", 0), 2, "--max-categories must be at least 1; got 0"),
        ((*FIT, "--folds", 1), 2, "--folds must be 0 or at least 2; got 1"),
        (("fit", "numbers.csv", "--target", "y", "--out", "m"), 1, "holds data, add --no-header)"),
        (
            ("fit", "flowers.csv", "--target", "id", "--out", "m"),
            1,
            "--task classification if",
        ),
        (("fit", "flowers.csv", "--target", "picked", "--out", "m"), 1, "'picked' holds dates"),
        (("predict", "flowers.csv", "flowers.csv"), 1, "flowers.csv is not a model file"),
        (("info", "flowers.csv"), 1, "flowers.csv is not a model file\n"),
        ((*FIT, "--sep", "||"), 2, "must be one character, or \\t for a tab; got '||'"),
        ((*FIT, "--sep", "|"), 1, "(if that is several columns, give their --sep)"),
    ],
)
def test_errors_are_one_line_on_stderr_with_an_exit_code(run, folder, arguments, code, message):
    (folder / "empty.csv").write_text("")
    (folder / "numbers.csv").write_text("1,2\n3,4\n")
    (folder / "header.csv").write_text("kind,x\n")
    (folder / "ragged.csv").write_text("kind,x\na,1\nb,2,3,4\n")
    (folder / "bad.parquet").write_text("PAR1")
    out, err = run(*arguments, code=code)
    assert out == ""
    assert message in err
    assert not (folder / "model").exists() and not (folder / "m").exists()


@pytest.mark.parametrize("place", [("--debug", "info", "none"), ("info", "none", "--debug")])
def test_debug_shows_the_traceback(folder, place):
    with pytest.raises(FileNotFoundError):
        _cli.main(list(place))


def test_warnings_are_one_line_without_the_source_location(run, monkeypatch):
    def warn(options):
        warnings.warn("mind the gap", stacklevel=1)
        return 0

    monkeypatch.setattr(demo, "run", warn)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert run("demo")[1] == "stagenets demo: warning: mind the gap\n"


def test_file_with_a_table_that_does_not_fit_its_network_is_refused(run, folder):
    from stagenets.export._files import save_model

    model = stagenets.ELMRegressor(n_hidden=5).fit(np.eye(6), np.arange(6.0))
    table = ColumnTypes(target="kind").fit(flowers()).to_plain()
    save_model(model, "model", table=table)
    _, err = run("info", "model", code=1)
    assert "it takes columns without names" in err
    save_model(model, "model", table={**table, "columns": 3})
    assert "the table must have" in run("info", "model", code=1)[1]


@pytest.mark.parametrize(
    ("module", "call"), [("pandas", "flowers.csv"), ("pyarrow", "flowers.parquet")]
)
def test_missing_packages_are_named_with_their_extra(run, folder, monkeypatch, module, call):
    if module == "pyarrow":

        def no_engine(*args, **kwargs):
            raise ImportError("no engine")

        monkeypatch.setattr(pd, "read_parquet", no_engine)
    else:
        monkeypatch.setitem(sys.modules, "pandas", None)
    _, err = run("fit", call, "--target", "kind", "--out", "model", code=1)
    assert module in err and "pip install 'stagenets[cli]'" in err


def test_memory_errors_and_errors_without_a_message(run, monkeypatch):
    for error, message in [
        (MemoryError("of 9 TB"), "stagenets demo: not enough memory: of 9 TB\n"),
        (ArithmeticError(), "stagenets demo: ArithmeticError\n"),
    ]:

        def fail(options, error=error):
            raise error

        monkeypatch.setattr(demo, "run", fail)
        assert run("demo", code=1)[1] == message
