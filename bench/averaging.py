"""What averaging several networks gains, and what it costs: why there is no `n_estimators`.

    python bench/averaging.py --data DIR

Guided RVFL networks at their defaults, of different seeds; five stratified, shuffled folds of every
data set with fewer than 1,000 rows. Prints mean accuracy and log-loss of one network, of averages,
and of one network with as many units as the average of two has.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from stagenets import RVFLClassifier
from study_data import add_data_option

MOST_ROWS = 1000
NETWORKS = (1, 2, 4)


def scores(probabilities: NDArray[np.float64], y: NDArray[np.int64], classes: int) -> list[float]:
    right = float(np.mean(probabilities.argmax(axis=1) == y))
    return [100 * right, float(log_loss(y, probabilities, labels=range(classes)))]


def of_set(X: NDArray[np.float64], y: NDArray[np.int64]) -> NDArray[np.float64]:
    """Accuracy and log-loss of each kind (rows), as means over the folds."""
    found = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        present, labels = np.unique(y[train], return_inverse=True)
        classes = int(y.max()) + 1

        def probabilities(model: RVFLClassifier, present=present, test=test, classes=classes):
            table = np.full((len(test), classes), 1e-15)
            table[:, present] = model.predict_proba(X[test])
            return table

        networks = [RVFLClassifier(random_state=s).fit(X[train], labels) for s in range(4)]
        tables = [probabilities(network) for network in networks]
        larger = RVFLClassifier(n_hidden=2 * networks[0].n_hidden_, random_state=0)
        kinds = [np.mean(tables[:count], axis=0) for count in NETWORKS]
        kinds.append(probabilities(larger.fit(X[train], labels)))
        found.append([scores(kind, y[test], classes) for kind in kinds])
    return np.mean(found, axis=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data_option(parser)
    folder: Path | None = parser.parse_args().data
    if folder is None:
        raise SystemExit("averaging needs the UCI data: --data DIR or STAGENETS_DATA")
    found = []
    for path in sorted(folder.glob("*.npz")):
        with np.load(path, allow_pickle=False) as file:
            X, y = (
                np.asarray(file["X"], dtype=np.float64),
                np.unique(file["y"], return_inverse=True)[1],
            )
        if len(y) < MOST_ROWS and np.bincount(y).min() > 1:
            found.append(of_set(X, y))
    table = np.array(found)
    print(f"{len(table)} data sets\n")
    print("| | accuracy | log-loss | more accurate than one on |\n|---|---|---|---|")
    names = [f"{count} networks" for count in NETWORKS] + ["one, twice as large"]
    for kind, name in enumerate(names):
        wins, losses = ((s * (table[:, kind, 0] - table[:, 0, 0]) > 0).sum() for s in (1, -1))
        accuracy, loss = table[:, kind].mean(axis=0)
        print(f"| {name} | {accuracy:.2f} | {loss:.3f} | {wins} sets, less on {losses} |")


if __name__ == "__main__":
    main()
