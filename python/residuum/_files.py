"""Model files: safetensors with a versioned JSON header. Nothing in them is ever executed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from reprlib import repr as short
from typing import Any

from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from residuum._model_state import Arrays, ModelState, model_of, state_of
from residuum._network import StagewiseNetwork

FORMAT = "residuum"
FORMAT_VERSION = 1

# Entry v takes a state that version v wrote to what version v + 1 would have written.
UPGRADES: dict[int, Callable[[ModelState], ModelState]] = {}


class ModelFileError(ValueError):
    """A file that does not hold a whole, consistent model of this package.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import residuum
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.safetensors"
    ...     _ = path.write_bytes(b"something else")
    ...     try:
    ...         residuum.load(path)
    ...     except residuum.ModelFileError:
    ...         print("not a model")
    not a model
    """


def save_model(
    model: StagewiseNetwork,
    path: str | os.PathLike[str],
    *,
    table: dict[str, Any] | None = None,
) -> None:
    """Write a fitted estimator to a file; see `StagewiseNetwork.save`.

    `table` says how the columns of a table become the estimator's inputs; see `TableEncoder`.
    """
    state = state_of(model)
    if table is not None:
        state.header["table"] = table
    text = json.dumps(state.header, allow_nan=False)
    metadata = {
        "format": FORMAT,
        "format_version": str(FORMAT_VERSION),
        "model": text,
        "sha256": _digest(text, state.arrays),
    }
    data = save(state.arrays, metadata)
    with open(os.fspath(path), "wb") as file:
        file.write(data)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that an estimator's `save` or ``residuum fit`` wrote, now or in the past.

    The file is data alone: loading it runs nothing that it brings along. Sizes, types and a
    checksum are compared before the model is made.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    estimator
        A fitted estimator of the class that was saved, with the same predictions to the bit. A
        file of the command line gives a `sklearn.pipeline.Pipeline` that takes DataFrames with the
        columns of the training table.

    Raises
    ------
    ModelFileError
        If the file is damaged, cut short, inconsistent, of another kind or from a later version.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import residuum
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = residuum.RVFLClassifier(random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "iris.safetensors"
    ...     model.save(path)
    ...     same = residuum.load(path)
    >>> bool((same.predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    path = os.fspath(path)
    metadata, arrays = _read(path)
    try:
        version = _version(metadata)
        text = metadata.get("model", "")
        if metadata.get("sha256") != _digest(text, arrays):
            raise ValueError("its checksum does not match its content")
        state = ModelState(_parsed(text), arrays)
        for past in range(version, FORMAT_VERSION):
            state = UPGRADES[past](state)
        model = model_of(state)
        if "table" not in state.header:
            return model
        from residuum._table_encoder import TableEncoder
        from residuum._table_model import table_model

        return table_model(TableEncoder.from_plain(state.header["table"]), model)
    except ValueError as error:
        raise ModelFileError(f"{path!r} is not a usable model file: {error}") from error


def _read(path: str) -> tuple[dict[str, str], Arrays]:
    with open(path, "rb"):
        pass  # Python's own errors if there is no such file, or it may not be read
    try:
        # Every size in the header is held against the size of the file before anything is read.
        with safe_open(path, framework="numpy") as file:
            return file.metadata() or {}, {name: file.get_tensor(name) for name in file.keys()}
    except (SafetensorError, AttributeError, TypeError, ValueError) as error:
        raise ModelFileError(f"{path!r} is not a safetensors file: {error}") from error


def _version(metadata: dict[str, str]) -> int:
    if metadata.get("format") != FORMAT:
        raise ValueError(f"its format must be {FORMAT!r}; got {metadata.get('format')!r}")
    known = {str(version): version for version in range(1, FORMAT_VERSION + 1)}
    version = metadata.get("format_version")
    if version not in known:
        raise ValueError(
            f"its format_version must be one of {', '.join(known)}; got {version!r} "
            "(a later version of residuum may read it)"
        )
    return known[version]


def _digest(text: str, arrays: Arrays) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array: NDArray[Any] = arrays[name]
        digest.update(f"{name} {array.dtype.name} {array.shape}".encode())
        digest.update(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes())
    return digest.hexdigest()


def _parsed(text: str) -> dict[str, Any]:
    def refuse(word: str) -> None:
        raise ValueError(f"its header must hold finite numbers; got {word}")

    try:
        header = json.loads(text, parse_constant=refuse)
    except RecursionError as error:
        raise ValueError("its header is nested too deeply") from error
    if not isinstance(header, dict):
        raise ValueError(f"its header must be a table; got {short(header)}")
    return header
