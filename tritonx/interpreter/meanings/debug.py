"""Printing, in the form of Triton's device code (`tritonx.ir.printed_text`), and assertions."""

# Operands are arrays of any dtype: to pyright, what NumPy makes of them is partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from xdsl.ir import Attribute

from tritonx.dialects import cf, proton, tile
from tritonx.interpreter.errors import DeviceAssertion
from tritonx.interpreter.execution import Binder, Function, Table
from tritonx.interpreter.values import Array, is_float, unsigned
from tritonx.ir import printed_text
from tritonx.ir.dispatch import case
from tritonx.ir.region_records import Measured
from tritonx.ir.types import element_type, is_pointer, type_of


def hexadecimal_float(value: float) -> str:
    """What C's ``%a`` makes of a double: ``0x1.8p+1`` for 3, without the zeros that Python's ``hex`` ends with."""
    mantissa, separator, exponent = value.hex().partition("p")
    return mantissa.rstrip("0").removesuffix(".") + separator + exponent if "." in mantissa else value.hex()


def argument(value: Array, element: Attribute, *, hexadecimal: bool, signed: bool) -> int | float | str:
    """One element as it is handed to a conversion: a float, or an integer as wide as C passes it; Python has no
    ``%a``, so that a float in hexadecimal is text."""
    if is_pointer(element):
        return int(value)
    if printed_text.is_float_text(element):
        return hexadecimal_float(float(value)) if hexadecimal else float(value)
    held = np.asarray(value)
    if is_float(held.dtype):
        return int(held.view(f"u{held.dtype.itemsize}")[()])
    if not printed_text.is_signed_text(element, signed=signed):
        return int(unsigned(held))
    number = int(held)
    return number if not hexadecimal else number & ((1 << max(32, 8 * held.dtype.itemsize)) - 1)


def format_lines(
    program: tuple[int, int, int], text: str, value: Array, element: Attribute, *, hexadecimal: bool, signed: bool
) -> Iterator[str]:
    """The lines for one operand, in row-major order, by the format `text`."""
    array = np.asarray(value)
    for index in np.ndindex(array.shape):
        yield text % (*program, *index, argument(array[index], element, hexadecimal=hexadecimal, signed=signed))


def _print(op: tile.PrintOp, bind: Binder) -> Function:
    prefix: str = op.prefix.data
    hexadecimal = bool(op.hex.value.data)
    signed = [bool(flag) for flag in op.isSigned.get_values()]
    types = [type_of(operand) for operand in op.operands]

    def print_(*values: Array) -> None:
        execution = bind.execution
        if not values:
            execution.write([printed_text.line(prefix).removesuffix("\n") % execution.program])
        for number, (value, type_, sign) in enumerate(zip(values, types, signed, strict=True)):
            element = element_type(type_)
            conversion = printed_text.conversion(element, hexadecimal=hexadecimal, signed=sign)
            # Python has no lengths, pointers or hexadecimal floats, and is handed text for these.
            conversion = conversion.replace("ll", "").replace("%p", "0x%x").replace("%a", "%s")
            name = printed_text.operand_name(number, len(values))
            shape = op.printed_shape(number)
            text = printed_text.line(prefix, shape, name, conversion).removesuffix("\n")
            value = np.asarray(value)[tuple(map(slice, shape))]
            execution.write(format_lines(execution.program, text, value, element, hexadecimal=hexadecimal, signed=sign))

    return print_


def _check(condition: Array, message: str, bind: Binder) -> None:
    if bind.execution.check_assertions and not np.all(condition):
        lanes = np.argwhere(np.logical_not(condition))
        first = tuple(int(i) for i in lanes[0]) if np.ndim(condition) else ()
        where = f" (lane {first}, {len(lanes)} in all)" if first else ""
        raise DeviceAssertion(f"assertion failed: {message}{where}")


def _assert(op: tile.AssertOp, bind: Binder) -> Function:
    message: str = op.message.data
    return lambda condition: _check(condition, message, bind)


def _record(op: proton.RecordOp, bind: Binder) -> Function:
    region, starts = Measured.of(op), op.is_start
    return lambda: bind.execution.record(region, starts=starts)


def _assert_scalar(op: cf.AssertOp, bind: Binder) -> Function:
    message: str = op.msg.data
    return lambda condition: _check(condition, message, bind)


TABLE: Table = {
    **case(tile.PrintOp, _print),
    **case(tile.AssertOp, _assert),
    **case(cf.AssertOp, _assert_scalar),
    **case(proton.RecordOp, _record),
}
