"""The Python half of the fourth architecture; see threshold_units.cpp."""

from stagenets import _core
from stagenets.estimators._affine import AffineNetwork, automatic_units
from stagenets.estimators._classifier import NetworkClassifier
from stagenets.estimators._regressor import NetworkRegressor
from stagenets.export._model_state import ESTIMATORS
from stagenets.fitting._parameters import check_size


class ThresholdNetwork(AffineNetwork):
    """Inputs, and sigmoids of one input each with the threshold at a training value of it."""

    _links_inputs = True

    def _architecture(self, shape):
        automatic = automatic_units(shape[0])
        return _core.ThresholdArchitecture(
            n_hidden=check_size("n_hidden", self.n_hidden, automatic=automatic)
        )


class ThresholdClassifier(NetworkClassifier, ThresholdNetwork):
    """A classifier of threshold units."""


class ThresholdRegressor(NetworkRegressor, ThresholdNetwork):
    """A regressor of threshold units."""


ESTIMATORS |= {cls.__name__: cls for cls in (ThresholdClassifier, ThresholdRegressor)}
