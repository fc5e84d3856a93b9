"""Parameter and attribute descriptions that several estimators share, written once."""

from __future__ import annotations

import json
from functools import wraps
from inspect import Parameter, signature
from types import FunctionType
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type)

_PIECES = {
    "units": """n_hidden : int or "auto", default="auto"
        Number of hidden units to build. "auto" means ``max(50, min(300, n_samples // 5))``, or
        fewer if they predict better by ``alpha="auto"`` with ``loss="squared"``.
    activation : {"sigmoid", "tanh", "relu", "sine", "selu", "tribas", "radbas", "identity"}, \
default="sigmoid"
        Activation of the hidden units.""",
    "nodes": """n_windows : int, default=10
        Number of windows of feature nodes.
    n_feature_nodes : int, default=10
        Number of feature nodes in each window.
    n_enhancement : int, default=100
        Number of enhancement nodes, each computed from all feature nodes.
    feature_activation : str, default="sigmoid"
        Activation of the feature nodes, before they are scaled to [-1, 1]; one of "sigmoid",
        "tanh", "relu", "sine", "selu", "tribas", "radbas", "identity" (as published).
    enhancement_activation : str, default="tanh"
        Activation of the enhancement nodes; same choices.
    sparse_features : bool, default=False
        Whether a sparse autoencoder refines the random maps of the feature nodes, as published,
        which makes them dense.""",
    "shared": """loss : {"squared", "log", "huber", "bounded"}, default={default loss}
        What the readout minimises on the training samples. "squared": the sum of squared errors
        plus alpha ‖Ω‖², in closed form. "log", for classifiers: the sum of the log-losses
        -log(softmax(scores)[class]), or of -log(expit(±score)) over several labels, plus
        alpha/2 ‖Ω‖², by iterations on the same factor, so that `predict_proba` needs no
        temperature. Units are chosen by squared errors either way. "huber", for regressors with
        outliers in y: errors count by their squares up to 1.345 times their scale σ, and by their
        size beyond. σ is fitted as well, nothing is to be set. Outliers do not choose units either.
        "bounded": what a sample can cost has a limit. Regressors start from "huber" and minimise
        m (1 − exp(−z²/m)) with errors z in units of its σ and m = 2.985², so that gross outliers
        have no effect. Classifiers start from "log" and minimise (1 − p^0.7) / 0.7 with the
        probability p of the label, so that wrong labels have less. See the docs, "Outliers".
    alpha : float or "auto", default={default alpha}
        Penalty on all readout weights Ω, including the intercept. "auto" lets a cross-validation
        within `fit` choose it: by log-loss with ``loss="log"``, by absolute errors of regressors
        with ``loss="huber"`` or "bounded", otherwise by accuracy or R²; and, unless by log-loss,
        together with the number of units, if that is "auto" as well. Three penalties are tried, and
        the usual one (3, or 1 for BLS with ``loss="squared"``) is kept unless another network is
        better by more than a standard error, or if there are fewer than 50 samples. Folds are
        judged until they hold 1,000 samples: all five of them up to 1,000 samples, one from 5,000
        on, fitted to 5,000 samples at most. See `alpha_`.
    selection : {"residual", "joint", "random"}, default={default selection}
        "residual" keeps, at every stage, the candidates with the largest drop of the objective when
        only their own coefficient is fitted (the paper's score). "joint" makes a shortlist of those
        and keeps, one after another, the candidates with the largest drop when all coefficients are
        refitted: each unit costs more, but the units are better and a block has no near-duplicates.
        "random" is the classic one-shot network: units are drawn once and all kept.
    pool_size : int or "auto", default="auto"
        Number of candidate units drawn at every stage. "auto": 100, or 400 if there are more than
        65,536 samples, where scoring a candidate takes only some of them (see `score_fraction`).
    block_size : int or "auto", default="auto"
        Number of units kept at every stage. "auto" keeps one. With more than 65,536 samples and
        ``selection="joint"``, blocks grow with the network: one more for every 25 units already
        there, up to one of every 25 candidates.
    score_fraction : float or "auto", default="auto"
        Fraction of the samples on which candidates are scored, drawn anew at every stage (at least
        2,048 samples). "auto": all samples if there are up to 65,536, otherwise 65,536 or one in
        eight, whichever is more. Joint drops and the readout are always those of all samples.
    weight_init : {"sparse", "uniform", "normal", "threshold", "leaf", "mixed"} or \
callable, default={default weight_init}
        Distribution of the hidden weights and biases, for standardised inputs. "sparse": each unit
        sees m random inputs, m from 1 to `fan_in`, with weights N(0, (1.5 s)²/m) and a bias on
        [-1.5 s, 1.5 s], where s = `weight_scale`. "uniform", as in classic networks: weights on
        [-s, s], biases on [0, s]. "normal": weights N(0, s²/p) for p inputs, biases on [-s, s].
        "threshold" (RVFL and ELM): φ(w (x - v)) of one random input x, with v its value in a random
        training sample and w log-uniform on [4 s, 40 s], of either sign: a soft step, for inputs
        whose effect jumps. "leaf" (RVFL and ELM): φ of the least of two to four such terms, on
        different inputs, at the values of one training sample: a soft version of the leaf of a
        tree. "mixed" (RVFL and ELM): each unit is a leaf (one in ten), a threshold (one in ten),
        sparse (six, with s times 1 to 3) or normal (two), for data of which you do not know what
        suits them; best with ``selection="joint"``, which compares unlike units fairly. A
        callable ``(rng, pool_size, n_features) -> (weights, biases)``, or an object with such a
        ``draw`` method, defines a custom distribution; weights have shape (n_features, pool_size).
    weight_scale : float, default=1.0
        Scale of the weights and biases.
    fan_in : int, default=6
        Maximum number of inputs that a unit sees, with ``weight_init="sparse"`` or "mixed".
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Columns that hold categories. "from_dtype": in a data frame, those of texts or of the
        library's categorical type. Or a list of their names or numbers, or a flag for each column.
        Each category seen in training becomes an input that is 1 where it applies; missing values
        are a category of their own if there were some in training. Categories not seen in training
        are zeros. Flags are numbers, 0 and 1, unless they are listed. Missing numbers (NaN) need no
        parameter: the median is put in their place, and if there were some in training, a further
        input is 1 where they are missing.
    max_categories : int, default=255
        Largest number of categories of a column that become inputs, the most frequent ones; others
        are zeros like those not seen.
    standardize : bool, "robust" or "common", default={default standardize}
        Whether to scale the inputs to mean 0 and standard deviation 1. "robust" does the same,
        except for inputs with a few values so wild that they alone make the deviation: where it is
        more than five times what the quartiles tell, median and quartiles are used. "common"
        divides all inputs by one number, the root mean square of their values other than zero, and
        does not centre them: for inputs that are mostly zeros and have the same units, like counts
        or weights of words. The scaling is folded into the fitted weights, so predictions work on
        raw inputs. With or without it, inputs that are constant in training get weight zero.
    extrapolate : bool, default=False
        Whether predictions follow the readout beyond the training data. By default they do not: an
        input below the least or above the greatest value seen in training counts as that value, so
        that one wild number does not make a wild prediction.
    fit_intercept : bool, default=True
        Whether the readout has a column of ones.
    solver : {"auto", "primal", "dual"}, default="auto"
        Form of the ridge problem. "auto" uses the smaller one and switches when the design has more
        columns than there are samples; the model is the same.
    tol : float, default=0.0
        Stop when a stage lowers the objective by less than this fraction of it.
    early_stopping : bool or {"cv", "validation", "loo"}, default=False
        Whether to keep the network of the best stage instead of the last, and the criterion for it.
        True means "cv", which works best: cross-validation scores every size, and a network of the
        best size is then fitted on all samples. "validation" uses the score on samples set aside.
        "loo" uses the leave-one-out error, which is free but optimistic: it ignores that the units
        were chosen on the same samples.
    validation_fraction : float, default=0.1
        Fraction of the samples to set aside with ``early_stopping="validation"``.
    n_iter_no_change : int, default=20
        Number of stages without a new best after which "loo" and "validation" stop.
    intervals : {"loo", "cv"} or None, default=None
        Errors to collect during the fit, for `predict_interval` and ``predict(return_std=True)`` of
        regressors and for `predict_set` of classifiers. "cv": of five networks that are built
        without a fifth of the samples each, which takes about five times as long. "loo", for
        regressors: exact leave-one-out errors of the readout, which take little time but are
        optimistic, since the units were chosen on the same samples. Regressors need
        ``loss="squared"`` for either.
    unlabeled : object, default=None
        The value in y that marks samples without a label: a class such as -1, or NaN. None means
        that all samples have one. They take part in the fit through `manifold` only.
    manifold : float, default=0.0
        Weight γ of a term that makes the scores of neighbouring samples alike, labelled or not:
        γ Σ w ‖f(x) - f(x')‖² over pairs of neighbours, which is γ tr(FᵀLF) with the scores F of all
        samples and the Laplacian L of the graph (half of it for ``loss="log"``). 0, which leaves
        out samples without a label, is a fit to the others.
    n_neighbors : int, default=7
        Number of nearest neighbours of each sample, in standardised inputs, for `manifold`. A pair
        weighs w = 1 if the two are neighbours of each other, and 1/2 if only one is of the other.
    warm_start : bool, default=False
        Whether the next call of `fit` continues where this one ends. It saves time and changes
        nothing: the result is, bit for bit, that of a new fit. Stages of the last fit are repeated
        without scoring their pools again as long as data and parameters are the same, apart from
        the size, `tol`, `n_iter_no_change` and those that do not affect the result; after any other
        change the fit begins anew. Without a seed in `random_state`, the first fit's is used again.
    random_state : int, RandomState or None, default=None
        Seed of the draws, and of the splits made for early stopping.
    n_jobs : int or None, default=None
        Number of threads; the result does not depend on it. None means the number that OpenMP would
        use, within cgroup quotas and the limits of joblib and threadpoolctl.
    verbose : int, default=0
        1 shows progress: a live line in terminals and notebooks, elsewhere one line every ten
        seconds. 2 prints one line per stage. All output goes to standard error.
    callback : callable or None, default=None
        Called as ``callback(info)`` with a `StageInfo` after every stage (with
        ``selection="random"``, once after the fit). If it returns True, the fit stops and the model
        built so far is kept.""",
    "class_weight": """class_weight : dict, "balanced" or None, default=None
        Weights of the classes, ``{class: weight}``; classes that are not in the dict have weight
        1. "balanced" gives every class the same total. An error on a sample counts by the weight of
        its class times its `sample_weight`. With several labels, a list of dicts ``{0: weight,
        1: weight}``, one for each label, or "balanced"; the weights of a sample's labels are
        multiplied.""",
    "one_pass": """One fit of the largest size contains every smaller network, and networks that
    differ in penalty, block size or selection share every pool of candidates. On the same splits,
    the results are those of `sklearn.model_selection.GridSearchCV` over `{estimator}`, in a
    fraction of the time.""",
    "search_units": """losses : sequence of str, default={default losses}
        Losses of the readout to try: "squared", "bounded", "log" (classifiers), "huber"
        (regressors). If there are outliers among the test samples too, R² does not compare them
        fairly; ``scoring="neg_mean_absolute_error"`` does.
    alphas : sequence of float, default={default alphas}
        Ridge penalties to try.
    n_hidden : sequence of int or "path", default="path"
        Numbers of hidden units to try; "path" means every number up to `max_hidden`, or with
        others than "squared" among the losses, numbers that grow by about 15 %.
    max_hidden : int or "auto", default="auto"
        Largest number of units on the path. "auto" is the default of the estimator itself.
    activations : sequence of str, default=("sigmoid",)
        Activations of the hidden units to try.""",
    "search_nodes": """losses : sequence of str, default={default losses}
        Losses of the readout to try: "squared", "bounded", "log" (classifiers), "huber"
        (regressors). If there are outliers among the test samples too, R² does not compare them
        fairly; ``scoring="neg_mean_absolute_error"`` does.
    alphas : sequence of float, default={default alphas}
        Ridge penalties to try.
    n_windows, n_feature_nodes : sequence of int, default=(10,)
        Numbers of windows, and of feature nodes in each, to try.
    n_enhancement : sequence of int or "path", default="path"
        Numbers of enhancement nodes to try; "path" means every number up to `max_enhancement`, or
        with others than "squared" among the losses, numbers that grow by about 15 %.
    max_enhancement : int, default=100
        Largest number of enhancement nodes on the path.
    activations : sequence of str, default=("tanh",)
        Activations of the enhancement nodes to try.
    feature_activation, sparse_features
        As in the estimator.""",
    "search": """selections : sequence of str, default={default selections}
        Selection methods to try.
    pool_sizes, block_sizes : sequence, default=("auto",)
        Numbers of candidates drawn and of units kept per stage to try; "random" ignores them.
    weight_inits : sequence, default={default weight_inits}
        Distributions of the hidden weights to try, each as `weight_init` of the estimator.
    weight_scales : sequence of float, default=(1.0,)
        Scales of the hidden weights to try; larger ones make steeper units.
    cv : int, splitter or iterable of (train, test), default=5
        How to split the samples. An integer is a number of folds, which are shuffled by
        `random_state` and, for classifiers, stratified; a splitter is used as it is.
    scoring : str, callable or None, default=None
        A scikit-learn scorer; None means accuracy or R². No scorer needs more fits than accuracy
        does.
    refit : bool, default=True
        Whether to fit the best network on all samples.
    prefer_default : bool, default=True
        Whether to take the network with the estimator's own defaults, if it is among the
        candidates, unless the gain of the best one over it exceeds the standard error of the gains
        on the splits. The highest of many scores is partly luck: without this caution, searches on
        small data lose to the defaults. False takes the best, as GridSearchCV does.
    max_memory : float or str, default="2GB"
        Limit, in bytes or as text such as "500MB", on the total memory of everything the search
        holds besides X and a constant of about 100 MB. With less memory, fewer networks are fitted
        at a time; the result is the same.
    score_fraction, fan_in, categorical_features, max_categories, standardize, extrapolate, \
fit_intercept, solver, tol
        As in the estimator. What columns become is learnt from the training samples of each split.
    random_state : int, RandomState or None, default=None
        Seed of the draws, which all networks and splits share, and of the shuffling of folds.
    n_jobs : int or None, default=None
        Number of threads; the result does not depend on it.
    verbose : int, default=0
        1 shows how many fits are done.""",
    "found": """best_params_ : dict
        The parameters chosen: those with the best mean score, or see `prefer_default`.
    best_score_ : float
        Their mean score.
    best_index_ : int
        Index of the best parameters in `cv_results_`.
    best_estimator_ : estimator
        The network with these parameters, fitted on all samples (with ``refit=True``).
    cv_results_ : dict of arrays
        Scores of every candidate on every split, with mean, standard deviation and rank, as in
        `sklearn.model_selection.GridSearchCV` but without times.
    n_splits_ : int
        Number of splits.
    scorer_ : callable
        The scorer that was used.
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
        Stage of every unit and its index in that stage's pool, in the order in which the units were
        chosen; see `draw_candidates`.
    objective_path_ : ndarray of shape (n_iter_ + 1,)
        What is minimised, before the first unit and after each stage: ‖AΩ − T‖² + alpha ‖Ω‖², or
        for ``loss="log"`` the sum of the log-losses plus alpha/2 ‖Ω‖². It never rises. The targets
        T of regressors are standardised, so that this path and those of squared errors have no
        unit. With ``loss="huber"`` it is what the docs say, with T in units of its median absolute
        deviation. "bounded" networks grow by the loss that they start from; the last value is that
        of the bounded loss.
    residual_path_ : ndarray of shape (n_iter_ + 1,)
        The same without the penalty.
    units_path_ : ndarray of shape (n_iter_ + 1,)
        Number of units at the same points. One-shot networks do not have this attribute or those
        that follow, up to `validation_path_`.
    best_iter_ : int
        Number of stages whose units were kept: `n_iter_`, unless `early_stopping` went back to an
        earlier stage.
    loo_path_ : ndarray of shape (n_iter_ + 1,)
        Exact leave-one-out squared error of the readout, summed over outputs and averaged over
        samples; for a regressor of one target, 1 minus this is the leave-one-out R². For
        other losses than "squared", an estimate of the mean leave-one-out loss.
    loo_accuracy_path_ : ndarray of shape (n_iter_ + 1,)
        Leave-one-out accuracy of the readout (classifiers of one label): exact, or estimated for
        other losses than "squared".
    unit_scores_ : ndarray of shape (n_hidden_,)
        Score of every unit when it was chosen, on all samples.
    pool_quantiles_ : ndarray of shape (n_iter_, 5)
        Minimum, quartiles and maximum of the scores in each stage's pool, to single precision.
    validation_path_ : ndarray of shape (n_iter_ + 1,)
        Accuracy or R² on the samples set aside, with ``early_stopping="validation"``. For
        regressors with another loss than "squared", R² is that of absolute errors:
        `sklearn.metrics.d2_absolute_error_score`.
    cv_sizes_ : ndarray of int
        Numbers of units (BLS: of enhancement nodes) that were tried, if a cross-validation chose
        the penalty or the size.
    cv_path_ : ndarray of the same shape
        Mean score of each: minus the log-loss with ``loss="log"``, otherwise accuracy or R², as in
        `validation_path_`.
    alpha_ : float
        The penalty, given or chosen.
    feature_importances_ : ndarray of shape (n_features_in_,)
        How much the scores depend on each input: half the mean squared change of the scores when
        the input is exchanged between training samples (at most 1,000) and all others stay, which
        is the part of their variance that the input has to do with, alone or with others. Summed
        over the outputs, as parts of one. All inputs that a column became are exchanged together:
        there is one importance for each column. It describes the network, not how well it predicts;
        for that, see `sklearn.inspection.permutation_importance`.
    network_ : FittedNetwork
        The fitted network, from which predictions, files and exports are made. The attributes above
        are read-only views of it.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if they had any.""",
    "classes": """classes_ : ndarray of shape (n_classes,)
        Class labels; with several labels per sample, their numbers from 0 on.
    temperature_ : float or ndarray of shape (n_labels,)
        Factor applied to the scores in `predict_proba`, fitted on exact leave-one-out scores; 1 for
        other losses than "squared".
    thresholds_ : ndarray of shape (n_labels,)
        Scores above which a label is predicted, with several labels: those where its probability,
        fitted on exact leave-one-out scores, is one half; 0 for other losses
        than "squared".""",
    "hidden": """hidden_weights_ : ndarray of shape (n_features_in_, n_terms)
        Weights of the hidden units, for raw inputs. A unit has one term, unless it is a leaf.
        Where columns with categories or missing values became several inputs, there is a row for
        each of ``network_.input_names``.
    hidden_biases_ : ndarray of shape (n_terms,)
        Biases of the hidden units.
    hidden_ends_ : ndarray of shape (n_hidden_,)
        End of each unit's terms, which are side by side; the unit is φ of the least of them.""",
    "maps": """feature_weights_, feature_biases_ : ndarray of shape (n_features_in_, n_features) \
and (n_features,)
        Weights and biases of the feature nodes, for raw inputs.
    feature_scales_, feature_offsets_ : ndarray of shape (n_features,)
        Factors and shifts that scale the feature nodes to [-1, 1] on the training data.
    hidden_weights_, hidden_biases_ : ndarray of shape (n_features, n_enhancement) and \
(n_enhancement,)
        Weights and biases of the enhancement nodes, for scaled feature nodes.""",
}


