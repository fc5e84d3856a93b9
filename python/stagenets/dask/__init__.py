"""The estimators of stagenets for Dask: rows stay where they are, on one machine or on many.

Needs ``pip install stagenets[dask]``.
"""

try:
    import dask as _dask  # noqa: F401
except ImportError as error:
    raise ImportError(
        "stagenets.dask needs Dask: install it with pip install 'stagenets[dask]'"
    ) from error

from stagenets.dask._estimators import (
    BLSClassifier,
    BLSRegressor,
    ELMClassifier,
    ELMRegressor,
    RVFLClassifier,
    RVFLRegressor,
)

__all__ = [
    "BLSClassifier",
    "BLSRegressor",
    "ELMClassifier",
    "ELMRegressor",
    "RVFLClassifier",
    "RVFLRegressor",
]
