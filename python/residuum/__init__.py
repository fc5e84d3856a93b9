"""Randomized neural networks whose hidden units are chosen, not just drawn.

Classifiers and regressors for three architectures (RVFL, ELM, BLS), built stage by stage: draw a
pool of random units, keep the ones that lower the ridge objective most, refit the readout in closed
form.
"""

from residuum._bls import BLSClassifier, BLSRegressor
from residuum._cv import (
    BLSClassifierCV,
    BLSRegressorCV,
    ELMClassifierCV,
    ELMRegressorCV,
    RVFLClassifierCV,
    RVFLRegressorCV,
)
from residuum._displays import SearchDisplay, StagewiseDisplay, UnitsDisplay
from residuum._draws import draw_candidates
from residuum._elm import ELMClassifier, ELMRegressor
from residuum._files import ModelFileError, load
from residuum._numpy_source import to_numpy_source
from residuum._onnx import to_onnx
from residuum._onnx_converters import register_onnx_converters
from residuum._presets import LARGE_BLOCKS
from residuum._progress import StageInfo
from residuum._rvfl import RVFLClassifier, RVFLRegressor
from residuum._stagewise import StagewiseFit, fit_stagewise

__version__ = "0.1.0"

__all__ = [
    "LARGE_BLOCKS",
    "BLSClassifier",
    "BLSClassifierCV",
    "BLSRegressor",
    "BLSRegressorCV",
    "ELMClassifier",
    "ELMClassifierCV",
    "ELMRegressor",
    "ELMRegressorCV",
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
