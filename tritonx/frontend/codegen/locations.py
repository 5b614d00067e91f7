"""Locations of ops, shared by all ops of one place: file:line:column, the assigned name around it, and the calls that
led there.

Columns are those of the syntax tree, as Triton gives them; lines are the file's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import CallSiteLoc, FileLineColLoc, IntAttr, LocationAttr, NameLoc, StringAttr

if TYPE_CHECKING:
    from tritonx.frontend.codegen.source import FunctionSource


class Locations:
    """The locations of one function instance; ``call`` is the location of the call, for what is generated in place."""

    __slots__ = ("call", "file", "first_line", "known")

    def __init__(self, source: FunctionSource, call: LocationAttr | None) -> None:
        self.file = StringAttr(source.file)
        self.first_line = source.first_line - 1
        self.call = call
        self.known: dict[tuple[int, int, str | None], LocationAttr] = {}

    def at(self, line: int, column: int, name: str | None) -> LocationAttr:
        """The location of a node at ``line`` (the ``def`` line is 1) and ``column`` of the function, assigned to
        ``name``."""
        key = (line, column, name)
        location = self.known.get(key)
        if location is None:
            location = FileLineColLoc(self.file, IntAttr(self.first_line + line), IntAttr(column))
            if name is not None:
                location = NameLoc(StringAttr(name), location)
            if self.call is not None:
                location = CallSiteLoc(location, self.call)
            self.known[key] = location
        return location
