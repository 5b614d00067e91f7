"""Diagnostics of ``tritonx-opt``: whatever is wrong with an input is ``file:line:col: error: ...`` with a caret."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

EXPECTED = re.compile(r"expected-(error|warning|note|remark)(?:@(above|below|unknown|[+-]\d+))?\s*\{\{(.*?)\}\}")


EXCERPT_WIDTH = 160


@dataclass(eq=False)
class Diagnostic(Exception):
    """One message at a position of the input; line and column count from 1, line 0 is "somewhere in the file"."""

    file: str
    line: int
    column: int
    message: str
    source: str = ""
    """The line of the input, for the excerpt."""

    notes: str = ""
    """Further text below the excerpt."""

    def __str__(self) -> str:
        text = f"{self.where()}: error: {self.message}"
        if self.source:
            text += f"\n{self.excerpt()}"
        return f"{text}\n{self.notes}" if self.notes else text

    def where(self) -> str:
        """File, line and column, as far as they are known."""
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file

    def excerpt(self) -> str:
        """The line of the input with a caret."""
        return _excerpt(self.source, max(self.column - 1, 0))


def _excerpt(line: str, column: int) -> str:
    """The line with a caret below ``column``; of a very long line the part around it."""
    if len(line) > EXCERPT_WIDTH:
        start = max(0, min(column - EXCERPT_WIDTH // 2, len(line) - EXCERPT_WIDTH))
        end = start + EXCERPT_WIDTH
        head, tail = "..." if start else "", "..." if end < len(line) else ""
        column += len(head) - start
        line = head + line[start:end] + tail
    pad = "".join("\t" if c == "\t" else " " for c in line[:column])
    return f"{line}\n{pad}^"


def at_offset(file: str, content: str, offset: int, message: str, notes: str = "") -> Diagnostic:
    """A diagnostic at a character offset of ``content``."""
    offset = max(0, min(offset, len(content)))
    start = content.rfind("\n", 0, offset) + 1
    end = content.find("\n", offset)
    line = content.count("\n", 0, start) + 1
    source = content[start : len(content) if end < 0 else end].rstrip("\r")
    return Diagnostic(file, line, offset - start + 1, message, source, notes)


def at_line(file: str, content: str, line: int, column: int, message: str, notes: str = "") -> Diagnostic:
    """A diagnostic at a line and column of ``content``."""
    lines = content.split("\n")
    source = lines[line - 1].rstrip("\r") if 0 < line <= len(lines) else ""
    return Diagnostic(file, line, column, message, source, notes)


def _as_text_offset(content: str | bytes, offset: int) -> int:
    return len(content[:offset].decode("utf-8", "replace")) if isinstance(content, bytes) else offset


def parser_offset(error: BaseException) -> int | None:
    """How far the parser had come when ``error`` left it: the position of the innermost parser in the traceback."""
    trace, offset = error.__traceback__, None
    while trace is not None:
        for name in ("self", "parser"):
            candidate: Any = trace.tb_frame.f_locals.get(name)
            position = getattr(candidate, "pos", None)
            lexer = getattr(candidate, "lexer", None)
            if isinstance(position, int) and lexer is not None:
                content: Any = getattr(getattr(lexer, "input", None), "content", "")
                offset = _as_text_offset(content, position)
        trace = trace.tb_next
    return offset


def of_parse_error(error: BaseException, file: str, content: str) -> Diagnostic:
    """The diagnostic of anything that the parser raised."""
    span: Any = getattr(error, "span", None)
    if span is not None:
        start = _as_text_offset(span.input.content, span.start)
        message = str(getattr(error, "msg", "")) or type(error).__name__
        return at_offset(file, content, start, " ".join(message.split()))
    offset = parser_offset(error)
    if isinstance(error, RecursionError):
        message = "ops, types or attributes are nested too deeply"
    elif type(error).__module__.startswith(("xdsl.utils.exceptions", "tritonx.")):
        message = " ".join(str(error).split()) or type(error).__name__
    else:
        message = f"cannot read this ({type(error).__name__}: {' '.join(str(error).split())})"
    return at_offset(file, content, offset or 0, message)


@dataclass(frozen=True, slots=True)
class Expectation:
    """An ``expected-error {{text}}`` comment: a diagnostic on ``line`` (``None``: on any) that contains ``text``."""

    line: int | None
    text: str
    written_at: int


def expectations_of(content: str) -> list[Expectation]:
    """The ``expected-error`` comments of a text; ``@+1``, ``@-1``, ``@above``, ``@below``, ``@unknown`` move them."""
    found: list[Expectation] = []
    for number, line in enumerate(content.split("\n"), 1):
        for _, where, text in EXPECTED.findall(line):
            target: int | None = number
            if where == "unknown":
                target = None
            elif where in ("above", "below"):
                target = number + (1 if where == "below" else -1)
            elif where:
                target = number + int(where)
            found.append(Expectation(target, text, number))
    return found


def mismatches(expected: list[Expectation], produced: list[Diagnostic], file: str, content: str) -> list[Diagnostic]:
    """What is wrong when ``expected`` and ``produced`` are compared: unexpected diagnostics, and missing ones."""
    open_expectations = list(expected)
    wrong: list[Diagnostic] = []
    for diagnostic in produced:
        text = f"{diagnostic.message}\n{diagnostic.notes}"
        match = next((e for e in open_expectations if e.line in (None, diagnostic.line) and e.text in text), None)
        if match is None:
            wrong.append(diagnostic)
        else:
            open_expectations.remove(match)
    for missing in open_expectations:
        message = f'expected error "{missing.text}" was not produced'
        wrong.append(at_line(file, content, missing.written_at, 1, message))
    return wrong
