"""A copy that an interval issues behind the last reader of an earlier tile reuses the slot of that tile.

A copy in front of that reader needs a slot more, and shared memory for a slot more may be a block less on the
multiprocessor. Blocks of the copy engine are always moved (`behind_readers`): their copies take the threads no time, so
that a schedule puts them anywhere in an interval. Copies of the threads are moved where that makes room for another
block (`copies_behind`): they are issued later, and the threads meet once more in front of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.ir import Operation

from tritonx.analysis.scheduled_loops import LoopSchedule, users_in
from tritonx.dialects import tile
from tritonx.dialects.gpu_layout import LocalAllocOp, LocalLoadOp
from tritonx.dialects.interfaces import is_memory_product
from tritonx.ir.effects import has_effects, may_write
from tritonx.transforms.gpu.buffered_tiles import finished, readers_in
from tritonx.transforms.gpu.copies_to_slots import BufferedTile


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
    multiplied = [schedule.position[op] for op in products if isinstance(op, tile.DotOp) and op in schedule.position]
    return max([schedule.position[reader] if found is None else found, *multiplied])


def _moved(schedule: LoopSchedule, load: tile.LoadOp | tile.DescriptorLoadOp, last: int) -> LoopSchedule:
    """With the load, and what is computed for it alone, behind the position, if it stands in front of it and nothing
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
