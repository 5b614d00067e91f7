"""``tt.dot`` by fused multiply-adds.

The operands have the layout ``dot_op`` of the result's blocked layout: every thread takes, for each of its rows and
columns of the result, the whole of K. Operands in shared memory are read from there in slices of K; others are in
registers whole.

A thread's share of a product of 128x64x64 are 4096 multiply-adds. Half as many are a loop over parts of K, of which
each element of an operand is at an address that the loop moves, plus a constant."""

from __future__ import annotations

from dataclasses import dataclass

from tritonx.conversion.gpu_to_llvm.elementwise import cast_float, convert_tile
from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter
from tritonx.conversion.gpu_to_llvm.product import DotProduct, Factor
from tritonx.conversion.gpu_to_llvm.shape import positions
from tritonx.conversion.gpu_to_llvm.transfer import SharedRegisters, VectorLoads
from tritonx.conversion.gpu_to_llvm.types import bits
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.conversion.llvm_text import is_float
from tritonx.ir.failure import PassError

SLICE_BITS = 128
"""Of a row, the steps of k whose operands may be in registers together: a vector load brings four f32, or two f64."""

LOOP_FROM = 2048
"""Multiply-adds of a thread from which on they are a loop. 4096 as straight code take two seconds to compile, and 64 KB
of instructions. 2048³ f32 on an H200, straight and as loops, TFLOP/s: 64x64x64 in 4 warps (2048) 38.6 and 40.1,
128x64x64 (4096) 36.5 and 38.0, 64x64x128 (4096) 32.1 and 38.5, 128x64x128 in 8 warps (4096) 38.0 and 39.7."""

LOOP_WORDS = 64
"""Registers of a loop's results at most. With 128, all of them carried, 128x128x32 f32 in 128 threads spills 39 words
on gfx1100, and none as straight code."""

REGISTERS = 256
"""What a thread has at most (CDNA's 512 aside). Results of as many words are spilled either way, and straight code that
spills takes longer than in proportion: 128x64x64 f64 in one wave of gfx1200 (16384 multiply-adds, 512 words) takes LLVM
96 s, and 4 s as a loop."""

LOOP_BODY = 1024
"""As many are written of a loop: what is carried costs little beside them."""

SMALLEST_PART = 4
"""Of K: a vector load brings as many f32."""

Place = tuple[int, ...]


