"""Fit time of RVFLClassifier against that of alternatives with the same number of units.

A library that cannot be imported is skipped, with the reason. `python bench/libraries.py` also
compares predict times, memory, model sizes and accuracies.
"""

import pytest

from libraries import LIBRARIES, accuracy, fit
from study_data import load

OURS, *RIVALS = LIBRARIES


@pytest.mark.parametrize("library", RIVALS, ids=lambda library: library.name)
def test_fit_time_against_library(race, report, long, library):
    reason = library.missing()
    if reason:
        pytest.skip(reason)
    size, units = (20_000, 200) if long else (3_000, 100)
    data = load("classification", size=size)
    models = {}

    def fitted(each):
        models[each.name] = fit(each, data, units)

    rivals = {each.name: lambda each=each: fitted(each) for each in (OURS, library)}
    what = f"classification, n = {len(data.X)}, h = {units}"
    most = {} if long else {library.name: 2}
    race(what, rivals, 5 if long else 3, most=most, warm_up=False)
    for name, model in models.items():
        report(what, name, f"{accuracy(model, data):.3f} test accuracy")
