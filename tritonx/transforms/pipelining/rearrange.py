"""Schedules are changed where that saves slots, or lets copies be wide.

A copy that an interval issues behind the last reader of an earlier tile reuses the slot of that tile. A copy in front
of that reader needs a slot more, and shared memory for a slot more may be a block less on the multiprocessor. Blocks of
the copy engine are always moved (`behind_readers`): their copies take the threads no time, so that a schedule puts them
anywhere in an interval. Copies of the threads are moved where that makes room for another block, or where the loop has
no room else (`copies_behind`): they are issued later, and the threads meet once more in front of them.

Operands that matrix units want the other way round than they lie in global memory are turned by the threads between
their copies and their buffers (`turned_behind`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from xdsl.ir import Attribute, Operation

from tritonx.analysis.access_width import stored_width
from tritonx.analysis.axis_info import AxisFacts
from tritonx.analysis.buffers import copied_encoding, is_shared_memory, stored_bytes
from tritonx.dialects import scf, tile
from tritonx.dialects.gpu_layout import (
    ConvertLayoutOp,
    LocalAllocOp,
    LocalLoadOp,
    MemDescType,
    attribute_of,
    distributed_encoding,
)
from tritonx.dialects.interfaces import is_memory_product
from tritonx.ir.effects import has_effects, may_write
from tritonx.ir.types import is_tensor, shape_of, type_as, type_of, with_encoding
from tritonx.layouts.encodings import BlockedEncoding
from tritonx.transforms.pipelining.buffered_tiles import BufferedTile, copied_at_once, finished, readers_in
from tritonx.transforms.pipelining.loads_ahead import waits_in_memory
from tritonx.transforms.pipelining.loop_schedule import LoopSchedule, schedule_of, set_place, users_in


def behind_readers(schedule: LoopSchedule) -> LoopSchedule:
    """The schedule with such loads in the order of an interval behind their last readers, where they can be."""
    for load in schedule.order:
        if isinstance(load, tile.DescriptorLoadOp) and load.result.has_one_use():
            (use,) = load.result.uses
            readers = readers_in(schedule, use.operation) if isinstance(use.operation, LocalAllocOp) else None
            if readers and all(is_memory_product(reader) for reader in readers):
                schedule = _moved(schedule, load, max(schedule.position[reader] for reader in readers))
    return schedule


def copies_behind(schedule: LoopSchedule, tiles: Sequence[BufferedTile]) -> LoopSchedule:
    """The schedule with the loads of such tiles through pointers behind their last readers, and behind what waits for
    asynchronous ones among them, where they can be."""
    for each in tiles:
        if isinstance(each.source, tile.LoadOp):
            last = max(_over(schedule, reader) for reader in each.readers)
            schedule = _moved(schedule, each.source, last)
    return schedule


def _over(schedule: LoopSchedule, reader: Operation) -> int:
    """Where an interval is behind a reader: a product of a warp group is over where its result is used, and the operand
    of one of the threads is read while they multiply (`fuse-operand-loads`)."""
    found = finished(schedule, reader) if is_memory_product(reader) else None
    products = (use.operation for use in reader.results[0].uses) if isinstance(reader, LocalLoadOp) else ()
    multiplied = [
        schedule.position[op]
        for op in products
        if isinstance(op, tile.DotOp | tile.DotScaledOp) and op in schedule.position
    ]
    return max([schedule.position[reader] if found is None else found, *multiplied])


def _moved(schedule: LoopSchedule, load: tile.LoadOp | tile.DescriptorLoadOp, last: int) -> LoopSchedule:
    """With the load, and what is computed for it alone, behind the position, if it is in front of it and nothing
    needs it there."""
    at = schedule.position[load]
    if at > last or any(_comes_later(schedule, load, op) for op in schedule.order[at + 1 : last + 1]):
        return schedule
    moving = _for_it_alone(schedule, load)
    behind = schedule.order[last]
    order = [op for op in schedule.order if op not in moving]
    place = order.index(behind) + 1
    order[place:place] = [op for op in schedule.order if op in moving]
    places = {op: replace(schedule.places[op], cluster=number) for number, op in enumerate(order)}
    moved = replace(schedule, order=tuple(order), places=places)
    return schedule if moved.fault() is not None else moved


def _for_it_alone(schedule: LoopSchedule, load: Operation) -> set[Operation]:
    """The load and the ops without effects of its stage whose results only it needs, directly or not."""
    found = {load}
    body = schedule.loop.body.block
    for op in reversed(schedule.order[: schedule.position[load]]):
        users = users_in(body, op)
        if users and found.issuperset(users) and not has_effects(op) and schedule.stage(op) == schedule.stage(load):
            found.add(op)
    return found


def _comes_later(schedule: LoopSchedule, load: Operation, op: Operation) -> bool:
    """Whether an op writes something, and is of the load's iteration or a later one."""
    return schedule.stage(op) <= schedule.stage(load) and may_write(op)


