"""Warps telling each other one value for each of a thread's results: the last step of reductions and scans.

Every thread has ``count`` values that are equal in all lanes that differ along the axis only. Each such group of
lanes writes them once to scratch memory; after a barrier every thread reads the values of all warps along the axis,
which lie side by side, so that they come in vectors. The slot of a value is

    ((register · warps beside + warp beside) · lanes beside + lane beside) · warps along + warp along

where "along" and "beside" are the bits of the warp's or lane's number that do or do not move along the axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tritonx.analysis.scratch import align, slots_per_register
from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter
from tritonx.conversion.gpu_to_llvm.indices import apply_columns
from tritonx.conversion.gpu_to_llvm.types import bits
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.layouts import AxisBits, LinearLayout
from tritonx.layouts.dims import LANE, WARP


@dataclass(frozen=True)
class Exchange:
    """Where this thread writes and reads; ``write``/``read`` are the slots of register 0, ``leader`` the i1 of who
    writes.
    """

    write: str
    read: str
    leader: str | None


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


def open_exchange(f: FunctionEmitter, layout: LinearLayout, axis: AxisBits) -> Exchange:
    lane_bits, warp_bits = layout.in_bits(LANE), layout.in_bits(WARP)
    along = axis.warp_mask.bit_count()
    lanes = ~axis.lane_mask & (1 << lane_bits) - 1
    warps = ~axis.warp_mask & (1 << warp_bits) - 1
    lane_columns = squeeze(lanes, lane_bits, along)
    beside = squeeze(warps, warp_bits, along + lanes.bit_count())
    moving = squeeze(axis.warp_mask, warp_bits, 0)
    read = apply_columns(f, lane_columns, beside)
    write = apply_columns(f, lane_columns, [a | b for a, b in zip(beside, moving, strict=True)])
    leader = None
    if axis.lane_mask:
        lane = f.lane
        with f.in_prologue():
            bits_ = f.inst(f"and i32 {lane}, {axis.lane_mask}")
            leader = f.inst(f"icmp eq i32 {bits_}, 0")
    return Exchange(write, read, leader)


def exchange(f: FunctionEmitter, op: Any, layout: LinearLayout, axis: AxisBits, values: list[Tile]) -> list[list[Tile]]:
    """For each of ``values``, the tiles of all warps along the axis in order of their coordinate.

    The scratch memory of ``op`` must have been allocated with ``exchange_bytes`` of ``tritonx.analysis.scratch``.
    """
    place = open_exchange(f, layout, axis)
    warps = 1 << axis.warp_mask.bit_count()
    slots = slots_per_register(layout, axis)
    base = f.scratch_offset(op)
    areas: list[int] = []
    for value in values:
        areas.append(base)
        base += align(slots * value.n * (bits(value.elem) // 8))
    written: list[tuple[str, str, str]] = []
    for value, area in zip(values, areas, strict=True):
        memory = "i8" if value.elem == "i1" else value.elem
        for r, name in enumerate(f.scalars(value)):
            stored = f.inst(f"zext i1 {name} to i8") if value.elem == "i1" else name
            address = f.shared_element(area, memory, place.write, r * slots)
            written.append((memory, stored, address))
    if place.leader is None:
        for memory, stored, address in written:
            f.line(f"store {memory} {stored}, ptr addrspace(3) {address}")
    else:
        then, done = f.new_label("lead"), f.new_label("led")
        f.line(f"br i1 {place.leader}, label %{then}, label %{done}")
        f.label(then)
        for memory, stored, address in written:
            f.line(f"store {memory} {stored}, ptr addrspace(3) {address}")
        f.branch(done)
        f.label(done)
    f.local_barrier()
    out: list[list[Tile]] = []
    for value, area in zip(values, areas, strict=True):
        memory = "i8" if value.elem == "i1" else value.elem
        columns: list[list[str]] = [[] for _ in range(warps)]
        size = bits(value.elem) // 8
        for r in range(value.n):
            address = f.shared_element(area, memory, place.read, r * slots)
            row = f.inst(
                f"load <{warps} x {memory}>, ptr addrspace(3) {address}, align {min(16, size * warps)}"
                if warps > 1
                else f"load {memory}, ptr addrspace(3) {address}"
            )
            for w in range(warps):
                name = f.inst(f"extractelement <{warps} x {memory}> {row}, i32 {w}") if warps > 1 else row
                columns[w].append(f.inst(f"trunc i8 {name} to i1") if value.elem == "i1" else name)
        out.append([Tile.of(value.elem, names) for names in columns])
    return out
