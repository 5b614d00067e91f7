"""Input of ``tritonx-opt``: read bytes, decode, cut at ``// -----``, parse and verify. Whatever is wrong is a ``Diagnostic``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TextIO

from tritonx.tools.opt_diagnostics import Diagnostic, at_line, at_offset, of_parse_error

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

SEPARATOR = re.compile(r"^[ \t]*// -----[ \t]*$", re.MULTILINE)


def read(path: str, stdin: BinaryIO | TextIO) -> tuple[str, str]:
    """(name for messages, text) of a file, or of standard input for ``-``."""
    name = "<stdin>" if path == "-" else path
    try:
        data = stdin.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise Diagnostic(name, 0, 0, error.strerror or str(error)) from None
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
    """The parts of a text between ``// -----`` lines; each is preceded by empty lines so that line numbers stay true."""
    if not split:
        yield text
        return
    start = 0
    for mark in SEPARATOR.finditer(text):
        yield "\n" * text.count("\n", 0, start) + text[start : mark.start()]
        start = mark.end()
    yield "\n" * text.count("\n", 0, start) + text[start:]


def parse(text: str, name: str, *, allow_unregistered: bool) -> ModuleOp:
    """The module that ``text`` holds. Raises ``Diagnostic``."""
    from tritonx.ir.text import parse_module

    if not text.strip():
        raise at_line(name, text, 1, 1, "the input is empty: expected a module")
    try:
        return parse_module(text, name, allow_unregistered=allow_unregistered)
    except Exception as error:
        raise of_parse_error(error, name, text) from error


def check(module: ModuleOp, name: str, text: str) -> None:
    """Verify ``module``. Raises ``Diagnostic`` at the op's line where its location is in this input."""
    from tritonx.ir.failure import describe, failed_op
    from tritonx.ir.places import places_of
    from tritonx.ir.verify import verify

    try:
        verify(module)
    except Exception as error:
        op = failed_op(error)
        message = " ".join((str(getattr(error, "message", "")) or str(error)).split())
        if isinstance(error, RecursionError):
            message = "ops are nested too deeply"
        if op is None:
            raise Diagnostic(name, 0, 0, message) from error
        places = places_of(op.location)
        notes = f"  op: {describe(op)}"
        if places and places[0].file == name:
            raise at_line(name, text, places[0].line, places[0].column, message, notes) from error
        raise Diagnostic(name, 0, 0, message, notes=notes) from error
