"""Algorithm 1 in plain NumPy: the oracle that the package is compared with.

Written from the formulas, for reading and not for speed. Every stage refits the ridge readout from
nothing by a stable least-squares solve, so it shares no arithmetic with the growing factor of the
core. It uses NumPy's own Philox, and it knows nothing of solvers, threads or row blocks.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit, ndtri

UNITS_STREAM, ENHANCEMENT_STREAM, CUSTOM_STREAM = 0, 1, 2

SELU_SCALE, SELU_ALPHA = 1.0507009873554805, 1.6732632423543772

ACTIVATIONS = {
    "sigmoid": expit,
    "tanh": np.tanh,
    "relu": lambda z: np.maximum(z, 0),
    "sine": np.sin,
    "selu": lambda z: SELU_SCALE * np.where(z > 0, z, SELU_ALPHA * np.expm1(np.minimum(z, 0))),
    "tribas": lambda z: np.maximum(0, 1 - np.abs(z)),
    "radbas": lambda z: np.exp(-np.square(z)),
    "identity": lambda z: z,
}


# ---------------------------------------------------------------------------------------- draws


def generator(seed, stage, candidate, stream):
    return np.random.Generator(np.random.Philox(key=seed, counter=[0, candidate, stage, stream]))


def draw_pool(
    seed,
    stage,
    pool_size,
    n_features,
    *,
    family="sparse",
    scale=1.0,
    fan_in=6,
    stream=UNITS_STREAM,
    rows=None,
):
    """Weights (p, M) and biases (M,) of one pool; every candidate has a counter of its own.

    `rows` are the training inputs as the network sees them, for the families that look at them;
    these count the rows in the order of their first inputs, then their second, and so on.
    Units of families with leaves have several terms, side by side; there, their ends are returned
    as well.
    """
    units = []
    if rows is not None:
        rows = rows[np.lexsort(rows.T[::-1])]
    for j in range(pool_size):
        u = generator(seed, stage, j, stream).random(16 + 2 * n_features)
        kind = family
        if family == "mixed":
            kind, u = MIXTURE[np.searchsorted(MIXTURE_ENDS, u[0], side="right")], u[1:]
        factor = 1.0
        if family == "mixed" and kind == "sparse":
            factor, u = 3 ** u[0], u[1:]
        units.append(UNITS_OF_FAMILY[kind](u, n_features, factor * scale, fan_in, rows))
    weights = np.column_stack([weights for weights, _ in units])
    biases = np.hstack([biases for _, biases in units])
    if family not in ("leaf", "mixed"):
        return weights, biases
    return weights, biases, np.cumsum([np.size(biases) for _, biases in units])


def least_terms(terms, ends):
    """The least of each unit's columns of terms."""
    return np.column_stack([part.min(axis=1) for part in np.split(terms, ends[:-1], axis=1)])


def _normal(u):
    """Standard normals by inversion at the middle of the 53-bit cell that u is the left end of."""
    return ndtri(u + 2.0**-54)


def _uniform_unit(u, p, scale, _fan_in, _rows):
    return -scale + (2 * scale) * u[:p], scale * u[p]


def _normal_unit(u, p, scale, _fan_in, _rows):
    return scale / np.sqrt(p) * _normal(u[:p]), -scale + (2 * scale) * u[p]


def _some_inputs(u, p, m):
    """Floyd's sample of m of the p inputs."""
    seen = []
    for i in range(m):
        last = p - m + i
        pick = int(u[i] * (last + 1))
        seen.append(last if pick in seen else pick)
    return seen


def _sparse_unit(u, p, scale, fan_in, _rows):
    m = 1 + int(u[0] * min(fan_in, p))
    seen = _some_inputs(u[1:], p, m)
    weights = np.zeros(p)
    weights[seen] = 1.5 * scale / np.sqrt(m) * _normal(u[1 + m : 1 + 2 * m])
    return weights, -1.5 * scale + (3 * scale) * u[1 + 2 * m]


def _slopes(u, scale):
    """Log-uniform on 4 … 40, of either sign; two words each."""
    return scale * 4 * 10 ** u[::2] * np.where(u[1::2] < 0.5, -1, 1)


