"""What a pass raises, and what the user gets to see of it."""

from __future__ import annotations

import os
import traceback

from xdsl.ir import Operation

from tritonx.ir.errors import first_line
from tritonx.ir.location import SourcePoint
from tritonx.ir.source import excerpt, source_of
from tritonx.runtime.errors import TritonError

OP_TEXT_LIMIT = 200
_LIBRARIES = ("xdsl", "numpy", "ml_dtypes", "llvmlite")


class PassError(Exception):
    r"""Raised by a pass that cannot handle a program, with the op at fault and, where there is one, a way out.

    >>> from tritonx.backends.tile import parse_module
    >>> module = parse_module("module {\n  %0 = arith.constant 1 : i32\n}")
    >>> print(PassError(module.body.block.first_op, "no constants here", "load them").hint)
    load them
    """

    def __init__(self, op: Operation, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.op = op
        self.message = message
        self.hint = hint


class TooLong(PassError):
    """A program that is longer than ``max_instructions``: fewer elements a thread, and it is not."""


class PassFailure(TritonError):
    """A pass (or ``what`` else) failed. ``str`` of it is the whole report: the kernel's line, the op and how to
    reproduce it.

    ``internal`` tells a defect of the compiler (any exception but ``PassError``) from a program that it refuses;
    ``too_long`` says that it is refused for its length alone, so that a tuner tries other configurations.
    ``positions`` are the kernel's position and the calls it was inlined through, innermost first.
    ``reproducer`` is a command line, empty where the module could not be written. ``raised_at`` is the line of the
    compiler that raised an internal error, with the source text: what the author of a pass looks for.

    >>> print(str(PassFailure("dce", "something is wrong")).splitlines()[0])
    error: pass 'dce': something is wrong
    """

    def __init__(
        self,
        pass_name: str,
        reason: str,
        *,
        op_text: str = "",
        positions: tuple[SourcePoint, ...] = (),
        hint: str = "",
        internal: bool = False,
        too_long: bool = False,
        reproducer: str = "",
        what: str = "pass",
        raised_at: str = "",
    ) -> None:
        super().__init__(pass_name, reason)
        self.pass_name = pass_name
        self.reason = reason
        self.op_text = op_text
        self.positions = positions
        self.hint = hint
        self.internal = internal
        self.too_long = too_long
        self.reproducer = reproducer
        self.what = what
        self.raised_at = raised_at
        self.op: Operation | None = None
        """The op itself, in the process where the pass failed."""

    def __str__(self) -> str:
        where = f"{self.positions[0]}: " if self.positions else ""
        kind = "internal error" if self.internal else "error"
        lines = [f"{where}{kind}: {self.what} '{self.pass_name}': {self.reason}"]
        if self.positions and (shown := excerpt(self.positions[0])):
            lines.append(shown)
        lines += [f"  called from {position}" for position in self.positions[1:]]
        if self.op_text:
            lines.append(f"  op: {self.op_text}")
        if self.raised_at:
            lines.append(f"  raised at {self.raised_at}")
        if self.hint:
            lines.append(f"hint: {self.hint}")
        if self.reproducer:
            lines.append(f"reproduce: {self.reproducer}")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[object, ...]:
        keywords = {
            "op_text": self.op_text,
            "positions": self.positions,
            "hint": self.hint,
            "internal": self.internal,
            "too_long": self.too_long,
            "reproducer": self.reproducer,
            "what": self.what,
            "raised_at": self.raised_at,
        }
        return _rebuild, (self.pass_name, self.reason, keywords)


def _rebuild(pass_name: str, reason: str, keywords: dict[str, object]) -> PassFailure:
    return PassFailure(pass_name, reason, **keywords)  # pyright: ignore[reportArgumentType] -- what __reduce__ packed


def describe(op: Operation) -> str:
    """One line of an op's text, regions left out, cut at ``OP_TEXT_LIMIT`` characters."""
    line = first_line(op)
    return line if len(line) <= OP_TEXT_LIMIT else line[:OP_TEXT_LIMIT] + " ..."


def failed_op(error: BaseException) -> Operation | None:
    """The op an exception is about: named by it, or else the ``op`` that the innermost function was working on."""
    for name in ("op", "operation"):
        op = getattr(error, name, None)
        if isinstance(op, Operation):
            return op
    trace = error.__traceback__
    found: Operation | None = None
    while trace is not None:
        local = trace.tb_frame.f_locals.get("op")
        if isinstance(local, Operation):
            found = local
        trace = trace.tb_next
    return found


def _raised_at(error: BaseException) -> str:
    """File, line, function and text of the line that raised ``error``; in the pass where a library raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return ""
    ours = [frame for frame in frames if not _is_foreign(frame.filename)]
    last = (ours or frames)[-1]
    return f"{last.filename}:{last.lineno} in {last.name}" + (f": {last.line}" if last.line else "")


def _is_foreign(file: str) -> bool:
    """Whether a file is of Python or of a library below the passes; the passes of other packages are installed too."""
    parts = file.split(os.sep)
    if "site-packages" in parts:
        return parts[parts.index("site-packages") + 1] in _LIBRARIES
    return file.startswith(os.path.dirname(os.__file__))


def failure_of(error: BaseException, pass_name: str, reproducer: str, what: str = "pass") -> PassFailure:
    """The report on an exception that escaped a pass, or ``what`` else it names."""
    op = failed_op(error)
    expected = isinstance(error, PassError)
    refused = expected or isinstance(error, TritonError)
    failure = PassFailure(
        pass_name,
        error.message if expected else str(error) if refused else f"{type(error).__name__}: {error}",
        op_text="" if op is None else describe(op),
        positions=() if op is None else source_of(op),
        hint=error.hint if expected else "",
        internal=not refused,
        too_long=isinstance(error, TooLong),
        reproducer=reproducer,
        what=what,
        raised_at="" if refused else _raised_at(error),
    )
    failure.op = op
    return failure
