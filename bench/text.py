"""Text: accuracy beside linear models, and the memory of a fit of 20,000 × 50,000 sparse inputs.

    python bench/text.py accuracy
    python bench/text.py memory --loss log

The documents are the functions of Python's standard library, and their classes the packages they
are from: there is nothing to download, and other versions of Python give slightly other figures.
`memory` makes random rows with 0.1 % of their entries and prints the time and the peak resident
memory of a fit with the defaults, in a process that does nothing else.
"""

from __future__ import annotations

import argparse
import ast
import resource
import sys
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from stagenets import ELMClassifier, RVFLClassifier

PACKAGES = ("asyncio", "email", "http", "logging", "multiprocessing", "unittest", "urllib", "xml")


def functions_of(package: str) -> Iterator[str]:
    """The source of every function of a package of the standard library, three lines or longer."""
    for path in sorted((Path(sysconfig.get_path("stdlib")) / package).rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        lines = source.splitlines()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) >= node.lineno + 2:
                yield "\n".join(lines[node.lineno - 1 : node.end_lineno])


def documents() -> tuple[list[str], np.ndarray]:
    """All functions, without those that occur twice, and their packages."""
    found: dict[str, str] = {}
    for package in PACKAGES:
        for function in functions_of(package):
            found.setdefault(function, package)
    return list(found), np.array(list(found.values()))


def accuracy(splits: int, units: int) -> None:
    """Mean test accuracy and fit time of pipelines with the same vectors."""
    texts, labels = documents()
    # The names of the packages would give the answer away.
    vectors = TfidfVectorizer(sublinear_tf=True, min_df=2, stop_words=list(PACKAGES))
    common = {"standardize": "common", "random_state": 0}
    models = {
        "RVFLClassifier": RVFLClassifier(random_state=0),
        "  common scale": RVFLClassifier(**common),
        f"  with {units} units": RVFLClassifier(n_hidden=units, **common),
        "  with 1 unit": RVFLClassifier(n_hidden=1, **common),
        "  not scaled": RVFLClassifier(standardize=False, random_state=0),
        "ELMClassifier, common scale": ELMClassifier(**common),
        "LogisticRegression": LogisticRegression(max_iter=1000),
        "LogisticRegression, C=10": LogisticRegression(C=10, max_iter=1000),
        "LinearSVC": LinearSVC(),
    }
    folds = StratifiedShuffleSplit(splits, test_size=0.25, random_state=0)
    for name, model in models.items():
        scores, seconds = [], []
        for train, test in folds.split(texts, labels):
            pipeline = make_pipeline(clone(vectors), clone(model))
            start = time.perf_counter()
            pipeline.fit([texts[i] for i in train], labels[train])
            seconds.append(time.perf_counter() - start)
            scores.append(pipeline.score([texts[i] for i in test], labels[test]))
        print(
            f"{name:28} {np.mean(scores):.4f} ± {np.std(scores):.4f}   {np.median(seconds):.1f} s"
        )
    inputs = clone(vectors).fit_transform(texts)
    density = inputs.nnz / np.prod(inputs.shape)
    print(
        f"{inputs.shape[0]} documents of {len(PACKAGES)} classes, {inputs.shape[1]} words, "
        f"{density:.2%} of them in a document"
    )


def memory(rows: int, columns: int, density: float, loss: str, units: int | None) -> None:
    """Time and peak memory of one fit and its predictions."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((rows, columns), density=density, format="csr", rng=rng)
    y = (X @ rng.normal(size=columns) > 0).astype(int)
    size = {} if units is None else {"n_hidden": units}
    start, processor = time.perf_counter(), time.process_time()
    model = RVFLClassifier(loss=loss, random_state=0, **size).fit(X, y)
    seconds, used = time.perf_counter() - start, time.process_time() - processor
    score = model.score(X, y)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak *= 1 if sys.platform == "darwin" else 1024
    print(
        f"{rows} × {columns}, {X.nnz} entries, loss={loss!r}: {model.n_hidden_} units in "
        f"{seconds:.0f} s ({used:.0f} s of processors), peak {peak / 2**30:.2f} GiB, "
        f"X dense would be {8 * rows * columns / 2**30:.1f} GiB, training accuracy {score:.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    tasks = parser.add_subparsers(dest="task", required=True)
    accurate = tasks.add_parser("accuracy")
    accurate.add_argument("--splits", type=int, default=5)
    accurate.add_argument("--units", type=int, default=300, help="beside the default number")
    large = tasks.add_parser("memory")
    large.add_argument("--rows", type=int, default=20_000)
    large.add_argument("--columns", type=int, default=50_000)
    large.add_argument("--density", type=float, default=1e-3)
    large.add_argument("--loss", default="log")
    large.add_argument("--units", type=int, help="instead of the default number")
    arguments = vars(parser.parse_args())
    {"accuracy": accuracy, "memory": memory}[arguments.pop("task")](**arguments)


if __name__ == "__main__":
    main()
