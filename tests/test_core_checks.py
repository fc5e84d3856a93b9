"""The bindings hold every size against the rows of the inputs before the core reads anything."""

import numpy as np
import pytest

from stagenets import _core

X = np.random.default_rng(0).normal(size=(20, 3))
LABELS = np.arange(20) % 2
TARGETS = _core.Targets.labels(LABELS, 2)
SPLIT = (np.arange(15), np.arange(15, 20))


def settings(**changes):
    params = {
        "architecture": _core.AffineArchitecture(n_hidden=4, activation="tanh", direct_links=True),
        "weight_init": "normal",
        "weight_scale": 1.0,
        "fan_in": 3,
        "seed": 0,
        "intercept": True,
        "scaling": "deviation",
        "extrapolate": False,
        "loss": "squared",
        "alpha": 1.0,
        "solver": "auto",
        "tol": 0.0,
        "pool_size": 5,
        "block_size": 1,
        "selection": "residual",
        "score_fraction": 1.0,
    }
    return _core.NetworkSettings(**{**params, **changes})


def search(**changes):
    params = {
        "families": [[settings()]],
        "sizes": [1, 4],
        "splits": [SPLIT],
        "judge": None,
        "links": False,
        "max_memory": 1e9,
        "threads": 1,
        "progress": None,
    }
    return _core.search_networks(X, TARGETS, **{**params, **changes})


def choice(**changes):
    params = {"splits": [SPLIT], "alphas": [1.0], "sizes": True, "block_size": 1}
    return _core.CrossValidation(**{**params, **changes})


def test_sound_arguments_pass():
    assert _core.fit(X, TARGETS, settings()).network.n_units == 4
    assert search().shape == (1, 1, 2)
    assert _core.fit(X, TARGETS, settings(), choice=choice()).alpha == 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: _core.fit(X[:10], TARGETS, settings()), "targets must have as many rows as X"),
        (lambda: _core.fit(X[:0], TARGETS, settings()), "X must not be empty"),
        (
            lambda: _core.fit(X, TARGETS, settings(), weights=np.ones(19)),
            "weights must have as many rows as X",
        ),
        (lambda: _core.Targets.labels(np.array([0, 2]), 2), "labels must be from 0"),
        (lambda: _core.Targets.labels(np.array([0, -1]), 2), "labels must be from 0"),
        (lambda: _core.Targets.numbers(np.array([[np.nan]])), "targets must be finite"),
        (lambda: search(splits=[]), "at least one split"),
        (lambda: search(splits=[(np.arange(0), np.arange(5))]), "training and test rows"),
        (
            lambda: search(splits=[(np.arange(15), np.array([20]))]),
            "test rows must hold",
        ),
        (lambda: search(splits=[(np.array([-1]), np.arange(5))]), "training rows must hold"),
        (lambda: search(sizes=[]), "sizes must be a rising list"),
        (lambda: search(sizes=[4, 1]), "sizes must be a rising list"),
        (lambda: search(families=[]), "at least one network"),
        (lambda: search(families=[[]]), "must not be empty"),
        (
            lambda: _core.fit(
                X, TARGETS, settings(stopping=_core.Stopping(by="validation", patience=5))
            ),
            "needs validation_rows",
        ),
        (lambda: choice(splits=[]), "splits must not be empty"),
        (lambda: choice(alphas=[0.0]), "alphas must be positive"),
        (lambda: settings(selection="best"), "selection must be"),
        (
            lambda: _core.fit(
                X,
                TARGETS,
                settings(
                    stopping=_core.Stopping(
                        by="validation", patience=5, validation_rows=np.array([3, 20])
                    )
                ),
            ),
            "validation_rows must hold row numbers from 0 to 19; got 20",
        ),
        (
            lambda: _core.fit(
                X, TARGETS, settings(), choice=choice(splits=[(np.arange(15), np.array([99]))])
            ),
            "test rows must hold row numbers from 0 to 19; got 99",
        ),
    ],
)
def test_sizes_that_do_not_match_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_network_of_parts_that_do_not_match_is_refused():
    network = _core.fit(X, TARGETS, settings()).network
    parts = {"layers": network.layers, "direct_links": True, "path": network.path}
    assert _core.Network(**parts, readout=network.readout).n_units == 4
    for readout in (network.readout[:-1], network.readout[:, :1]):
        with pytest.raises(ValueError, match="must"):
            _core.Network(**parts, readout=readout)
    with pytest.raises(ValueError, match="width the network was fitted on"):
        network.scores(X[:, :2].copy(), 1)


def test_tasks_score_as_scikit_learn_does():
    from sklearn.metrics import accuracy_score, r2_score

    rng = np.random.default_rng(1)
    scores, several = rng.normal(size=(20, 2)), rng.integers(0, 2, size=(20, 2)).astype(float)
    assert TARGETS.task == _core.Task.ONE_LABEL
    assert TARGETS.score(scores) == accuracy_score(LABELS, scores.argmax(axis=1))
    assert _core.Targets.indicators(several).score(scores) == accuracy_score(several, scores > 0)
    assert _core.Targets.numbers(several).score(scores) == pytest.approx(r2_score(several, scores))
