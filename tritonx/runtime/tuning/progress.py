"""How far a search is, in one line of a terminal that is written again and again."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TextIO

from tritonx.runtime import knobs

_BAR = 24
_SILENT_SECONDS = 0.5
"""A search that is over sooner shows nothing."""


class Progress:
    """Writes to ``stream`` (standard error) where that is a terminal, and nothing anywhere else."""

    def __init__(self, name: str, total: int, stream: TextIO | None = None) -> None:
        self._name = name
        self._total = total
        self._stream = sys.stderr if stream is None else stream
        self._on = knobs.autotuning.progress and _is_terminal(self._stream)
        self._from = time.monotonic() + _SILENT_SECONDS
        self._shown = False
        self.done = 0

    def step(self, best: float | None) -> None:
        """One configuration more is measured, or out; ``best`` is the best median so far, in milliseconds."""
        self.done += 1
        if best is None:
            self._say("")
        else:
            self._say(f", best {best:.4f} ms")

    def rounds(self, left: int, best: float) -> None:
        """All are in, and so many go on by turns."""
        self._say(f", {left} in the last rounds, best {best:.4f} ms")

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._shown = False

    def _say(self, rest: str) -> None:
        if not self._on or time.monotonic() < self._from:
            return
        filled = _BAR * self.done // max(self._total, 1)
        line = f"{self._name} [{'#' * filled}{'.' * (_BAR - filled)}] {self.done}/{self._total}{rest}"
        self._stream.write("\r\x1b[K" + line[: shutil.get_terminal_size().columns - 1])
        self._stream.flush()
        self._shown = True


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (AttributeError, ValueError):  # None under pythonw, or closed
        return False
