"""Printing, in the form of Triton's device code, and assertions.

One line an element: `pid (0, 0, 0) idx ( 3, 12) x: 1.500000`, with `(operand 1)` before the value where an op prints
several.
"""

# Operands are arrays of any dtype: to pyright, what NumPy makes of them is partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tritonx.dialects import cf, tile
from tritonx.interpreter.errors import DeviceAssertion
from tritonx.interpreter.execution import Binder, Function, Table
from tritonx.interpreter.values import is_float, unsigned
from tritonx.ir.types import is_pointer, type_of


def format_value(value: Any, *, hexadecimal: bool, signed: bool, pointer: bool) -> str:
    """One element as C's printf writes it: %f, %i, %u, or in hexadecimal as wide as the type."""
    if pointer:
        return f"{int(value):#x}"
    dtype = np.asarray(value).dtype
    if is_float(dtype):
        if hexadecimal:
            bits = np.asarray(value).view(f"u{dtype.itemsize}")[()]
            return f"0x{int(bits):0{dtype.itemsize * 2}x}"
        return f"{float(value):f}"
    if dtype == np.bool_:
        return f"0x{int(value):02x}" if hexadecimal else str(int(value))
    if hexadecimal:
        return f"0x{int(unsigned(value)):0{dtype.itemsize * 2}x}"
    return str(int(value) if signed else int(unsigned(value)))


def format_lines(
    program: tuple[int, int, int],
    prefix: str,
    value: Any,
    operand: str,
    *,
    hexadecimal: bool,
    signed: bool,
    pointer: bool,
) -> Iterator[str]:
    """The lines for one operand, in row-major order; `operand` stands between the prefix and the value."""
    array = np.asarray(value)
    widths = [len(str(extent - 1)) for extent in array.shape]
    head = f"pid ({program[0]}, {program[1]}, {program[2]}) idx "
    for index in np.ndindex(array.shape):
        place = ", ".join(f"{i:{w}d}" for i, w in zip(index, widths, strict=True))
        text = format_value(array[index], hexadecimal=hexadecimal, signed=signed, pointer=pointer)
        yield f"{head}({place}){prefix}{operand}{text}"


def _print(op: Any, bind: Binder) -> Function:
    prefix: str = op.prefix.data
    hexadecimal = bool(op.hex.value.data)
    signed = [bool(flag) for flag in op.isSigned.get_values()]
    pointers = [is_pointer(type_of(operand)) for operand in op.operands]

    def print_(*values: Any) -> None:
        execution = bind.execution
        x, y, z = execution.program
        if not values:
            execution.write([f"pid ({x}, {y}, {z}){prefix}"])
        for number, value in enumerate(values):
            name = f"(operand {number}) " if len(values) > 1 else ""
            execution.write(
                format_lines(
                    execution.program,
                    prefix,
                    value,
                    name,
                    hexadecimal=hexadecimal,
                    signed=signed[number],
                    pointer=pointers[number],
                )
            )

    return print_


def _check(condition: Any, message: str, bind: Binder) -> None:
    if bind.execution.check_assertions and not np.all(condition):
        lanes = np.argwhere(np.logical_not(condition))
        first = tuple(int(i) for i in lanes[0]) if np.ndim(condition) else ()
        where = f" (lane {first}, {len(lanes)} in all)" if first else ""
        raise DeviceAssertion(f"assertion failed: {message}{where}")


def _assert(op: Any, bind: Binder) -> Function:
    message: str = op.message.data
    return lambda condition: _check(condition, message, bind)


def _assert_scalar(op: Any, bind: Binder) -> Function:
    message: str = op.msg.data
    return lambda condition: _check(condition, message, bind)


TABLE: Table = {tile.PrintOp: _print, tile.AssertOp: _assert, cf.AssertOp: _assert_scalar}
