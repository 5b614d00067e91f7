"""``tt.dot``: the machine's matrix instructions where the result has one of their layouts, otherwise fused
multiply-adds.

In the second case the operands have the layout ``dot_op`` of the result's blocked layout: every thread takes, for
each of its rows and columns of the result, the whole of K. Operands that ``stage-dot-operands`` left in shared memory
are read from there in slices of K; others have been loaded whole."""

from __future__ import annotations

from typing import Any

from xdsl.ir import Operation, SSAValue

from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.shape import positions
from tritonx.conversion.gpu_to_llvm.transfer import SharedRegisters
from tritonx.conversion.gpu_to_llvm.types import is_float
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.dialects import tile
from tritonx.ir.failure import PassError


def dot(op: Any, f: FunctionEmitter) -> None:
    if not f.machine.dot(f, op):
        multiply_add(op, f)


def multiply_add(op: Any, f: FunctionEmitter) -> None:
    """For every element of the thread, one fused multiply-add for each k, in the order of k.

    All elements take a step of k before the next one, so that of operands in shared memory only a slice of K is in
    registers at a time."""
    c = f.get(op.c)
    a_at = {p: r for r, p in reversed(list(enumerate(positions(f.layout(op.a.type)))))}
    b_at = {p: r for r, p in reversed(list(enumerate(positions(f.layout(op.b.type)))))}
    left, right = Operand(f, op.a, c.elem), Operand(f, op.b, c.elem)
    places = positions(f.layout(op.c.type))
    start = f.scalars(c)
    totals: dict[tuple[int, ...], str] = {}
    for r, p in enumerate(places):
        totals.setdefault(p, start[r])
    staged = left.staged or right.staged
    for step in range(op.a.type.get_shape()[-1]):
        pairs: list[tuple[int, int]] = []
        for *batch, row, column in totals:
            x, y = a_at.get((*batch, row, step)), b_at.get((*batch, step, column))
            if x is None or y is None:
                raise PassError(op, "the operands of the product are not laid out for its result")
            pairs.append((x, y))
        if staged and step % SLICE == 0:
            f.machine.keep_order(f)
        for p, (x, y) in zip(totals, pairs, strict=True):
            totals[p] = fused(f, c.elem, left[x], right[y], totals[p])
    out = [totals[p] for p in places]
    f.result(op, Tile.of(c.elem, out) if len(out) == 1 else Tile.wide(c.elem, len(out), f.pack(c.elem, out)))


SLICE = 4
"""Steps of k whose operands may be in registers together: a vector load brings four f32 of a row."""


class Operand:
    """The registers of an operand in the accumulator's type, from registers or from shared memory."""

    def __init__(self, f: FunctionEmitter, value: SSAValue, elem: str) -> None:
        self._f = f
        self._elem = elem
        staged = f.memory.get(value)
        self.staged = isinstance(staged, SharedRegisters)
        self._registers: Any = staged if isinstance(staged, SharedRegisters) else f.scalars(f.get(value))
        self._source = staged.elem if isinstance(staged, SharedRegisters) else f.get(value).elem
        self._extended: dict[str, str] = {}

    def __getitem__(self, register: int) -> str:
        name: str = self._registers[register]
        if self._source == self._elem:
            return name
        if name not in self._extended:
            opcode = "fpext" if is_float(self._elem) else "sext"
            self._extended[name] = self._f.inst(f"{opcode} {self._source} {name} to {self._elem}")
        return self._extended[name]


def fused(f: FunctionEmitter, elem: str, x: str, y: str, total: str) -> str:
    if not is_float(elem):
        product = f.inst(f"mul {elem} {x}, {y}")
        return f.inst(f"add {elem} {total}, {product}")
    symbol = f.module.intrinsic("fma", elem, [elem] * 3)
    return f.inst(f"call {elem} {symbol}({elem} {x}, {elem} {y}, {elem} {total})")


TABLE: dict[type[Operation], Emit] = {tile.DotOp: dot}
