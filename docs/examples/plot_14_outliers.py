"""
Outliers and wrong labels
=========================

Losses that a few bad samples cannot dominate.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from stagenets import ELMClassifier, ELMRegressor

rng = np.random.default_rng(0)

# %%
# A sine with noise, of which a tenth of the targets are far off, all to the same side. Squared
# errors make the curve lean towards them. With ``loss="huber"`` each of them pulls no more than a
# sample at the edge of the noise does, and with ``loss="bounded"`` not at all.

x = np.sort(rng.uniform(0, 10, 200))
y = np.sin(x) + 0.1 * rng.normal(size=200)
wild = rng.random(200) < 0.1
y[wild] += rng.uniform(3, 8, wild.sum())

grid = np.linspace(0, 10, 400)
figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
ax.plot(x, y, ".", color="grey", markersize=4)
for loss in ("squared", "huber", "bounded"):
    model = ELMRegressor(n_hidden=30, loss=loss, random_state=0).fit(x[:, None], y)
    curve = model.predict(grid[:, None])
    error = np.sqrt(np.mean((curve - np.sin(grid)) ** 2))
    ax.plot(grid, curve, label=f"{loss}: off by {error:.3f}")
ax.plot(grid, np.sin(grid), "k:", label="without noise")
ax.set(ylim=(-1.6, 4), xlabel="x", ylabel="y")
ax.legend(fontsize="small")

# %%
# In classification, ``loss="bounded"`` limits what a wrong label can cost. Here three labels in ten
# are drawn by lot.

X, true = make_moons(400, noise=0.2, random_state=0)
y = np.where(rng.random(400) < 0.3, rng.integers(0, 2, 400), true)
X_test, y_test = make_moons(5000, noise=0.2, random_state=1)
sides = np.stack(np.meshgrid(np.linspace(-2, 3, 150), np.linspace(-1.5, 2, 150)), axis=-1)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
for ax, loss in zip(axes, ("log", "bounded"), strict=True):
    model = ELMClassifier(n_hidden=80, alpha=0.1, loss=loss, random_state=0).fit(X, y)
    chances = model.predict_proba(sides.reshape(-1, 2))[:, 1].reshape(150, 150)
    ax.contourf(sides[..., 0], sides[..., 1], chances, np.linspace(0, 1, 11), cmap="coolwarm")
    ax.contour(sides[..., 0], sides[..., 1], chances, [0.5], colors="black", linewidths=1)
    ax.scatter(*X.T, c=np.where(y, "darkred", "darkblue"), s=6)
    ax.set_title(f"{loss}: {model.score(X_test, y_test):.3f} of clean test labels right")
