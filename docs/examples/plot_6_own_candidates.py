"""
Your own candidates
===================

The loop does not care what a unit is. `fit_stagewise` asks you for a pool of columns at every
stage, keeps the best and refits. Here the columns are Gaussian bumps in the plane.
"""

import matplotlib.pyplot as plt
import numpy as np

from stagenets import fit_stagewise

side = 60
grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, side)] * 2), axis=-1).reshape(-1, 2)
radius = np.hypot(*grid.T)
wanted = np.where(np.abs(radius - 0.6) < 0.12, 1.0, 0.0)  # a ring

# %%
# A pool depends on the stage number alone, so any bump can be recreated from its stage and its
# index in the pool.


def bumps(stage, pool_size):
    rng = np.random.default_rng(stage)
    return rng.uniform(-1, 1, (pool_size, 2)), rng.uniform(0.05, 0.4, pool_size)


def candidates(stage, pool_size):
    centres, widths = bumps(stage, pool_size)
    squares = ((grid[:, None, :] - centres) ** 2).sum(axis=2)
    return np.exp(-squares / (2 * widths**2))


options = {"n_hidden": 40, "pool_size": 50, "alpha": 1e-3}
chosen = fit_stagewise(candidates, wanted, **options)
drawn = fit_stagewise(candidates, wanted, selection="random", **options)
print(f"objective: {chosen.objective_path[-1]:.0f} chosen, {drawn.objective_path[-1]:.0f} drawn")

# %%
# Forty bumps, chosen and drawn. The circles show where they lie and how wide they are.

places = [[pool[index] for pool in bumps(stage, 50)] for stage, index in chosen.selected]
everywhere = list(zip(*bumps(0, 40), strict=True))
figure, axes = plt.subplots(1, 3, figsize=(9.6, 3.5), layout="constrained")
axes[0].set_title("wanted")
axes[0].imshow(wanted.reshape(side, side), extent=(-1, 1, -1, 1), origin="lower", vmin=0, vmax=1)
for ax, fit, circles, title in (
    (axes[1], chosen, places, "40 chosen"),
    (axes[2], drawn, everywhere, "40 drawn"),
):
    fitted = fit.readout_intercept + fit.hidden @ fit.readout[0]
    ax.imshow(fitted.reshape(side, side), extent=(-1, 1, -1, 1), origin="lower", vmin=0, vmax=1)
    for centre, width in circles:
        ax.add_patch(plt.Circle(centre, width, fill=False, color="white", alpha=0.4))
    ax.set_title(title)
for ax in axes:
    ax.set(xticks=[], yticks=[])
