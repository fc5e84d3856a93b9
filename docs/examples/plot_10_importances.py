"""
What a network looks at
=======================

Every fitted network knows how much its scores depend on each input.
"""

# %%
# Friedman's first problem has five inputs that matter, the third through a parabola.
# We add five that do not, and one of two values only.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.inspection import permutation_importance

from stagenets import ImportancesDisplay, RVFLRegressor

X, y = make_friedman1(1500, n_features=10, noise=1.0, random_state=0)
X = np.column_stack([X, np.random.default_rng(0).integers(0, 2, size=len(X))])
model = RVFLRegressor(n_hidden=150, random_state=0).fit(X[:1000], y[:1000])

display = ImportancesDisplay.from_estimator(model)

# %%
# An importance is the part of the variance of the predictions that an input has to do with, alone
# or together with others: half the mean squared change when the input is exchanged between training
# samples. It needs no targets and comes with the fit. Permutation importance asks another question,
# how much *better* the predictions are for knowing the input, and needs samples set aside. Where
# the network is good, both agree.

by_score = permutation_importance(model, X[1000:], y[1000:], n_repeats=5, random_state=0)
fig, ax = plt.subplots()
ax.plot(model.feature_importances_, by_score.importances_mean, "o")
for number, place in enumerate(
    zip(model.feature_importances_, by_score.importances_mean, strict=True)
):
    if number < 5:
        ax.annotate(
            f"x{number}",
            place,
            xytext=(-16 if number in (1, 2) else 6, 4),
            textcoords="offset points",
        )
ax.set(xlabel="feature_importances_", ylabel="R² lost when the input is shuffled")
plt.show()
