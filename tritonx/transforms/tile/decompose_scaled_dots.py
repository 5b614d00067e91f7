"""Microscaling products as plain ones, where no matrix unit applies the scales by itself."""

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
from tritonx.ir.types import element_type, f32, i8, i32, shape_of, type_of
from tritonx.ir.walk import ops_in
from tritonx.transforms.tile.scaled_operands import scaled_operand

GROUP = 32
"""Elements along K that share a scale in the formats of the OCP Microscaling specification."""


@dataclass(frozen=True)
class DecomposeScaledDots(ModulePass):
    """Rewrites `tt.dot_scaled` into `tt.dot` of operands of 16 bits.

    The operands are widened, multiplied by their scales and rounded. A product that the target's matrix unit takes as
    it is stays: operands of its `formats`, pairs of 4 bits along K, one e8m0 scale for 32 elements or none, and at
    least as many rows, columns and elements of K as one of its `instructions` has. By default nothing stays."""

    name = "decompose-scaled-dots"
    contract = Contract(("tt",), on=("tt.dot_scaled",), creates=("tt", "arith"))

    formats: str = ""
    """The formats of operands that the unit multiplies, separated by spaces: `e4m3 e5m2 e2m1`."""
    instructions: str = ""
    """M, N and K of the unit's instructions: `16x16x128 32x32x64`."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        shapes = [tuple(map(int, shape.split("x"))) for shape in self.instructions.split()]
        formats = frozenset(ScaleDotElemType[name.upper()] for name in self.formats.split())
        for inner in ops_in(op):
            if isinstance(inner, tile.DotScaledOp) and not _stays(inner, formats, shapes):
                _decompose(inner)


def _stays(op: tile.DotScaledOp, formats: frozenset[ScaleDotElemType], shapes: list[tuple[int, ...]]) -> bool:
    """Whether the unit multiplies the operands as they are."""
    sides = ((op.a_elem_type, op.lhs_k_pack, op.a_scale), (op.b_elem_type, op.rhs_k_pack, op.b_scale))
    extents = (*shape_of(type_of(op.d))[-2:], op.depth)
    return (
        element_type(type_of(op.d)) == f32
        and all(ScaleDotElemType(kind.value.data) in formats for kind, _, _ in sides)
        and all(bool(packed.value.data) for kind, packed, _ in sides if kind.value.data == ScaleDotElemType.E2M1)
        and all(
            element_type(type_of(scale)) == i8 and shape_of(type_of(scale))[-1] * GROUP == op.depth
            for _, _, scale in sides
            if scale is not None
        )
        and any(all(has >= least for has, least in zip(extents, shape, strict=True)) for shape in shapes)
    )


def _decompose(op: tile.DotScaledOp) -> None:
    for kind in (op.a_elem_type.value.data, op.b_elem_type.value.data):
        if kind in (ScaleDotElemType.E2M3, ScaleDotElemType.E3M2):
            raise PassError(op, f"operands of {ScaleDotElemType(kind).name.lower()} are not widened")
    builder = Builder.before(op)
    precision = IntegerAttr(int(InputPrecision.IEEE), i32)
    properties = {"inputPrecision": precision, "maxNumImpreciseAcc": IntegerAttr(0, i32)}
    operands = (scaled_operand(builder, op, 0), scaled_operand(builder, op, 1), op.c)
    replace(op, builder.create(tile.DotOp, operands, (type_of(op.d),), properties).results)
