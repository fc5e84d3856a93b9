"""The command line, as a new user would try it."""

import io
import json
import os
import signal
import subprocess
import sys
import time
import types
import warnings

import numpy as np
import pandas as pd
import pytest

import residuum
from residuum import _cli
from residuum._commands import demo
from residuum._table_encoder import TableEncoder
from tables import flowers


@pytest.fixture
def run(capsys):
    """run(argument, …): exit code, standard output, standard error."""

    def run(*arguments, code=0):
        try:
            found = _cli.main([str(argument) for argument in arguments])
        except SystemExit as stop:
            found = stop.code
        out, err = capsys.readouterr()
        assert found == code, err
        assert "Traceback" not in err
        return out, err

    return run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to work in, with flowers.csv, and flowers.parquet with other rows."""
    flowers().to_csv(tmp_path / "flowers.csv", index=False)
    flowers(seed=1).to_parquet(tmp_path / "flowers.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def type_in(monkeypatch, text):
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(text.encode())))


SIZES = {
    "rvfl": ["--n-hidden", 8],
    "elm": ["--n-hidden", 8],
    "bls": ["--set", "n_windows=2", "--set", "n_enhancement=5"],
}


# Fit, predict, score.


@pytest.mark.parametrize("data", ["flowers.csv", "flowers.parquet"])
@pytest.mark.parametrize("target", ["kind", "price"])
@pytest.mark.parametrize("name", ["rvfl", "elm", "bls"])
def test_fit_predict_and_score_agree_with_the_estimator(run, folder, name, target, data):
    options = ["--pool-size", 10, "--block-size", 2, "--alpha", 0.5, "--seed", 3, *SIZES[name]]
    run("fit", data, "--target", target, "--model", name, *options, "--out", "model")

    size = {"n_windows": 2, "n_enhancement": 5} if name == "bls" else {"n_hidden": 8}
    kind = "Classifier" if target == "kind" else "Regressor"
    expected = getattr(residuum, name.upper() + kind)(
        pool_size=10, block_size=2, alpha=0.5, random_state=3, **size
    )
    table = flowers(seed=data == "flowers.parquet")
    encoder = TableEncoder(target=target).fit(table)
    expected.fit(encoder.transform(table), table[target])

    new = flowers(seed=2)
    new.to_csv("new.csv", index=False)
    out, err = run("predict", "model", "new.csv")
    assert err == ""
    found = pd.read_csv(io.StringIO(out))
    assert list(found) == ["prediction"]
    predictions = expected.predict(encoder.transform(new))
    if target == "kind":
        assert list(found["prediction"]) == list(predictions)
    else:
        np.testing.assert_allclose(found["prediction"], predictions, rtol=1e-9)

    out, _ = run("score", "model", "new.csv", "--json")
    score = expected.score(encoder.transform(new), new[target])
    metric = "accuracy" if target == "kind" else "r2"
    assert json.loads(out) == {"metric": metric, "score": pytest.approx(score), "rows": 120}
    out, _ = run("score", "model", "new.csv")
    assert out == f"{'accuracy' if target == 'kind' else 'R²'} {score:.4f} on 120 rows\n"


def test_probabilities_have_a_column_for_each_class(run, folder):
    run("fit", "flowers.csv", "--target", "kind", "--out", "model")
    out, _ = run("predict", "model", "flowers.csv", "--proba")
    found = pd.read_csv(io.StringIO(out))
    assert list(found) == ["prediction", *(f"probability_{x}" for x in ("iris", "lily", "rose"))]
    expected = residuum.load("model").predict_proba(pd.read_csv("flowers.csv"))
    np.testing.assert_allclose(found.iloc[:, 1:], expected, rtol=1e-12)

    run("fit", "flowers.csv", "--target", "price", "--out", "other")
    _, err = run("predict", "other", "flowers.csv", "--proba", code=1)
    assert "--proba is for classifiers; other is a regressor" in err


def test_loaded_model_is_a_pipeline_that_takes_frames(run, folder):
    run("fit", "flowers.csv", "--target", "kind", "--out", "model")
    model = residuum.load("model")
    assert list(model.named_steps) == ["table", "network"]
    assert model.predict(flowers(seed=1)).shape == (120,)
    assert model["network"].verbose == 0


def test_tables_are_read_from_standard_input_and_written_as_parquet(run, folder, monkeypatch):
    type_in(monkeypatch, flowers().to_csv(index=False))
    run("fit", "-", "--target", "kind", "--out", "model")
    type_in(monkeypatch, flowers(seed=1).to_csv(index=False))
    run("predict", "model", "-", "--out", "found.parquet")
    out, _ = run("predict", "model", "flowers.parquet")
    found = pd.read_parquet("found.parquet")
    pd.testing.assert_frame_equal(found, pd.read_csv(io.StringIO(out)), check_dtype=False)
    run("predict", "model", "flowers.parquet", "--out", "found.csv")
    assert (folder / "found.csv").read_text().splitlines() == out.splitlines()


# Messy data.


def test_messy_columns_at_prediction(run, folder):
    """Reordered and additional columns, unseen categories, columns without any value."""
    run("fit", "flowers.csv", "--target", "kind", "--out", "model")
    plain = flowers(seed=1).drop(columns=["kind", "id", "nothing", "picked"])
    plain["colour"], plain["height"] = None, np.nan
    messy = plain[plain.columns[::-1]].assign(colour="purple", more="x")
    model = residuum.load("model")
    messy.to_csv("messy.csv", index=False)
    out, _ = run("predict", "model", "messy.csv")
    assert out.split()[1:] == list(model.predict(messy))
    plain.to_csv("plain.csv", index=False)
    out, _ = run("predict", "model", "plain.csv")
    assert out.split()[1:] == list(model.predict(plain))

    messy.drop(columns=["wild", "petals"]).to_csv("short.csv", index=False)
    out, err = run("predict", "model", "short.csv", code=1)
    assert out == ""
    assert "columns that the model was fitted on; it lacks 'petals', 'wild'" in err


def test_numerals_in_a_text_column_stay_texts(run, folder):
    """A file in which all codes look like numbers, or some are missing, is read like the first."""
    rng = np.random.default_rng(0)
    codes = rng.choice(["1", "2", "x"], 60)
    table = pd.DataFrame({"code": codes, "y": np.where(codes == "1", "one", "other")})
    table.to_csv("codes.csv", index=False)
    run("fit", "codes.csv", "--target", "y", "--out", "model")
    (folder / "new.csv").write_text("code,y\n1,one\n2,other\n,other\n")
    out, _ = run("predict", "model", "new.csv")
    assert out.split()[1:3] == ["one", "other"]
    out, _ = run("score", "model", "new.csv", "--json")
    assert json.loads(out)["score"] == 1.0


def test_classes_that_look_like_numbers_in_one_file_only(run, folder):
    table = pd.DataFrame({"x": np.arange(60.0), "y": ["7"] * 30 + ["b"] * 30})
    table.to_csv("table.csv", index=False)
    run("fit", "table.csv", "--target", "y", "--out", "model")
    table[:30].to_csv("sevens.csv", index=False)
    out, _ = run("score", "model", "sevens.csv", "--json")
    assert json.loads(out)["score"] == 1.0


@pytest.mark.parametrize("flag", [True, False], ids=["flags", "numbers"])
def test_flags_and_whole_numbers_are_classes(run, folder, flag):
    values = np.arange(40) % 2 == 0
    table = pd.DataFrame({"x": values + 0.1, "y": values if flag else values + 4})
    table["y"] = table["y"].astype(object)
    table.loc[3, "y"] = None
    table.to_csv("table.csv", index=False)
    _, err = run("fit", "table.csv", "--target", "y", "--out", "model")
    assert "1 rows without 'y' are left out" in err
    assert "classification of 'y': 39 rows" in err
    out, _ = run("predict", "model", "table.csv")
    assert out.split()[1:3] == (["True", "False"] if flag else ["5", "4"])
    out, _ = run("score", "model", "table.csv", "--json")
    assert json.loads(out) == {"metric": "accuracy", "score": 1.0, "rows": 39}


@pytest.mark.parametrize("separator", [";", "\t", "|", ","])
def test_separator_is_found_in_the_first_line(run, folder, separator):
    flowers().to_csv("table.csv", index=False, sep=separator)
    run("fit", "table.csv", "--target", "kind", "--out", "model")
    run("fit", "flowers.csv", "--target", "kind", "--out", "other")
    found, _ = run("predict", "model", "table.csv", "--proba")
    expected, _ = run("predict", "other", "flowers.csv", "--proba")
    assert found == expected


def test_words_for_missing_values_are_kept_with_the_model(run, folder):
    text = flowers().to_csv(index=False, na_rep="?")
    (folder / "table.csv").write_text(text)
    _, err = run("fit", "table.csv", "--target", "kind", "--out", "model")
    assert "column 'height' is left out: it holds 103 different texts" in err
    assert "column 'height' is read as text because of '?'" in err
    run("fit", "table.csv", "--target", "kind", "--missing", "?", "--out", "model")
    run("fit", "flowers.csv", "--target", "kind", "--out", "other")
    found, _ = run("predict", "model", "table.csv")
    expected, _ = run("predict", "other", "flowers.csv")
    assert found == expected


def test_columns_left_out_are_told_and_can_be_named(run, folder):
    _, err = run("fit", "flowers.csv", "--target", "kind", "--drop", "price", "--out", "model")
    assert "column 'picked' is left out: it holds dates or times" in err
    assert "column 'id' is left out: it holds 120 different texts in 120 rows" in err
    columns = [column.name for column in residuum.load("model")["table"].columns_]
    assert columns == ["height", "petals", "colour", "wild"]


def test_quiet_fit_says_nothing(run, folder):
    assert run("fit", "flowers.csv", "--target", "kind", "--out", "model", "--quiet") == ("", "")


def test_encoding(run, folder):
    text = "größe,kind\n" + "\n".join(f"{n},{'ä' if n < 20 else 'b'}" for n in range(40))
    (folder / "latin.csv").write_bytes(text.encode("latin-1"))
    _, err = run("fit", "latin.csv", "--target", "kind", "--out", "model", code=1)
    assert "latin.csv is not in UTF-8" in err and "--encoding" in err
    latin = ("latin.csv", "--encoding", "latin-1")
    run("fit", *latin, "--target", "kind", "--out", "model")
    out, _ = run("predict", "model", *latin)
    assert out.split()[1] == "ä"
    (folder / "bom.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    run("score", "model", "bom.csv")


# The search.


@pytest.mark.parametrize(("name", "target"), [("rvfl", "kind"), ("elm", "price"), ("bls", "kind")])
def test_search_saves_the_best_estimator(run, folder, name, target):
    options = [] if name == "bls" else ["--n-hidden", 10]
    options += ["--set", "alphas=[0.1, 10.0]", "--set", "cv=3"]
    fit = ("fit", "flowers.csv", "--target", target, "--model", name, "--search")
    _, err = run(*fit, *options, "--out", "model")
    assert "cross-validated score" in err and "alpha = " in err
    kind = "Classifier" if target == "kind" else "Regressor"
    search = getattr(residuum, f"{name.upper()}{kind}CV")(
        alphas=[0.1, 10.0], cv=3, random_state=0, **({} if name == "bls" else {"max_hidden": 10})
    )
    table = flowers()
    encoder = TableEncoder(target=target).fit(table)
    search.fit(encoder.transform(table), table[target])
    found = residuum.load("model")["network"]
    np.testing.assert_array_equal(found.coef_, search.best_estimator_.coef_)


# What there is to see.


def test_info_shows_sizes_parameters_columns_and_the_objectives_fall(run, folder):
    run("fit", "flowers.csv", "--target", "kind", "--n-hidden", 9, "--out", "model")
    network = residuum.load("model")["network"]
    out, _ = run("info", "model")
    first, last = network.objective_path_[[0, -1]]
    for text in (
        "RVFLClassifier: 9 hidden units, built in 9 stages",
        "target      kind",
        "classes     iris, lily, rose",
        "n_hidden=9, random_state=0",
        f"{first:.6g} ",
        f" {last:.6g}",
        "height: number",
        "colour: text: (missing), blue, red, white",
    ):
        assert text in out
    facts = json.loads(run("info", "model", "--json")[0])
    assert facts["objective"] == list(network.objective_path_)
    assert facts["parameters"] == network.get_params()
    assert facts["inputs"] == network.n_features_in_


def test_info_of_a_bare_network_works_and_tables_for_it_are_refused(run, folder):
    model = residuum.ELMRegressor(n_hidden=5).fit(np.eye(6), np.arange(6.0))
    model.save("bare")
    out, _ = run("info", "bare")
    assert "ELMRegressor: 5 hidden units" in out and "target" not in out
    assert "parameters  n_hidden=5\n" in out
    for command in ("predict", "score"):
        _, err = run(command, "bare", "flowers.csv", code=1)
        assert "holds a bare ELMRegressor" in err and "residuum.load" in err


def test_version(run):
    assert run("--version")[0] == f"residuum {residuum.__version__}\n"


@pytest.mark.parametrize(
    "command", [None, "fit", "predict", "score", "info", "demo", "study", "fetch"]
)
def test_every_command_has_help(run, command):
    out, _ = run(*([command] if command else []), "--help")
    assert out.startswith("usage: residuum")
    if command in (None, "fit", "predict", "score"):
        assert "examples:\n  residuum" in out


# Failures.

FIT = ("fit", "flowers.csv", "--target", "kind", "--out", "model")


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
        (("predict", "flowers.csv", "flowers.csv"), 1, "'flowers.csv' is not a safetensors file"),
        (("info", "flowers.csv"), 1, "'flowers.csv' is not a safetensors file"),
    ],
)
def test_errors_are_a_line_on_stderr_and_an_exit_code(run, folder, arguments, code, message):
    (folder / "empty.csv").write_text("")
    (folder / "header.csv").write_text("kind,x\n")
    (folder / "ragged.csv").write_text("kind,x\na,1\nb,2,3,4\n")
    (folder / "bad.parquet").write_text("PAR1")
    out, err = run(*arguments, code=code)
    assert out == ""
    assert message in err
    assert not (folder / "model").exists() and not (folder / "m").exists()


def test_score_needs_the_target(run, folder):
    run(*FIT)
    flowers().drop(columns="kind").to_csv("blind.csv", index=False)
    assert "target's column 'kind'" in run("score", "model", "blind.csv", code=1)[1]
    flowers().assign(kind=None).to_csv("blind.csv", index=False)
    assert "column 'kind' has no values" in run("score", "model", "blind.csv", code=1)[1]


@pytest.mark.parametrize("place", [("--debug", "info", "none"), ("info", "none", "--debug")])
def test_debug_shows_the_traceback(folder, place):
    with pytest.raises(FileNotFoundError):
        _cli.main(list(place))


def test_warnings_are_a_line_without_the_place_in_the_code(run, monkeypatch):
    def warn(options):
        warnings.warn("mind the gap", stacklevel=1)
        return 0

    monkeypatch.setattr(demo, "run", warn)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert run("demo")[1] == "residuum demo: warning: mind the gap\n"


def test_file_with_a_table_that_does_not_fit_its_network_is_refused(run, folder):
    from residuum._files import save_model

    model = residuum.ELMRegressor(n_hidden=5).fit(np.eye(6), np.arange(6.0))
    table = TableEncoder(target="kind").fit(flowers()).to_plain()
    save_model(model, "model", table=table)
    _, err = run("info", "model", code=1)
    assert "the table's columns make 8 inputs; the network has 6" in err
    save_model(model, "model", table={**table, "columns": 3})
    assert "the table must have" in run("info", "model", code=1)[1]


@pytest.mark.parametrize(
    ("module", "call"), [("pandas", "flowers.csv"), ("pyarrow", "flowers.parquet")]
)
def test_what_is_not_installed_is_named_with_its_extra(run, folder, monkeypatch, module, call):
    if module == "pyarrow":

        def no_engine(*args, **kwargs):
            raise ImportError("no engine")

        monkeypatch.setattr(pd, "read_parquet", no_engine)
    else:
        monkeypatch.setitem(sys.modules, "pandas", None)
    _, err = run("fit", call, "--target", "kind", "--out", "model", code=1)
    assert module in err and "pip install 'residuum[cli]'" in err


def test_not_enough_memory_and_nameless_errors(run, monkeypatch):
    for error, message in [
        (MemoryError("of 9 TB"), "residuum demo: not enough memory: of 9 TB\n"),
        (ArithmeticError(), "residuum demo: ArithmeticError\n"),
    ]:

        def fail(options, error=error):
            raise error

        monkeypatch.setattr(demo, "run", fail)
        assert run("demo", code=1)[1] == message


# As processes.


WHERE_PYTEST_STARTED = os.getcwd()  # entries of PYTHONPATH may be relative to it


def residuum_process(*arguments, **kwargs):
    command = [sys.executable, "-m", "residuum", *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=WHERE_PYTEST_STARTED, **{**pipes, **kwargs})


posix_only = pytest.mark.skipif(sys.platform == "win32", reason="pipes and signals of POSIX")


def test_data_go_to_stdout_and_progress_to_stderr_in_a_pipe(folder):
    fit = ("fit", "-", "--target", "kind", "--out", folder / "model")
    with residuum_process(*fit, stdin=subprocess.PIPE) as process:
        out, err = process.communicate(flowers().to_csv(index=False), timeout=60)
    assert (process.returncode, out) == (0, "")
    assert "[RVFLClassifier] 50/50 units" in err
    with residuum_process("predict", folder / "model", folder / "flowers.csv") as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert len(out.splitlines()) == 121


def test_failed_process_returns_1(folder):
    with residuum_process("info", folder / "none") as process:
        _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert len(err.splitlines()) == 1


@posix_only
def test_reader_that_leaves_early_is_no_error(run, folder):
    run(*FIT)
    pd.concat([flowers()] * 100).to_csv("long.csv", index=False)
    with residuum_process("predict", folder / "model", folder / "long.csv", "--proba") as process:
        assert process.stdout.readline().startswith("prediction,")
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(timeout=60) == 141


@posix_only
def test_interrupted_fit(folder):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(4000, 30))).add_prefix("x")
    table.to_csv("table.csv", index=False)
    options = ("--set", "n_hidden=3500", "--set", "pool_size=500")
    fit = ("fit", folder / "table.csv", "--target", "x0", "--out", folder / "model", *options)
    # A shell has its background jobs ignore interrupts, and what they start inherits that.
    heeding = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    with residuum_process(*fit, **heeding) as process:
        assert process.stderr.readline().startswith("regression of 'x0'")
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.splitlines()[-1] == "residuum: interrupted"
    assert "Traceback" not in err and not (folder / "model").exists()
