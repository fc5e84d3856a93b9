"""Samples without a label, and the graph of neighbours through which they still count."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import StandardScaler

from stagenets import _core
from stagenets.fitting._parameters import check_count, check_number, check_scaling, refusal

if TYPE_CHECKING:
    from stagenets.estimators._network import StagewiseNetwork
    from stagenets.fitting._fitted_network import FloatArray
    from stagenets.fitting._rows import Rows
    from stagenets.fitting._weights import Weights


def without_label(model: StagewiseNetwork, y: Any) -> NDArray[np.bool_] | None:
    """Which samples are marked as having no label; None if nothing marks them, or none are."""
    mark = model.unlabeled
    if mark is None:
        return None
    if is_classifier(model) and len(np.shape(y)) == 2 and np.shape(y)[1] > 1:
        raise refusal("unlabeled", mark, "None with several labels")
    values = np.asarray(y)
    nan = isinstance(mark, Real) and math.isnan(mark)
    is_mark = np.frompyfunc(lambda value: value != value if nan else value == mark, 1, 1)
    marked = np.asarray(is_mark(values), dtype=bool).reshape(len(values), -1)
    missing: NDArray[np.bool_] = np.asarray(marked.all(axis=1))
    if (marked.any(axis=1) & ~missing).any():
        raise ValueError("y must have all targets of a sample or none; got samples with some")
    if missing.all():
        raise ValueError(f"y must have samples with a label; got unlabeled ({mark!r}) only")
    return missing if missing.any() else None


def with_placeholders(y: Any, missing: NDArray[np.bool_] | None) -> Any:
    """The targets with that of a labelled sample where there is none, so that they are valid."""
    if missing is None:
        return y
    filled = np.array(y)
    filled[missing] = filled[np.argmin(missing)]
    return filled


def labelled_first(
    model: StagewiseNetwork,
    missing: NDArray[np.bool_] | None,
    rows: Rows,
    y: Any,
    weights: Weights | None,
    groups: Any,
) -> tuple[Rows, Any, Weights | None, Any]:
    """The samples with labels; after them in rows and weights, if they count, those without."""
    if missing is None:
        return rows, y, weights, groups
    some = np.flatnonzero(~missing)
    order = some
    if check_number("manifold", model.manifold) > 0:
        order = np.concatenate([some, np.flatnonzero(missing)])
    if groups is not None:
        if len(groups) != len(missing):
            raise ValueError(
                f"groups must have one entry per sample ({len(missing)}); got {len(groups)}"
            )
        groups = np.asarray(groups)[some]
    return rows[order], y[some], None if weights is None else weights[order], groups


def neighbor_graph(model: StagewiseNetwork, X: FloatArray) -> _core.RowGraph | None:
    """Pairs of nearest neighbours, with weights that sum up to manifold · tr(FᵀLF) for scores F.

    A pair weighs 1 if each of the two is among the nearest neighbours of the other, else 1/2: L is
    the Laplacian of the average of scikit-learn's graph and its transpose.
    """
    gamma = check_number("manifold", model.manifold)
    neighbors = check_count("n_neighbors", model.n_neighbors)
    if gamma == 0:
        return None
    if neighbors >= X.shape[0]:
        raise refusal("n_neighbors", neighbors, f"below the number of samples ({X.shape[0]})")
    seen = X
    if check_scaling(model.standardize) in ("deviation", "robust"):  # each column on its own
        seen = StandardScaler(with_mean=not issparse(X)).fit_transform(X)
    graph = kneighbors_graph(seen, neighbors, n_jobs=model.n_jobs)
    pairs = (graph + graph.T).tocoo()
    once = pairs.row < pairs.col
    ends = np.stack([pairs.row[once], pairs.col[once]], axis=1).astype(np.int64)
    return _core.RowGraph(ends, gamma / 2 * pairs.data[once])
