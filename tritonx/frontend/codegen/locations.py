"""Locations of ops, shared by all ops of one place: file:line:column, the assigned name around it, and the calls that
led there.

Lines and columns are the file's, counted from 1 as MLIR does. (Triton gives the columns of the dedented syntax tree,
from 0.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.ir.location import call_site, file_loc, name_loc

if TYPE_CHECKING:
    from xdsl.dialects.builtin import LocationAttr

    from tritonx.frontend.codegen.source import FunctionSource


class Locations:
    """The locations of one function instance; ``call`` is the location of the call, for what is generated in place."""

    __slots__ = ("call", "file", "first_column", "first_line", "known")

    def __init__(self, source: FunctionSource, call: LocationAttr | None) -> None:
        self.file = source.file
        self.first_line = source.first_line - 1
        self.first_column = source.indentation + 1
        self.call = call
        self.known: dict[tuple[int, int, str | None], LocationAttr] = {}

    def at(self, line: int, column: int, name: str | None) -> LocationAttr:
        """The location of a node at ``line`` (the ``def`` line is 1) and ``column`` (from 0), assigned to ``name``."""
        key = (line, column, name)
        location = self.known.get(key)
        if location is None:
            location = file_loc(self.file, self.first_line + line, self.first_column + column)
            if name is not None:
                location = name_loc(name, location)
            if self.call is not None:
                location = call_site(location, self.call)
            self.known[key] = location
        return location
