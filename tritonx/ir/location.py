"""Locations of ops: where in the kernel's source they come from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
)
from xdsl.ir import Attribute, Block

UNKNOWN = UNKNOWN_LOC


@dataclass(frozen=True)
class SourcePoint:
    """A place in a file; lines and columns count from 1, and 0 is unknown."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@lru_cache(maxsize=8192)
def file_loc(file: str, line: int, column: int = 0) -> FileLineColLoc:
    """`loc("file":line:column)`; equal arguments give equal ones, and mostly the same object."""
    return FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(column))


def name_loc(name: str, child: LocationAttr | None = None) -> NameLoc:
    """`loc("name"(child))`: a place that a variable of the kernel names."""
    return NameLoc(StringAttr(name), NoneAttr() if child is None else child)


def call_site(callee: LocationAttr, caller: LocationAttr) -> CallSiteLoc:
    """`loc(callsite(callee at caller))`: a place in a function that was inlined at another place."""
    return CallSiteLoc(callee, caller)


def points(location: Attribute) -> Iterator[SourcePoint]:
    """The places a location speaks of: the innermost one, then the calls that lead to it."""
    match location:
        case FileLineColLoc():
            yield SourcePoint(location.filename.data, location.line.data, location.column.data)
        case NameLoc():
            yield from points(location.location)
        case CallSiteLoc():
            yield from points(location.callee)
            yield from points(location.caller)
        case FusedLoc():
            for part in cast("ArrayAttr[Attribute]", location.locations).data:
                yield from points(part)
        case _:
            return


def innermost_point(location: Attribute) -> SourcePoint | None:
    """The place in the source itself, not in its callers; None if the location knows none."""
    return next(points(location), None)


def block_at(location: LocationAttr, types: Iterable[Attribute]) -> Block:
    """An empty block whose arguments have a location."""
    block = Block(arg_types=types)
    for argument in block.args:
        argument.location = location
    return block
