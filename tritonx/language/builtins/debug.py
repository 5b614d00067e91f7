"""Printing and asserting, at compile time and at run time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.language.builtins.builtin import INJECTED, builtin
from tritonx.language.values.constexpr import unwrap

if TYPE_CHECKING:
    from tritonx.frontend.semantics import Semantics

__all__ = ["device_assert", "device_print", "expect_zero", "static_assert", "static_print"]


@builtin
def static_print(
    *values: object,
    sep: object = " ",
    end: object = "\n",
    file: object = None,
    flush: object = False,
    _semantic: Semantics = INJECTED,
) -> None:
    """Python's ``print`` while the kernel is compiled.

    >>> tl.static_print('a block of', 4)
    """
    print(*values, sep=unwrap(sep), end=unwrap(end), file=unwrap(file), flush=bool(unwrap(flush)))


@builtin
def static_assert(cond: object, msg: object = "", _semantic: Semantics = INJECTED) -> None:
    """Stop the compile with a CompileTimeAssertionFailure, and ``msg``, where a compile-time condition is false; with
    StaticAssertUndecided where it is known at run time only.

    >>> tl.static_assert(1 + 1 == 2, 'arithmetic')
    """
    _semantic.static_assert(unwrap(cond), unwrap(msg))


@builtin
def device_print(prefix: object, *args: object, hex: object = False, _semantic: Semantics = INJECTED) -> None:
    """Print the elements of ``args``, blocks or scalars of any dtype, at run time behind a compile-time ``prefix``, in
    hexadecimal with ``hex``. Raises AssertionError for a prefix that is no text.

    >>> tl.device_print('first', tl.load(ints))
    """
    return _semantic.device_print(prefix, args, hex)


@builtin
def device_assert(cond: object, msg: object = "", mask: object = None, _semantic: Semantics = INJECTED) -> None:
    """Stop the kernel where ``cond`` is false and ``mask`` true, both blocks or scalars; only in a compile with
    ``debug``. ``msg`` is a compile-time text. On a host this is a DeviceAssertError, on a GPU the driver's error of
    a trap.

    >>> tl.device_assert(tl.load(ints) == 0, 'the first is not zero')
    """
    return _semantic.device_assert(cond, msg, mask)


@builtin
def expect_zero(x: object, mask: object, _semantic: Semantics = INJECTED) -> object:
    """``x``, of which the program says that it is zero where ``mask`` holds: blocks or scalars of shapes that
    broadcast. A compile with ``debug`` asserts it.

    >>> tl.expect_zero(tl.arange(0, 4), tl.arange(0, 4) < 1)
    [0, 1, 2, 3]
    """
    return _semantic.expect_zero(unwrap(x), mask)
