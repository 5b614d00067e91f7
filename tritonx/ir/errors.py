"""Errors about IR: what is wrong, in which op, and which line of the kernel it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.utils.exceptions import VerifyException

from tritonx.ir.location import innermost_point

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from tritonx.ir.location import SourcePoint


class VerifyFailure(VerifyException):
    """The IR breaks a rule.

    Attributes:
        reason: the rule that is broken, as a sentence about this op.
        operation: the op, as it stands in the IR.
        point: file, line and column of the kernel it comes from; None if the op has no location.
    """

    def __init__(self, reason: str, operation: Operation) -> None:
        self.reason = reason
        self.operation = operation
        self.point: SourcePoint | None = innermost_point(operation.location)
        super().__init__(self._message())

    def _message(self) -> str:
        where = f"{self.point}: " if self.point is not None else ""
        return f"{where}'{self.operation.name}': {self.reason}\n  {first_line(self.operation)}"


def first_line(op: Operation) -> str:
    """The op as text, without what its regions hold; never raises, since the op may be malformed."""
    from tritonx.ir.text.printer import Printer

    try:
        from io import StringIO

        stream = StringIO()
        Printer(stream).print_op(op)
        text = stream.getvalue()
    except Exception:  # a malformed op may be beyond printing; the message about it must still come out
        return f'"{op.name}"(...)'
    line, _, rest = text.partition("\n")
    return f"{line} ..." if rest else line
