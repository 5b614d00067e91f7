"""`0 <= x < n` of 64 bits is one comparison of 32 bits, where both come of 32.

A block of a tensor descriptor begins at a number of 32 bits and its elements are counted in 64, in which none leaves
its type. Modulo 2^32 an element below 0, or above 2^31, is a number of 2^31 or more without a sign, which no extent
reaches: a comparison without sign says the same. Two comparisons of 64 bits for each row of a thread, which take two
registers each, become one of 32."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from tritonx.dialects import arith, tile
from tritonx.dialects.arith import CmpiPredicate
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.edit import replace
from tritonx.ir.fold.constants import integer_of
from tritonx.ir.types import element_type, i32, i64, is_tensor, type_of, with_element
from tritonx.ir.walk import ops_in

_HALF = 1 << 31
"""One more than the largest number of 32 bits with a sign."""


@dataclass(frozen=True)
class NarrowRangeChecks(ModulePass):
    """Compares 32 bits without sign in place of 64 bits twice.

    Of `arith.andi` of `x >= 0` and `x < n`, both tiles of i64: x is a sum of numbers that were extended from i32, from
    -2^31 to 2^32 - 1 by what is known of them; n was extended from i32, or is a constant of fewer than 32 bits."""

    name = "narrow-range-checks"
    contract = Contract(
        ("tt", "ttg"),
        on=("arith.andi",),
        creates=("arith.trunci", "arith.cmpi", "arith.maxsi"),
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(ops_in(op)):
            if isinstance(inner, arith.AndIOp) and is_tensor(type_of(inner.result)):
                _narrow(inner)


def _narrow(op: arith.AndIOp) -> None:
    for low, high in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        at_least, below = _compared(low, CmpiPredicate.SGE), _compared(high, CmpiPredicate.SLT)
        if at_least is None or below is None or at_least.lhs is not below.lhs or integer_of(at_least.rhs) != 0:
            continue
        value, extent = below.operands
        held, ends = _range(value), _range(extent)
        if held is None or not (-_HALF <= held.start and held.stop <= 2 * _HALF):
            continue
        if ends is None or not (-_HALF <= ends.start and ends.stop <= _HALF):
            continue
        builder = Builder.before(op)
        end = _lower(builder, extent)
        end = builder.emit(arith.MaxSIOp, (end, builder.constant(0, type_of(end))), (type_of(end),))
        ult = {"predicate": IntegerAttr(CmpiPredicate.ULT, i64)}
        replace(op, (builder.emit(arith.CmpiOp, (_lower(builder, value), end), (type_of(op.result),), ult),))
        return


def _compared(value: SSAValue, predicate: CmpiPredicate) -> arith.CmpiOp | None:
    """A comparison of 64 bits; None where it is another one."""
    made = value.owner
    if not isinstance(made, arith.CmpiOp) or made.predicate.value.data != predicate:
        return None
    return made if element_type(type_of(made.lhs)) == i64 else None


def _range(value: SSAValue) -> range | None:
    """The numbers that elements of a value may be; None where that does not follow from 32 bits."""
    made, known = value.owner, integer_of(value)
    if known is not None:
        return range(known, known + 1)
    match made:
        case tile.SplatOp() | tile.ExpandDimsOp() | tile.BroadcastOp():
            return _range(made.src)
        case tile.MakeRangeOp():
            return range(made.start.value.data, made.end.value.data)
        case arith.ExtSIOp() if element_type(type_of(made.operands[0])) == i32:
            return _range(made.operands[0]) or range(-_HALF, _HALF)
        case arith.AddiOp() if element_type(type_of(value)) == i64:
            one, other = map(_range, made.operands)
            return None if one is None or other is None else range(one.start + other.start, one.stop + other.stop - 1)
        case _:
            return None


def _lower(builder: Builder, value: SSAValue) -> SSAValue:
    """The lower 32 bits of a value."""
    known, type_ = integer_of(value), with_element(type_of(value), i32)
    return builder.emit(arith.TruncIOp, (value,), (type_,)) if known is None else builder.constant(known, type_)
