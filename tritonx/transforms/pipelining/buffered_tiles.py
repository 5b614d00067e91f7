"""Which tiles of a scheduled loop may wait in slots: what is loaded for later stages by copies, what threads load ahead
and store themselves, what is computed and stored for products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import Block, Operation, SSAValue

from tritonx.analysis.access_width import access_width, stored_width
from tritonx.analysis.axis_info import AxisFacts
from tritonx.analysis.buffers import (
    aliases_of,
    allocation_size,
    copied_alignment,
    copied_encoding,
    is_shared_memory,
    stored_bytes,
    tensor_layout,
)
from tritonx.analysis.lane_copies import loaded_by_lanes
from tritonx.dialects import tile
from tritonx.dialects.gpu_layout import LocalAllocOp, LocalDeallocOp, MemDescType, attribute_of, memdesc
from tritonx.dialects.interfaces import MemoryProductOp, is_memory_product
from tritonx.ir.effects import is_terminator
from tritonx.ir.fold.constants import constant_of
from tritonx.ir.types import bit_width, element_type, is_tensor, shape_of, type_as, type_of
from tritonx.layouts.convert import conversion_layout
from tritonx.layouts.dims import OFFSET
from tritonx.layouts.encodings import SharedLinearEncoding
from tritonx.transforms.pipelining.copies_to_slots import BufferedTile
from tritonx.transforms.pipelining.loads_ahead import waits_in_memory
from tritonx.transforms.pipelining.loop_graph import is_product
from tritonx.transforms.pipelining.loop_schedule import LoopSchedule

COPY_BYTES = (4, 8, 16)
"""That a thread's asynchronous copy can have (PTX ISA 9.0, cp.async)."""


def loaded_tile(
    schedule: LoopSchedule, load: Operation, facts: AxisFacts, lane_bytes: Sequence[int] = ()
) -> BufferedTile | None:
    """What is loaded for later stages, for a product's operand or to be computed with; with `lane_bytes` only for
    operands, by the copies of warps that write consecutive memory."""
    if not isinstance(load, tile.LoadOp | tile.DescriptorLoadOp) or not is_tensor(type_of(load.result)):
        return None
    allocs = [use.operation for use in load.result.uses if isinstance(use.operation, LocalAllocOp)]
    if len(allocs) > 1 or (allocs and not is_shared_memory(allocs[0].result)):
        return None
    alloc = allocs[0] if allocs else None
    if lane_bytes and (alloc is None or not load.result.has_one_use()):
        return None
    readers = _users(schedule, load) if alloc is None else readers_in(schedule, alloc)
    if readers is None:
        return None
    memory = _plain_memory(schedule, load, readers) if alloc is None else type_as(alloc.result, MemDescType)
    if memory is None:
        return None
    threads = isinstance(load, tile.LoadOp)
    if lane_bytes and threads and alloc is not None:
        copy = loaded_by_lanes(load, alloc, facts, lane_bytes)
        width, memory = (None, memory) if copy is None else (copy.width, copy.memory)
    else:
        width = _copy_width(load, memory, facts) if threads else _block_width(load, memory)
    if width is None:
        return None
    others = [schedule.of(use.operation) for use in load.result.uses if use.operation is not alloc]
    slots = max(_slots(schedule, load, reader) for reader in (*readers, *others))
    if all(schedule.stage(reader) <= schedule.stage(load) for reader in readers):
        return None  # nothing is gained
    return BufferedTile(load, alloc, memory, width, readers, slots)


def _users(schedule: LoopSchedule, load: tile.LoadOp | tile.DescriptorLoadOp) -> tuple[Operation, ...] | None:
    """The ops of the body that use what is loaded, in order; None where it goes round, or there are none."""
    body = schedule.loop.body.block
    users = {use.operation for use in load.result.uses}
    if not users or body.last_op in users:
        return None
    return tuple(sorted({schedule.of(user) for user in users}, key=schedule.position.__getitem__))


def _plain_memory(
    schedule: LoopSchedule, load: tile.LoadOp | tile.DescriptorLoadOp, users: Sequence[Operation]
) -> MemDescType | None:
    """Memory for what is computed with behind copies; None where it waits in registers, as blocks of descriptors never
    do: the copy engine would bring them there by way of memory."""
    type_ = type_of(load.result)
    if isinstance(load, tile.DescriptorLoadOp):
        return memdesc(shape_of(type_), element_type(type_), copied_encoding(load))
    intervals = max(map(schedule.stage, users)) - schedule.stage(load)
    if not any(map(is_product, schedule.order)) or not waits_in_memory(load, intervals):
        return None
    layout = tensor_layout(type_)
    arrangement = conversion_layout(layout, layout, 8 * stored_bytes(type_))
    encoding = attribute_of(SharedLinearEncoding(arrangement.bases(OFFSET)))
    return memdesc(shape_of(type_), element_type(type_), encoding)


@dataclass(frozen=True)
class _Stored:
    """A buffer that a value of the body is stored to, and what reads it there, in order."""

    alloc: LocalAllocOp
    value: SSAValue
    readers: tuple[Operation, ...]

    def in_slots(self, schedule: LoopSchedule) -> BufferedTile:
        slots = max(_slots(schedule, self.alloc, reader) for reader in self.readers)
        return BufferedTile(self.alloc, self.alloc, type_as(self.alloc.result, MemDescType), 0, self.readers, slots)


def _stored(schedule: LoopSchedule, alloc: Operation) -> _Stored | None:
    if not isinstance(alloc, LocalAllocOp) or alloc.src is None or not is_shared_memory(alloc.result):
        return None
    readers = readers_in(schedule, alloc)
    return None if readers is None else _Stored(alloc, alloc.src, readers)


