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
from tritonx.conversion.gpu_to_llvm.types import bits, is_float, llvm_type
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
    slice_ = max(1, SLICE_BITS // bits(c.elem))
    for step in range(op.a.type.get_shape()[-1]):
        pairs: list[tuple[int, int]] = []
        for *batch, row, column in totals:
            x, y = a_at.get((*batch, row, step)), b_at.get((*batch, step, column))
            if x is None or y is None:
                raise PassError(op, "the operands of the product are not laid out for its result")
            pairs.append((x, y))
        if staged and step % slice_ == 0:
            f.machine.keep_order(f)
        for p, (x, y) in zip(totals, pairs, strict=True):
            totals[p] = fused(f, c.elem, left[x], right[y], totals[p])
    out = [totals[p] for p in places]
    f.result(op, Tile.of(c.elem, out) if len(out) == 1 else Tile.wide(c.elem, len(out), f.pack(c.elem, out)))


SLICE_BITS = 128
"""Of a row, the steps of k whose operands may be in registers together: a vector load brings four f32, or two f64."""


Position = tuple[int, ...]


class Rows:
    """An operand of matrix instructions: the thread's registers by the row (column, for B) they belong to, each row in
    the order of k. Which k a thread's elements are does not matter as long as A and B agree, so those of a row are
    numbered. ``along`` is the dim of k: -1 for A, -2 for B. What ``stage-dot-operands`` left in shared memory is loaded
    when it is asked for."""

    def __init__(self, f: FunctionEmitter, operand: Any, along: int) -> None:
        self.f = f
        place = f.memory.get(operand)
        self.staged = place if isinstance(place, SharedRegisters) else None
        self.value = f.get(operand) if self.staged is None else None
        self.elem = llvm_type(operand.type)
        by_row: dict[Position, dict[int, int]] = {}
        for r, p in enumerate(positions(f.layout(operand.type))):
            row = (*p[:-2], p[-2] if along == -1 else p[-1])
            by_row.setdefault(row, {}).setdefault(p[along], r)
        self.registers = {row: [by_k[k] for k in sorted(by_k)] for row, by_k in by_row.items()}

    def depth(self, op: Any) -> int:
        """How many elements of every row the thread holds."""
        counts = {len(registers) for registers in self.registers.values()}
        if len(counts) != 1:
            raise PassError(op, "the lanes hold different amounts of the rows of an operand")
        return counts.pop()

    def together(self) -> int:
        """How many elements of a row, from the first on, reach to the last one that comes with the first one's load: a
        power of two. 1 where nothing is loaded."""
        if self.staged is None:
            return 1
        row = next(iter(self.registers.values()))
        brought = set(self.staged.brought_with(row[0]))
        return 1 << max(i for i, r in enumerate(row) if i == 0 or r in brought).bit_length()

    def missing(self, registers: list[int]) -> int:
        """How many 32-bit registers the loads fill that ``registers`` still need."""
        if self.staged is None:
            return 0
        loads = {self.staged.brought_with(r) for r in registers if not self.staged.is_loaded(r)}
        return sum(-(-len(brought) * bits(self.elem) // 32) for brought in loads)

    def load(self) -> None:
        """Load all of it here."""
        if self.staged is not None:
            self.staged.load_all()

    def packed(self, registers: list[int]) -> str:
        """``registers`` as one vector."""
        f, value, count = self.f, self.value, len(registers)
        if value is None:
            assert self.staged is not None
            return self.staged.vector(registers)
        if value.prefers_vector and registers == list(range(registers[0], registers[0] + count)):
            return f.slice(self.elem, value.n, f.wide(value), registers[0], count)
        names = f.scalars(value)
        return f.pack(self.elem, [names[r] for r in registers])


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
