"""Stores that go past the caches: those of large tiles that the launch reads nothing of again.

A plain store reads its cache line first and pushes another one out. Of a launch that moves more than the caches hold,
neither is of use: without them an addition of 4 M floats takes 0.7 times as long (Zen 4). Of a small launch the result
is better left in the cache, for whoever reads it next.

So a nest of stores is written once more: a launch that moves `TRAFFIC` bytes or more takes the copy with `!nontemporal`
for the whole cache lines of each row, and the code with masks for what is before and behind them. A line of which only
a part were written so would be read after all, and slower.

Such stores are not ordered with others: a worker ends with a fence, and a kernel that synchronises its programs by
itself has none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from tritonx.conversion.llvm_text import vector
from tritonx.conversion.tile_to_loops.addresses import element_address, emit_polynomial, lane_numbers
from tritonx.conversion.tile_to_loops.groups import Compute, Effect, Group, pointer_root
from tritonx.conversion.tile_to_loops.index import IndexAnalysis
from tritonx.conversion.tile_to_loops.position import Position
from tritonx.conversion.tile_to_loops.types import element_bytes, type_bytes
from tritonx.conversion.tile_to_loops.writer import Phis
from tritonx.dialects import gpu, tile
from tritonx.ir.types import element_type, is_tensor, shape_of, type_of

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_loops.emitter import Emitter

TRAFFIC = 24 << 20
"""Bytes that a launch loads and stores; from 12 MB on, streaming was no slower on a processor with 32 MB of cache."""

LINE = 64
"""Bytes of a cache line."""

MARK = ", !nontemporal !0"
METADATA = "!0 = !{i32 1}"
FENCE = "@llvm.x86.sse.sfence"

_ORDERED = (
    tile.AtomicRMWOp,
    tile.AtomicCASOp,
    tile.AtomicLoadOp,
    tile.AtomicStoreOp,
    tile.AtomicPollOp,
    gpu.BarrierOp,
    tile.CallOp,
)


def traffic_of(kernel: Operation, triple: str) -> int:
    """The bytes that a program of `kernel` loads and stores outside loops; 0 where it may not stream."""
    if not triple.startswith("x86_64"):
        return 0
    found = 0
    for op in kernel.walk():
        if isinstance(op, _ORDERED) or (isinstance(op, tile.LoadOp) and op.isVolatile.value.data):
            return 0
        if isinstance(op, tile.LoadOp | tile.StoreOp) and op.parent_op() is kernel:
            kind = type_of(op.result if isinstance(op, tile.LoadOp) else op.value)
            if is_tensor(kind):
                found += prod(shape_of(kind)) * element_bytes(element_type(kind))
    return found


def streamed_stores(e: Emitter, group: Group, lane: int, width: int) -> tuple[tile.StoreOp, ...]:
    """The stores of a group, where all of them may go past the caches: along the lanes, to what nothing loads."""
    if not e.traffic or group.axis is not None:
        return ()
    stores = [a.op for a in group.anchors if isinstance(a, Effect) and isinstance(a.op, tile.StoreOp)]
    written = sum(not isinstance(a, Compute) for a in group.anchors)
    return tuple(stores) if len(stores) == written and all(_streams(e, op, lane, width) for op in stores) else ()


def _streams(e: Emitter, op: tile.StoreOp, lane: int, width: int) -> bool:
    function = op.parent_op()
    if not isinstance(function, tile.FuncOp) or not _is_along(e, op, lane):
        return False
    nbytes = width * element_bytes(element_type(type_of(op.value)))
    return nbytes in (LINE // 2, LINE) and _root(e.index, op) not in {
        _root(e.index, load) for load in function.walk() if isinstance(load, tile.LoadOp)
    }


def _is_along(e: Emitter, op: tile.LoadOp | tile.StoreOp, lane: int) -> bool:
    """Whether neighbours along the lanes are neighbours in memory."""
    form = e.index.form(op.ptr)
    step = None if form is None else form.offset.stride(lane)
    return step is not None and step.constant_value() == 1


def _root(index: IndexAnalysis, op: tile.LoadOp | tile.StoreOp) -> object:
    """The argument that an access goes through, as far as that is plain."""
    form = index.form(op.ptr)
    return op.ptr if form is None else pointer_root(form.base)


def is_large(e: Emitter) -> str:
    """An i1: whether the launch moves more than the caches hold."""
    w, total = e.writer, "1"
    for axis in "xyz":
        total = w.inst(f"mul i64 {total}, {w.inst(f'zext i32 %num.{axis} to i64')}")
    return w.inst(f"icmp uge i64 {total}, {-(-TRAFFIC // e.traffic)}")


def _row(e: Emitter, op: tile.LoadOp | tile.StoreOp, index: Sequence[str], lane: int) -> str:
    """The address of the first element of the row at `index`."""
    form = e.index.form(op.ptr)
    assert form is not None, "the access is along the lanes"
    start = list(index)
    start[lane] = "0"
    return element_address(e, form, emit_polynomial(e, form.offset, tuple(start)), op.ptr)


@dataclass(frozen=True)
class Lines:
    """The whole cache lines of a row are its elements from ``first`` up to ``end``, where ``some`` of them are to be
    written past the caches; else both are 0."""

    some: str
    first: str
    end: str


def whole_lines(e: Emitter, stores: Sequence[tile.StoreOp], index: Sequence[str], lane: int, length: str) -> Lines:
    """The lines among the first `length` elements of the row at `index`; none if the launch is small, or the stores'
    lines do not begin at the same elements.
    """
    w, before = e.writer, e.writer.block
    large, joined = w.new_label("large"), w.new_label("lines")
    w.branch_if(is_large(e), large, joined)
    w.label(large)
    found = _whole_lines(e, stores, index, lane, length)
    end = w.block
    w.enter(joined)
    some = w.inst(f"phi i1 [ {found.some}, %{end} ], [ false, %{before} ]")
    first, last = (w.inst(f"phi i64 [ {each}, %{end} ], [ 0, %{before} ]") for each in (found.first, found.end))
    return Lines(some, first, last)


def _whole_lines(e: Emitter, stores: Sequence[tile.StoreOp], index: Sequence[str], lane: int, length: str) -> Lines:
    """Those of a large launch."""
    w, some = e.writer, "true"
    sizes = [element_bytes(element_type(type_of(op.value))) for op in stores]
    rows = [w.inst(f"ptrtoint ptr {_row(e, op, index, lane)} to i64") for op in stores]
    before = w.inst(f"and i64 {w.inst(f'sub i64 0, {rows[0]}')}, {LINE - 1}")
    first = w.inst(f"udiv i64 {before}, {sizes[0]}")
    for row, size in zip(rows, sizes, strict=True):
        place = w.inst(f"add i64 {row}, {w.inst(f'mul i64 {first}, {size}')}")
        aligned = w.inst(f"icmp eq i64 {w.inst(f'and i64 {place}, {LINE - 1}')}, 0")
        some = w.inst(f"and i1 {some}, {aligned}")
    unit = LINE // min(sizes)
    count = w.inst(f"and i64 {w.inst(f'sub i64 {length}, {first}')}, {-unit}")
    some = w.inst(f"and i1 {some}, {w.inst(f'icmp sgt i64 {count}, 0')}")
    end = w.inst(f"add i64 {first}, {count}")
    for row, size in zip(rows, sizes, strict=True):
        for element in ("0", end):
            place = w.inst(f"add i64 {row}, {w.mul(element, str(size))}")
            _prefetch(e, w.inst(f"inttoptr i64 {place} to ptr"), writes=True)
    return Lines(some, *(w.inst(f"select i1 {some}, i64 {each}, i64 0") for each in (first, end)))


def _prefetch(e: Emitter, address: str, *, writes: bool) -> None:
    how = (("i32", str(int(writes))), ("i32", "3"), ("i32", "1"))
    e.writer.call("void", "@llvm.prefetch.p0", ("ptr", address), *how)


def within(e: Emitter, position: Position, bounds: tuple[str, str]) -> str:
    """The lanes whose index is in a range."""
    w, (low, high) = e.writer, bounds
    numbers = lane_numbers(w, "i64", w.inst(f"sub i64 {position.index[position.lane]}, {low}"), "1", position.width)
    ty = vector("i64", position.width)
    length = w.splat("i64", w.inst(f"sub i64 {high}, {low}"), position.width)
    return w.inst(f"icmp ult {ty} {numbers.text}, {length}")


def store_each(e: Emitter, scalar: str, value: str, pointer: str, width: int, mask: str) -> None:
    """Write the lanes of a vector whose mask is true one by one. A masked store would fetch both lines that its lanes
    lie in, of which one is on its way past the caches.
    """
    w, bits = e.writer, f"i{width}"
    slot = w.alloca(f"{vector(scalar, width)}, align {LINE}")
    w.line(f"store {vector(scalar, width)} {value}, ptr {slot}, align {LINE}")
    before, header, inside, after = w.block, *(w.new_label("lane") for _ in range(3))
    all_lanes = w.inst(f"bitcast {vector('i1', width)} {mask} to {bits}")
    w.enter(header)
    phis = Phis(w, before)
    left = phis.add(bits, all_lanes)
    w.branch_if(w.inst(f"icmp eq {bits} {left}, 0"), after, inside)
    w.label(inside)
    number = w.call(bits, f"@llvm.cttz.{bits}", (bits, left), ("i1", "true"))
    lane = number if width == 64 else w.inst(f"zext {bits} {number} to i64")
    source, target = (w.inst(f"getelementptr {scalar}, ptr {each}, i64 {lane}") for each in (slot, pointer))
    size = type_bytes(scalar)
    w.line(f"store {scalar} {w.inst(f'load {scalar}, ptr {source}, align {size}')}, ptr {target}, align {size}")
    phis.close([w.inst(f"and {bits} {left}, {w.inst(f'sub {bits} {left}, 1')}")])
    w.branch(header)
    w.label(after)


def fetch_row(e: Emitter, loads: Iterable[Operation], index: Sequence[str], lane: int, extent: str) -> None:
    """Where the launch is large, have the lines of a row on their way in order, for a loop that goes through several
    parts of it side by side: the processor foresees a sequence and not eight of them.
    """
    rows = [op for op in loads if isinstance(op, tile.LoadOp) and _is_along(e, op, lane)]
    if not e.traffic or not rows:
        return
    w = e.writer
    large = is_large(e)
    for op in rows:
        nbytes = element_bytes(element_type(type_of(op.result)))
        row = _row(e, op, index, lane)
        # A row that does not begin with a line may end in one more.
        end = w.inst(f"select i1 {large}, i64 {w.add(extent, str(LINE // nbytes - 1))}, i64 0")
        with w.loop_between("fetch", "0", end, LINE // nbytes, 1) as i:
            address = w.inst(f"getelementptr i8, ptr {row}, i64 {w.mul(i, str(nbytes))}")
            _prefetch(e, address, writes=False)