def multiply_add(product: DotProduct, f: FunctionEmitter) -> None:
    """For every element of the thread, one fused multiply-add for each k, in the order of k."""
    c = f.get(product.c)
    places = positions(f.layout(product.c.type))
    start = f.scalars(c)
    totals: dict[Place, str] = {}
    for r, p in enumerate(places):
        totals.setdefault(p, start[r])
    depth = product.a.type.get_shape()[-1]
    words = len(totals) * max(1, bits(c.elem) // 32)
    loops = words <= LOOP_WORDS or words >= REGISTERS
    window = window_of(f, product, len(totals), depth) if loops else None
    if window is not None:
        totals = loop(product, f, window, c.elem, totals)
    else:
        left, right = (Operand(f, factor.held, product, factor) for factor in (product.a, product.b))
        totals = straight(product, f, left, right, totals, depth)
    out = [totals[p] for p in places]
    f.result(product.op, f.gathered(c.elem, out))


def straight(
    product: DotProduct, f: FunctionEmitter, left: Operand, right: Operand, totals: dict[Place, str], depth: int
) -> dict[Place, str]:
    """``totals``, by the elements' indices, plus the products of the first ``depth`` k.

    All elements take a step of k before the next one, so that of operands in shared memory only a slice of K is in
    registers at a time."""
    totals = dict(totals)
    a_at = {p: r for r, p in reversed(list(enumerate(positions(f.layout(product.a.type)))))}
    b_at = {p: r for r, p in reversed(list(enumerate(positions(f.layout(product.b.type)))))}
    staged = left.staged or right.staged
    slice_ = max(1, SLICE_BITS // bits(left.elem))
    for step in range(depth):
        pairs: list[tuple[int, int]] = []
        for *batch, row, column in totals:
            x, y = a_at.get((*batch, row, step)), b_at.get((*batch, step, column))
            if x is None or y is None:
                raise PassError(product.op, "the operands of the product are not laid out for its result")
            pairs.append((x, y))
        if staged and step % slice_ == 0:
            f.machine.keep_order(f)
        for p, (x, y) in zip(totals, pairs, strict=True):
            totals[p] = fused(f, left.elem, left[x], right[y], totals[p])
    return totals


@dataclass(frozen=True)
class Side:
    """An operand in shared memory, its ``registers`` of a window of K, and by how many elements of memory these move
    for each bit of k from the window's size on."""

    memory: VectorLoads
    registers: tuple[int, ...]
    steps: tuple[int, ...]

    def at(self, f: FunctionEmitter, k: str, first: int) -> VectorLoads:
        """The window that begins at ``k``, an i32 that has no bits below ``first``."""
        masks: dict[int, int] = {}
        for bit, step in enumerate(self.steps, first):
            shift = step.bit_length() - 1 - bit
            masks[shift] = masks.get(shift, 0) | 1 << bit
        total = "0"
        for shift, mask in masks.items():
            own = k if len(masks) == 1 else f.inst(f"and i32 {k}, {mask}")
            if shift:
                own = f.inst(f"{'shl' if shift > 0 else 'lshr'} i32 {own}, {abs(shift)}")
            total = own if total == "0" else f.inst(f"or disjoint i32 {total}, {own}")
        return self.memory.moved(self.registers, total)


@dataclass(frozen=True)
class Window:
    """``part`` of the ``depth`` k of both operands."""

    left: Side
    right: Side
    depth: int
    part: int


def window_of(f: FunctionEmitter, product: DotProduct, elements: int, depth: int) -> Window | None:
    """What a loop over K takes at a time of a product of so many elements a thread; None where straight code is better,
    or where an operand does not lie in memory so that an addition moves all its loads."""
    part = depth
    while elements * part > LOOP_BODY and part > SMALLEST_PART:
        part //= 2
    if elements * depth < LOOP_FROM or part < SMALLEST_PART:
        return None
    left, right = side_of(f, product.a, -1, part), side_of(f, product.b, -2, part)
    return None if left is None or right is None else Window(left, right, depth, part)


def side_of(f: FunctionEmitter, factor: Factor, along: int, part: int) -> Side | None:
    memory = factor.held
    if not isinstance(memory, VectorLoads):
        return None
    numbers = [p[along] for p in positions(f.layout(factor.type))]
    registers = tuple(r for r, k in enumerate(numbers) if k < part)
    bits_of_k = range(part.bit_length() - 1, max(numbers).bit_length())
    steps = tuple(memory.offset(numbers.index(1 << bit)) for bit in bits_of_k)
    return Side(memory, registers, steps) if memory.moves_by(steps, registers) else None


def loop(
    product: DotProduct, f: FunctionEmitter, window: Window, elem: str, totals: dict[Place, str]
) -> dict[Place, str]:
    """``totals`` plus all products, a window of K at a time."""
    head, done, before = f.new_label("product"), f.new_label("multiplied"), f.block
    f.branch(head)
    f.label(head)
    counter = f.name()
    sums = {p: f.name() for p in totals}
    phis_at = len(f.lines)
    first = window.part.bit_length() - 1
    sides = (window.left, product.a), (window.right, product.b)
    left, right = (Operand(f, side.at(f, counter, first), product, factor) for side, factor in sides)
    ends = straight(product, f, left, right, sums, window.part)
    following = f.inst(f"add nuw nsw i32 {counter}, {window.part}")
    again = f.inst(f"icmp ult i32 {following}, {window.depth}")
    f.line(f"br i1 {again}, label %{head}, label %{done}")
    phis = [f"  {counter} = phi i32 [ 0, %{before} ], [ {following}, %{head} ]"]
    for p, name in sums.items():
        phis.append(f"  {name} = phi {elem} [ {totals[p]}, %{before} ], [ {ends[p]}, %{head} ]")
    f.lines[phis_at:phis_at] = phis
    f.label(done)
    return ends


class Operand:
    """The registers of an operand of the product in the accumulator's type, from registers or from shared memory."""

    def __init__(self, f: FunctionEmitter, source: SharedRegisters | Tile, product: DotProduct, factor: Factor) -> None:
        self._f = f
        self.elem = f.elem(product.c)
        self._types = factor.type, product.c.type
        self.staged = isinstance(source, SharedRegisters)
        self._registers = source if isinstance(source, SharedRegisters) else f.scalars(source)
        self._source = source.elem
        self._extended: dict[str, str] = {}

    def __getitem__(self, register: int) -> str:
        name: str = self._registers[register]
        if self._source == self.elem:
            return name
        if name not in self._extended:
            f, own = self._f, Tile.of(self._source, [name])
            floating = is_float(self.elem)
            wide = cast_float(f, own, *self._types, None) if floating else convert_tile(f, "sext", own, self.elem)
            self._extended[name] = f.scalars(wide)[0]
        return self._extended[name]


def fused(f: FunctionEmitter, elem: str, x: str, y: str, total: str) -> str:
    if not is_float(elem):
        product = f.inst(f"mul {elem} {x}, {y}")
        return f.inst(f"add {elem} {total}, {product}")
    symbol = f.module.intrinsic("fma", elem, [elem] * 3)
    return f.inst(f"call {elem} {symbol}({elem} {x}, {elem} {y}, {elem} {total})")
