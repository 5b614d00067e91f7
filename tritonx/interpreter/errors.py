"""What goes wrong inside a kernel that the interpreter runs: one class for each mistake, the kernel's line in each
message.

Meanings raise these without a place; the machine (or the eager builder) knows which op was running and calls `at`.
Imports nothing heavy, so that callers may catch them without loading the interpreter.
"""

from __future__ import annotations

from typing import Protocol, Self

from tritonx.runtime.errors import InterpreterError


class Describes(Protocol):
    """Who knows where in a kernel's source an exception came from."""

    def describe(self, message: str) -> str: ...


class KernelFault(InterpreterError):
    """A fault of the kernel: `message` says what, `position` is `file:line` once known, `program` the program's index
    in the grid. Where a kernel runs line by line, `trail` shows the source."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
        self.position: str | None = None
        self.program: tuple[int, int, int] | None = None
        self.trail: Describes | None = None

    def at(self, position: str | None, program: tuple[int, int, int] | None) -> Self:
        """Fill in where it happened, unless an inner op already did; returns itself."""
        self.position = self.position or position
        self.program = self.program or program
        return self

    def __str__(self) -> str:
        program = "" if self.program is None else f" [program {self.program}]"
        if self.trail is not None:
            return self.trail.describe(self.message + program)
        position = "" if self.position is None else f"{self.position}: "
        return f"{position}{self.message}{program}"


class OutOfBoundsAccess(KernelFault):
    """A lane that is not masked off reads or writes an address outside every array that the kernel was given."""


class MisalignedAccess(KernelFault):
    """An address that is not a multiple of the element's size: devices fault on it."""


class UninitialisedRead(KernelFault):
    """A lane reads memory that was never written."""


class ReadOnlyWrite(KernelFault):
    """A store to an array that NumPy marks as not writeable."""


class EndlessPoll(KernelFault):
    """`tl.atomic_poll` without a timeout waits for a value that is not written while it runs."""


class DeviceAssertion(KernelFault):
    """`tl.device_assert` failed in some lane."""


class RecursiveCall(KernelFault):
    """A function of the module calls itself; device functions have no stack to do that on."""


class UnsupportedInInterpreter(KernelFault):
    """The op has no meaning outside its device: inline assembly, or an external function that the table does not
    know.

    >>> issubclass(UnsupportedInInterpreter, tritonx.InterpreterError)
    True
    """


class InvalidLaunch(InterpreterError):
    """The arguments or the grid do not fit the function that is to be interpreted."""


class InterpretedCallError(InterpreterError):
    """A mistake in the kernel's own Python code, found while it ran line by line; the message names the line."""
