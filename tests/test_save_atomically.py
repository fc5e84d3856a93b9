"""A save that goes wrong leaves the old file; the same model gives the same bytes."""

import os
import stat
import subprocess
import sys

import numpy as np
import pytest

import problems
import stagenets
from stagenets.export import _atomic

KILLS = 25

needs_posix = pytest.mark.skipif(os.name != "posix", reason="modes, pipes and signals of POSIX")


@pytest.fixture(scope="module")
def models():
    X, y = problems.data_for(stagenets.RVFLRegressor)
    return [problems.small(stagenets.RVFLRegressor, random_state=seed).fit(X, y) for seed in (0, 1)]


def readout_in(path):
    return stagenets.load(path).readout_


def test_a_save_that_fails_half_way_leaves_the_old_file(models, tmp_path, monkeypatch):
    old, new = models
    path = tmp_path / "model"
    old.save(path)
    before = path.read_bytes()
    for name in ("fsync", "replace"):

        def fail(*args):
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(_atomic.os, name, fail)
            with pytest.raises(OSError, match="No space left"):
                new.save(path)
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]
    new.save(path)
    np.testing.assert_array_equal(readout_in(path), new.readout_)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a disk that is always full")
def test_a_full_disk_is_an_error(models):
    with pytest.raises(OSError, match="No space left"):
        models[0].save("/dev/full")


# A limit on the size of files stands for a disk that fills up half-way through.
FULL = """
import pathlib, resource, signal, sys
import stagenets
folder = pathlib.Path(sys.argv[1])
model, old = stagenets.load(folder / "b"), (folder / "a").read_bytes()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for size in (0, 1, 100, len(old) // 2, len(old) - 1):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    try:
        model.save(folder / "a")
    except OSError as error:
        assert "too large" in str(error), error
    else:
        raise AssertionError("there is no room")
    assert (folder / "a").read_bytes() == old
    assert len(list(folder.iterdir())) == 2
"""


@needs_posix
def test_a_disk_that_fills_up_leaves_the_old_file_and_nothing_else(models, tmp_path):
    for name, model in zip("ab", models, strict=True):
        model.save(tmp_path / name)
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr


@needs_posix
def test_the_mode_is_that_of_the_old_file_or_the_usual_one(models, tmp_path):
    path, other = tmp_path / "model", tmp_path / "other"
    models[0].save(path)
    other.write_bytes(b"")
    assert path.stat().st_mode == other.stat().st_mode
    path.chmod(0o640)
    models[1].save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@needs_posix
def test_a_link_stays_a_link(models, tmp_path):
    path, link = tmp_path / "model", tmp_path / "link"
    models[0].save(path)
    link.symlink_to(path)
    models[1].save(link)
    assert link.is_symlink()
    np.testing.assert_array_equal(readout_in(path), models[1].readout_)


@needs_posix
def test_what_is_no_file_is_not_replaced(models, tmp_path):
    models[0].save("/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    with pytest.raises(IsADirectoryError):
        models[0].save(tmp_path)


def test_errors_name_the_file_asked_for(models, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere.model"):
        models[0].save(tmp_path / "nowhere" / "model")


SAME_BYTES = """
import hashlib, pathlib, sys
import stagenets
folder = pathlib.Path(sys.argv[1])
model = stagenets.load(folder / "first")
for number in range(20):
    model.save(folder / "again")
    assert (folder / "again").read_bytes() == (folder / "first").read_bytes()
"""


def test_same_model_same_bytes_in_any_process(models, tmp_path):
    models[0].save(tmp_path / "first")
    subprocess.run([sys.executable, "-c", SAME_BYTES, str(tmp_path)], check=True, timeout=600)


# A process that saves two models in turn is killed at random moments, again and again.
KILLED = """
import os, pathlib, random, signal, sys, time
import stagenets
folder, kills = pathlib.Path(sys.argv[1]), int(sys.argv[2])
path = folder / "model"
models = [stagenets.load(folder / name) for name in "ab"]
wholes = [(folder / name).read_bytes() for name in "ab"]
models[0].save(path)
for kill in range(kills):
    saver = os.fork()
    if saver == 0:
        while True:
            for model in models:
                model.save(path)
    time.sleep(random.uniform(0.005, 0.06))
    os.kill(saver, signal.SIGKILL)
    os.waitpid(saver, 0)
    assert path.read_bytes() in wholes, "neither the old nor the new file"
print(len(list(folder.glob(".stagenets-*.tmp"))), "killed while writing")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_process_killed_while_saving_leaves_the_old_or_the_new_file(models, tmp_path):
    for name, model in zip("ab", models, strict=True):
        model.save(tmp_path / name)
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), str(KILLS)],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert "killed while writing" in done.stdout
