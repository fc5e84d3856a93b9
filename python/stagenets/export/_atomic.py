"""Files that are replaced as a whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator

_PIECE = 1 << 24


def pieces(data: bytes | memoryview) -> Iterator[memoryview]:
    """The data in parts of which each takes some milliseconds: between two, Ctrl-C is noticed."""
    view = memoryview(data)
    for first in range(0, len(view), _PIECE):
        yield view[first : first + _PIECE]


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file such that at any moment, whatever happens, the old or the new one is there.

    The data goes to a new file beside the old one, which takes its place, and its mode, once all of
    it is on the disk. A process that is killed on the way may leave that file, `.stagenets-*.tmp`,
    behind. Pipes and devices are written to as they are: there is nothing to keep.
    """
    given = os.fsdecode(path)
    target = os.path.realpath(given)  # a link stays; what it points to is replaced
    mode = _mode_of(target)
    if mode is not None and not stat.S_ISREG(mode):
        with open(given, "wb") as file:
            file.writelines(pieces(data))
        return
    if mode is not None:
        with open(given, "r+b"):
            pass  # a file that must not be written to is not replaced either
    beside = os.path.join(os.path.dirname(target), f".stagenets-{secrets.token_hex(8)}.tmp")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
    except OSError as error:
        raise OSError(error.errno, error.strerror, given) from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(pieces(data))
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(beside, stat.S_IMODE(mode))
        os.replace(beside, target)
    except BaseException:
        os.unlink(beside)
        raise


_BINARY = getattr(os, "O_BINARY", 0)  # Windows would change the ends of lines


def _mode_of(path: str) -> int | None:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None
