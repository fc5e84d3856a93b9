"""
How sure is a prediction?
=========================

Regressors give intervals that hold the target with the probability you ask for, and classifiers
give sets of classes. Both come from errors on samples that the network did not see.
"""

# %%
# A curve with noise that is not normal, and few samples on the right.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs, make_friedman1

from stagenets import RVFLClassifier, RVFLRegressor

rng = np.random.default_rng(0)


def sample(n):
    x = 3 * rng.beta(1, 2, size=n)
    return x[:, None], np.sin(3 * x) + 0.15 * rng.laplace(size=n)


X, y = sample(200)
model = RVFLRegressor(n_hidden=40, intervals="cv", random_state=0).fit(X, y)

grid = np.linspace(0, X.max(), 300)[:, None]
prediction, std = model.predict(grid, return_std=True)
fig, ax = plt.subplots()
for coverage, color in ((0.95, "0.88"), (0.8, "0.75")):
    low, high = model.predict_interval(grid, coverage).T
    ax.fill_between(grid[:, 0], low, high, color=color, label=f"{coverage:.0%} interval")
ax.plot(grid, prediction, label="prediction")
ax.plot(grid, np.column_stack([prediction - std, prediction + std]), "C0:", lw=1)
ax.plot(X, y, "k.", ms=3)
ax.set(xlabel="input", ylabel="target")
ax.legend()
plt.show()

# %%
# Dotted: one standard deviation of the readout's posterior. How often do intervals hold new
# samples? ``"loo"`` costs almost nothing, but its errors are those of units that were chosen with
# the sample in view: with many units for the samples, its intervals are too narrow.

X, y = make_friedman1(20_150, noise=1.0, random_state=0)
X, X_new, y, y_new = X[:150], X[150:], y[:150], y[150:]
for kind in ("loo", "cv"):
    model = RVFLRegressor(n_hidden=80, intervals=kind, random_state=0).fit(X, y)
    low, high = model.predict_interval(X_new, 0.9).T
    print(f"{kind:>4}: {np.mean((low <= y_new) & (y_new <= high)):.1%} of new samples (of 90 %)")

# %%
# Sets of classes: one class where the network is sure, two or three where classes overlap.

X, y = make_blobs(450, centers=[[0, 0], [3, 0], [1.5, 2.5]], cluster_std=1.1, random_state=0)
classifier = RVFLClassifier(n_hidden=30, intervals="cv", random_state=0).fit(X, y)
across, up = np.meshgrid(np.linspace(-3, 6, 200), np.linspace(-3, 6, 200))
sets = classifier.predict_set(np.column_stack([across.ravel(), up.ravel()]), coverage=0.95)
sizes = sets.sum(axis=1).reshape(across.shape)

fig, ax = plt.subplots()
shades = ax.contourf(across, up, sizes, levels=[0.5, 1.5, 2.5, 3.5], cmap="Greys", alpha=0.6)
fig.colorbar(shades, ticks=[1, 2, 3], label="classes in the 95 % set")
for label in classifier.classes_:
    ax.plot(*X[y == label].T, ".", ms=4)
ax.set(xlabel="first input", ylabel="second input", ylim=(-3, 6))
plt.show()
