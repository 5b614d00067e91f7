"""Ops whose threads exchange data through scratch memory: which warp touches which bytes of it when, as emitted.

The values are the tile meanings' (a conversion changes none). What is moved here are accesses: each warp writes its
part, the warps wait for each other, each warp reads. Afterwards the bytes hold poison. Scratch memory that was not
placed is not touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import cast

import numpy as np
from xdsl.ir import Operation

from tritonx.analysis.buffers import conversion_plan, owned_by_warps, stored_bytes, tables_of, tensor_layout
from tritonx.analysis.scratch import align, bits_along, slots_per_register, table_bytes
from tritonx.dialects import gpu_layout, tile
from tritonx.dialects.effects import is_barrier
from tritonx.dialects.layout_constraints import LookedUp, layouts_of
from tritonx.interpreter.asynchronous.footprints import bytes_at, bytes_between, shares
from tritonx.interpreter.asynchronous.group import Group, shifted
from tritonx.interpreter.asynchronous.program import Coroutine, Program, Table
from tritonx.interpreter.asynchronous.shared import Buffer, Mode
from tritonx.interpreter.execution import Function
from tritonx.interpreter.meanings import meaning_of
from tritonx.interpreter.values import Array, Value
from tritonx.ir.dispatch import Op, case
from tritonx.ir.types import is_tensor, shape_of, type_of
from tritonx.layouts import LinearLayout, redundancy
from tritonx.layouts.access import SharedAccess
from tritonx.layouts.convert import SharedMemoryPlan
from tritonx.layouts.dims import LANE, REGISTER, WARP
from tritonx.layouts.index_math import all_xors

Phase = tuple[Mode, tuple[int, ...], bool]
"""What the warps do at one time: how they access which bytes (from 0 on; a set for each warp), and whether only the
lanes of a warp wait for each other afterwards."""


def conversion_phases(plan: SharedMemoryPlan, size: int) -> Iterator[Phase]:
    """Part by part: write, wait, read, wait."""
    for number, part in enumerate(plan.parts):
        yield Mode.WRITE, _of_access(part.write, size), plan.same_warp
        last = number == len(plan.parts) - 1
        yield Mode.READ, _of_access(part.read, size), plan.same_warp or last


def _of_access(access: SharedAccess, size: int) -> tuple[int, ...]:
    lanes = np.array(all_xors(access.threads.columns(LANE)), np.int64)
    vector = np.arange(access.vec)
    offsets = np.array([one.offset for one in access.accesses], np.int64)
    found: list[int] = []
    for warp in all_xors(access.threads.columns(WARP)):
        starts = (lanes ^ warp)[:, None] ^ offsets[None, :]
        found.append(bytes_at((starts[..., None] + vector) * size, size))
    return tuple(found)


def _squeezed(mask: int, total: int, into: int) -> list[int]:
    """Columns that map the bits of `mask` to consecutive bits from `into` up, and the others to nothing."""
    columns: list[int] = []
    for bit in range(total):
        columns.append(1 << into if mask >> bit & 1 else 0)
        into += mask >> bit & 1
    return columns


@lru_cache(maxsize=512)
def partial_phases(layout: LinearLayout, axis: int, values: int, sizes: tuple[int, ...]) -> tuple[Phase, ...]:
    """Every group of lanes that differ along the axis only writes its warp's values; then it reads those of all warps
    along the axis. `values` for each thread and operand, of `sizes` bytes."""
    bits = bits_along(layout, axis)
    lane_bits, warp_bits = layout.in_bits(LANE), layout.in_bits(WARP)
    along = bits.warp_mask.bit_count()
    beside_lanes = ~bits.lane_mask & (1 << lane_bits) - 1
    beside_warps = ~bits.warp_mask & (1 << warp_bits) - 1
    lanes = np.array(all_xors(_squeezed(beside_lanes, lane_bits, along)), np.int64)
    beside = all_xors(_squeezed(beside_warps, warp_bits, along + beside_lanes.bit_count()))
    moving = all_xors(_squeezed(bits.warp_mask, warp_bits, 0))
    slots = slots_per_register(layout, bits)
    registers = np.arange(values) * slots
    written: list[int] = []
    read: list[int] = []
    for warp in range(1 << warp_bits):
        mine = (lanes ^ beside[warp])[:, None] + registers[None, :]
        written.append(_areas(mine ^ moving[warp], sizes, slots * values))
        read.append(_areas(mine[..., None] + np.arange(1 << along), sizes, slots * values))
    return (Mode.WRITE, tuple(written), False), (Mode.READ, tuple(read), True)


def _areas(slots: Array, sizes: tuple[int, ...], count: int) -> int:
    """The bytes of these slots in the areas of all operands, which lie one after another."""
    base = total = 0
    for size in sizes:
        total |= bytes_at(slots * size + base, size)
        base += align(count * size)
    return total


def _of_convert(op: gpu_layout.ConvertLayoutOp, bind: Program) -> Iterable[Phase]:
    plan = conversion_plan(op)
    return conversion_phases(plan, stored_bytes(type_of(op.src))) if isinstance(plan, SharedMemoryPlan) else ()


def _of_reduction(op: tile.ReduceOp, bind: Program) -> Iterable[Phase]:
    layout, axis = tensor_layout(type_of(op.operands[0])), op.axis.value.data
    bits = bits_along(layout, axis)
    values = 1 << (layout.in_bits(REGISTER) - len(bits.registers))
    return partial_phases(layout, axis, values, tuple(stored_bytes(type_of(v)) for v in op.operands))


def _of_scan(op: tile.ScanOp, bind: Program) -> Iterable[Phase]:
    layout, axis = tensor_layout(type_of(op.operands[0])), op.axis.value.data
    bits = bits_along(layout, axis)
    below = sum(1 for _, step in bits.registers if step < bits.warps[0][1])
    values = 1 << (layout.in_bits(REGISTER) - below)
    return partial_phases(layout, axis, values, tuple(stored_bytes(type_of(v)) for v in op.operands))


def _everything(bind: Program, size: int) -> tuple[int, ...]:
    return (bytes_between(0, size),) * bind.group.warps


def _of_tables(op: Operation, bind: Program) -> Iterable[Phase]:
    """Each warp writes its elements of the tables, row-major; it may read any of them."""
    written, everything, base = (0,) * bind.group.warps, 0, 0
    for table in map(type_of, tables_of(op)):
        size = stored_bytes(table)
        own = tuple(bytes_at(elements * size + base, size) for _, _, elements in shares(table))
        written = tuple(a | b for a, b in zip(written, own, strict=True))
        count = int(np.prod(shape_of(table)))
        everything |= bytes_between(base, size * count)
        base += table_bytes(count, size)
    return (Mode.WRITE, written, False), (Mode.READ, (everything,) * bind.group.warps, True)


def _of_histogram(op: tile.HistogramOp, bind: Program) -> Iterable[Phase]:
    """The threads clear the bins, count in them, and read them."""
    bins = shape_of(type_of(op.results[0]))[0]
    threads = bind.machine.warp_size * bind.group.warps
    owners = np.arange(bins) % threads // bind.machine.warp_size
    cleared = tuple(bytes_at(np.flatnonzero(owners == warp) * 4, 4) for warp in range(bind.group.warps))
    everything = _everything(bind, 4 * bins)
    return (Mode.WRITE, cleared, False), (Mode.ATOMIC, everything, False), (Mode.READ, everything, True)


def _of_atomic(
    op: tile.AtomicRMWOp | tile.AtomicCASOp | tile.AtomicLoadOp | tile.AtomicPollOp, bind: Program
) -> Iterable[Phase]:
    """The one thread that has an element's old value tells those with copies of the element."""
    type_ = type_of(op.results[0])
    size = stored_bytes(type_)
    if not is_tensor(type_):
        slot = bytes_between(0, size)
        return (Mode.WRITE, (slot, *[0] * (bind.group.warps - 1)), False), (Mode.READ, (slot,) * bind.group.warps, True)
    return _of_copies(tensor_layout(type_), size)


