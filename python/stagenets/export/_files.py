"""Model files: safetensors with a versioned JSON header. Nothing in them is ever executed."""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from reprlib import repr as short
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from stagenets.estimators._network import StagewiseNetwork
from stagenets.export._atomic import pieces, write_whole
from stagenets.export._model_state import Arrays, ModelState, model_of, state_of
from stagenets.export._upgrades import UPGRADES

FORMAT = "stagenets"
# The second is the name of the package when version 1 of the format was written.
_FORMATS = (FORMAT, "residuum")
FORMAT_VERSION = 3


class ModelFileError(ValueError):
    """Raised for a file that does not hold a complete, consistent model of this package.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import stagenets
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.safetensors"
    ...     _ = path.write_bytes(b"something else")
    ...     try:
    ...         stagenets.load(path)
    ...     except stagenets.ModelFileError:
    ...         print("not a model")
    not a model
    """


def save_model(
    model: StagewiseNetwork,
    path: str | os.PathLike[str],
    *,
    staged: bool = True,
    table: dict[str, Any] | None = None,
    notes: dict[str, Any] | None = None,
) -> None:
    """Write a fitted estimator to a file, all of it or nothing; see `StagewiseNetwork.save`.

    Without `staged`, the readouts of the stages are left out, which are most of a file.
    `table` says what the columns of a table hold that become the estimator's; see `ColumnTypes`.
    `notes` are anything else to keep with the model, as JSON-compatible data; see `notes_in`.
    """
    state = state_of(model, staged=staged)
    if table is not None:
        state.header["table"] = table
    if notes is not None:
        state.header["notes"] = notes
    text = json.dumps(state.header, allow_nan=False)
    metadata = {
        "format": FORMAT,
        "format_version": str(FORMAT_VERSION),
        "model": text,
        "sha256": _digest(text, state.arrays),
    }
    write_whole(path, _with_sorted_header(save(state.arrays, metadata)))


def _with_sorted_header(data: bytes) -> bytes:
    """The same safetensors file with its header in order, which safetensors leaves to chance."""
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # the arrays begin at a multiple of eight bytes
    return b"".join((struct.pack("<Q", len(text)), text, memoryview(data)[8 + length :]))


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model written by an estimator's `save` or by ``stagenets fit``, in any version so far.

    The file contains only data, and loading it executes none of it. Sizes, types and a checksum are
    verified before the model is created.

    Parameters
    ----------
    path : str or path-like
        The file to read.

    Returns
    -------
    estimator
        A fitted estimator of the class that was saved, with bit-identical predictions. A file
        written by the command line gives a `sklearn.pipeline.Pipeline` that accepts DataFrames with
        the columns of the training table.

    Raises
    ------
    ModelFileError
        If the file is damaged, truncated, inconsistent, of another kind or from a later version.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import stagenets
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = stagenets.RVFLClassifier(random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "iris.safetensors"
    ...     model.save(path)
    ...     same = stagenets.load(path)
    >>> bool((same.predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    path = os.fspath(path)
    with _named(path):
        state = _state_in(path)
        model = model_of(state)
        if "table" not in state.header:
            return model
        from stagenets.cli._column_types import ColumnTypes
        from stagenets.cli._table_model import table_model

        return table_model(ColumnTypes.from_plain(state.header["table"]), model)


def notes_in(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The notes of a model file, unchecked; empty if it has none."""
    path = os.fspath(path)
    with _named(path):
        notes = _state_in(path).header.get("notes", {})
        if not isinstance(notes, dict):
            raise ValueError(f"its notes must be a table; got {short(notes)}")
        return notes


@contextmanager
def _named(path: str) -> Iterator[None]:
    """Name the file in errors about its content."""
    try:
        yield
    except ModelFileError:
        raise
    except ValueError as error:
        raise ModelFileError(f"{path!r} is not a usable model file: {error}") from error


def _state_in(path: str) -> ModelState:
    """The content of a file, in the current version of the format."""
    metadata, arrays = _read(path)
    version = _version(metadata)
    text = metadata.get("model", "")
    if metadata.get("sha256") != _digest(text, arrays):
        raise ValueError("its checksum does not match its content")
    state = ModelState(_parsed(text), arrays)
    for past in range(version, FORMAT_VERSION):
        state = UPGRADES[past](state)
    return state


def _read(path: str) -> tuple[dict[str, str], Arrays]:
    with open(path, "rb"):
        pass  # raises Python's own errors if the file is missing or cannot be read
    try:
        # Every size in the header is checked against the size of the file before anything is read.
        with safe_open(path, framework="numpy") as file:
            return file.metadata() or {}, {name: file.get_tensor(name) for name in file.keys()}
    except (SafetensorError, AttributeError, TypeError, ValueError) as error:
        raise ModelFileError(f"{path!r} is not a safetensors file: {error}") from error


def _version(metadata: dict[str, str]) -> int:
    if metadata.get("format") not in _FORMATS:
        raise ValueError(f"its format must be {FORMAT!r}; got {metadata.get('format')!r}")
    known = {str(version): version for version in range(1, FORMAT_VERSION + 1)}
    version = metadata.get("format_version")
    if version not in known:
        raise ValueError(
            f"its format_version must be one of {', '.join(known)}; got {version!r} "
            "(a later version of stagenets may be able to read it)"
        )
    return known[version]


def _digest(text: str, arrays: Arrays) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array: NDArray[Any] = arrays[name]
        digest.update(f"{name} {array.dtype.name} {array.shape}".encode())
        plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        for piece in pieces(plain.reshape(-1).view(np.uint8).data):
            digest.update(piece)
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
