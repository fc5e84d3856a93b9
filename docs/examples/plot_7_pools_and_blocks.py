"""
Pools and blocks
================

How the pool size (M) and the block size (k) affect the fit and the time it takes.
"""

# %%
# 5,000 noisy samples of Friedman's first function, networks of 120 units. The times were measured
# on the machine that built this page.

from time import perf_counter

import matplotlib.pyplot as plt
from sklearn.datasets import make_friedman1

from stagenets import RVFLRegressor

X, y = make_friedman1(10_000, noise=1.0, random_state=0)
X_train, X_test, y_train, y_test = X[::2], X[1::2], y[::2], y[1::2]


def measured(**params):
    model = RVFLRegressor(n_hidden=120, random_state=0, **params)
    started = perf_counter()
    model.fit(X_train, y_train)
    return perf_counter() - started, model.score(X_test, y_test)


pools, blocks = [1, 3, 10, 30, 100, 300], [1, 2, 5, 10, 20, 40]
by_pool = [measured(pool_size=pool_size) for pool_size in pools]
by_block = {
    selection: [measured(block_size=block_size, selection=selection) for block_size in blocks]
    for selection in ("residual", "joint")
}

# %%
# Large pools trade time for accuracy; large blocks trade some of it back. With
# ``selection="joint"`` the units of a block are chosen one after another, which preserves more of
# the accuracy.


def draw(ax, sizes, results, letter, **style):
    seconds, scores = zip(*results, strict=True)
    ax.plot(seconds, scores, "o-", markersize=4, **style)
    for size, second, score in zip(sizes, seconds, scores, strict=True):
        ax.annotate(
            f"{letter}={size}", (second, score), (4, -10), textcoords="offset points", fontsize=8
        )


figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", sharey=True)
draw(axes[0], pools, by_pool, "M")
axes[0].set(title="pools of M, one unit per stage", ylabel="R² on test data")
for selection, results in by_block.items():
    draw(axes[1], blocks, results, "k", label=f'selection="{selection}"')
axes[1].set(title="pools of 100, blocks of k")
axes[1].legend()
for ax in axes:
    ax.set(xlabel="seconds to fit")
    ax.set_xlim(left=0)
    ax.grid(alpha=0.3)
