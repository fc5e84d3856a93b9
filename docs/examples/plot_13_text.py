"""
Text
====

Documents as sparse vectors of words, in a pipeline, and the words that a network looks at.

The documents are the functions of Python's own standard library, and the question is which package
a function is from.
"""

import ast
import sysconfig
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from stagenets import RVFLClassifier

packages = ["asyncio", "email", "logging", "multiprocessing", "unittest", "xml"]


def functions_of(package):
    """The source of every function of a package, three lines or longer."""
    for path in sorted((Path(sysconfig.get_path("stdlib")) / package).rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        lines = source.splitlines()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef) and node.end_lineno >= node.lineno + 2:
                yield "\n".join(lines[node.lineno - 1 : node.end_lineno])


package_of = {function: name for name in packages for function in functions_of(name)}
texts, labels = list(package_of), list(package_of.values())
train, test, y_train, y_test = train_test_split(
    texts, labels, test_size=0.3, stratify=labels, random_state=0
)

# %%
# The weights of words have the same units, so they get a common scale. They stay sparse throughout.

models = {
    "RVFLClassifier": RVFLClassifier(n_hidden=50, standardize="common", random_state=0),
    "LogisticRegression": LogisticRegression(max_iter=1000),
    "LinearSVC": LinearSVC(),
}
pipelines, accuracies = {}, {}
for name, model in models.items():
    # The names of the packages would give the answer away.
    vectors = TfidfVectorizer(sublinear_tf=True, min_df=2, stop_words=packages)
    pipelines[name] = make_pipeline(vectors, model).fit(train, y_train)
    accuracies[name] = pipelines[name].score(test, y_test)
words = pipelines["RVFLClassifier"][0].get_feature_names_out()
print(f"{len(texts)} functions, {len(words)} words")
print({name: f"{accuracy:.3f}" for name, accuracy in accuracies.items()})

# %%
# Importances belong to words, and tell what the network goes by.

importances = pipelines["RVFLClassifier"][1].feature_importances_
first = np.argsort(importances)[::-1][:20]
figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 4.2), layout="constrained", width_ratios=[1, 1.5]
)
left.barh(list(accuracies)[::-1], list(accuracies.values())[::-1], color=["C7", "C7", "C0"])
left.set(xlim=(min(accuracies.values()) - 0.05, 1), xlabel="test accuracy")
right.barh(words[first][::-1], importances[first][::-1])
right.set(title="words that the network looks at", xlabel="importance")
plt.show()
