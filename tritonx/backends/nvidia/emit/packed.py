"""Arithmetic on packed elements: of a single type it is elementwise, and LLVM forms the packed instructions of a chip.

A sum, a difference and a product are rounded each; PTX leaves it open whether `add.f32x2` is fused with a product."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.conversion.gpu_to_llvm.elementwise import emitted
from tritonx.conversion.scalar import floats
from tritonx.conversion.scalar.ops import Rule, result_element
from tritonx.dialects.nvidia import PackedArithKind, PackedArithOp
from tritonx.ir.dispatch import case
from tritonx.ir.failure import PassError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.ir import Operation

    from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
    from tritonx.conversion.scalar.ops import Ops


def _extremum(name: str) -> Rule:
    write = floats.of_numbers(name)

    def rule(ops: Ops, op: Operation, x: Sequence[str]) -> str:
        return floats.computed(ops, result_element(op), x, lambda elem, v: write(ops, elem, v[0], v[1]))

    return rule


_RULES = {
    PackedArithKind.ADD: emitted(floats.arithmetic("fadd")),
    PackedArithKind.SUB: emitted(floats.arithmetic("fsub")),
    PackedArithKind.MUL: emitted(floats.arithmetic("fmul")),
    PackedArithKind.FMA: emitted(floats.fma),
    PackedArithKind.MIN: emitted(_extremum("minimum")),
    PackedArithKind.MAX: emitted(_extremum("maximum")),
}


def packed_arith(op: PackedArithOp, f: FunctionEmitter) -> None:
    if not op.is_uniform:
        raise PassError(op, f"no code is generated for {op.name} of several types or of 8-bit floats", "convert first")
    _RULES[op.kind](op, f)


TABLE: dict[type[Operation], Emit] = {**case(PackedArithOp, packed_arith)}
