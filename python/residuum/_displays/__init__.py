"""Pictures of fitted models, in the manner of scikit-learn's displays."""

from residuum._displays._search import SearchDisplay
from residuum._displays._stagewise import StagewiseDisplay
from residuum._displays._units import UnitsDisplay

__all__ = ["SearchDisplay", "StagewiseDisplay", "UnitsDisplay"]
