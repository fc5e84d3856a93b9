"""Runs that are interrupted, fail in part, or use several processes."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from stagenets.study._protocols import SoundProtocol
from stagenets.study._records import Records, read_rows
from stagenets.study._runner import run_study
from study_problems import command, write_set

MODELS = ["RVFLClassifier(n_hidden=30)", "ELMClassifier(n_hidden=10)", "Nystroem+Ridge"]
SETS = ["a", "b", "c", "d"]
ONCE = SoundProtocol(repeats=1)


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for seed, name in enumerate(SETS):
        write_set(folder, name, n=80, q=2 + seed % 2, seed=seed)
    return folder


def run(data, out, **options):
    options = {"protocol": ONCE, "sets": SETS, "models": MODELS, "quiet": True} | options
    protocol, sets, models = (options.pop(name) for name in ("protocol", "sets", "models"))
    return run_study(protocol, data, sets, models, out, **options)


def timeless(folder):
    """Rows without the columns that differ between runs."""
    with (folder / "rows.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        del row["seconds"]
    return rows


def test_a_row_for_every_set_and_model(data, tmp_path):
    result = run(data, tmp_path / "out")
    assert (result.added, result.failures) == (12, [])
    rows = read_rows(tmp_path / "out" / "rows.csv")
    assert [row.key for row in rows] == [(name, model) for name in SETS for model in MODELS]
    assert all(len(row.scores.split()) == 5 for row in rows)
    assert not (tmp_path / "out" / "failures.csv").exists()


def test_a_finished_run_has_nothing_left_to_do(data, tmp_path):
    run(data, tmp_path / "out")
    before = (tmp_path / "out" / "rows.csv").read_bytes()
    assert run(data, tmp_path / "out").added == 0
    assert (tmp_path / "out" / "rows.csv").read_bytes() == before


def test_models_and_sets_can_be_added_later(data, tmp_path):
    run(data, tmp_path / "out", sets=SETS[:2], models=MODELS[:1])
    assert run(data, tmp_path / "out").added == 10
    run(data, tmp_path / "whole")
    key = lambda row: (row["dataset"], row["model"])  # noqa: E731
    found, expected = (sorted(timeless(tmp_path / name), key=key) for name in ("out", "whole"))
    assert found == expected


# Whoever opens data when two rows are there waits, so that the kill comes in the midst of the run.
WAITING = """
import os, sys, time
rows = {rows!r}
def audit(event, arguments):
    if event == "open" and str(arguments[0]).endswith(".npz") and os.path.exists(rows):
        with open(rows, "rb") as file:
            enough = file.read().count(b"\\n") >= 3
        while enough:
            time.sleep(0.1)
sys.addaudithook(audit)
"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_killed_run_resumes_to_the_same_file(data, tmp_path, jobs):
    for seed in range(4, 16):
        write_set(data, f"m{seed}", n=300, seed=seed)
    names = ",".join(sorted(path.stem for path in data.glob("*.npz")))
    arguments = ["study", "--data", data, "--sets", names, "--protocol", "sound", "--repeats", 1]
    arguments += ["--models", MODELS[0], "--quiet", "--out"]
    rows = tmp_path / "cut" / "sound" / "rows.csv"
    (tmp_path / "sitecustomize.py").write_text(WAITING.format(rows=str(rows)))
    path = [str(tmp_path), *filter(None, sys.path)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path)}
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "stagenets",
            *map(str, [*arguments, tmp_path / "cut", "--jobs", jobs]),
        ],
        env=environment,
    )
    deadline = time.monotonic() + 600
    while (not rows.exists() or rows.read_bytes().count(b"\n") < 3) and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.kill()
    process.wait()
    assert process.returncode == -signal.SIGKILL or os.name == "nt"
    assert 2 <= len(read_rows(rows)) < 16
    assert command(*arguments, tmp_path / "cut") == 0
    assert command(*arguments, tmp_path / "whole") == 0
    cut, whole = (timeless(tmp_path / name / "sound") for name in ("cut", "whole"))
    if jobs == 1:
        assert cut == whole
    assert sorted(cut, key=str) == sorted(whole, key=str)


def test_an_incomplete_line_is_recomputed(data, tmp_path):
    run(data, tmp_path / "out")
    expected = timeless(tmp_path / "out")
    rows = tmp_path / "out" / "rows.csv"
    rows.write_bytes(rows.read_bytes()[:-25])
    assert run(data, tmp_path / "out").added == 1
    assert timeless(tmp_path / "out") == expected


def test_other_settings_are_not_mixed_in(data, tmp_path):
    run(data, tmp_path / "out", sets=["a"])
    with pytest.raises(ValueError, match=r"other settings: repeats \(stored 1, now 2\)\. Choose"):
        run(data, tmp_path / "out", protocol=SoundProtocol(repeats=2))
    assert Records(tmp_path / "out").settings()["repeats"] == 1


