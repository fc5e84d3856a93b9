"""
A curve, unit by unit
=====================

Regression on one variable, to see what the stages do.
"""

import matplotlib.pyplot as plt
import numpy as np

from stagenets import ELMRegressor

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 1, 150))


def wanted(x):
    return np.sin(20 * x**2) * x


y = wanted(x) + 0.1 * rng.normal(size=x.size)

# %%
# ``weight_scale`` sets how steep the units are: a curve that oscillates needs steep units. The
# penalty is small because there are few samples and only one variable.

model = ELMRegressor(n_hidden=24, alpha=1e-3, weight_scale=10.0, random_state=0)
model.fit(x[:, None], y)
fine = np.linspace(0, 1, 500)
staged = list(model.staged_predict(fine[:, None]))

figure, axes = plt.subplots(2, 2, figsize=(8, 5.6), layout="constrained", sharex=True, sharey=True)
for ax, units in zip(axes.flat, (2, 6, 12, 24), strict=True):
    ax.plot(x, y, ".", color="grey", markersize=4, alpha=0.6)
    ax.plot(fine, wanted(fine), "--", color="C2", linewidth=1, label="wanted")
    ax.plot(fine, staged[units], color="C3", label=f"{units} units")
    ax.grid(alpha=0.3)
    ax.legend(loc="upper left")

# %%
# A one-shot network of the same size:

one_shot = ELMRegressor(
    n_hidden=24, alpha=1e-3, weight_scale=10.0, selection="random", random_state=0
).fit(x[:, None], y)
for name, fitted in (("chosen", model), ("one-shot", one_shot)):
    error = np.abs(fitted.predict(fine[:, None]) - wanted(fine))
    print(f"{name:9} mean error {error.mean():.3f}, largest {error.max():.3f}")
