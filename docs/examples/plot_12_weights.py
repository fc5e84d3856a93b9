"""
Rare classes and weights
========================

Samples that stand for many others, and classes that matter more than their frequency suggests.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import balanced_accuracy_score, recall_score

from stagenets import ELMClassifier

rng = np.random.default_rng(0)


def samples(n):
    """Two classes, one of them rare and inside the other."""
    X = rng.normal(size=(n, 2))
    rare = (np.hypot(X[:, 0] - 1, X[:, 1] - 0.5) < 0.5) & (rng.random(n) < 0.4)
    return X, rare.astype(int)


X, y = samples(1500)
X_test, y_test = samples(20000)
print(f"{y.mean():.1%} of the samples are of the rare class")

# %%
# An error costs the same on every sample, so a network that never says "rare" is hard to beat.
# ``class_weight="balanced"`` makes both classes count the same.

models = {
    "all samples count the same": ELMClassifier(n_hidden=40, random_state=0),
    "both classes count the same": ELMClassifier(
        n_hidden=40, class_weight="balanced", random_state=0
    ),
}
grid = np.stack(np.meshgrid(*[np.linspace(-3, 3, 150)] * 2), axis=-1)
figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained", sharex=True, sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    model.fit(X, y)
    predicted = model.predict(X_test)
    balanced = balanced_accuracy_score(y_test, predicted)
    found = recall_score(y_test, predicted)
    print(f"{name}: {found:.0%} of the rare class found, balanced accuracy {balanced:.3f}")
    rare = model.predict_proba(grid.reshape(-1, 2))[:, 1].reshape(150, 150)
    shades = ax.contourf(grid[..., 0], grid[..., 1], rare, np.linspace(0, 1, 11), cmap="Oranges")
    ax.contour(grid[..., 0], grid[..., 1], rare, [0.5], colors="black", linewidths=1)
    ax.plot(*X[y == 0].T, ".", color="grey", markersize=2)
    ax.plot(*X[y == 1].T, ".", color="C0", markersize=4)
    ax.set(title=name, xlim=(-3, 3), ylim=(-3, 3))
figure.colorbar(shades, ax=axes, label="probability of the rare class")

# %%
# ``sample_weight`` says how many equal samples a sample stands for. A table of 1,500 samples with
# the number of times that each was seen gives the same network as the long table:

times = rng.integers(0, 4, len(X))
short = ELMClassifier(n_hidden=40, random_state=0).fit(X, y, sample_weight=times)
long = ELMClassifier(n_hidden=40, random_state=0).fit(
    X.repeat(times, axis=0), y.repeat(times, axis=0)
)
difference = np.abs(short.predict_proba(X_test) - long.predict_proba(X_test)).max()
print(f"largest difference of a probability: {difference:.0e}")
