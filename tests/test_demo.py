"""`python -m residuum demo`: the first thing a newcomer runs."""

import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def demo():
    return subprocess.run(
        [sys.executable, "-m", "residuum", "demo"], capture_output=True, text=True, timeout=600
    )


def test_demo_succeeds_without_a_word_on_stderr(demo):
    assert demo.returncode == 0, demo.stderr
    assert demo.stderr == ""


@pytest.mark.parametrize("word", ["RVFL", "ELM", "BLS", "guided", "one-shot", "objective"])
def test_demo_compares_guided_and_one_shot_networks(demo, word):
    assert word.lower() in demo.stdout.lower()


def test_unknown_command_fails_with_usage():
    done = subprocess.run(
        [sys.executable, "-m", "residuum", "dance"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode != 0
    assert "demo" in done.stderr
    assert "Traceback" not in done.stderr
