"""A pass of a plug-in."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FloatAttr, ModuleOp
from xdsl.ir import OpResult, SSAValue
from xdsl.passes import ModulePass

from tritonx.backends.tile import Contract, SplatAttr, arith


def _is_two(value: SSAValue) -> bool:
    if not isinstance(value, OpResult) or not isinstance(value.op, arith.ConstantOp):
        return False
    attribute = value.op.value
    element = attribute.element if isinstance(attribute, SplatAttr) else attribute
    return isinstance(element, FloatAttr) and element.value.data == 2.0


@dataclass(frozen=True)
class DoubleByAdding(ModulePass):
    """Replaces ``x * 2.0`` by ``x + x``, the same number. Leaves the IR valid; the constant may be left unused."""

    name = "toy-double-by-adding"
    contract = Contract(("tt",), on=("arith.mulf",), creates=("arith.addf",))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for multiply in [m for m in op.walk() if isinstance(m, arith.MulfOp)]:
            factors = [f for f in multiply.operands if not _is_two(f)]
            if len(factors) != 1 or multiply.parent is None:
                continue
            add = arith.AddfOp.create(
                operands=[factors[0], factors[0]],
                result_types=[multiply.results[0].type],
                properties=dict(multiply.properties),
                location=multiply.location,
            )
            multiply.parent.insert_op_before(add, multiply)
            multiply.results[0].replace_all_uses_with(add.results[0])
            multiply.parent.erase_op(multiply)
