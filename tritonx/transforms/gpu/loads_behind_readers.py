"""Blocks for products of warp groups are copied behind the product that reads the slot before.

A copy of the engine takes the threads no time, so that a schedule puts it anywhere in an interval. In front of the
product that reads the tile of an earlier iteration it needs a slot more than behind it: that product, and the one of
the interval before, may both still be running. Shared memory for a slot more may be a block less on the
multiprocessor."""

from __future__ import annotations

from dataclasses import replace

from tritonx.analysis.scheduled_loops import LoopSchedule
from tritonx.dialects import tile
from tritonx.dialects.gpu_layout import LocalAllocOp
from tritonx.dialects.nvidia import WarpGroupDotOp
from tritonx.transforms.gpu.buffered_tiles import readers_in


def behind_readers(schedule: LoopSchedule) -> LoopSchedule:
    """The schedule with such loads in the order of an interval behind their last readers, where they can be."""
    for load in schedule.order:
        if isinstance(load, tile.DescriptorLoadOp) and load.result.has_one_use():
            (use,) = load.result.uses
            readers = readers_in(schedule, use.operation) if isinstance(use.operation, LocalAllocOp) else None
            if readers and all(isinstance(reader, WarpGroupDotOp) for reader in readers):
                schedule = _moved(schedule, load, max(schedule.position[reader] for reader in readers))
    return schedule


def _moved(schedule: LoopSchedule, load: tile.DescriptorLoadOp, last: int) -> LoopSchedule:
    """With the load behind the position, if it stands in front of it and nothing needs it there."""
    order = [op for op in schedule.order if op is not load]
    if schedule.position[load] > last:
        return schedule
    order.insert(last, load)
    places = {op: replace(schedule.places[op], cluster=number) for number, op in enumerate(order)}
    moved = replace(schedule, order=tuple(order), places=places)
    return schedule if moved.fault() is not None else moved
