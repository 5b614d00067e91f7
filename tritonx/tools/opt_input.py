"""Input of ``tritonx-opt``: read bytes, decode, cut at ``// -----``, parse and verify. Whatever is wrong is a
``Diagnostic``.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TextIO

from tritonx.tools.opt_diagnostics import Diagnostic, at_line, at_offset, of_parse_error

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation

SEPARATOR = re.compile(r"^[ \t]*// -----[ \t]*$", re.MULTILINE)


def standard_input() -> BinaryIO | TextIO:
    """The bytes of standard input; none where it was closed."""
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]  # it is None where it was closed
        return io.BytesIO()
    return getattr(sys.stdin, "buffer", sys.stdin)


def standard_output() -> TextIO:
    """Standard output, or nowhere where it was closed."""
    return io.StringIO() if sys.stdout is None else sys.stdout  # pyright: ignore[reportUnnecessaryComparison]  # it is None where it was closed


def read(path: str, stdin: BinaryIO | TextIO) -> tuple[str, str]:
    """(name for messages, text) of a file, or of standard input for ``-``. Raises ``Diagnostic`` for what cannot be
    read or is no text."""
    name = "<stdin>" if path == "-" else path or "argument input"
    try:
        data = stdin.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise Diagnostic(name, 0, 0, error.strerror or str(error)) from None
    except (ValueError, MemoryError) as error:
        raise Diagnostic(name, 0, 0, str(error) or "it is larger than memory") from None
    if isinstance(data, str):
        return name, data
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        column = len(before) - (before.rfind(b"\n") + 1) + 1
        message = f"byte 0x{data[error.start]:02x} is not UTF-8 text"
        raise Diagnostic(name, before.count(b"\n") + 1, column, message) from None
    nul = text.find("\0")
    if nul >= 0:
        raise at_offset(name, text[:nul], nul, "the input is binary: it contains a NUL byte")
    return name, text


def chunks(text: str, split: bool) -> Iterator[str]:
    """The parts of a text between ``// -----`` lines; each after empty lines, so that line numbers stay true."""
    if not split:
        yield text
        return
    start = 0
    for mark in SEPARATOR.finditer(text):
        yield "\n" * text.count("\n", 0, start) + text[start : mark.start()]
        start = mark.end()
    yield "\n" * text.count("\n", 0, start) + text[start:]


@cache
def _context(allow_unregistered: bool) -> Context:
    """One context for all inputs of a process: what it loads are dialects, which do not depend on the input."""
    from tritonx.ir.context import new_context

    return new_context(allow_unregistered=allow_unregistered)


@dataclass(frozen=True)
class Parsed:
    """A module with the positions of its ops in the text."""

    module: ModuleOp
    name: str
    text: str
    offsets: Mapping[Operation, int]

    def at(self, op: Operation | None, message: str, notes: str = "") -> Diagnostic:
        """A diagnostic at ``op``, or at the nearest op around it that was in the text."""
        while op is not None:
            offset = self.offsets.get(op)
            if offset is not None:
                return at_offset(self.name, self.text, offset, message, notes)
            op = op.parent_op()
        return Diagnostic(self.name, 0, 0, message, notes=notes)


def parse(text: str, name: str, *, allow_unregistered: bool) -> Parsed:
    """The module that ``text`` holds. Raises ``Diagnostic``."""
    from xdsl.utils.exceptions import ParseError
    from xdsl.utils.lexer import Span

    from tritonx.ir.text.parser import Parser

    offsets: dict[Operation, int] = {}

    class RecordingParser(Parser):
        op_start = 0

        def parse_operation(self) -> Operation:
            self.op_start = start = self._current_token.span.start
            op = super().parse_operation()
            offsets[op] = start
            return op

        def _get_op_by_name(self, name: str) -> type[Operation]:
            try:
                return super()._get_op_by_name(name)
            except ParseError as error:
                # xDSL points behind the name; the name itself is what is wrong.
                start = max(text.find(name, self.op_start), 0)
                raise ParseError(Span(start, start + len(name), self.lexer.input), error.msg) from None

    if not text.strip():
        raise at_line(name, text, 1, 1, "the input is empty: expected a module")
    try:
        return Parsed(RecordingParser(_context(allow_unregistered), text, name).parse_module(), name, text, offsets)
    except Exception as error:
        raise of_parse_error(error, name, text) from error


def check(parsed: Parsed) -> None:
    """Verify the module. Raises ``Diagnostic`` at the op at fault."""
    from tritonx.ir.failure import describe, failed_op
    from tritonx.ir.verify import verify

    try:
        verify(parsed.module)
    except RecursionError as error:
        raise parsed.at(parsed.module, "ops are nested too deeply") from error
    except Exception as error:
        op = failed_op(error)
        reason = getattr(error, "reason", None) or str(error)
        message = " ".join((f"'{op.name}': {reason}" if op is not None else reason).split())
        raise parsed.at(op, message, "" if op is None else f"  op: {describe(op)}") from error
