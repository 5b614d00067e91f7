"""Matrix products: a register tile of accumulators, walked over the result.

d[m, n] = fma(a[m, k], b[k, n], d[m, n]) for k = 0, 1, … from the accumulator operand on: the order that defines the
result (`interpreter/meanings/dot.py`), so a product here equals the interpreter's bit for bit.

The register tile holds `MR` rows and a few vectors of columns of the result, enough accumulators to hide the latency of
fma on both ports (8 are needed; 16 of the 32 registers of AVX-512, 8 of the 16 of AVX2). Each k step loads the vectors
of row k of B once and multiplies them by `MR` elements of A, broadcast from memory. Both operands are read where the
loads that made them left them, tile buffers of a few kB in the first-level cache, so nothing needs packing; except that
B must have its columns side by side: a transposed B is transposed in registers first (`transpose_copy`). Operands
narrower than f32 lie in their buffers as f32 already.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, SSAValue

from tritonx.conversion.llvm_text import vector
from tritonx.conversion.mathlib import Code
from tritonx.conversion.tile_to_loops.emitter import Position, View
from tritonx.conversion.tile_to_loops.loops import chunk_width, each_chunk
from tritonx.conversion.tile_to_loops.types import (
    integer_bits,
    is_float,
    is_narrow_float,
    register_type,
    type_bytes,
)
from tritonx.conversion.tile_to_loops.writer import Lanes, Phis
from tritonx.dialects import tile
from tritonx.dialects.tile.enums import InputPrecision
from tritonx.ir.types import element_type, f32, f64, i32, shape_of

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_loops.demand import Needed
    from tritonx.conversion.tile_to_loops.emitter import Emitter

ROWS = {16: 4, 32: 8}
"""Rows of the register tile by the number of vector registers."""

UNROLL = 2
"""Steps of k in one iteration."""


@dataclass(frozen=True)
class Matrix:
    """A matrix of `type` in memory; strides in elements."""

    pointer: str
    type: str
    row: int
    column: int

    def at(self, e: Emitter, row: str, column: str) -> str:
        offset = e.writer.add(e.writer.mul(row, str(self.row)), e.writer.mul(column, str(self.column)))
        if offset == "0":
            return self.pointer
        return e.writer.inst(f"getelementptr inbounds {self.type}, ptr {self.pointer}, i64 {offset}")


def compute_element(element: Attribute) -> Attribute:
    """The type in which products of `element` are accumulated."""
    if is_narrow_float(element):
        return f32
    if integer_bits(element):
        return i32 if integer_bits(element) <= 32 else element
    return element


def splits(op: tile.DotOp) -> bool:
    """Whether a product of f32 goes through a shorter format (`split_dot.py`)."""
    return element_type(op.a.type) == f32 and op.inputPrecision.value.data != InputPrecision.IEEE


# ---- operands


def operand_view(e: Emitter, value: SSAValue) -> View:
    """The operand in memory in its compute type; strides of a transposition are followed, other forms are copied."""
    element = element_type(value.type)
    wanted = compute_element(element)
    owner = value.owner
    if value not in e.views and isinstance(owner, tile.TransOp) and owner.src in e.views:
        source = operand_view(e, owner.src)
        strides = tuple(source.strides[int(d)] for d in owner.order.get_values())
        return View(source.pointer, source.element, strides, source.widened)
    view = e.views.get(value)
    if view is not None and (view.widened or view.element == wanted):
        return view
    return copy_as(e, value, wanted)


def copy_as(e: Emitter, value: SSAValue, wanted: Attribute, transform: Callable[[Lanes], Lanes] | None = None) -> View:
    """A copy of a tile in another element type (f32 or i32), each chunk put through `transform`."""
    shape, element = shape_of(value.type), element_type(value.type)
    ty = register_type(wanted)
    target = e.new_view(shape, wanted)
    for position in each_chunk(e, shape, type_bytes(ty)):
        lanes = e.evaluate(value, position)
        if is_float(element):
            lanes = e.convert(lanes, element, wanted)
        elif element != wanted:
            a, b = (vector(register_type(t), lanes.width) for t in (element, wanted))
            lanes = Lanes(e.writer.inst(f"sext {a} {lanes.text} to {b}"), lanes.width)
        e.store_view(target, position, transform(lanes) if transform is not None else lanes)
    return target


def with_columns_together(e: Emitter, view: View, shape: tuple[int, ...]) -> View:
    """The same matrix (or batch of them) with a last stride of 1."""
    if view.strides[-1] == 1 or shape[-1] == 1:
        return view
    target = e.new_view(shape, view.element, widened=view.widened)
    if len(shape) == 3:
        with e.writer.loop("batch", shape[0]) as b:
            transpose_copy(e, _slice(e, view, b), _slice(e, target, b), shape[1:])
    else:
        transpose_copy(e, view, target, shape)
    return target


def _slice(e: Emitter, view: View, batch: str) -> View:
    pointer = e.view_address(view, (batch, "0", "0"))
    return View(pointer, view.element, view.strides[1:], view.widened)


def transpose_copy(e: Emitter, source: View, target: View, shape: tuple[int, ...]) -> None:
    """Copy a matrix whose rows are together (first stride 1) into one whose columns are, in square blocks of registers.

    A block of V vectors is transposed in log2 V rounds; round d exchanges the lanes with bit d set of one vector with
    those without it of the vector d further on.
    """
    rows, columns = shape
    w = e.writer
    ty = source.type
    side = min(chunk_width(rows, e.isa.lanes(type_bytes(ty))), chunk_width(columns, e.isa.lanes(type_bytes(ty))))
    if side < 2 or source.strides[0] != 1:
        with w.loop("row", rows) as i, w.loop("column", columns) as j:
            one = e.load_view(source, Position((i, j)))
            e.store_view(target, Position((i, j)), one)
        return
    wide = vector(ty, side)
    align = type_bytes(ty)
    with w.loop("row", rows, side) as i, w.loop("column", columns, side) as j:
        block = [
            w.inst(f"load {wide}, ptr {e.view_address(source, (i, w.add(j, str(c))))}, align {align}")
            for c in range(side)
        ]
        distance = 1
        while distance < side:
            low = [lane if not lane & distance else side + lane - distance for lane in range(side)]
            high = [lane + distance if not lane & distance else side + lane for lane in range(side)]
            for n in range(side):
                if not n & distance:
                    a, b = block[n], block[n + distance]
                    block[n] = w.shuffle(ty, a, b, side, low)
                    block[n + distance] = w.shuffle(ty, a, b, side, high)
            distance *= 2
        for r in range(side):
            w.line(f"store {wide} {block[r]}, ptr {e.view_address(target, (w.add(i, str(r)), j))}, align {align}")


# ---- the product


@dataclass(frozen=True)
class RegisterTile:
    rows: int
    vectors: int
    width: int

    @property
    def columns(self) -> int:
        return self.vectors * self.width


def register_tile(e: Emitter, m: int, n: int, ty: str) -> RegisterTile:
    """At most half the registers as accumulators; a short dimension leaves more for the other."""
    budget = e.isa.vector_registers // 2
    width = chunk_width(n, e.isa.lanes(type_bytes(ty)))
    rows = chunk_width(m, ROWS.get(e.isa.vector_registers, 8))
    vectors = chunk_width(n // width, max(1, budget // rows))
    return RegisterTile(rows, vectors, width)


Reader = Callable[[str, str, int], str]
"""(row, column, width) → a vector of the accumulator operand."""

Writer_ = Callable[[str, str, Lanes], None]


def multiply(
    e: Emitter, a: Matrix, b: Matrix, shape: tuple[int, int, int], initial: Reader, store: Writer_, element: Attribute
) -> None:
    """Walk the result in register tiles: panels of columns outside, so that a panel of B stays in the first-level
    cache.
    """
    m, n, k = shape
    w = e.writer
    tile_ = register_tile(e, m, n, b.type)
    with w.loop("panel", n, tile_.columns) as j, w.loop("tile", m, tile_.rows) as i:
        e.fresh_chunk()
        accumulators = [
            [initial(w.add(i, str(r)), w.add(j, str(v * tile_.width)), tile_.width) for v in range(tile_.vectors)]
            for r in range(tile_.rows)
        ]
        result = _accumulate(e, a, b, tile_, i, j, k, accumulators, element)
        for r in range(tile_.rows):
            for v in range(tile_.vectors):
                store(w.add(i, str(r)), w.add(j, str(v * tile_.width)), Lanes(result[r][v], tile_.width))
    e.fresh_chunk()


def _accumulate(
    e: Emitter,
    a: Matrix,
    b: Matrix,
    tile_: RegisterTile,
    i: str,
    j: str,
    k: int,
    initial: list[list[str]],
    element: Attribute,
) -> list[list[str]]:
    w = e.writer
    ty = vector(b.type, tile_.width)
    unroll = chunk_width(k, UNROLL)
    row_of_a = [a.at(e, w.add(i, str(r)), "0") for r in range(tile_.rows)]
    column_of_b = b.at(e, "0", j)
    if k == unroll:
        return _steps(e, a, b, tile_, row_of_a, column_of_b, "0", unroll, initial, element)
    before, header = w.block, w.new_label("k")
    w.enter(header)
    begin = len(w.lines) - 1
    phis = Phis(w, before)
    index = phis.add("i64", "0")
    carried = [[phis.add(ty, value) for value in row] for row in initial]
    w.trips *= k // unroll
    following = _steps(e, a, b, tile_, row_of_a, column_of_b, index, unroll, carried, element)
    step = w.inst(f"add nuw nsw i64 {index}, {unroll}")
    done = w.inst(f"icmp eq i64 {step}, {k}")
    w.trips //= k // unroll
    phis.close([step, *(value for row in following for value in row)])
    after = w.new_label("k")
    w.branch_if(done, after, header)
    w.loops.append((begin, len(w.lines)))
    w.label(after)
    return following


def _steps(
    e: Emitter,
    a: Matrix,
    b: Matrix,
    tile_: RegisterTile,
    row_of_a: list[str],
    column_of_b: str,
    k: str,
    unroll: int,
    accumulators: list[list[str]],
    element: Attribute,
) -> list[list[str]]:
    w = e.writer
    ty, width, size = vector(b.type, tile_.width), tile_.width, type_bytes(b.type)
    current = [list(row) for row in accumulators]
    floating = is_float(element)
    code = Code(w, width, double=element == f64)
    for u in range(unroll):
        at = w.add(k, str(u))
        b_row = w.inst(f"getelementptr inbounds {b.type}, ptr {column_of_b}, i64 {w.mul(at, str(b.row))}")
        columns: list[str] = []
        for v in range(tile_.vectors):
            p = w.inst(f"getelementptr inbounds {b.type}, ptr {b_row}, i64 {v * width}")
            columns.append(w.inst(f"load {ty}, ptr {p}, align {size}"))
        for r in range(tile_.rows):
            p = w.inst(f"getelementptr inbounds {a.type}, ptr {row_of_a[r]}, i64 {w.mul(at, str(a.column))}")
            one = w.inst(f"load {a.type}, ptr {p}, align {size}")
            factor = w.splat(a.type, one, width)
            for v in range(tile_.vectors):
                if floating:
                    current[r][v] = code.fma(factor, columns[v], current[r][v])
                else:
                    product = w.inst(f"mul {ty} {factor}, {columns[v]}")
                    current[r][v] = w.inst(f"add {ty} {product}, {current[r][v]}")
    return current


# ---- tt.dot


def _matrix(e: Emitter, view: View, batch: str | None) -> Matrix:
    if batch is None:
        return Matrix(view.pointer, view.type, view.strides[0], view.strides[1])
    pointer = e.view_address(view, (batch, "0", "0"))
    return Matrix(pointer, view.type, view.strides[1], view.strides[2])


def product_of(e: Emitter, op: tile.DotOp, a: View, b: View, needed: Needed) -> None:
    """c + a·b into the op's result, as far as it is needed; f16 results are accumulated in f32 and rounded once."""
    c, d = op.operands[2], op.results[0]
    element = element_type(d.type)
    compute = compute_element(element)
    target = e.buffer_of(d)

    def initial(index: tuple[str, ...], width: int) -> str:
        lanes = e.evaluate(c, Position(index, len(index) - 1, width))
        if is_narrow_float(element):
            lanes = e.convert(lanes, element, f32)
        return e.writer.widen(register_type(compute), lanes, width)

    def store(index: tuple[str, ...], lanes: Lanes) -> None:
        if needed.rest is not None and is_float(element):  # one step that adds a zero is as good as all of them
            code = Code(e.writer, lanes.width, double=compute == f64)
            lanes = Lanes(code.add(lanes.text, code.const(needed.rest)), lanes.width)
        if is_narrow_float(element):
            lanes = e.convert(lanes, f32, element)
        e.store_view(target, Position(index, len(index) - 1, lanes.width), lanes)

    each_product(e, a, b, needed.k, (*shape_of(d.type)[:-2], needed.m, needed.n), initial, store, compute)


def each_product(
    e: Emitter,
    a: View,
    b: View,
    k: int,
    d_shape: tuple[int, ...],
    initial: Callable[[tuple[str, ...], int], str],
    store: Callable[[tuple[str, ...], Lanes], None],
    compute: Attribute,
) -> None:
    """The product in `k` steps, or one for each of a batch; a result without elements is none."""
    if not all(d_shape):
        return
    shape = (d_shape[-2], d_shape[-1], k)
    if len(d_shape) == 2:
        multiply(
            e,
            _matrix(e, a, None),
            _matrix(e, b, None),
            shape,
            lambda i, j, w: initial((i, j), w),
            lambda i, j, x: store((i, j), x),
            compute,
        )
        return
    with e.writer.loop("batch", d_shape[0]) as batch:
        multiply(
            e,
            _matrix(e, a, batch),
            _matrix(e, b, batch),
            shape,
            lambda i, j, w: initial((batch, i, j), w),
            lambda i, j, x: store((batch, i, j), x),
            compute,
        )
