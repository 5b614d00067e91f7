"""Warps telling each other one value for each of a thread's results: the last step of reductions and scans.

Every thread has ``count`` values that are equal in all lanes that differ along the axis only. Each such group of
lanes writes them once to scratch memory; after a barrier every thread reads the values of all warps along the axis, or
the lanes of a group share them out. They lie side by side, so that they come in vectors. The slot of a value is

    ((register · warps beside + warp beside) · lanes beside + lane beside) · warps along + warp along

where "along" and "beside" are the bits of the warp's or lane's number that do or do not move along the axis.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from xdsl.ir import Operation

from tritonx.analysis.scratch import ALIGNMENT, align, slots_per_register
from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter
from tritonx.conversion.gpu_to_llvm.indices import apply_columns
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.layouts import AxisBits, LinearLayout
from tritonx.layouts.dims import LANE, WARP


@dataclass(frozen=True)
class Exchange:
    """Values that all warps have written: ``values`` are this thread's, and ``areas`` has the offset in scratch memory
    and the type in memory of each one's. ``lanes`` and ``warps`` are the columns that lead to the first slot that a
    thread reads for its register 0 if it reads all warps'; those of the next register are ``slots`` further."""

    axis: AxisBits
    lanes: list[int]
    warps: list[int]
    slots: int
    areas: list[tuple[int, str]]
    values: list[Tile]

    @property
    def along(self) -> int:
        """How many warps there are along the axis."""
        return 1 << len(self.axis.warps)

    def split(self, counts: Iterable[int]) -> list[Exchange]:
        """As exchanges of so many values each, in order."""
        ends = list(accumulate(counts, initial=0))
        return [replace(self, areas=self.areas[a:b], values=self.values[a:b]) for a, b in pairwise(ends)]

    def of_all_warps(self, f: FunctionEmitter) -> list[list[Tile]]:
        """The values of each warp along the axis, in order of their coordinate."""
        return self.read(f, self.share(f, among_lanes=False), range(self.values[0].n))

    def share(self, f: FunctionEmitter, *, among_lanes: bool) -> Share:
        """All warps along the axis; ``among_lanes``, those that have the same results read those of different warps, as
        many as one access holds if that is enough."""
        if not among_lanes:
            return Share(self.along, apply_columns(f, {LANE: self.lanes, WARP: self.warps}), [])
        size = max(f.bits(memory) // 8 for _, memory in self.areas)
        count = max(1, self.along >> len(self.axis.lanes), min(self.along, ALIGNMENT // size))
        sharing = [bit for bit, _ in self.axis.lanes][: (self.along // count).bit_length() - 1]
        columns = list(self.lanes)
        for i, bit in enumerate(sharing):
            columns[bit] = count << i
        return Share(count, apply_columns(f, {LANE: columns, WARP: self.warps}), [1 << bit for bit in sharing])

    def read(self, f: FunctionEmitter, share: Share, registers: Iterable[int]) -> list[list[Tile]]:
        """The values of these registers, by the warps of the thread's share."""
        chosen = list(registers)
        columns: list[list[Tile]] = []
        for value, (area, memory) in zip(self.values, self.areas, strict=True):
            places = [f.shared_element(area, memory, share.slot, r * self.slots) for r in chosen]
            rows = [row(f, memory, place, share.count) for place in places]
            if value.elem == "i1":
                rows = [[f.inst(f"trunc i8 {name} to i1") for name in names] for names in rows]
            columns.append([Tile.of(value.elem, list(names)) for names in zip(*rows, strict=True)])
        return [list(tiles) for tiles in zip(*columns, strict=True)]


@dataclass(frozen=True)
class Share:
    """The ``count`` warps, neighbours along the axis, whose values a thread reads, for register 0 from ``slot`` on. The
    shares of all lanes are combined over ``lanes``, bits of their numbers (as masks)."""

    count: int
    slot: str
    lanes: list[int]


def row(f: FunctionEmitter, elem: str, address: str, count: int) -> list[str]:
    """``count`` neighbours in shared memory, a power of two, aligned to their size or to 16 bytes."""
    if count == 1:
        return [f.inst(f"load {elem}, {f.shared} {address}")]
    alignment = min(ALIGNMENT, f.bits(elem) // 8 * count)
    whole = f.inst(f"load <{count} x {elem}>, {f.shared} {address}, align {alignment}")
    return [f.inst(f"extractelement <{count} x {elem}> {whole}, i32 {i}") for i in range(count)]


def squeeze(mask: int, total: int, into: int) -> list[int]:
    """Columns that map the bits of ``mask`` to consecutive bits from ``into`` up, and the others of ``total`` bits to
    nothing.
    """
    columns: list[int] = []
    for i in range(total):
        if mask >> i & 1:
            columns.append(1 << into)
            into += 1
        else:
            columns.append(0)
    return columns


def exchange(f: FunctionEmitter, op: Operation, layout: LinearLayout, axis: AxisBits, values: list[Tile]) -> Exchange:
    """Write ``values``, and wait until all warps have.

    The scratch memory of ``op`` must have been allocated with ``exchange_bytes`` of ``tritonx.analysis.scratch``.
    """
    lane_bits, warp_bits = layout.in_bits(LANE), layout.in_bits(WARP)
    along = axis.warp_mask.bit_count()
    lanes = ~axis.lane_mask & (1 << lane_bits) - 1
    warps = ~axis.warp_mask & (1 << warp_bits) - 1
    lane_columns = squeeze(lanes, lane_bits, along)
    beside = squeeze(warps, warp_bits, along + lanes.bit_count())
    moving = squeeze(axis.warp_mask, warp_bits, 0)
    write = apply_columns(f, {LANE: lane_columns, WARP: [a | b for a, b in zip(beside, moving, strict=True)]})
    slots = slots_per_register(layout, axis)
    base = f.scratch_offset(op)
    areas: list[tuple[int, str]] = []
    written: list[tuple[str, str, str]] = []
    for value in values:
        memory = "i8" if value.elem == "i1" else value.elem
        areas.append((base, memory))
        for r, name in enumerate(f.scalars(value)):
            stored = f.inst(f"zext i1 {name} to i8") if value.elem == "i1" else name
            written.append((memory, stored, f.shared_element(base, memory, write, r * slots)))
        base += align(slots * value.n * (f.bits(memory) // 8))
    with f.where(leader(f, axis.lane_mask)):
        for memory, stored, address in written:
            f.line(f"store {memory} {stored}, {f.shared} {address}")
    f.threads.local_barrier()
    return Exchange(axis, lane_columns, beside, slots, areas, values)


def leader(f: FunctionEmitter, lane_mask: int) -> str | None:
    """Whether the lane's number has none of these bits (i1); None if there are no bits."""
    if not lane_mask:
        return None
    with f.in_prologue():
        return f.inst(f"icmp eq i32 {f.inst(f'and i32 {f.threads.lane}, {lane_mask}')}, 0")
