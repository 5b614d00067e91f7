"""Conversions between integers, floats, pointers and bits."""

# Operands are arrays of any dtype: to pyright, what NumPy makes of them is partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from tritonx.dialects import arith, tile
from tritonx.dialects.tile.enums import RoundingMode
from tritonx.interpreter.execution import Binder, Function, Table
from tritonx.interpreter.rounding import Rounding, float_to_integer, integer_to_float, round_to
from tritonx.interpreter.values import UNSIGNED, Array, dtype_of, signless, unsigned
from tritonx.ir.dispatch import case
from tritonx.ir.types import PointerType, element_type, type_of

_BOOL = np.dtype(np.bool_)


def _target(op: Operation) -> np.dtype:
    return dtype_of(type_of(op.results[0]))


def _source(op: Operation) -> np.dtype:
    return dtype_of(type_of(op.operands[0]))


def _minus_one_or_zero(x: Array) -> Array:
    """An i1 read as signed, in eight bits."""
    return np.negative(x.astype(np.int8))


def extend_signed(x: Array, target: np.dtype) -> Array:
    return (_minus_one_or_zero(x) if x.dtype == _BOOL else x).astype(target)


def truncate(x: Array, target: np.dtype) -> Array:
    """The low bits."""
    return (x & x.dtype.type(1)).astype(_BOOL) if target == _BOOL else x.astype(target)


def _extend_signed(op: arith.ExtSIOp, bind: Binder) -> Function:
    target = _target(op)
    return lambda x: extend_signed(x, target)


def _extend_unsigned(op: arith.ExtUIOp, bind: Binder) -> Function:
    target = UNSIGNED[_target(op)]
    return lambda x: signless(unsigned(x).astype(target))


def _truncate(op: arith.TruncIOp, bind: Binder) -> Function:
    target = _target(op)
    return lambda x: truncate(x, target)


def _index_cast(op: arith.IndexCastOp, bind: Binder) -> Function:
    """Sign-extends or truncates; `index` has 64 bits."""
    target, source = _target(op), _source(op)
    if target.itemsize > source.itemsize:
        return lambda x: extend_signed(x, target)
    return lambda x: truncate(x, target)


def _extend_float(op: arith.ExtFOp, bind: Binder) -> Function:
    target = _target(op)
    return lambda x: x.astype(target)


def _round(op: arith.TruncFOp, bind: Binder) -> Function:
    target = _target(op)
    return lambda x: round_to(x, target)


def _float_to_float(op: tile.FpToFpOp, bind: Binder) -> Function:
    target = _target(op)
    given = op.rounding
    towards_zero = given is not None and given.value.data == RoundingMode.RTZ
    rounding = Rounding.TOWARDS_ZERO if towards_zero else Rounding.NEAREST_EVEN
    return lambda x: round_to(x, target, rounding)


def _from_signed(op: arith.SIToFPOp, bind: Binder) -> Function:
    target = _target(op)
    return lambda x: integer_to_float(_minus_one_or_zero(x) if x.dtype == _BOOL else x, target)


def _from_unsigned(op: arith.UIToFPOp, bind: Binder) -> Function:
    target = _target(op)
    return lambda x: integer_to_float(unsigned(x), target)


def _to_signed(op: arith.FPToSIOp, bind: Binder) -> Function:
    target = _target(op)
    return lambda x: float_to_integer(x, target, signed=True)


def _to_unsigned(op: arith.FPToUIOp, bind: Binder) -> Function:
    target = _target(op)
    return lambda x: float_to_integer(x, target, signed=False)


def _bitcast(op: arith.BitcastOp | tile.BitcastOp, bind: Binder) -> Function:
    target = _target(op)
    before, after = (isinstance(element_type(type_of(v)), PointerType) for v in (op.operands[0], op.results[0]))
    if after and not before:
        return lambda x: _pointed(bind, np.asarray(x).view(target)[()])
    return lambda x: np.asarray(x).view(target)[()]


def _pointed(bind: Binder, addresses: Array) -> Array:
    bind.execution.live.admit(addresses)
    return addresses


def _to_pointer(op: tile.IntToPtrOp, bind: Binder) -> Function:
    return lambda x: _pointed(bind, x)


def _same(op: tile.PtrToIntOp, bind: Binder) -> Function:
    return lambda x: x


TABLE: Table = {
    **case(arith.ExtSIOp, _extend_signed),
    **case(arith.ExtUIOp, _extend_unsigned),
    **case(arith.TruncIOp, _truncate),
    **case(arith.IndexCastOp, _index_cast),
    **case(arith.ExtFOp, _extend_float),
    **case(arith.TruncFOp, _round),
    **case(arith.SIToFPOp, _from_signed),
    **case(arith.UIToFPOp, _from_unsigned),
    **case(arith.FPToSIOp, _to_signed),
    **case(arith.FPToUIOp, _to_unsigned),
    **case(arith.BitcastOp, _bitcast),
    **case(tile.BitcastOp, _bitcast),
    **case(tile.FpToFpOp, _float_to_float),
    **case(tile.IntToPtrOp, _to_pointer),
    **case(tile.PtrToIntOp, _same),
}
