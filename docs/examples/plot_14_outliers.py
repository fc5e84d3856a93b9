"""
Outliers and wrong labels
=========================

A few targets that are grossly wrong draw a network to them, and so do wrong labels. Two losses
resist: ``loss="huber"`` limits the pull of a sample, ``loss="bounded"`` what it can cost.
"""

# %%
# A curve of which a tenth of the samples has been spoilt, all of them upwards.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1, make_moons

from stagenets import RVFLClassifier, RVFLRegressor

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 3, size=250))
clean = np.sin(3 * x) + 0.1 * rng.normal(size=len(x))
wild = rng.random(len(x)) < 0.1
y = np.where(wild, clean + rng.uniform(3, 15, size=len(x)), clean)

fig, (whole, closer) = plt.subplots(1, 2, figsize=(10, 4), sharex=True)
for ax in (whole, closer):
    ax.plot(x[~wild], y[~wild], ".", color="0.6", ms=4)
    ax.plot(x[wild], y[wild], "x", color="0.2", ms=5, label="outliers")
    ax.set(xlabel="input", ylabel="target")
for loss, style in (("squared", "-"), ("huber", "-"), ("bounded", "--")):
    model = RVFLRegressor(loss=loss, random_state=0).fit(x[:, None], y)
    for ax in (whole, closer):
        ax.plot(x, model.predict(x[:, None]), style, label=f'loss="{loss}"')
closer.set(ylim=(-1.6, 2.6), title="the same, closer")
whole.legend()
fig.tight_layout()
plt.show()

# %%
# Nothing has to be set. What counts as large follows from the errors themselves, in the same
# minimisation, and outliers have no say in the choice of units. Friedman's function, with more and
# more outliers to either side:

X_test, y_test = make_friedman1(2000, random_state=1)
print("outliers  squared  huber  bounded   (R² on clean samples)")
for share in (0, 0.05, 0.1, 0.2, 0.3):
    X, y = make_friedman1(500, noise=1.0, random_state=0)
    wild = rng.random(len(y)) < share
    y = np.where(wild, y + rng.choice([-1, 1], len(y)) * rng.uniform(25, 100, len(y)), y)
    scores = [
        RVFLRegressor(loss=loss, random_state=0).fit(X, y).score(X_test, y_test)
        for loss in ("squared", "huber", "bounded")
    ]
    print("{:8.0%} {:8.2f} {:6.2f} {:8.2f}".format(share, *scores))

# %%
# Classifiers take labels at their word with the log-loss. Here a third of them is wrong.

X, y = make_moons(600, noise=0.2, random_state=0)
wrong = rng.random(len(y)) < 0.33
labels = np.where(wrong, 1 - y, y)
X_test, y_test = make_moons(5000, noise=0.2, random_state=1)
across, up = np.meshgrid(np.linspace(-1.7, 2.7, 200), np.linspace(-1.2, 1.7, 200))

fig, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
for ax, loss in zip(axes, ("log", "bounded"), strict=True):
    model = RVFLClassifier(loss=loss, random_state=0).fit(X, labels)
    proba = model.predict_proba(np.column_stack([across.ravel(), up.ravel()]))[:, 1]
    shades = ax.contourf(across, up, proba.reshape(across.shape), 20, cmap="RdBu_r", alpha=0.6)
    ax.contour(across, up, proba.reshape(across.shape), [0.5], colors="k")
    for label, color in ((0, "C0"), (1, "C3")):
        ax.plot(*X[labels == label].T, ".", color=color, ms=3)
    ax.set(title=f'loss="{loss}": {model.score(X_test, y_test):.1%} of clean samples')
fig.tight_layout()
plt.show()
