"""Operands that matrix units want the other way round than they lie in global memory: the threads turn them."""

from __future__ import annotations

from math import prod

from xdsl.ir import Attribute, Operation

from tritonx.analysis.access_width import stored_width
from tritonx.analysis.axis_info import AxisFacts
from tritonx.analysis.buffers import copied_encoding, is_shared_memory, stored_bytes
from tritonx.analysis.loads_ahead import waits_in_memory
from tritonx.analysis.scheduled_loops import LoopSchedule, schedule_of, set_place
from tritonx.dialects import scf, tile
from tritonx.dialects.gpu_layout import (
    ConvertLayoutOp,
    LocalAllocOp,
    MemDescType,
    attribute_of,
    distributed_encoding,
)
from tritonx.dialects.interfaces import is_memory_product
from tritonx.ir.types import is_tensor, shape_of, type_as, type_of, with_encoding
from tritonx.layouts.encodings import BlockedEncoding
from tritonx.transforms.gpu.buffered_tiles import copied_at_once, readers_in


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
