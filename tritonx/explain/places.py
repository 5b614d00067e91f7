"""Places in the kernel's source, numbered as they are met, and the source texts that they are in."""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Sequence

from xdsl.ir import Operation

from tritonx.explain.facts import SourceText
from tritonx.ir.location import SourcePoint
from tritonx.ir.source import source_of

AROUND = 3
"""Lines that are shown around those of a file that only locations name."""


class Places:
    """`known`: the texts that are shown, as (file, first line, lines); a place is in one of them if it can be."""

    def __init__(self, known: Iterable[SourceText] = ()) -> None:
        self.sources = list(known)
        self.found: dict[tuple[str, int], int] = {}

    def of(self, op: Operation | None) -> int:
        """The place of an op; -1 where it has none."""
        return -1 if op is None else self.among(source_of(op))

    def among(self, positions: Sequence[SourcePoint]) -> int:
        """The place of what is chosen among a position and the calls that lead to it."""
        chosen = self.chosen(positions)
        return -1 if chosen is None else self.at(chosen.file, chosen.line)

    def chosen(self, positions: Sequence[SourcePoint]) -> SourcePoint | None:
        """Of a position and the calls that lead to it: the first one in a source that is shown, else the first."""
        return next((each for each in positions if self._is_shown(each)), next(iter(positions), None))

    def at(self, file: str, line: int) -> int:
        """The place of a line; -1 for line 0."""
        return self.found.setdefault((file, line), len(self.found)) if line > 0 else -1

    def _is_shown(self, point: SourcePoint) -> bool:
        return any(s.file == point.file and s.first <= point.line < s.first + len(s.lines) for s in self.sources)

    def texts(self) -> tuple[SourceText, ...]:
        """The known texts, and of each other file that was met, if this process has read it, what lies around the lines
        that were. No file is opened: a text of IR may name any."""
        for file in dict.fromkeys(file for file, _ in self.found):
            met = [line for name, line in self.found if name == file]
            if all(self._is_shown(SourcePoint(file, line, 0)) for line in met):
                continue
            cached = linecache.cache.get(file)
            lines = [line.rstrip("\n") for line in cached[2]] if cached is not None and len(cached) == 4 else []
            first, last = max(1, min(met) - AROUND), min(len(lines), max(met) + AROUND)
            self.sources.append(SourceText(file, first, tuple(lines[first - 1 : last])))
        return tuple(self.sources)

    def pairs(self) -> tuple[tuple[int, int], ...]:
        """What `Facts.places` holds; behind `texts`."""
        return tuple((self._source(file, line), line) for file, line in self.found)

    def _source(self, file: str, line: int) -> int:
        point = SourcePoint(file, line, 0)
        for number, each in enumerate(self.sources):
            if each.file == file and each.first <= point.line < each.first + max(1, len(each.lines)):
                return number
        return next((number for number, each in enumerate(self.sources) if each.file == file), -1)
