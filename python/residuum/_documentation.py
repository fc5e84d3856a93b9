"""Parameter and attribute descriptions that several estimators share, written once."""

from __future__ import annotations

from typing import TypeVar

Class = TypeVar("Class", bound=type)

_PIECES = {
    "units": """n_hidden : int or "auto", default="auto"
        Hidden units to build. "auto" is ``max(50, min(1000, n_samples // 5, 5 * n_features))``.
    activation : {"sigmoid", "tanh", "relu", "sine", "selu", "tribas", "radbas", "identity"}, \
default="sigmoid"
        Activation of the hidden units.""",
    "nodes": """n_windows : int, default=10
        Windows of feature nodes.
    n_feature_nodes : int, default=10
        Feature nodes in each window.
    n_enhancement : int, default=100
        Enhancement nodes, computed from all feature nodes.
    feature_activation : str, default="identity"
        Activation of the feature nodes, before they are scaled to [-1, 1]; one of "sigmoid",
        "tanh", "relu", "sine", "selu", "tribas", "radbas", "identity".
    enhancement_activation : str, default="tanh"
        Activation of the enhancement nodes; same choice.
    sparse_features : bool, default=True
        Whether a sparse autoencoder refines the random maps of the feature nodes.""",
    "shared": """alpha : float, default=1.0
        Ridge penalty on all readout weights, the intercept's included.
    selection : {"residual", "joint", "random"}, default="residual"
        "residual" keeps, at every stage, the candidates with the largest drop of the objective when
        only their own coefficient is fitted (the paper's score). "joint" takes a shortlist of those
        and keeps, one after another, the candidates with the largest drop when all coefficients are
        refitted: costlier per unit, better units, and no twins in a block. "random" is the classic
        one-shot network: the units are drawn once and kept unseen.
    pool_size : int, default=100
        Candidate units drawn at every stage.
    block_size : int, default=1
        Units kept at every stage.
    score_fraction : float, default=1.0
        Share of the samples that candidates are scored on, drawn anew at every stage (at least
        2,048). The readout is always fitted on all.
    weight_init : {"uniform", "normal", "sparse"} or callable, default="uniform"
        Distribution of the hidden weights and biases, for standardised inputs. "uniform": weights
        on [-s, s], biases on [0, s] with s = `weight_scale`. "normal": weights N(0, s²/p), biases
        on [-s, s]. "sparse": each unit sees a random 1 … `fan_in` of the inputs, m say, with
        weights N(0, (1.5 s)²/m) and a bias on [-1.5 s, 1.5 s]. A callable ``(rng, pool_size,
        n_features) -> (weights, biases)``, or an object with such a ``draw`` method, replaces them;
        weights have shape (n_features, pool_size).
    weight_scale : float, default=1.0
        Scale of the weights and biases.
    fan_in : int, default=6
        Most inputs a unit sees with ``weight_init="sparse"``.
    standardize : bool, default=True
        Whether the network sees inputs scaled to mean 0 and deviation 1. The scaling is folded into
        the fitted weights: predictions take raw inputs.
    fit_intercept : bool, default=True
        Whether the readout has a column of ones.
    solver : {"auto", "primal", "dual"}, default="auto"
        Form of the ridge problem. "auto" takes the smaller one and changes over when the design
        outgrows the samples; the model is the same.
    tol : float, default=0.0
        Stop when a stage lowers the objective by less than this fraction of it.
    random_state : int, RandomState or None, default=None
        Seed of the draws.
    n_jobs : int or None, default=None
        Number of threads; the result does not depend on it. None is what OpenMP would use, within
        cgroup quotas and the limits of joblib and threadpoolctl.
    verbose : int, default=0
        1 shows progress in one live line in terminals and notebooks and prints a line now and then
        elsewhere, 2 prints a line a stage; all on standard error.
    callback : callable or None, default=None
        Called as ``callback(info)`` with a `StageInfo` after every stage (after the fit, with
        ``selection="random"``). The fit ends there if it returns True, and the model built so far
        is kept.""",
    "fitted": """n_hidden_ : int
        Number of units built.
    n_iter_ : int
        Number of stages.
    selected_ : ndarray of shape (n_hidden_, 2)
        Stage and index in its pool of every unit, in order of choice; see `draw_candidates`.
    objective_path_ : ndarray of shape (n_iter_ + 1,)
        Ridge objective ‖AΩ − T‖² + alpha ‖Ω‖² before the first unit and after each stage.
    residual_path_ : ndarray of shape (n_iter_ + 1,)
        Squared residual ‖AΩ − T‖² likewise.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the inputs, if they had any.""",
    "classes": """classes_ : ndarray of shape (n_classes,)
        Class labels.
    temperature_ : float
        Factor on the scores in `predict_proba`, fitted on exact leave-one-out scores.""",
    "hidden": """hidden_weights_ : ndarray of shape (n_features_in_, n_hidden_)
        Weights of the hidden units, for raw inputs.
    hidden_biases_ : ndarray of shape (n_hidden_,)
        Their biases.""",
    "maps": """feature_weights_, feature_biases_ : ndarray of shape (n_features_in_, n_features) \
and (n_features,)
        Maps of the feature nodes, for raw inputs.
    feature_scales_, feature_offsets_ : ndarray of shape (n_features,)
        What takes the feature nodes to [-1, 1] on the training data.
    hidden_weights_, hidden_biases_ : ndarray of shape (n_features, n_enhancement) and \
(n_enhancement,)
        Weights and biases of the enhancement nodes, for scaled feature nodes.""",
}


def documented(cls: Class) -> Class:
    """Fill the ``{pieces}`` of a class docstring in."""
    if cls.__doc__:
        for name, text in _PIECES.items():
            cls.__doc__ = cls.__doc__.replace("{" + name + "}", text)
    return cls