def _of_nothing(op: tile.AtomicStoreOp, bind: Program) -> Iterable[Phase]:
    """It has no scratch memory: the warps may meet there, no more."""
    return ()


@lru_cache(maxsize=512)
def _of_copies(layout: LinearLayout, size: int) -> tuple[Phase, ...]:
    free = redundancy(layout)
    lane_bits, warp_bits = layout.in_bits(LANE), layout.in_bits(WARP)
    lane = _squeezed(~free.lanes & (1 << lane_bits) - 1, lane_bits, 0)
    used = sum(1 for column in lane if column)
    warp = _squeezed(~free.warps & (1 << warp_bits) - 1, warp_bits, used)
    slots = 1 << sum(1 for column in (*lane, *warp) if column)
    registers = [r for r in range(layout.in_size(REGISTER)) if not r & free.registers]
    lanes, numbers = np.array(all_xors(lane), np.int64), np.arange(len(registers)) * slots
    each = [bytes_at(((lanes ^ w)[:, None] + numbers) * size, size) for w in all_xors(warp)]
    written = tuple(0 if number & free.warps else taken for number, taken in enumerate(each))
    return (Mode.WRITE, written, False), (Mode.READ, tuple(each), True)


def touch(group: Group, op: Operation, buffer: Buffer, phases: Iterable[Phase]) -> None:
    """The accesses of one execution."""
    machine = group.machine
    for mode, each, alone in phases:
        touches = group.joined(
            (
                (block, warp, shifted(taken, buffer.base + block * machine.stride))
                for block in range(machine.blocks)
                for warp, taken in enumerate(each)
            ),
            mode,
        )
        machine.shared.touch(op, touches)
        if not alone:
            group.meet()
    if group.only is not None:
        return
    for block in range(machine.blocks):
        start = block * machine.stride + buffer.base
        machine.shared.reserve(buffer, np.arange(start, start + buffer.size), 1)


