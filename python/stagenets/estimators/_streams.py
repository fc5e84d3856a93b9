"""Fits to data that come in batches."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from stagenets.fitting._parameters import check_count, check_fraction, contiguous, seed_of
from stagenets.fitting._stream_growth import check_growth
from stagenets.fitting._streaming import (
    RowSample,
    Stream,
    begin_stream,
    can_stream,
    check_stream,
    passes_over,
    with_batch,
)
from stagenets.fitting._unchanged import unchanged_on_failure

if TYPE_CHECKING:
    from typing_extensions import Self

    from stagenets import _core
    from stagenets.fitting._fitted_network import FittedNetwork
    from stagenets.fitting._input_encoding import InputEncoding
    from stagenets.fitting._rows import Rows
    from stagenets.fitting._stopping import Labels


class StreamFits:
    """What `partial_fit` of classifiers and regressors share, and fits in two passes.

    Subclasses know targets: what is common to those of all batches (`_kinds_of`), and those of one
    batch (`_targets_of`).
    """

    random_state: Any
    network_: FittedNetwork
    _stream: Stream | None

    if TYPE_CHECKING:

        def _checked_batch(
            self, X: Any, y: Any, *, first: bool, categorical: Collection[int] | None = None
        ) -> tuple[Rows, Any]:
            """A batch of samples, validated; its categorical columns, if they are known."""

        def _kinds_of(self, y: Any, known: Any) -> Any:
            """What is known of the targets of all batches, after one more."""

        def _targets_of(self, y: Any, known: Any) -> tuple[_core.Targets, Labels | None, Any]:
            """Targets of a batch, its labels, and the meaning of the outputs."""

        def _encoding(self, rows: Rows, weights: None) -> InputEncoding: ...

        def _fitted_network(self, *samples: Any, **meaning: Any) -> FittedNetwork: ...

    def _begun(self, rows: Rows, y: Any, known: Any) -> tuple[FittedNetwork, Stream]:
        """A network that is fitted to these rows, and the stream that begins with them."""
        targets, labels, meaning = self._targets_of(y, known)
        encoding = self._encoding(rows, None)
        X = contiguous(encoding.inputs(rows))
        network = self._fitted_network(X, targets, labels, None, None, encoding=encoding, **meaning)
        return network, begin_stream(cast(Any, self), network, X, targets)

    def _take_batch(self, rows: Rows, y: Any, known: Any, forgetting: Any, grow: Any) -> None:
        """Fit the network to a first batch, or its readout to one more."""
        model: Any = self
        kept, units = check_fraction("forgetting", forgetting), check_growth(model, grow)
        if self._stream is None:
            self.network_, self._stream = self._begun(rows, y, known)
        else:
            targets, _, _ = self._targets_of(y, known)
            X = contiguous(self.network_.inputs(rows))
            self.network_, self._stream = with_batch(
                model, self.network_, self._stream, X, targets, forgetting=kept, grow=units
            )

    @available_if(can_stream)  # type: ignore[untyped-decorator]
    def fit_batches(self, batches: Any, *, sample_size: int = 10_000) -> Self:
        """Fit to data that do not fit into memory, in two passes over batches of them.

        The first pass draws a sample of all rows, on which the units are chosen as `fit` would. The
        second adds up what the readout needs of every row, so that it becomes that of a fit of
        these units to all samples. A batch, the sample and matrices of the size of the design
        (inputs and units, squared) are in memory at a time, and nothing else. Attributes that
        describe the fit, and the scaling of inputs and targets, are those of the sample.
        `partial_fit` goes on from there. Requires ``loss="squared"``.

        Parameters
        ----------
        batches : iterable of (X, y), or callable that returns one
            The batches, which must be the same each time: a list, an object whose ``__iter__``
            begins anew, or a function. A generator can be gone through only once; give the function
            that makes it.
        sample_size : int, default=10_000
            Number of samples to choose the units on; all of them, if there are no more.

        Returns
        -------
        self

        Examples
        --------
        >>> import numpy as np
        >>> from stagenets import RVFLRegressor
        >>> def batches():
        ...     for number in range(20):
        ...         X = np.random.default_rng(number).uniform(-1, 1, size=(100, 2))
        ...         yield X, X[:, 0] * X[:, 1]
        >>> model = RVFLRegressor(n_hidden=20, random_state=0)
        >>> model = model.fit_batches(batches, sample_size=500)
        >>> model.n_hidden_
        20
        """
        begin, model = passes_over(batches), cast(Any, self)
        with unchanged_on_failure(self):
            check_stream(model)
            size = check_count("sample_size", sample_size)
            sample, known = RowSample(size, seed_of(self.random_state)), None
            categorical: Collection[int] | None = None
            for X, y in begin():
                first = sample.rows == 0
                rows, y = self._checked_batch(X, y, first=first, categorical=categorical)
                known, categorical = self._kinds_of(y, known), rows.labels.keys()
                _check_dimensions(y, y if first else sample.arrays[1])
                sample.add(rows, y)
            if sample.rows == 0:
                raise ValueError("batches must have at least one batch; got none")
            rows, y = sample.arrays
            network, stream = self._begun(rows, y, known)
            stream = replace(stream, gram=np.zeros_like(stream.gram))
            seen = 0
            for X, y in begin():
                rows, y = self._checked_batch(X, y, first=False, categorical=categorical)
                _check_dimensions(y, sample.arrays[1])
                targets, _, _ = self._targets_of(y, known)
                inputs = contiguous(network.inputs(rows))
                network, stream = with_batch(model, network, stream, inputs, targets)
                seen += len(rows)
            if seen != sample.rows:
                raise ValueError(
                    f"batches must be the same in both passes; got {sample.rows} samples, then "
                    f"{seen}"
                )
            self.network_, self._stream = network, stream
        return self


def _check_dimensions(y: NDArray[Any], first: NDArray[Any]) -> None:
    if y.ndim != first.ndim:
        raise ValueError(
            f"y must have {first.ndim} dimensions, like that of the first batch; got shape "
            f"{y.shape}"
        )
