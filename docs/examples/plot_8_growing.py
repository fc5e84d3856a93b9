"""
Growing a network, and cutting it back
======================================

How many units are worth their time? With ``warm_start=True`` you need not know before you begin.
"""

# %%
# We let a network grow until fifty more units no longer help on a validation set. Every call of
# ``fit`` continues the one before. It draws the earlier pools again but scores none of
# their candidates, since it remembers which of them were kept.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.model_selection import train_test_split

from stagenets import RVFLRegressor

X, y = make_friedman1(3000, n_features=10, noise=1.0, random_state=0)
X_train, X_val, y_train, y_val = train_test_split(X, y, random_state=0)

model = RVFLRegressor(n_hidden=50, warm_start=True, random_state=0)
sizes, scores = [], []
while True:
    model.fit(X_train, y_train)
    sizes.append(model.n_hidden_)
    scores.append(model.score(X_val, y_val))
    print(f"{sizes[-1]:3} units: R² {scores[-1]:.4f}")
    if len(scores) > 1 and scores[-1] < scores[-2] + 1e-3:
        break
    model.set_params(n_hidden=model.n_hidden + 50)

# %%
# The result is, bit for bit, that of one fit to the last size.

at_once = RVFLRegressor(n_hidden=sizes[-1], random_state=0).fit(X_train, y_train)
print(np.array_equal(at_once.predict(X_val), model.predict(X_val)))

# %%
# The other way round needs no data at all: a network contains the smaller ones that it once was.
# Here we keep the smallest that is within 0.002 of the best score.

path = np.array([np.mean((y_val - staged) ** 2) for staged in model.staged_predict(X_val)])
r2 = 1 - path / np.var(y_val)
enough = int(np.argmax(r2 > r2.max() - 0.002))
small = model.truncated(n_hidden=enough)
print(f"{small.n_hidden_} units: R² {small.score(X_val, y_val):.4f}")

fig, ax = plt.subplots()
ax.plot(model.units_path_, r2, label="each size on the way")
ax.plot(sizes, scores, "o", label="where fit was called")
ax.plot(enough, r2[enough], "k*", markersize=12, label="kept by truncated()")
ax.set(xlabel="hidden units", ylabel="R² on the validation set", ylim=(0.8, None))
ax.legend()
plt.show()