def _threshold_unit(u, p, scale, _fan_in, rows):
    seen, row = int(u[0] * p), int(u[1] * len(rows))
    (slope,) = _slopes(u[2:4], scale)
    weights = np.zeros(p)
    weights[seen] = slope
    return weights, -slope * rows[row, seen]


def _leaf_unit(u, p, scale, _fan_in, rows):
    m = min(p, 2 + int(3 * u[0]))
    row, seen = int(u[1] * len(rows)), _some_inputs(u[2:], p, m)
    slopes = _slopes(u[2 + m : 2 + 3 * m], scale)
    weights = np.zeros((p, m))
    weights[seen, range(m)] = slopes
    return weights, -slopes * rows[row, seen]


UNITS_OF_FAMILY = {
    "uniform": _uniform_unit,
    "normal": _normal_unit,
    "sparse": _sparse_unit,
    "threshold": _threshold_unit,
    "leaf": _leaf_unit,
}
MIXTURE, MIXTURE_ENDS = ("leaf", "threshold", "sparse", "normal"), (0.1, 0.2, 0.8)


# ---------------------------------------------------------------------------------- ridge, stages


def ridge(design, targets, alpha):
    """The minimiser of ||A W - T||^2 + alpha ||W||^2, from the stacked least-squares problem."""
    d = design.shape[1]
    if d == 0:
        return np.zeros((0, targets.shape[1]))
    stacked = np.vstack([design, np.sqrt(alpha) * np.eye(d)])
    padded = np.vstack([targets, np.zeros((d, targets.shape[1]))])
    return np.linalg.lstsq(stacked, padded, rcond=None)[0]


def svd_ridge(design, targets, alpha):
    """The same minimiser from the singular values, for ill-conditioned designs."""
    left, s, right = np.linalg.svd(design, full_matrices=False)
    return right.T @ ((s / (s**2 + alpha))[:, None] * (left.T @ targets))


def objective(design, targets, alpha, readout):
    return np.sum((design @ readout - targets) ** 2) + alpha * np.sum(readout**2)


@dataclass
class Growth:
    """A design that grows stage by stage, with everything the package reports about it."""

    design: np.ndarray
    targets: np.ndarray
    alpha: float
    guided: bool = True
    readouts: list = field(default_factory=list)
    objective_path: list = field(default_factory=list)
    residual_path: list = field(default_factory=list)
    selected: list = field(default_factory=list)
    margin: float = np.inf  # the smallest relative gap between scores that decided a choice

    def __post_init__(self):
        self._refit()

    def _refit(self):
        readout = ridge(self.design, self.targets, self.alpha)
        self.residual = self.targets - self.design @ readout
        self.readouts.append(readout)
        self.residual_path.append(np.sum(self.residual**2))
        self.objective_path.append(objective(self.design, self.targets, self.alpha, readout))

    @property
    def n_stages(self):
        return len(self.readouts) - 1

    def stage(self, pool, keep):
        """Score a pool (n, M), append the best `keep` columns, refit; return their indices."""
        chosen = np.arange(pool.shape[1])
        if self.guided:
            scores = np.sum((pool.T @ self.residual) ** 2, axis=1)
            scores = scores / (np.sum(pool**2, axis=0) + self.alpha)
            order = np.argsort(-scores, kind="stable")
            ranked = scores[order[: keep + 1]]
            if ranked.size > 1:
                gaps = -np.diff(ranked) / max(ranked[0], np.finfo(float).tiny)
                self.margin = min(self.margin, gaps.min())
            chosen = order[:keep]
        self.selected += [(self.n_stages, j) for j in chosen]
        self.design = np.hstack([self.design, pool[:, chosen]])
        self._refit()
        return chosen


# -------------------------------------------------------------------------------------- networks


@dataclass
class Network:
    """A fitted network: its growth, and a function from raw inputs to hidden activations."""

    growth: Growth
    transform: callable
    base: callable  # the columns of the design that were there before the first unit
    offset: np.ndarray  # the mean of the targets (regression) or 0
    scale: np.ndarray  # their deviation (regression) or 1

    def design_of(self, X):
        return np.hstack([self.base(X), self.transform(X)])

    def scores(self, X, stage=-1):
        readout = self.growth.readouts[stage]
        return self.design_of(X)[:, : len(readout)] @ readout * self.scale + self.offset


