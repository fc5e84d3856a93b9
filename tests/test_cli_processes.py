"""The command line as a process: pipes, exit codes, signals."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from tables import flowers

WHERE_PYTEST_STARTED = os.getcwd()  # entries of PYTHONPATH may be relative to it


def stagenets_process(*arguments, **kwargs):
    command = [sys.executable, "-m", "stagenets", *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=WHERE_PYTEST_STARTED, **{**pipes, **kwargs})


posix_only = pytest.mark.skipif(sys.platform == "win32", reason="pipes and signals of POSIX")


def test_data_go_to_stdout_and_progress_to_stderr_in_a_pipe(folder):
    fit = ("fit", "-", "--target", "kind", "--out", folder / "model", "--json")
    with stagenets_process(*fit, stdin=subprocess.PIPE) as process:
        out, err = process.communicate(flowers().to_csv(index=False), timeout=300)
    assert process.returncode == 0 and json.loads(out)["rows"] == 120
    assert "[RVFLClassifier] 50/50 units" in err and "[held-out scores] 5/5 fits" in err
    with stagenets_process("predict", folder / "model", folder / "flowers.csv") as process:
        out, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (0, "")
    assert len(out.splitlines()) == 121


def test_failed_process_returns_1(folder):
    with stagenets_process("info", folder / "none") as process:
        _, err = process.communicate(timeout=300)
    assert process.returncode == 1
    assert len(err.splitlines()) == 1


@posix_only
def test_closing_the_pipe_early_is_not_an_error(run, folder):
    run("fit", "flowers.csv", "--target", "kind", "--folds", 0, "--out", "model")
    pd.concat([flowers()] * 100).to_csv("long.csv", index=False)
    with stagenets_process("predict", folder / "model", folder / "long.csv", "--proba") as process:
        assert process.stdout.readline().startswith("prediction,")
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(timeout=300) == 141


@posix_only
def test_interrupted_fit(folder):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(4000, 30))).add_prefix("x")
    table.to_csv("table.csv", index=False)
    options = ("--set", "n_hidden=3500", "--set", "pool_size=500")
    fit = ("fit", folder / "table.csv", "--target", "x0", "--out", folder / "model", *options)
    # Shells make background jobs ignore interrupts, and child processes inherit that.
    heeding = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    with stagenets_process(*fit, **heeding) as process:
        assert process.stderr.readline().startswith("regression of 'x0'")
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert err.splitlines()[-1] == "stagenets: interrupted"
    assert "Traceback" not in err and not (folder / "model").exists()
