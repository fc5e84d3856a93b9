"""Randomized neural networks whose hidden units are chosen, not just drawn.

Classifiers and regressors for three architectures (RVFL, ELM, BLS), built stage by stage: draw a
pool of random units, keep the ones that lower the ridge objective most, refit the readout in closed
form.
"""

from stagenets.estimators._bls import BLSClassifier, BLSRegressor
from stagenets.estimators._elm import ELMClassifier, ELMRegressor
from stagenets.estimators._rvfl import RVFLClassifier, RVFLRegressor
from stagenets.export._files import ModelFileError, load
from stagenets.export._numpy_source import to_numpy_source
from stagenets.export._onnx import to_onnx
from stagenets.export._onnx_converters import register_onnx_converters
from stagenets.fitting._draws import draw_candidates
from stagenets.fitting._progress import StageInfo
from stagenets.fitting._stagewise import StagewiseFit, fit_stagewise
from stagenets.inspection._importances_display import ImportancesDisplay
from stagenets.inspection._search_display import SearchDisplay
from stagenets.inspection._stagewise_display import StagewiseDisplay
from stagenets.inspection._units_display import UnitsDisplay
from stagenets.search._estimators import (
    BLSClassifierCV,
    BLSRegressorCV,
    ELMClassifierCV,
    ELMRegressorCV,
    RVFLClassifierCV,
    RVFLRegressorCV,
)

__version__ = "0.1.0"

__all__ = [
    "BLSClassifier",
    "BLSClassifierCV",
    "BLSRegressor",
    "BLSRegressorCV",
    "ELMClassifier",
    "ELMClassifierCV",
    "ELMRegressor",
    "ELMRegressorCV",
    "ImportancesDisplay",
    "ModelFileError",
    "RVFLClassifier",
    "RVFLClassifierCV",
    "RVFLRegressor",
    "RVFLRegressorCV",
    "SearchDisplay",
    "StageInfo",
    "StagewiseDisplay",
    "StagewiseFit",
    "UnitsDisplay",
    "draw_candidates",
    "fit_stagewise",
    "load",
    "register_onnx_converters",
    "to_numpy_source",
    "to_onnx",
]
