"""Constants, selection, and functions of the kernel's own on every element."""

from __future__ import annotations

from typing import cast

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr
from xdsl.ir import Attribute

from tritonx.dialects import arith, tile
from tritonx.interpreter.errors import UnsupportedInInterpreter
from tritonx.interpreter.execution import Binder, Function, Table
from tritonx.interpreter.extern import EXTERN_FUNCTIONS
from tritonx.interpreter.meanings.floating import in_double
from tritonx.interpreter.values import UNSIGNED, Array, dtype_of, is_float
from tritonx.ir.dispatch import case
from tritonx.ir.splat import SplatAttr
from tritonx.ir.types import shape_of, type_of


def scalar(value: int | float, dtype: np.dtype) -> Array:
    """A Python number as held: integers modulo the width, floats rounded once."""
    if dtype == np.bool_:
        return np.array(value, dtype)[()]
    if is_float(dtype):
        # Attributes hold a value of their type, so f64 in between changes nothing.
        return np.array(value, dtype=np.float64).astype(dtype)[()]
    bits = dtype.itemsize * 8
    return np.array(int(value) & ((1 << bits) - 1), dtype=UNSIGNED[dtype]).view(dtype)[()]


def constant_value(attribute: Attribute, type_: Attribute) -> Array:
    """The value of a constant's attribute."""
    dtype = dtype_of(type_)
    if isinstance(attribute, SplatAttr):
        return np.broadcast_to(scalar(attribute.value, dtype), shape_of(type_))
    if isinstance(attribute, IntegerAttr | FloatAttr):
        return scalar(cast("IntegerAttr | FloatAttr", attribute).value.data, dtype)
    if isinstance(attribute, DenseIntOrFPElementsAttr):
        values = [scalar(v, dtype) for v in attribute.get_values()]
        shape = shape_of(type_)
        if len(values) == 1:
            return np.broadcast_to(values[0], shape)
        return np.array(values, dtype=dtype).reshape(shape)
    raise UnsupportedInInterpreter(f"a constant with the value {attribute}")


def _constant(op: arith.ConstantOp, bind: Binder) -> Function:
    value = constant_value(op.value, type_of(op.results[0]))
    return lambda: value


def _select(op: arith.SelectOp, bind: Binder) -> Function:
    return np.where


def _inline_assembly(op: tile.ElementwiseInlineAsmOp, bind: Binder) -> Function:
    """An empty piece whose result is its operand's register (`rematerialise` writes them) is that operand."""
    if not op.asm_string.data and op.constraints.data == "=r,0":

        def same(value: Array) -> Array:
            return value

        return same

    def refuse(*args: Array) -> Array:
        raise UnsupportedInInterpreter(f"inline assembly has no meaning without its device: {op.asm_string.data!r}")

    return refuse


def _extern(op: tile.ExternElementwiseOp, bind: Binder) -> Function:
    symbol: str = op.symbol.data
    function = EXTERN_FUNCTIONS.get(symbol)
    if function is None:

        def refuse(*args: Array) -> Array:
            raise UnsupportedInInterpreter(f"the interpreter has no definition of the external function {symbol!r}")

        return refuse
    dtype = dtype_of(type_of(op.results[0]))
    operands = [dtype_of(type_of(operand)) for operand in op.operands]
    if is_float(dtype) and all(is_float(operand) for operand in operands):
        rounded = in_double(function, dtype)
        return lambda *xs: np.asarray(rounded(*xs))[()]
    # Mixed signatures (ldexp, ffs, isnan): the function gets the values as they are, floats in f64.
    return lambda *xs: np.asarray(function(*(x.astype(np.float64) if is_float(x.dtype) else x for x in xs))).astype(
        dtype
    )[()]


def _map(op: tile.MapElementwiseOp, bind: Binder) -> Function:
    """`pack` neighbours in row-major order go through the region together; with one, all elements do at once."""
    region, pack = bind.lanewise(op.scalarOp), op.pack.value.data
    shape = shape_of(type_of(op.results[0]))

    def run(*sources: Array) -> tuple[Array, ...]:
        lanes = [source.reshape(-1)[i::pack] for source in sources for i in range(pack)]
        outputs = region(*lanes)
        results: list[Array] = []
        for first in range(0, len(outputs), pack):
            group = [np.broadcast_to(o, lanes[0].shape) for o in outputs[first : first + pack]]
            results.append(np.stack(group, axis=-1).reshape(shape))
        return tuple(results)

    return run


TABLE: Table = {
    **case(arith.ConstantOp, _constant),
    **case(arith.SelectOp, _select),
    **case(tile.ElementwiseInlineAsmOp, _inline_assembly),
    **case(tile.ExternElementwiseOp, _extern),
    **case(tile.MapElementwiseOp, _map),
}
