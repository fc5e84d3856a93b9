"""Fit time of RVFLClassifier against what users would pick instead, at equal units.

A library that cannot be imported is skipped with the reason. Predict times, memory, model sizes and
accuracies stand beside each other in the table of `python bench/libraries.py`.
"""

import numpy as np
import pytest

from libraries import LIBRARIES, fit
from study_data import load

OURS, *RIVALS = LIBRARIES


@pytest.mark.parametrize("library", RIVALS, ids=lambda library: library.name)
def test_fit_time_against_library(race, report, long, library):
    reason = library.missing()
    if reason:
        pytest.skip(reason)
    size, units = (20_000, 200) if long else (4_000, 100)
    data = load("classification", size=size)
    rivals = {
        "residuum": lambda: fit(OURS, data, units),
        library.name: lambda: fit(library, data, units),
    }
    what = f"classification, n = {len(data.X)}, h = {units}"
    race(what, rivals, 5 if long else 3, warm_up=False)
    for each in (OURS, library):
        accuracy = np.mean(np.ravel(fit(each, data, units).predict(data.X_test)) == data.y_test)
        report(what, each.name, f"{accuracy:.3f} test accuracy")