def turned_behind(loop: scf.ForOp, facts: AxisFacts) -> LoopSchedule:
    """The schedule, in which what matrix units want the other way round than it is loaded is turned by the threads on
    the way to its buffer: they can be copied to a slot as wide as they lie in memory, not to the buffer."""
    schedule = schedule_of(loop)
    assert schedule is not None
    for load in schedule.order:
        alloc = _other_way_round(schedule, load, facts)
        if alloc is not None:
            turning = ConvertLayoutOp.create(
                operands=load.results, result_types=(_turned(load),), location=alloc.location
            )
            loop.body.block.insert_op_before(turning, alloc)
            alloc.operands[0] = turning.result
            set_place(turning, schedule.places[alloc])
    schedule = schedule_of(loop)
    assert schedule is not None
    return schedule


def _other_way_round(schedule: LoopSchedule, load: Operation, facts: AxisFacts) -> LocalAllocOp | None:
    """What stores a tile for products that its copies can only be narrow for, or a block that the copy engine does not
    write as they want it; None of others."""
    if not isinstance(load, tile.LoadOp | tile.DescriptorLoadOp):
        return None
    if not is_tensor(type_of(load.result)) or not load.result.has_one_use():
        return None
    (use,) = load.result.uses
    alloc = use.operation
    if not isinstance(alloc, LocalAllocOp) or not is_shared_memory(alloc.result):
        return None
    encoding = distributed_encoding(type_of(load.result))
    if not isinstance(encoding, BlockedEncoding) or len(encoding.order) != 2:
        return None
    readers = readers_in(schedule, alloc)
    if readers is None or not all(is_memory_product(reader) for reader in readers):
        return None
    intervals = schedule.stage(alloc) - schedule.stage(load)
    if isinstance(load, tile.DescriptorLoadOp):
        other = copied_encoding(load) != type_as(alloc.result, MemDescType).encoding
        return alloc if other and intervals > 0 else None
    wide = copied_at_once(load, facts)
    if wide is None or not waits_in_memory(load, intervals):
        return None
    return alloc if stored_width(type_of(load.result), type_as(alloc.result, MemDescType), wide) < wide else None


def _turned(load: Operation) -> Attribute:
    """The tile in a layout of which a thread reads a word of neighbours in memory, and stores 16 bytes of neighbours
    in the buffer."""
    type_ = type_of(load.results[0])
    assert is_tensor(type_)
    nbytes, layout = stored_bytes(type_), distributed_encoding(type_)
    assert isinstance(layout, BlockedEncoding)
    fast, slow = layout.order[0], layout.order[1]
    shape = shape_of(type_)
    per_thread, lanes, warps = [1, 1], [prod(layout.threads_per_warp)] * 2, [prod(layout.warps_per_cta)] * 2
    per_thread[fast], per_thread[slow] = max(1, 4 // nbytes), min(16 // nbytes, shape[slow])
    words = max(1, shape[fast] // per_thread[fast])
    lanes[fast] = min(lanes[slow], words)
    warps[fast] = min(warps[slow], words // lanes[fast])
    lanes[slow], warps[slow] = lanes[slow] // lanes[fast], warps[slow] // warps[fast]
    encoding = BlockedEncoding(tuple(per_thread), tuple(lanes), tuple(warps), layout.order, layout.cga)
    return with_encoding(type_, attribute_of(encoding))
