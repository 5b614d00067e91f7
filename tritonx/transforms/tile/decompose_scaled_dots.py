"""Microscaling products as plain ones: no matrix unit here applies scales by itself."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.passes import ModulePass

from tritonx.dialects import tile
from tritonx.dialects.tile.enums import InputPrecision, ScaleDotElemType
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.edit import replace
from tritonx.ir.failure import PassError
from tritonx.ir.types import i32, type_of
from tritonx.ir.walk import ops_in
from tritonx.transforms.tile.scaled_operands import scaled_operand


@dataclass(frozen=True)
class DecomposeScaledDots(ModulePass):
    """Rewrites `tt.dot_scaled` into `tt.dot` of operands of 16 bits.

    They are widened, multiplied by their scales and rounded. Afterwards no `tt.dot_scaled` is left."""

    name = "decompose-scaled-dots"
    contract = Contract(("tt",), on=("tt.dot_scaled",), creates=("tt", "arith"))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in ops_in(op):
            if isinstance(inner, tile.DotScaledOp):
                _decompose(inner)


def _decompose(op: tile.DotScaledOp) -> None:
    for kind in (op.a_elem_type.value.data, op.b_elem_type.value.data):
        if kind in (ScaleDotElemType.E2M3, ScaleDotElemType.E3M2):
            raise PassError(op, f"operands of {ScaleDotElemType(kind).name.lower()} are not widened")
    builder = Builder.before(op)
    precision = IntegerAttr(int(InputPrecision.IEEE), i32)
    properties = {"inputPrecision": precision, "maxNumImpreciseAcc": IntegerAttr(0, i32)}
    operands = (scaled_operand(builder, op, 0), scaled_operand(builder, op, 1), op.c)
    replace(op, builder.create(tile.DotOp, operands, (type_of(op.d),), properties).results)
