"""Notebooks show scikit-learn's diagram, then a fitted network's sizes and objective."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import problems
import stagenets


def html_of(model):
    """What notebooks show, by either protocol; sklearn counts its diagrams, so ids differ."""
    bundle = model._repr_mimebundle_()
    assert bundle["text/plain"] == repr(model)
    by_method, by_bundle = (
        re.sub(r"sk-[a-z]*-id-\d+|sk-estimator-id-\d+", "sk-id", html)
        for html in (model._repr_html_(), bundle["text/html"])
    )
    assert by_method == by_bundle
    return by_bundle


def summary_of(model):
    html = html_of(model)
    _, begin, end = html.rpartition("<div style=")
    return ElementTree.fromstring(begin + end)


@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
def test_unfitted_models_show_the_diagram_alone(cls):
    model = problems.small(cls)
    assert "sk-top-container" in html_of(model)
    assert "<svg width" not in html_of(model)


@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
def test_fitted_models_show_their_sizes(cls):
    X, y = problems.data_for(cls, p=4, n_outputs=3)
    model = problems.small(cls).fit(X, y)
    text = summary_of(model).text
    assert "sk-top-container" in html_of(model)
    assert text.startswith("4 inputs → ")
    hidden = "8 feature + 6 enhancement nodes" if cls in problems.BLS else "12 hidden units"
    assert f"→ {hidden} →" in text
    assert ("3 classes;" if cls in problems.CLASSIFIERS else "3 targets;") in text
    first, last = model.objective_path_[[0, -1]]
    stages = "14 stages" if cls in problems.BLS else "12 stages"
    assert f"objective {first:.4g} → {last:.4g} in {stages}" in text


def test_searches_show_their_best_network():
    cls = stagenets.RVFLClassifierCV
    X, y = problems.data_for(problems.CLASSIFIERS[0])
    search = cls(n_hidden=[3, 6], alphas=[0.1, 1.0], pool_sizes=[10], cv=2, random_state=0)
    assert "<svg width" not in html_of(search)
    assert f"→ {search.fit(X, y).n_hidden_} hidden units →" in summary_of(search).text


def test_one_target_and_one_stage_are_not_plural():
    cls = problems.REGRESSORS[0]
    X, y = problems.data_for(cls, n_outputs=1)
    text = summary_of(problems.small(cls, selection="random").fit(X, y[:, 0])).text
    assert "→ 1 target;" in text
    assert "in 1 stage " in text


@pytest.mark.parametrize("n_hidden", [1, 12, 400])
def test_sparkline_height_is_the_share_of_the_objective_left(n_hidden):
    cls = problems.REGRESSORS[0]
    X, y = problems.data_for(cls, 500)
    model = problems.small(cls, n_hidden=n_hidden).fit(X, y)
    svg = summary_of(model).find("svg")
    width, height = float(svg.get("width")), float(svg.get("height"))
    points = np.array([p.split(",") for p in svg.find("polyline").get("points").split()], float)
    assert len(points) <= width
    assert (points >= 0).all() and (points <= [width, height]).all()
    assert (np.diff(points[:, 0]) > 0).all() and (np.diff(points[:, 1]) >= 0).all()
    share = (height - 1 - points[[0, -1], 1]) / (height - 2)
    path = model.objective_path_
    np.testing.assert_allclose(share, path[[0, -1]] / path[0], atol=0.05 / (height - 2))


def test_text_repr_is_scikit_learns():
    cls = problems.CLASSIFIERS[0]
    model = problems.small(cls).fit(*problems.data_for(cls))
    assert repr(model) == BaseEstimator.__repr__(model)


def test_no_html_where_diagrams_are_switched_off():
    cls = problems.CLASSIFIERS[0]
    model = problems.small(cls).fit(*problems.data_for(cls))
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert list(model._repr_mimebundle_()) == ["text/plain"]


def test_pipelines_still_have_their_diagram():
    cls = problems.CLASSIFIERS[0]
    model = make_pipeline(StandardScaler(), problems.small(cls)).fit(*problems.data_for(cls))
    assert cls.__name__ in model._repr_html_()
