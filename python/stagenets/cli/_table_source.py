"""Where a table comes from: a file or standard input, packed or not, known by its first bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

#: What unpacking a damaged file may raise.
DAMAGES = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, zipfile.BadZipFile)

PARQUET = (".parquet", ".pq")

_EXCEL = "is an Excel workbook: save the sheet as CSV (in pandas: read_excel, to_csv)"


#: Called with (megabytes read, megabytes of the file).
Progress = Callable[[int, int], None]


class TableError(ValueError):
    """An error that names the file already."""


class _WatchedFile(io.FileIO):
    """A file that tells how many of its megabytes have been read."""

    def __init__(self, path: str, progress: Progress) -> None:
        super().__init__(path)
        self._progress, self._megabytes = progress, _megabytes(Path(path).stat().st_size)

    def readinto(self, buffer: Any) -> int | None:
        """As of every file."""
        count = super().readinto(buffer)
        self._progress(_megabytes(self.tell()), self._megabytes)
        return count


def _megabytes(count: int) -> int:
    return -(-count // 10**6)


def _open(path: str, progress: Progress | None) -> IO[bytes]:
    if progress is None:
        return open(path, "rb")
    return io.BufferedReader(_WatchedFile(path, progress), buffer_size=1 << 20)


class TableSource:
    """A file or standard input, known by its first bytes; `open` starts at the beginning."""

    def __init__(self, source: str, progress: Progress | None = None) -> None:
        self.source = source
        data = sys.stdin.buffer.read() if source == "-" else None
        if data is None and Path(source).is_dir():
            raise TableError(f"{source} is a folder; give a file in it")
        self._raw: Callable[[], IO[bytes]] = (
            (lambda: _open(source, progress)) if data is None else (lambda: io.BytesIO(data))
        )
        self._unpack: Callable[[IO[bytes]], Any] = lambda stream: stream
        self._unpack = self._packing(self._head())
        self.head = self._head()
        self.kind = self._kind(self.head)

    @contextmanager
    def open(self) -> Iterator[Any]:
        """A stream of the file's bytes, unpacked."""
        with self._raw() as raw, self._unpack(raw) as stream:
            yield stream

    def _head(self) -> bytes:
        with self.open() as stream:
            return bytes(stream.read(16))

    def _packing(self, head: bytes) -> Callable[[IO[bytes]], Any]:
        if head.startswith(b"\x1f\x8b"):
            return lambda stream: gzip.GzipFile(fileobj=stream)
        if head.startswith(b"BZh"):
            return lambda stream: bz2.BZ2File(stream)
        if head.startswith(b"\xfd7zXZ"):
            return lambda stream: lzma.LZMAFile(stream)
        if head.startswith(b"\x28\xb5\x2f\xfd"):
            raise TableError(f"{self.source} is compressed with zstd: decompress it first")
        if head.startswith(b"PK\x03\x04"):
            with self._raw() as stream, zipfile.ZipFile(stream) as archive:
                names = archive.namelist()
            if any(name.startswith("xl/") for name in names):
                raise TableError(f"{self.source} {_EXCEL}")
            if len(names) != 1:
                raise TableError(f"{self.source} holds {len(names)} files: unpack it first")
            return lambda stream: zipfile.ZipFile(stream).open(names[0])
        return self._unpack

    def _kind(self, head: bytes) -> str:
        if head.startswith(b"PAR1"):
            return "parquet"
        if head.startswith((b"ARROW1", b"FEA1")):
            return "feather"
        if head.startswith(b"\xd0\xcf\x11\xe0"):
            raise TableError(f"{self.source} {_EXCEL}")
        if head[8:10] == b'{"':
            raise TableError(
                f"{self.source} is a model, not a table (predict, score and plot take the model "
                "first, then the data)"
            )
        if self.source.lower().endswith(PARQUET):
            raise TableError(f"{self.source} cannot be read: it is not a Parquet file")
        return "csv"
