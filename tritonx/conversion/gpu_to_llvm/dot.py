"""``tt.dot``: the machine's matrix instructions where the result has one of their layouts, otherwise fused
multiply-adds.

In the second case the operands have the layout ``dot_op`` of the result's blocked layout: every thread holds, for
each of its rows and columns of the result, the whole of K."""

from __future__ import annotations

from typing import Any

from xdsl.ir import Operation

from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.shape import positions
from tritonx.conversion.gpu_to_llvm.types import is_float
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.dialects import tile
from tritonx.ir.failure import PassError


def dot(op: Any, f: FunctionEmitter) -> None:
    if not f.machine.dot(f, op):
        multiply_add(op, f)


def multiply_add(op: Any, f: FunctionEmitter) -> None:
    """For every element of the thread, one fused multiply-add for each k, in the order of k."""
    a, b, c = f.get(op.a), f.get(op.b), f.get(op.c)
    a_at = {p: r for r, p in reversed(list(enumerate(positions(f.layout(op.a.type)))))}
    b_at = {p: r for r, p in reversed(list(enumerate(positions(f.layout(op.b.type)))))}
    k = op.a.type.get_shape()[-1]
    left, right = extended(f, a, c.elem), extended(f, b, c.elem)
    out = list(f.scalars(c))
    made: dict[tuple[int, ...], str] = {}
    for r, p in enumerate(positions(f.layout(op.c.type))):
        if p in made:
            out[r] = made[p]
            continue
        *batch, row, column = p
        total = out[r]
        for step in range(k):
            x, y = a_at.get((*batch, row, step)), b_at.get((*batch, step, column))
            if x is None or y is None:
                raise PassError(op, "the operands of the product are not laid out for its result")
            total = fused(f, c.elem, left[x], right[y], total)
        out[r] = made[p] = total
    f.result(op, Tile.of(c.elem, out) if len(out) == 1 else Tile.wide(c.elem, len(out), f.pack(c.elem, out)))


def extended(f: FunctionEmitter, value: Tile, elem: str) -> list[str]:
    """The operand's elements in the accumulator's type."""
    names = f.scalars(value)
    if value.elem == elem:
        return names
    opcode = "fpext" if is_float(elem) else "sext"
    made = {x: f.inst(f"{opcode} {value.elem} {x} to {elem}") for x in dict.fromkeys(names)}
    return [made[x] for x in names]


def fused(f: FunctionEmitter, elem: str, x: str, y: str, total: str) -> str:
    if not is_float(elem):
        product = f.inst(f"mul {elem} {x}, {y}")
        return f.inst(f"add {elem} {total}, {product}")
    symbol = f.module.intrinsic("fma", elem, [elem] * 3)
    return f.inst(f"call {elem} {symbol}({elem} {x}, {elem} {y}, {elem} {total})")


TABLE: dict[type[Operation], Emit] = {tile.DotOp: dot}
