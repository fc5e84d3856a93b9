"""
All sizes from one fit, and when to stop
========================================

Every stage of a fit is a model in its own right, so the question "how many units?" can be answered
after the fit, or by the fit itself.
"""

# %%
# A small, noisy data set, on which too many chosen units fit the noise.

from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from stagenets import RVFLRegressor, StagewiseDisplay

X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

model = RVFLRegressor(n_hidden=60, random_state=0).fit(X_train, y_train)
model

# %%
# This is what a notebook shows: scikit-learn's diagram, then the sizes of the network and how its
# objective fell. In more detail:

display = StagewiseDisplay.from_estimator(model, X_train, y_train, X_val=X_test, y_val=y_test)

# %%
# The objective falls with every unit, as it must. The test score peaks much earlier. We may not
# choose the size by the test score, but the fit can find one by itself: from the leave-one-out
# errors of the readout, from samples set aside, or by cross-validating all sizes.

for how in (False, "loo", "validation", "cv"):
    model = RVFLRegressor(n_hidden=60, early_stopping=how, random_state=0).fit(X_train, y_train)
    print(f"{how!s:>10}: {model.n_hidden_:2} units, R² {model.score(X_test, y_test):.3f}")

# %%
# With ``"validation"``, the display shows the scores on the samples that were set aside.

model = RVFLRegressor(n_hidden=60, early_stopping="validation", random_state=0)
display = StagewiseDisplay.from_estimator(model.fit(X_train, y_train), X_train, y_train)
