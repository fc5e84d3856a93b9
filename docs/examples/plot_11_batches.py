"""
Following a stream
==================

Data that arrive in batches, or do not fit into memory: ``partial_fit`` keeps sums over the samples,
not the samples.
"""

# %%
# A stream whose rule changes half-way. Every batch is predicted before it is learnt from.
# The first one is larger, as the hidden units are chosen on it.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import SGDRegressor
from sklearn.metrics import r2_score

from stagenets import RVFLRegressor

rng = np.random.default_rng(0)


def batch(number, size=100):
    X = rng.uniform(-1, 1, size=(size, 4))
    sign = 1 if number < 30 else -1
    y = np.sin(3 * X[:, 0]) + sign * X[:, 1] * X[:, 2] + 0.5 * X[:, 3]
    return X, y + 0.1 * rng.normal(size=size)


models = {
    "all samples count": RVFLRegressor(n_hidden=80, random_state=0),
    "forgetting=0.8": RVFLRegressor(n_hidden=80, random_state=0),
    "forgetting=0.8, grow=2": RVFLRegressor(n_hidden=80, random_state=0),
    "SGDRegressor": SGDRegressor(random_state=0),
}
X, y = batch(0, size=500)
for model in models.values():
    model.partial_fit(X, y)

scores = {name: [] for name in models}
seen_X, seen_y = [X], [y]
for number in range(1, 60):
    X, y = batch(number)
    seen_X.append(X)
    seen_y.append(y)
    for name, model in models.items():
        scores[name].append(r2_score(y, model.predict(X)))
        options = {"forgetting": 0.8} if name.startswith("forgetting") else {}
        if name.endswith("grow=2"):  # two more units with every batch
            options["grow"] = 2
        model.partial_fit(X, y, **options)

fig, ax = plt.subplots()
for name, path in scores.items():
    ax.plot(range(1, 60), path, label=name)
ax.set(xlabel="batch", ylabel="R² before learning from the batch", ylim=(0, 1))
ax.legend(loc="lower left")
plt.show()

# %%
# The readout is that of one fit of these units to all samples, whatever the batches.

X, y = np.vstack(seen_X), np.concatenate(seen_y)
model = models["all samples count"]
first = seen_X[0]
design = np.hstack(
    [np.ones((len(X), 1)), (X - first.mean(axis=0)) / first.std(axis=0), model.transform(X)]
)
target = (y - seen_y[0].mean()) / seen_y[0].std()
readout = np.linalg.solve(
    design.T @ design + model.alpha_ * np.eye(design.shape[1]), design.T @ target
)
expected = seen_y[0].mean() + seen_y[0].std() * (design @ readout)
print(f"largest difference: {np.abs(model.predict(X) - expected).max():.1e}")

# %%
# If the batches can be read twice, as from files, ``fit_batches`` chooses the units on a sample of
# all rows instead of the first batch. Memory holds the sample and one batch at a time.


def from_disk():
    yield from zip(seen_X, seen_y, strict=True)


model = RVFLRegressor(n_hidden=80, random_state=0).fit_batches(from_disk, sample_size=1000)
whole = RVFLRegressor(n_hidden=80, random_state=0).fit(X, y)
print(f"R² in two passes {model.score(X, y):.3f}, of a fit to all rows {whole.score(X, y):.3f}")
