"""What fits on partitions refuse, and what they say."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import problems
import stagenets

da = pytest.importorskip("dask.array")
import stagenets.dask  # noqa: E402
from dask_parts import in_parts  # noqa: E402
from stagenets.dask import _supported  # noqa: E402


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"early_stopping": True},
            "early_stopping must be False, 'loo' or 'validation' with Dask; got True",
        ),
        ({"solver": "dual"}, "solver must be 'auto' or 'primal' with Dask"),
        (
            {"categorical_features": [0]},
            "categorical_features must be 'from_dtype' or None with Dask",
        ),
        ({"unlabeled": -1}, "unlabeled must be None with Dask; got -1"),
        ({"manifold": 1.0}, "manifold must be 0.* with Dask; got 1.0"),
        ({"warm_start": True}, "warm_start must be False with Dask; got True"),
        ({"intervals": "cv"}, "intervals must be None with Dask"),
        ({"weight_init": "new"}, "weight_init must be .* with Dask; got 'new'"),
        ({"store": "disk"}, "store must be .*; got 'disk'"),
        ({"n_hidden": -1}, "n_hidden must be"),
        ({"pool_size": 0}, "pool_size must be"),
    ],
)
def test_refused_parameters(params, message):
    X, y = problems.data_for(stagenets.RVFLClassifier, n=50)
    model = stagenets.dask.RVFLClassifier(**params)
    with pytest.raises(ValueError, match=message):
        model.fit(*in_parts(X, y, (50,)))
    assert not hasattr(model, "n_features_in_")


def test_parameters_unknown_here_are_refused_unless_they_are_defaults():
    class Later(stagenets.RVFLClassifier):
        def __init__(self, *, n_hidden=5, novelty="none"):
            super().__init__(n_hidden=n_hidden)
            self.novelty = novelty

    _supported.check_supported(Later(n_hidden=7))
    with pytest.raises(ValueError, match="novelty must be 'none' with Dask; got 'some'"):
        _supported.check_supported(Later(novelty="some"))


def test_refused_weights():
    X, y = problems.data_for(stagenets.RVFLRegressor, n=50)
    model = stagenets.dask.RVFLRegressor(n_hidden=3)
    parts = in_parts(X, y, (20, 30))
    weights = da.ones(50, chunks=((20, 30),))
    with pytest.raises(ValueError, match="sample_weight must be numbers >= 0; got -1"):
        model.fit(*parts, sample_weight=-weights)
    with pytest.raises(ValueError, match="sample_weight must be > 0 for at least one sample"):
        model.fit(*parts, sample_weight=0 * weights)
    with pytest.raises(TypeError, match="sample_weight must be a Dask array or data frame"):
        model.fit(*parts, sample_weight=np.ones(50))
    with pytest.raises(ValueError, match="X and sample_weight must have as many rows"):
        model.fit(*parts, sample_weight=weights[20:])


def test_refused_data():
    X, y = problems.data_for(stagenets.RVFLClassifier, n=50)
    model = stagenets.dask.RVFLClassifier()
    parts, labels = in_parts(X, y, (20, 30))
    with pytest.raises(TypeError, match="X must be a Dask array or data frame; got ndarray"):
        model.fit(X, labels)
    with pytest.raises(TypeError, match="y must be a Dask array or data frame; got ndarray"):
        model.fit(parts, y)
    with pytest.raises(ValueError, match="as many rows; got 50 and 30"):
        model.fit(parts, labels[20:])
    with pytest.raises(ValueError, match="at least two classes; got one class, 0"):
        model.fit(parts, da.zeros_like(labels))
    with pytest.raises(ValueError, match="X contains NaN"):
        model.fit(da.where(parts > 0, parts, np.nan), labels)
    with pytest.raises(ValueError, match="at least one row"):
        model.fit(parts[parts[:, 0] > 1e9], labels[parts[:, 0] > 1e9])
    with pytest.raises(ValueError, match=r"one with .* rows of X"):
        model.fit(parts[parts[:, 0] > np.median(X[:, 0])], labels[parts[:, 0] > -1e9])
    with pytest.raises(ValueError, match="2 dimensions; got 1"):
        model.fit(labels, labels)
    with pytest.raises(NotFittedError):
        model.predict(parts)


def test_refused_categories():
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    numbers = pd.Series(np.arange(50.0))
    kinds = pd.Categorical(np.arange(50) % 3)
    frame = pd.DataFrame({"number": numbers, "kind": kinds, "word": np.array(["a", "b"] * 25)})
    parts, y = dd.from_pandas(frame, npartitions=2), dd.from_pandas(numbers, npartitions=2)
    model = stagenets.dask.RVFLRegressor(n_hidden=3)
    with pytest.raises(ValueError, match=r"no categorical columns with Dask; got \['kind', 'word'"):
        model.fit(parts, y)
    model.set_params(categorical_features=None).fit(parts[["number", "kind"]], y)
    assert model.n_features_in_ == 2
