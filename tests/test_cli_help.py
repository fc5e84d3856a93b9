"""stagenets info and the help of all commands."""

import inspect
import json
import re

import numpy as np
import pytest

import stagenets


def test_info_shows_sizes_parameters_columns_and_the_objective(run, folder):
    run("fit", "flowers.csv", "--target", "kind", "--n-hidden", 9, "--folds", 0, "--out", "model")
    network = stagenets.load("model")["network"]
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
        "picked: date, from 2024-01-01 on",
        "colour: text: blue, red, white, (missing)",
    ):
        assert text in out
    facts = json.loads(run("info", "model", "--json")[0])
    assert facts["objective"] == list(network.objective_path_)
    assert facts["parameters"] == network.get_params()
    assert facts["inputs"] == network.network_.n_inputs


def test_bare_networks_have_info_but_do_not_accept_tables(run, folder):
    model = stagenets.ELMRegressor(n_hidden=5).fit(np.eye(6), np.arange(6.0))
    model.save("bare")
    out, _ = run("info", "bare")
    assert "ELMRegressor: 5 hidden units" in out and "target" not in out
    assert "parameters  n_hidden=5\n" in out
    for command in ("predict", "score"):
        _, err = run(command, "bare", "flowers.csv", code=1)
        assert "holds a bare ELMRegressor" in err and "stagenets.load" in err


def test_version(run):
    assert run("--version")[0] == f"stagenets {stagenets.__version__}\n"


@pytest.mark.parametrize(
    "command", [None, "fit", "predict", "score", "info", "plot", "export", "demo", "study", "fetch"]
)
def test_every_command_has_help(run, command):
    out, _ = run(*([command] if command else []), "--help")
    assert out.startswith("usage: stagenets")
    if command in (None, "fit", "predict", "score", "plot", "export"):
        assert "examples:\n  stagenets" in out


def shown_defaults(help_text, option):
    """{"default": …, "bls": …} from the help of an option: "(default: 3; bls: 0.01)"."""
    (line,) = (line for line in help_text.splitlines() if line.strip().startswith(f"{option} "))
    parts = re.search(r"\((default: [^)]*)\)$", line)[1].split("; ")
    return dict(part.split(": ") for part in parts)


@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
@pytest.mark.parametrize("model", ["rvfl", "elm", "bls"])
@pytest.mark.parametrize(
    "option", ["--n-hidden", "--alpha", "--pool-size", "--block-size", "--activation"]
)
def test_fit_help_shows_the_defaults_of_the_estimators(run, monkeypatch, option, model, kind):
    monkeypatch.setenv("COLUMNS", "500")
    shown = shown_defaults(run("fit", "--help")[0], option)
    parameters = inspect.signature(getattr(stagenets, model.upper() + kind)).parameters
    name = option.removeprefix("--").replace("-", "_")
    found = shown.get(model, shown["default"]).split(", in regression ")
    found = found[-1 if kind == "Regressor" else 0]
    if name not in parameters:
        assert found in ("not available", "with --search only")
    elif isinstance(expected := parameters[name].default, str):
        assert found == expected
    else:
        assert float(found) == expected


def test_fit_help_follows_a_changed_default(run, monkeypatch):
    class Changed(stagenets.BLSClassifier):
        def __init__(self, *, alpha=0.125, pool_size=7):
            super().__init__(alpha=alpha, pool_size=pool_size)

    monkeypatch.setattr(stagenets, "BLSClassifier", Changed)
    monkeypatch.setenv("COLUMNS", "500")
    out, _ = run("fit", "--help")
    assert shown_defaults(out, "--alpha")["bls"] == "0.125, in regression auto"
    assert shown_defaults(out, "--pool-size")["bls"] == "7, in regression auto"
