"""Integers: arithmetic that wraps, comparison, logic. An i1 is a bool, so addition on it is exclusive or."""

# Operands are arrays of any dtype: to pyright, what NumPy makes of them is partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from tritonx.dialects import arith, math, tile
from tritonx.interpreter import arithmetic
from tritonx.interpreter.execution import Binder, Function, Meaning, Table, always
from tritonx.interpreter.values import Array, dtype_of, unsigned
from tritonx.ir.dispatch import case
from tritonx.ir.types import type_of

_BOOL = np.dtype(np.bool_)


def _by_width(wide: Function, bit: Function) -> Meaning:
    """`wide` for integers of eight bits and more, `bit` for i1."""

    def meaning(op: Operation, bind: Binder) -> Function:
        return bit if dtype_of(type_of(op.operands[0])) == _BOOL else wide

    return meaning


def _max_unsigned(x: Array, y: Array) -> Array:
    return np.where(unsigned(x) >= unsigned(y), x, y)


def _min_unsigned(x: Array, y: Array) -> Array:
    return np.where(unsigned(x) <= unsigned(y), x, y)


def _first(x: Array, y: Array) -> Array:
    return np.logical_and(x, True)


def _and_not(x: Array, y: Array) -> Array:
    return np.logical_and(x, np.logical_not(y))


_COMPARE: tuple[Function, ...] = (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)


def _compare(op: arith.CmpiOp, bind: Binder) -> Function:
    """Predicates 0..5 are eq, ne, slt, sle, sgt, sge; 6..9 the unsigned ult, ule, ugt, uge."""
    predicate: int = op.predicate.value.data
    bit = dtype_of(type_of(op.operands[0])) == _BOOL
    if predicate < 2 or (predicate < 6 and not bit):
        return _COMPARE[predicate]
    if predicate < 6:  # the i1 that is set is -1 when read as signed
        return _swapped(_COMPARE[predicate])
    compare = _COMPARE[predicate - 4]
    return lambda x, y: compare(unsigned(x), unsigned(y))


def _swapped(compare: Function) -> Function:
    return lambda x, y: compare(y, x)


def _absolute(x: Array) -> Array:
    return np.where(x < 0, -x, x)


TABLE: Table = {
    arith.AddiOp: _by_width(np.add, np.bitwise_xor),
    arith.SubiOp: _by_width(np.subtract, np.bitwise_xor),
    arith.MuliOp: _by_width(np.multiply, np.bitwise_and),
    arith.DivSIOp: _by_width(arithmetic.divide_signed, np.logical_and),
    arith.DivUIOp: _by_width(arithmetic.divide_unsigned, np.logical_and),
    arith.RemSIOp: _by_width(arithmetic.remainder_signed, _and_not),
    arith.RemUIOp: _by_width(arithmetic.remainder_unsigned, _and_not),
    arith.FloorDivSIOp: _by_width(arithmetic.floor_divide_signed, np.logical_and),
    arith.CeilDivSIOp: _by_width(arithmetic.ceil_divide_signed, np.logical_and),
    arith.CeilDivUIOp: _by_width(arithmetic.ceil_divide_unsigned, np.logical_and),
    arith.AndIOp: always(np.bitwise_and),
    arith.OrIOp: always(np.bitwise_or),
    arith.XOrIOp: always(np.bitwise_xor),
    arith.ShLIOp: _by_width(np.left_shift, _and_not),
    arith.ShRSIOp: _by_width(np.right_shift, _first),
    arith.ShRUIOp: _by_width(arithmetic.shift_right_unsigned, _and_not),
    arith.MaxSIOp: _by_width(np.maximum, np.bitwise_and),
    arith.MinSIOp: _by_width(np.minimum, np.bitwise_or),
    arith.MaxUIOp: _by_width(_max_unsigned, np.bitwise_or),
    arith.MinUIOp: _by_width(_min_unsigned, np.bitwise_and),
    **case(arith.CmpiOp, _compare),
    math.AbsIOp: always(_absolute),
    tile.MulhiUIOp: always(arithmetic.multiply_high_unsigned),
}
