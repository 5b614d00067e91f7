"""Where in a kernel's source an exception came from: the frames of its traceback that run kernel code, as the front end
writes positions (source, caret, `file:line:column`, the calls that led there)."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FrameType, TracebackType

from tritonx.kernel.excerpt import SourcePosition, excerpt
from tritonx.kernel.source import JITCallable


@dataclass(frozen=True)
class Position:
    """A piece of a kernel function's source that was running."""

    function: JITCallable
    node: ast.AST
    """Carries the position in `function.src`, as nodes of syntax trees do."""

    @property
    def position(self) -> SourcePosition:
        first, indentation = self.function.def_line_number, self.function.indentation
        line: int = getattr(self.node, "lineno", 1)
        column: int = getattr(self.node, "col_offset", 0)
        return SourcePosition(self.function.file_name, first + line - 1, column + indentation, self.function.__name__)


@dataclass(frozen=True)
class Trail:
    """Where an exception was raised, and the calls that led there, innermost first."""

    positions: tuple[Position, ...]

    def describe(self, message: str) -> str:
        """`message` with the source, a caret and the positions, as in the front end's errors."""
        if not self.positions:
            return message
        innermost, *callers = self.positions
        lines = [excerpt(innermost.function.src, innermost.node), message, f"  --> {innermost.position}"]
        return "\n".join([*lines, *(f"  called from {call.position}" for call in callers)])


def trail(traceback: TracebackType | None, function_of: Callable[[CodeType], JITCallable | None]) -> Trail:
    """The trail of an exception. `function_of` tells which kernel function a code object was made of; those of
    tritonx's own library are not the kernel's."""
    positions: list[Position] = []
    inside: JITCallable | None = None
    while traceback is not None:
        frame = traceback.tb_frame
        function = function_of(frame.f_code)
        if function is not None:
            inside = function
            if not function.module.startswith("tritonx."):
                positions.append(Position(function, _node(traceback, function)))
        elif inside is not None and positions and _is_part(frame, inside):
            positions[-1] = Position(inside, _node(traceback, inside))
        traceback = traceback.tb_next
    return Trail(tuple(reversed(positions)))


def _is_part(frame: FrameType, function: JITCallable) -> bool:
    """Whether the frame runs a lambda or a comprehension inside the function."""
    code = frame.f_code
    first = function.def_line_number
    last = first + function.src.count("\n")
    return code.co_filename == function.file_name and first <= code.co_firstlineno <= last


def _node(traceback: TracebackType, function: JITCallable) -> ast.AST:
    """What the frame was running, relative to `function.src`."""
    positions = list(traceback.tb_frame.f_code.co_positions())
    line, end_line, column, end_column = positions[traceback.tb_lasti // 2]
    first, indentation = function.def_line_number, function.indentation
    node = ast.Constant(None)
    node.lineno = (line or traceback.tb_lineno) - first + 1
    node.end_lineno = None if end_line is None else end_line - first + 1
    node.col_offset = max((column or 0) - indentation, 0)
    node.end_col_offset = None if end_column is None else end_column - indentation
    return node
