"""
Guided against one-shot
=======================

The same network three times: with hidden units drawn at random, chosen by their score, and chosen
jointly. The data are 2,000 noisy samples of Friedman's first function, half of them for testing.
"""

# %%
# A guided fit contains every smaller network, so one fit gives the whole curve. A one-shot network
# must be fitted separately for every size.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split

from stagenets import RVFLRegressor, UnitsDisplay

X, y = make_friedman1(2000, noise=1.0, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
largest, seeds = 150, range(5)
sizes = np.arange(10, largest + 1, 10)


def guided_curve(selection, seed):
    model = RVFLRegressor(n_hidden=largest, selection=selection, random_state=seed)
    staged = list(model.fit(X_train, y_train).staged_predict(X_test))
    return [r2_score(y_test, staged[size]) for size in sizes]


def one_shot_curve(seed):
    model = RVFLRegressor(selection="random", random_state=seed)
    return [
        model.set_params(n_hidden=int(size)).fit(X_train, y_train).score(X_test, y_test)
        for size in sizes
    ]


curves = {
    "chosen jointly": [guided_curve("joint", seed) for seed in seeds],
    "chosen by score": [guided_curve("residual", seed) for seed in seeds],
    "one-shot": [one_shot_curve(seed) for seed in seeds],
}

# %%
# Lines are means over five seeds; bands range from the worst seed to the best.

figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
for label, curve in curves.items():
    (line,) = ax.plot(sizes, np.mean(curve, axis=0), label=label)
    ax.fill_between(sizes, np.min(curve, axis=0), np.max(curve, axis=0), alpha=0.2)
ax.set(xlabel="hidden units", ylabel="R² on test data", title="same size, same penalty")
ax.grid(alpha=0.3)
ax.legend()

# %%
# The benefit of choosing, stage by stage: the score of each chosen unit against the pool it was
# chosen from. A unit drawn at random would typically have the median score.

model = RVFLRegressor(n_hidden=largest, random_state=0).fit(X_train, y_train)
display = UnitsDisplay.from_estimator(model)
