"""Parameter and attribute descriptions that several estimators share, written once."""

from __future__ import annotations

import json
from inspect import signature
from typing import TypeVar

Class = TypeVar("Class", bound=type)

_PIECES = {
    "units": """n_hidden : int or "auto", default="auto"
        Hidden units to build. "auto" is ``max(50, min(300, n_samples // 5))``.
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
    "shared": """alpha : float, default={default alpha}
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
    weight_init : {"sparse", "uniform", "normal"} or callable, \
default={default weight_init}
        Distribution of the hidden weights and biases, for standardised inputs. "sparse": each unit
        sees a random 1 … `fan_in` of the inputs, m say, with weights N(0, (1.5 s)²/m) and a bias on
        [-1.5 s, 1.5 s], where s = `weight_scale`. "uniform", as classic networks have it: weights
        on [-s, s], biases on [0, s]. "normal": weights N(0, s²/p), biases on [-s, s]. A callable
        ``(rng, pool_size, n_features) -> (weights, biases)``, or an object with such a ``draw``
        method, replaces them; weights have shape (n_features, pool_size).
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
    early_stopping : {False, "loo", "validation", "cv"}, default=False
        Whether to keep the network of the best stage instead of the last, and by what to judge:
        the leave-one-out error (free, but it does not know that the units were chosen with the same
        samples), the score on samples set aside, or the score in a cross-validation of all sizes,
        after which one network of the best size is fitted on all samples.
    validation_fraction : float, default=0.1
        Share of the samples to set aside with ``early_stopping="validation"``.
    n_iter_no_change : int, default=20
        Stages without a new best after which "loo" and "validation" stop.
    random_state : int, RandomState or None, default=None
        Seed of the draws, and of the samples set aside.
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
    "search_units": """alphas : sequence of float, default=(1e-3, 1e-2, 1e-1, 1, 10, 100, 1000)
        Ridge penalties to try.
    n_hidden : sequence of int or "path", default="path"
        Numbers of hidden units to try; "path" is every number up to `max_hidden`.
    max_hidden : int or "auto", default="auto"
        Largest number of units on the path. "auto" is what the estimator itself would build.
    activations : sequence of str, default=("sigmoid",)
        Activations of the hidden units to try.""",
    "search_nodes": """alphas : sequence of float, default=(1e-3, 1e-2, 1e-1, 1, 10, 100, 1000)
        Ridge penalties to try.
    n_windows, n_feature_nodes : sequence of int, default=(10,)
        Numbers of windows, and of feature nodes in each, to try.
    n_enhancement : sequence of int or "path", default="path"
        Numbers of enhancement nodes to try; "path" is every number up to `max_enhancement`.
    max_enhancement : int, default=100
        Largest number of enhancement nodes on the path.
    activations : sequence of str, default=("tanh",)
        Activations of the enhancement nodes to try.
    feature_activation, sparse_features
        As in the estimator.""",
    "search": """selections : sequence of str, default=("residual",)
        Ways of selecting to try.
    pool_sizes, block_sizes : sequence of int, default=(100,) and (1,)
        Candidates drawn and units kept per stage, to try. They do not matter to "random".
    cv : int, splitter or iterable of (train, test), default=5
        How to split the samples, as in scikit-learn.
    scoring : str, callable or None, default=None
        A scikit-learn scorer; None is accuracy or R². Scorers that ask for probabilities need a fit
        for every size and take longer.
    refit : bool, default=True
        Whether to fit the best network on all samples.
    max_memory : float or str, default="2GB"
        Bytes that fits in progress may take together; text such as "500MB" will do. Less memory
        means fewer networks at a time, not another result.
    score_fraction, weight_init, weight_scale, fan_in, standardize, fit_intercept, solver, tol
        As in the estimator.
    random_state : int, RandomState or None, default=None
        Seed of the draws, the same for all networks and splits.
    n_jobs : int or None, default=None
        Number of threads; the result does not depend on it.
    verbose : int, default=0
        1 shows how many of the fits are done.""",
    "found": """best_params_ : dict
        The parameters with the best mean score.
    best_score_ : float
        That score.
    best_index_ : int
        Their place in `cv_results_`.
    best_estimator_ : estimator
        The network with these parameters, fitted on all samples (with ``refit=True``).
    cv_results_ : dict of arrays
        Scores of every candidate on every split, their mean, deviation and rank, as in
        `sklearn.model_selection.GridSearchCV` but without times.
    n_splits_ : int
        Number of splits.
    scorer_ : callable
        What scores a network.
    alpha_, n_hidden_ : float and int
        Penalty and number of units of the best network (with ``refit=True``).
    classes_ : ndarray of shape (n_classes,)
        Class labels (classifiers).
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the inputs, if they had any.""",
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
    units_path_ : ndarray of shape (n_iter_ + 1,)
        Number of units likewise. This and what follows up to `cv_path_`: not of one-shot networks.
    best_iter_ : int
        Stages whose units were kept: `n_iter_`, unless `early_stopping` went back to a better one.
    loo_path_ : ndarray of shape (n_iter_ + 1,)
        Exact leave-one-out squared error of the readout, summed over outputs and averaged over
        samples.
    loo_accuracy_path_ : ndarray of shape (n_iter_ + 1,)
        Exact leave-one-out accuracy of the readout (classifiers).
    unit_scores_ : ndarray of shape (n_hidden_,)
        Score of every unit when it was chosen.
    pool_quantiles_ : ndarray of shape (n_iter_, 5)
        Least, quartiles and greatest of the scores of each stage's pool.
    validation_path_ : ndarray of shape (n_iter_ + 1,)
        Accuracy or R² on the samples set aside, with ``early_stopping="validation"``.
    cv_path_ : ndarray of shape (n_hidden or n_enhancement,)
        Mean score of every size, from one unit on, with ``early_stopping="cv"``.
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
    """Fill the ``{pieces}`` of a class docstring in, and defaults that differ between classes."""
    if cls.__doc__:
        for name, text in _PIECES.items():
            cls.__doc__ = cls.__doc__.replace("{" + name + "}", text)
        for name, parameter in signature(cls).parameters.items():
            value = json.dumps(parameter.default)
            cls.__doc__ = cls.__doc__.replace("{default " + name + "}", value)
    return cls
