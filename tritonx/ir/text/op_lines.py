"""A module's text with the line of each op, for tools that show both."""

from __future__ import annotations

from io import StringIO

from xdsl.ir import Operation

from tritonx.ir.text.printer import Printer


class _LinePrinter(Printer):
    """Prints to ``text`` and keeps the line, from 0, that an op begins on."""

    def __init__(self, text: StringIO) -> None:
        super().__init__(text)
        self.text = text
        self.lines: dict[Operation, int] = {}
        self._line = self._read = 0

    def print_op(self, op: Operation) -> None:
        end = self.text.tell()
        self.text.seek(self._read)
        self._line += self.text.read().count("\n")
        self._read = end
        self.lines[op] = self._line
        super().print_op(op)


def print_with_lines(module: Operation) -> tuple[str, dict[Operation, int]]:
    r"""The text of `print_module(module)`, and for each op the line, from 0, on which it begins.

    >>> from tritonx.backends.tile import parse_module
    >>> from tritonx.ir.text.op_lines import print_with_lines
    >>> module = parse_module("module {\n  %0 = arith.constant 1 : i32\n}")
    >>> text, lines = print_with_lines(module)
    >>> [lines[op] for op in module.body.block.ops]
    [1]
    """
    stream = StringIO()
    printer = _LinePrinter(stream)
    printer.print_module(module)
    return stream.getvalue(), printer.lines