def _same(value: Array) -> Array:
    """A conversion changes no value."""
    return value


def _through_scratch(rule: Callable[[Op, Program], Iterable[Phase]]) -> Callable[[Op, Program], Function]:
    def meaning(op: Op, bind: Program) -> Function:
        tile_meaning = meaning_of(type(op))
        value: Function = _same if tile_meaning is None else tile_meaning(op, bind)
        found: list[Phase] = []

        def exchange(group: Group, *operands: object) -> object:
            buffer = bind.machine.buffer(op, group)
            if buffer is not None:
                if not found:
                    found.extend(rule(op, bind))
                touch(group, op, buffer, found)
            elif is_barrier(op):
                group.meet()
            return value(*operands)

        def run(*operands: object) -> object:
            return exchange(bind.group, *operands)

        def run_alone(*operands: Value) -> Coroutine:
            meeting = bind.machine.meeting
            assert meeting is not None
            if not is_barrier(op) and (not bind.machine.has_buffer(op) or owned_by_warps(op) is not None):
                return cast("tuple[Value, ...]", exchange(bind.group, *operands))  # each keeps to its own elements
            whole = meeting.whole
            return (yield from meeting.arrive(bind.group, op, operands, lambda joined: exchange(whole, *joined)))

        return run if bind.machine.meeting is None else run_alone

    return meaning


TABLE: Table = {
    **case(gpu_layout.ConvertLayoutOp, _through_scratch(_of_convert)),
    **case(tile.ReduceOp, _through_scratch(_of_reduction)),
    **case(tile.ScanOp, _through_scratch(_of_scan)),
    **{op: _through_scratch(_of_tables) for op in tile.Tile.operations if isinstance(layouts_of(op), LookedUp)},
    **case(tile.HistogramOp, _through_scratch(_of_histogram)),
    **case(tile.AtomicRMWOp, _through_scratch(_of_atomic)),
    **case(tile.AtomicCASOp, _through_scratch(_of_atomic)),
    **case(tile.AtomicLoadOp, _through_scratch(_of_atomic)),
    **case(tile.AtomicPollOp, _through_scratch(_of_atomic)),
    **case(tile.AtomicStoreOp, _through_scratch(_of_nothing)),
}