def one_hot(y):
    return (np.asarray(y)[:, None] == np.unique(y)).astype(float)


def standardizer(X, standardize):
    """The map from raw inputs to those of the network, which knows no values beyond those of X."""
    low, high = X.min(axis=0), X.max(axis=0)
    if not standardize:
        return lambda V: np.clip(V, low, high)
    mean = X.mean(axis=0)
    deviation = np.where(high == low, 1.0, X.std(axis=0))
    return lambda V: (np.clip(V, low, high) - mean) / deviation


def blocks(total, size):
    """The number of units that each stage keeps; "auto" means one, as nothing is chosen jointly."""
    kept = []
    while sum(kept) < total:
        kept.append(min(1 if size == "auto" else size, total - sum(kept)))
    return kept


def _prepare(X, targets, *, direct, regression, standardize, fit_intercept, alpha, selection):
    offset, scale = np.zeros(targets.shape[1]), np.ones(targets.shape[1])
    if regression:
        offset, scale = targets.mean(axis=0), targets.std(axis=0)
    to_network = standardizer(X, standardize)

    def base(V):
        ones = np.ones((len(V), 1 if fit_intercept else 0))
        return np.hstack([ones, to_network(V)]) if direct else ones

    growth = Growth(base(X), (targets - offset) / scale, alpha, guided=selection == "residual")
    return growth, to_network, base, offset, scale


def fit_affine(
    X,
    targets,
    *,
    direct,
    seed,
    n_hidden,
    regression=False,
    alpha=3.0,
    selection="residual",
    pool_size=100,
    block_size=1,
    activation="sigmoid",
    weight_init="sparse",
    weight_scale=1.0,
    fan_in=6,
    standardize=True,
    fit_intercept=True,
):
    """RVFL (direct=True) or ELM (direct=False)."""
    growth, to_network, base, *scaling = _prepare(
        X,
        targets,
        direct=direct,
        regression=regression,
        standardize=standardize,
        fit_intercept=fit_intercept,
        alpha=alpha,
        selection=selection,
    )
    if selection == "random":
        pool_size = block_size = n_hidden
    phi, inputs = ACTIVATIONS[activation], to_network(X)
    kept = []  # weights and biases of the terms of each unit
    for keep in blocks(n_hidden, block_size):
        W, b, *ends = draw_pool(
            seed,
            growth.n_stages,
            pool_size,
            X.shape[1],
            family=weight_init,
            scale=weight_scale,
            fan_in=fan_in,
            rows=inputs,
        )
        ends = ends[0] if ends else np.arange(1, pool_size + 1)
        chosen = growth.stage(phi(least_terms(inputs @ W + b, ends)), keep)
        units = list(zip(np.split(W, ends[:-1], axis=1), np.split(b, ends[:-1]), strict=True))
        kept += [units[j] for j in chosen]

    def transform(V):
        return phi(np.column_stack([(to_network(V) @ W + b).min(axis=1) for W, b in kept]))

    return Network(growth, transform, base, *scaling)


# ------------------------------------------------------------------------------------------- BLS


def range_scaling(values):
    """Gain and midpoint that take each column to [-1, 1]; a constant column goes to 0."""
    low, high = values.min(axis=0), values.max(axis=0)
    spread = high - low
    gain = np.divide(2.0, spread, out=np.zeros_like(spread), where=spread > 0)
    return gain, (high + low) / 2


def sparse_autoencoder(inputs, weights, biases, *, penalty=1e-3, iterations=50):
    """The feature maps refined by the lasso of Chen and Liu (2018), solved by ADMM."""
    p, pool_size = weights.shape
    codes = inputs @ weights + biases
    gain, middle = range_scaling(codes)
    codes = gain * (codes - middle)
    inputs_and_bias = np.hstack([inputs, np.full((len(inputs), 1), 0.1)])
    inverse = np.linalg.inv(codes.T @ codes + np.eye(pool_size))
    start = inverse @ codes.T @ inputs_and_bias
    sparse = dual = np.zeros((pool_size, p + 1))
    for _ in range(iterations):
        dense = start + inverse @ (sparse - dual)
        shifted = dense + dual
        sparse = np.sign(shifted) * np.maximum(np.abs(shifted) - penalty, 0)
        dual = dual + dense - sparse
    return sparse[:, :p].T, 0.1 * sparse[:, p]


