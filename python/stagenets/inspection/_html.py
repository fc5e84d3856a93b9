"""What notebooks show below scikit-learn's diagram: a network's sizes and its objective."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

_WIDTH, _HEIGHT = 160, 28


class SummaryHTML:
    """Adds a line to the HTML that scikit-learn shows for a fitted estimator."""

    @property
    def _repr_html_(self) -> Callable[[], str]:
        # Raises AttributeError if diagrams are switched off, as scikit-learn expects.
        diagram: Callable[[], str] = super()._repr_html_  # type: ignore[misc]
        return lambda: diagram() + _summary(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += _summary(self)
        return bundle


def _summary(model: Any) -> str:
    network = vars(getattr(model, "best_estimator_", model)).get("network_")
    if network is None:
        return ""
    outputs, history = network.n_outputs, network.history
    sizes = [_count(network.n_inputs, "input"), _units(network)]
    sizes += [_count(outputs, "target") if network.classes is None else f"{outputs} classes"]
    path = history.objective_path
    fall = f"objective {path[0]:.4g} → {path[-1]:.4g} in {_count(history.n_iter, 'stage')}"
    text = " → ".join(sizes) + "; " + fall
    return (
        '<div style="font-family: monospace; font-size: 0.9em; padding: 0.3em 0">'
        f"{escape(text)} {_sparkline(path)}</div>"
    )


def _units(network: Any) -> str:
    counts = [len(layer.biases if layer.ends is None else layer.ends) for layer in network.layers]
    if len(counts) == 1:
        return _count(counts[0], "hidden unit")
    return f"{counts[0]} feature + {_count(counts[1], 'enhancement node')}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _sparkline(path: NDArray[np.float64]) -> str:
    """The path as an SVG curve above zero: its height is the fraction of the objective left."""
    shown = path[np.unique(np.linspace(0, len(path) - 1, _WIDTH).astype(int))]
    x = np.linspace(1, _WIDTH - 1, len(shown))
    y = _HEIGHT - 1 - (_HEIGHT - 2) * shown / max(shown[0], np.finfo(float).tiny)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    return (
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img" style="vertical-align: middle">'
        "<title>objective over the stages</title>"
        f'<line x1="0" y1="{_HEIGHT - 0.5}" x2="{_WIDTH}" y2="{_HEIGHT - 0.5}" '
        'stroke="currentColor" stroke-opacity="0.3"/>'
        f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.5"/></svg>'
    )
