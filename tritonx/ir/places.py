"""Where in a kernel's source an op comes from, read off its location, and that source line for a message."""

from __future__ import annotations

import linecache
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, CallSiteLoc, FileLineColLoc, FusedLoc, NameLoc
from xdsl.ir import Attribute, Operation


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """A position in a source file; line and column as in MLIR's locations, counted from 1 (column 0: unknown)."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def excerpt(self) -> str:
        """The source line with a caret under the column; empty where the file cannot be read."""
        text = linecache.getline(self.file, self.line).rstrip("\n")
        if not text:
            return ""
        number = f"{self.line:5d}"
        pad = "".join("\t" if c == "\t" else " " for c in text[: max(self.column - 1, 0)])
        return f"{number} | {text}\n{' ' * len(number)} | {pad}^"


def places_of(location: Attribute) -> tuple[SourcePlace, ...]:
    """The position of an op, then of the calls through which it was inlined, innermost first; empty where unknown."""
    if isinstance(location, FileLineColLoc):
        return (SourcePlace(location.filename.data, location.line.data, location.column.data),)
    if isinstance(location, NameLoc):
        return places_of(location.location)
    if isinstance(location, CallSiteLoc):
        return places_of(location.callee) + places_of(location.caller)
    if isinstance(location, FusedLoc) and isinstance(location.locations, ArrayAttr):
        for part in location.locations:
            if places := places_of(part):
                return places
    return ()


def source_of(op: Operation) -> tuple[SourcePlace, ...]:
    """``places_of`` an op's location, or of the nearest op around it that has one."""
    current: Operation | None = op
    while current is not None:
        if places := places_of(current.location):
            return places
        current = current.parent_op()
    return ()
