"""Fixtures of the tests of the command line, and what all hypothesis tests have in common."""

import io
import sys
import types

import pytest
from hypothesis import HealthCheck, settings

from stagenets.cli import _main as _cli
from tables import flowers

# The same cases every time, however slow the machine.
settings.register_profile(
    "suite", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("suite")


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


@pytest.fixture
def type_in(monkeypatch):
    """type_in(text or bytes): what the next command reads from standard input."""

    def type_in(text):
        data = text if isinstance(text, bytes) else text.encode()
        monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(data)))

    return type_in
