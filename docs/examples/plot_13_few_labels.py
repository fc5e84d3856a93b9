"""
Few labels
==========

Labels cost time, inputs often do not. With ``manifold`` the network gives neighbouring samples
similar scores, whether they have labels or not.
"""

# %%
# Two moons with three labels each; ``-1`` marks samples without one. Fitted to these labels alone,
# the network draws a border half-way between them. With the term for neighbours, the labels spread
# along the moons. The penalty is small in both, so that borders may bend.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay

from stagenets import RVFLClassifier

X, moon = make_moons(300, noise=0.08, random_state=1)
rng = np.random.default_rng(0)
some = np.concatenate([rng.permutation(np.flatnonzero(moon == c))[:3] for c in (0, 1)])
y = np.full(len(X), -1)
y[some] = moon[some]

fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
for ax, manifold in zip(axes, (0.0, 1.0), strict=True):
    model = RVFLClassifier(
        n_hidden=100, alpha=0.03, unlabeled=-1, manifold=manifold, random_state=0
    ).fit(X, y)
    DecisionBoundaryDisplay.from_estimator(
        model,
        X,
        response_method="predict_proba",
        class_of_interest=1,
        cmap="RdBu",
        alpha=0.6,
        ax=ax,
    )
    ax.scatter(*X[y == -1].T, s=8, color="0.35", label="no label")
    for c, color in enumerate(("darkred", "darkblue")):
        ax.scatter(*X[y == c].T, s=70, color=color, edgecolor="white", label=f"label {c}")
    ax.set_title(f"manifold={manifold:g}: {model.score(X, moon):.1%} right")
axes[0].legend(loc="lower left")
plt.show()

# %%
# With few labels in each class, how strong the term should be depends on how well neighbours agree;
# :doc:`/benchmarks/few_labels` shows data on which it gains little.