def orthonormal(matrix):
    """Orthonormal columns by QRs whose R has a positive diagonal; groups of them, if many."""
    q, r = np.linalg.qr(matrix[:, : len(matrix)])
    q *= np.where(np.diag(r) < 0, -1.0, 1.0)
    rest = matrix[:, len(matrix) :]
    return np.hstack([q, orthonormal(rest)]) if rest.size else q


def fit_bls(
    X,
    targets,
    *,
    seed,
    n_windows,
    n_feature_nodes,
    n_enhancement,
    regression=False,
    alpha=0.01,
    selection="residual",
    pool_size=100,
    block_size=1,
    feature_activation="identity",
    enhancement_activation="tanh",
    sparse_features=True,
    weight_init="uniform",
    weight_scale=1.0,
    fan_in=6,
    standardize=True,
    fit_intercept=True,
):
    """Broad learning system: windows of feature nodes, then enhancement nodes on all of them."""
    growth, to_network, base, *scaling = _prepare(
        X,
        targets,
        direct=False,
        regression=regression,
        standardize=standardize,
        fit_intercept=fit_intercept,
        alpha=alpha,
        selection=selection,
    )
    family = {"family": weight_init, "scale": weight_scale, "fan_in": fan_in}
    inputs = to_network(X)
    phi, xi = ACTIVATIONS[feature_activation], ACTIVATIONS[enhancement_activation]

    def stages(nodes):
        """(pool size, units kept) for each stage that it takes to fill `nodes` places."""
        if selection == "random":
            return [(nodes, nodes)] if nodes else []
        return [(pool_size, keep) for keep in blocks(nodes, block_size)]

    feature_maps = []  # (weights, biases, gains, midpoints) of the nodes that a stage kept
    for pool, keep in stages(n_feature_nodes) * n_windows:
        W, b = draw_pool(seed, growth.n_stages, pool, X.shape[1], **family)
        if sparse_features:
            W, b = sparse_autoencoder(inputs, W, b)
        values = phi(inputs @ W + b)
        gain, middle = range_scaling(values)
        chosen = growth.stage(gain * (values - middle), keep)
        feature_maps.append((W[:, chosen], b[chosen], gain[chosen], middle[chosen]))

    def features(V):
        return np.hstack([g * (phi(to_network(V) @ W + b) - m) for W, b, g, m in feature_maps])

    def enhancement_inputs(V):
        return np.hstack([features(V), np.full((len(V), 1), 0.1)])

    enhancement_maps = []  # (weights with the bias row, shrinkage) of the nodes that a stage kept
    H = enhancement_inputs(X)
    for pool, keep in stages(n_enhancement):
        W, b = draw_pool(
            seed, growth.n_stages, pool, H.shape[1] - 1, stream=ENHANCEMENT_STREAM, **family
        )
        V = orthonormal(np.vstack([W, b]))
        largest = np.abs(H @ V).max(axis=0)
        shrink = 0.8 / (largest if selection == "random" else largest.max())
        chosen = growth.stage(xi(shrink * (H @ V)), keep)
        enhancement_maps.append((V[:, chosen], np.broadcast_to(shrink, pool)[chosen]))

    def transform(rows):
        enhanced = [xi(s * (enhancement_inputs(rows) @ V)) for V, s in enhancement_maps]
        return np.hstack([features(rows), *enhanced])

    return Network(growth, transform, base, *scaling)


# -------------------------------------------------------------------------------- leave-one-out


def leave_one_out_scores(design, targets, alpha):
    """Scores of each row by the readout fitted on all the others, one refit per row."""
    scores = np.empty_like(targets)
    for i in range(len(design)):
        others = np.arange(len(design)) != i
        scores[i] = design[i] @ ridge(design[others], targets[others], alpha)
    return scores