def stored_tile(schedule: LoopSchedule, alloc: Operation) -> BufferedTile | None:
    """What is computed and stored for products that nothing in the loop waits for: with a slot more, the next one is
    stored while they run."""
    found = _stored(schedule, alloc)
    if found is None or isinstance(found.value.owner, tile.LoadOp | tile.DescriptorLoadOp):
        return None
    if not all(is_memory_product(reader) for reader in found.readers):
        return None
    if any(is_memory_product(op) and not _only_adds_up(schedule, op) for op in schedule.order):
        return None
    return found.in_slots(schedule)


def _only_adds_up(schedule: LoopSchedule, product: MemoryProductOp) -> bool:
    """Whether a product reads memory, and nothing in the loop reads its result but another one that adds to it."""
    sums = [product.d, *(each.argument for each in schedule.carried if each.yielded.value is product.d)]
    uses = ((value, use.operation) for value in sums for use in value.uses if not is_terminator(use.operation))
    added = all(is_memory_product(user) and user.c is value for value, user in uses)
    return added and isinstance(product.a.type, MemDescType)


def readers_in(schedule: LoopSchedule, alloc: LocalAllocOp) -> tuple[Operation, ...] | None:
    """The ops of the body that read a buffer, in order; None where it is not only read, or outside as well."""
    body = schedule.loop.body.block
    if alloc.parent is not body:
        return None
    aliases = aliases_of(alloc.result)
    if any(isinstance(alias.owner, Block) for alias in aliases):
        return None  # it goes round the loop
    views = {alias.owner for alias in aliases if isinstance(alias.owner, Operation)}
    users = {use.operation for alias in aliases for use in alias.uses} - views
    if any(user is body.last_op or isinstance(user, LocalDeallocOp) for user in users):
        return None
    found = {schedule.of(user) for user in users}
    stages = {schedule.stage(op) for op in found}
    if any(schedule.stage(view) not in stages or len(stages) > 1 for view in views if view is not alloc):
        return None  # the view itself would go round
    return tuple(sorted(found, key=schedule.position.__getitem__)) if found else None


def _slots(schedule: LoopSchedule, load: Operation, reader: Operation) -> int:
    """How many copies there are from the one that a reader reads to the first that must leave it alone."""
    if not is_memory_product(reader):
        return _copies(schedule, load, reader)
    over = finished(schedule, reader)
    is_over = over is not None and over < schedule.position[load]
    return _copies(schedule, load, reader) + (not is_over)


def finished(schedule: LoopSchedule, product: MemoryProductOp) -> int | None:
    """The position in an interval of the first op of its iteration that waits for a product of a warp group: one that
    uses its result, or that of a product which adds to it; None where there is none in its stage."""
    found: list[int] = []
    for use in product.d.uses:
        user = schedule.of(use.operation)
        if user not in schedule.position or schedule.stage(user) != schedule.stage(product):
            continue
        if is_memory_product(user) and user.c is product.d:
            later = finished(schedule, user)
            found += [] if later is None else [later]
        else:
            found.append(schedule.position[user])
    return min(found, default=None)


def _copies(schedule: LoopSchedule, load: Operation, reader: Operation) -> int:
    """How many there are from the one that a reader reads to the first behind where it stands."""
    sooner = schedule.position[load] < schedule.position[reader]
    return schedule.stage(reader) - schedule.stage(load) + sooner


def _copy_width(load: tile.LoadOp, memory: MemDescType, facts: AxisFacts) -> int | None:
    """Elements that one copy moves; None where there is no such copy."""
    wide, type_ = copied_at_once(load, facts), type_of(load.result)
    if wide is None:
        return None
    width = stored_width(type_, memory, wide)
    return width if width * bit_width(element_type(type_)) // 8 in COPY_BYTES else None


def copied_at_once(load: tile.LoadOp, facts: AxisFacts) -> int | None:
    """Elements that a copy could move at once out of global memory; None where it could not do what the load does."""
    if load.isVolatile.value.data or (load.other is not None and constant_of(load.other) != 0):
        return None
    type_ = type_of(load.result)
    bits = bit_width(element_type(type_))
    width = access_width(facts, tensor_layout(type_), load.ptr, load.mask, bits)
    return width if width * bits // 8 in COPY_BYTES else None


def _block_width(load: tile.DescriptorLoadOp, memory: MemDescType) -> int | None:
    """Elements that the copy engine brings: all; None where the buffer is not as it writes it, or one slot behind
    another would lie where it does not write."""
    if copied_encoding(load) != memory.encoding or shape_of(type_of(load.result)) != memory.shape:
        return None
    return None if allocation_size(memory) % copied_alignment(memory) else prod(memory.shape)


def stored_ahead(schedule: LoopSchedule, alloc: Operation) -> BufferedTile | None:
    """One that threads load, and store earlier than it is read; None where they do not."""
    if (found := _stored(schedule, alloc)) is None:
        return None
    load = found.value.owner
    if not isinstance(load, tile.LoadOp) or load.parent is not alloc.parent:
        return None
    if any(schedule.stage(reader) <= schedule.stage(alloc) for reader in found.readers):
        return None
    return found.in_slots(schedule)


def overwritten(schedule: LoopSchedule, alloc: Operation) -> BufferedTile | None:
    """What is stored before the last reader of the one before has read it, so that it cannot do without slots."""
    found = _stored(schedule, alloc)
    if found is None or all(_copies(schedule, alloc, reader) <= 1 for reader in found.readers):
        return None
    return found.in_slots(schedule)
