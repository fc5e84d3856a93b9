"""
Several labels
==============

Samples that have any number of labels at once, and one network for all of them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split

from stagenets import RVFLClassifier

properties = {
    "even": (0, 2, 4, 6, 8),
    "prime": (2, 3, 5, 7),
    "has a loop": (0, 6, 8, 9),
    "at least 5": (5, 6, 7, 8, 9),
}
X, digit = load_digits(return_X_y=True)
Y = np.column_stack([np.isin(digit, digits) for digits in properties.values()]).astype(int)
X_train, X_test, Y_train, Y_test = train_test_split(X, Y, random_state=0)

# %%
# Targets are a matrix of zeros and ones with a column for each label. All labels share the hidden
# units, and every label has a probability of its own. The score is the share of samples with all
# labels right.

model = RVFLClassifier(random_state=0).fit(X_train, Y_train)
print(f"all labels right: {model.score(X_test, Y_test):.3f}")
for name, wanted, found in zip(properties, Y_test.T, model.predict(X_test).T, strict=True):
    print(f"{name}: F1 {f1_score(wanted, found):.3f}")

# %%
# With the squared error, scores are not probabilities yet. Each label has a threshold and a
# temperature, fitted on the exact leave-one-out scores of the training samples. The lines are the
# thresholds.

squared = RVFLClassifier(loss="squared", random_state=0).fit(X_train, Y_train)
scores = squared.decision_function(X_test) + squared.thresholds_
figure, axes = plt.subplots(1, 4, figsize=(11, 2.8), layout="constrained", sharey=True)
bins = np.linspace(-0.5, 1.5, 41)
for ax, name, values, wanted, threshold in zip(
    axes, properties, scores.T, Y_test.T, squared.thresholds_, strict=True
):
    ax.hist(values[wanted == 0], bins, alpha=0.6, label="without the label")
    ax.hist(values[wanted == 1], bins, alpha=0.6, label="with it")
    ax.axvline(threshold, color="black", linewidth=1)
    ax.set(title=name, xlabel="score")
axes[0].set_ylabel("test samples")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