def test_a_failure_is_reported_and_does_not_stop_the_rest(data, tmp_path, capsys):
    np.savez(data / "b.npz", X=np.full((9, 2), np.nan), y=np.arange(9) % 2)
    arguments = ["study", "--data", data, "--protocol", "sound", "--repeats", 1, "--quiet"]
    arguments += ["--models", ",".join(MODELS[::2]), "--out", tmp_path / "out"]
    assert command(*arguments) == 1
    streams = capsys.readouterr()
    assert "FAILED b Nystroem+Ridge: ValueError: X of b.npz must be finite" in streams.err
    assert "6 rows" in streams.out
    folder = tmp_path / "out" / "sound"
    assert {row.dataset for row in read_rows(folder / "rows.csv")} == {"a", "c", "d"}
    with (folder / "failures.csv").open(newline="") as file:
        failures = list(csv.DictReader(file))
    assert [failure["dataset"] for failure in failures] == ["b", "b"]
    assert "Traceback" in failures[0]["details"]
    assert "must be finite" in (folder / "report.md").read_text()
    # Once repaired, only what failed is run again, and the failure is no longer listed.
    write_set(data, "b", seed=1)
    assert command(*arguments) == 0
    assert "2 rows" in capsys.readouterr().out
    assert not (folder / "failures.csv").exists()


def test_a_dying_worker_loses_only_its_own_task(data, tmp_path, monkeypatch):
    """The first task's process kills itself while it reads its data."""
    killer = tmp_path / "killer"
    killer.mkdir()
    (killer / "sitecustomize.py").write_text(
        "import sys, os\n"
        "def audit(event, arguments):\n"
        "    if event == 'open' and str(arguments[0]).endswith('deadly.npz'):\n"
        "        os._exit(3)\n"
        "sys.addaudithook(audit)\n"
    )
    write_set(data, "deadly", n=10)
    shape = "stagenets.study._runner._shape"
    monkeypatch.setattr(shape, lambda *_: (10, 2, 2))  # the parent must not read it here
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(killer), *filter(None, sys.path)]))
    np.savez(data / "empty.npz", X=np.empty((0, 2)), y=np.empty(0))
    sets = ["deadly", *SETS, "empty"]
    result = run(data, tmp_path / "out", sets=sets, models=MODELS[:1], jobs=2)
    failed = {failure.task.dataset: failure.message for failure in result.failures}
    assert "X of empty.npz must be a table" in failed.pop("empty")
    assert "deadly" in failed
    assert len(failed) <= 2  # its neighbour in the pool may go down with it
    assert result.added == 5 - len(failed)
    assert all("worker process died" in message for message in failed.values())


def test_settings_are_kept_beside_the_rows(data, tmp_path):
    run(data, tmp_path / "out", sets=["a"], models=MODELS[:1])
    stored = json.loads((tmp_path / "out" / "settings.json").read_text())
    assert stored["protocol"] == "sound"
    assert stored["alphas"] == list(ONCE.alphas)


def test_progress_says_what_is_left(data, tmp_path, capsys):
    run(data, tmp_path / "out", sets=["a"], models=MODELS, quiet=False)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[0] for line in lines] == ["[1/3]", "[2/3]", "[3/3]"]
    assert all(re.search(r"about \d+ (s|min) left$", line) for line in lines)


def test_a_terminal_gets_a_bar(data, tmp_path, capsys, monkeypatch):
    pytest.importorskip("tqdm")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    run(data, tmp_path / "out", sets=["a"], models=MODELS, quiet=False)
    assert "3/3" in capsys.readouterr().err


def test_if_everything_fails_there_is_no_report(data, tmp_path, capsys):
    np.savez(data / "a.npz", X=np.eye(3))
    arguments = ["--sets", "a", "--protocol", "sound", "--quiet", "--out", tmp_path / "out"]
    assert command("study", "--data", data, "--models", MODELS[0], *arguments) == 1
    assert "0 rows" in capsys.readouterr().out
    assert not (tmp_path / "out" / "sound" / "report.md").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--data must name a folder"),
        (["--data", "DATA", "--jobs", "0"], "--jobs must be at least 1; got 0"),
        (["--data", "DATA", "--sets", "zzz"], "--sets must name files"),
        (["--data", "DATA", "--models", "zzz"], "a model must be one of"),
        (["--data", "DATA", "--setting", "alphas"], "--setting must be NAME=VALUE"),
        (["--data", "DATA", "--published", "nowhere.csv"], "nowhere.csv"),
        (["--report-only"], "must hold rows of a study"),
    ],
)
def test_bad_requests_are_refused(data, tmp_path, capsys, arguments, message):
    arguments = [data if argument == "DATA" else argument for argument in arguments]
    assert command("study", "--out", tmp_path / "out", "--protocol", "sound", *arguments) == 1
    assert message in capsys.readouterr().err
