"""
Searching size and penalty in one pass
======================================

The CV estimators evaluate sizes and penalties together: on each fold, a pool of random
units is drawn once for all penalties, and each fit contains all smaller networks.
"""

# %%
# Eight penalties, sizes up to 150 in steps of about 15 %, five folds:

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from stagenets import RVFLClassifierCV, SearchDisplay, StagewiseDisplay

X_train, X_test, y_train, y_test = train_test_split(*load_digits(return_X_y=True), random_state=0)
search = RVFLClassifierCV(max_hidden=150, random_state=0).fit(X_train, y_train)
print(len(search.cv_results_["params"]), "networks compared in", search.n_splits_, "folds")
print(search.best_params_)
print(f"cross-validated {search.best_score_:.3f}, on test data {search.score(X_test, y_test):.3f}")

# %%
# ``cv_results_`` has the same form as in scikit-learn's searches; `SearchDisplay` plots both kinds.

display = SearchDisplay.from_estimator(search)

# %%
# How the best network grew:

display = StagewiseDisplay.from_estimator(search, X_train, y_train, X_val=X_test, y_val=y_test)
