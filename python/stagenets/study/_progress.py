"""Progress of a run: a tqdm bar if tqdm is installed, plain lines otherwise."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, TextIO


class Progress:
    """Counts finished tasks on stderr."""

    def __init__(self, total: int, done: int, quiet: bool = False, unit: str = "fit") -> None:
        self.total, self.done, self.quiet = total, done, quiet
        self._first, self._started = done, time.monotonic()
        self._bar: Any = None
        if not quiet and sys.stderr.isatty():
            try:
                from tqdm import tqdm
            except ImportError:
                return
            self._bar = tqdm(total=total, initial=done, unit=unit, file=sys.stderr)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def tell(self, text: str, file: TextIO | None = None) -> None:
        """Print a line (to stdout if not told otherwise) without disturbing the bar."""
        if self._bar is None:
            print(text, file=file, flush=True)
        else:
            self._bar.write(text, file=file)

    def advance(self, what: str) -> None:
        """One more task is finished."""
        self.done += 1
        if self._bar is not None:
            self._bar.set_postfix_str(what, refresh=False)
            self._bar.update()
        elif not self.quiet:
            each = (time.monotonic() - self._started) / (self.done - self._first)
            left = each * (self.total - self.done)
            time_left = f"{left:.0f} s" if left < 100 else f"{left / 60:.0f} min"
            print(
                f"[{self.done}/{self.total}] {what}; about {time_left} left",
                file=sys.stderr,
                flush=True,
            )
