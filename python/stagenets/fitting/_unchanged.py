"""Estimators that stay as they were when a fit fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def unchanged_on_failure(model: object) -> Iterator[None]:
    """Restore the fitted attributes if the block raises an exception."""
    before = _fitted_attributes(model)
    try:
        yield
    except BaseException:
        for name in _fitted_attributes(model):
            delattr(model, name)
        vars(model).update(before)
        raise


def _fitted_attributes(model: object) -> dict[str, Any]:
    return {
        name: value
        for name, value in vars(model).items()
        if name.endswith("_") and not name.startswith("_")
    }
