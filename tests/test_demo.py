"""`python -m stagenets demo`: the first thing a newcomer runs."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.model_selection import train_test_split

from stagenets import ELMClassifier, RVFLClassifier

DATA = ["digits", "breast cancer", "wine", "friedman1", "diabetes"]
NETWORKS = ["RVFL", "ELM", "BLS"]
README = Path(__file__).parent.parent / "README.md"


@pytest.fixture(scope="module")
def demo():
    return subprocess.run(
        [sys.executable, "-m", "stagenets", "demo"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=600,
    )


@pytest.fixture(scope="module")
def table(demo):
    """{(data, network): (units, one-shot, guided, gain)} as printed."""
    line = re.compile(r"^(\S.*?) +(\d+)  (RVFL|ELM|BLS) +([\d.]+) +([\d.]+) +([+-][\d.]+)$", re.M)
    return {
        (data, network): (int(units), *map(float, figures))
        for data, units, network, *figures in line.findall(demo.stdout)
    }


def test_demo_succeeds_without_a_word_on_stderr(demo):
    assert demo.returncode == 0, demo.stderr
    assert demo.stderr == ""


def test_demo_compares_every_network_on_every_data_set(table):
    assert list(table) == [(data, network) for data in DATA for network in NETWORKS]
    for _, one_shot, guided, gain in table.values():
        assert gain == pytest.approx(guided - one_shot, abs=1.5e-4)  # each is rounded by itself


def split(load, seed):
    X, y = load(return_X_y=True)
    return train_test_split(X, y, random_state=seed, stratify=y)


@pytest.mark.parametrize("cls", [RVFLClassifier, ELMClassifier])
def test_scores_are_means_over_five_random_splits(table, cls):
    units, *printed, _ = table["wine", cls.__name__.removesuffix("Classifier")]
    for selection, figure in zip(("random", cls().selection), printed, strict=True):
        scores = []
        for seed in range(5):
            X, X_test, y, y_test = split(load_wine, seed)
            model = cls(n_hidden=units, alpha=3.0, selection=selection, random_state=seed)
            model.fit(X, y)
            scores.append(model.score(X_test, y_test))
        assert figure == pytest.approx(np.mean(scores), abs=1e-4)


def test_objectives_are_those_of_the_guided_networks_on_digits(demo, table):
    line = re.compile(r"^  (RVFL|ELM|BLS) +([\d.]+) \S+ ([\d.]+) +\((\d+) stages\)$", re.M)
    shown = {network: tuple(map(float, rest)) for network, *rest in line.findall(demo.stdout)}
    assert list(shown) == NETWORKS
    assert all(last < first for first, last, _ in shown.values())

    units = table["digits", "RVFL"][0]
    X, _, y, _ = split(load_digits, 4)
    model = RVFLClassifier(n_hidden=units, alpha=3.0, random_state=4).fit(X, y)
    first, last = model.objective_path_[[0, -1]]
    assert shown["RVFL"] == pytest.approx((first, last, model.n_iter_), abs=0.1)


@pytest.mark.skipif(not README.exists(), reason="the README is not beside the tests")
def test_readme_shows_the_table_that_the_demo_prints(table):
    line = re.compile(
        r"^\| (.+?) \| (\d+) \| (RVFL|ELM|BLS) \| ([\d.]+) \| ([\d.]+) \| [+-][\d.]+ \|$", re.M
    )
    rows = line.findall(README.read_text(encoding="utf-8"))
    shown = {(data, network): (int(units), *figures) for data, units, network, *figures in rows}
    assert list(shown) == list(table)
    for key, (units, *figures) in shown.items():
        # Another BLAS may round a score across a decision boundary, so only nearly the same.
        assert units == table[key][0]
        assert [*map(float, figures)] == pytest.approx(table[key][1:3], abs=0.005), key