def _shown(default: Any) -> str:
    """A default as it is written in a docstring."""
    return repr(default) if isinstance(default, tuple) else json.dumps(default)


def _with_parameters(init: Any, more: dict[str, Any]) -> Any:
    """An ``__init__`` with more parameters, by name and default, which it stores."""

    @wraps(init)
    def longer(self: Any, **parameters: Any) -> None:
        own = {name: parameters.pop(name, default) for name, default in more.items()}
        init(self, **parameters)
        vars(self).update(own)

    known = signature(init)
    added = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default) for name, default in more.items()
    ]
    parameters = [*known.parameters.values(), *added]
    longer.__signature__ = known.replace(parameters=parameters)  # type: ignore[attr-defined]
    return longer


def documented(cls: Class) -> Class:
    """Fill in the ``{pieces}`` of a class docstring, and defaults that differ between classes.

    The class also gets an ``__init__`` under its own name, so that errors about arguments name the
    class that the user has called and not a base of it, and with the class's own `_defaults`.
    """
    _own_init(cls)
    if cls.__doc__:
        for name, text in _PIECES.items():
            cls.__doc__ = cls.__doc__.replace("{" + name + "}", text)
        searched = getattr(cls, "_estimator", cls)
        cls.__doc__ = cls.__doc__.replace("{estimator}", searched.__name__)
        for name, parameter in signature(cls).parameters.items():
            value = _shown(parameter.default)
            cls.__doc__ = cls.__doc__.replace("{default " + name + "}", value)
    return cls


def _own_init(cls: Any) -> None:
    inherited = cls.__init__
    own = FunctionType(
        inherited.__code__,
        inherited.__globals__,
        inherited.__name__,
        inherited.__defaults__,
        inherited.__closure__,
    )
    own.__kwdefaults__ = {**inherited.__kwdefaults__, **cls._defaults}
    own.__annotations__ = inherited.__annotations__
    own.__module__ = cls.__module__
    own.__qualname__ = f"{cls.__qualname__}.__init__"
    cls.__init__ = _with_parameters(own, cls._more_parameters) if cls._more_parameters else own
