"""
Few labels
==========

Labels cost time, inputs often do not. With ``manifold`` the network gives neighbouring samples
similar scores, whether they have labels or not.
"""

# %%
# Two moons with three labels each; ``-1`` marks samples without one. Fitted to these labels alone,
# the network draws a border half-way between them. With the term for neighbours, the labels spread
# along the moons.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, make_moons
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.model_selection import train_test_split

from stagenets import RVFLClassifier

X, moon = make_moons(300, noise=0.08, random_state=1)
rng = np.random.default_rng(0)
some = np.concatenate([rng.permutation(np.flatnonzero(moon == c))[:3] for c in (0, 1)])
y = np.full(len(X), -1)
y[some] = moon[some]

fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
for ax, manifold in zip(axes, (0.0, 0.3), strict=True):
    model = RVFLClassifier(n_hidden=100, unlabeled=-1, manifold=manifold, random_state=0).fit(X, y)
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
# On handwritten digits, where the gain shrinks as labels become many:

X, digit = load_digits(return_X_y=True)
X_train, X_test, digit, y_test = train_test_split(X, digit, test_size=0.4, random_state=0)
counts, gains = (2, 5, 10, 20, 50), {0.0: [], 0.1: []}
for count in counts:
    order = np.random.default_rng(count).permutation(len(digit))
    y = np.full(len(digit), -1)
    for c in range(10):
        chosen = order[digit[order] == c][:count]
        y[chosen] = c
    for manifold, path in gains.items():
        model = RVFLClassifier(n_hidden=100, unlabeled=-1, manifold=manifold, random_state=0)
        path.append(model.fit(X_train, y).score(X_test, y_test))

fig, ax = plt.subplots()
for manifold, path in gains.items():
    ax.semilogx(counts, path, marker="o", label=f"manifold={manifold:g}")
ax.set(xlabel="labels a class", ylabel="test accuracy", xticks=counts, xticklabels=counts)
ax.minorticks_off()
ax.legend()
plt.show()
