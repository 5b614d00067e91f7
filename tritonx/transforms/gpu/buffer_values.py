"""Tiles that a loop needs for its products come a few iterations ahead, by copies that no thread waits for.

A schedule (`analysis/scheduled_loops`) lets a load run stages before the ops that read the tile from shared memory. The
tile's buffer then becomes one of several slots, each copy goes to the next, and as many intervals later readers take
the slots in the same order. Both go round: a counter that starts anew behind the last slot, no division.

A slot is free again when its last reader is over. That is where it runs, or one product later for the products of a
warp group, which read memory while the program goes on: such a tile gets one slot more, so that a copy need only wait
for the product before the one just issued.

What products are computed of is copied as it is, and read back behind: so an operand that is converted, or scaled,
waits in shared memory as others do, and no registers hold it meanwhile. Nothing else reads its slots, so they lie as
the threads load them. What is made of it is stored for products of warp groups to slots as well, if there is room and
the loop waits for no result: one more than the last product reads, so that the next operand is stored while it runs.
An operand that lies otherwise in global memory than a matrix unit wants it is one that is computed: it is turned.

A block of a descriptor is brought by the copy engine, which tells an mbarrier of the slot. Whoever reads waits there
for the phase of this time round, whose parity goes round with the counter and turns when that starts anew.

Each copy of the threads is a group of its own, and its token is given to the wait in front of the first reader. As it
stands here the wait is for all groups; `expand-pipeline`, which runs the schedule, knows how many others have been made
by then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Attribute, Block, Operation
from xdsl.passes import ModulePass

from tritonx.analysis.access_width import access_width, stored_width
from tritonx.analysis.axis_info import AxisFacts, analyze_axes
from tritonx.analysis.buffers import aliases_of, is_shared_memory, stored_bytes, tensor_layout
from tritonx.analysis.lifetimes import buffers_of
from tritonx.analysis.loads_ahead import waits_in_memory
from tritonx.analysis.loop_graph import is_product
from tritonx.analysis.memory_plan import OverBudget, plan
from tritonx.analysis.scheduled_loops import (
    LAST_STAGE,
    TOPIC,
    LoopSchedule,
    drop_schedule,
    in_place_of,
    schedule_of,
    scheduled_loops,
    set_place,
)
from tritonx.analysis.shared_budget import SharedBudget
from tritonx.dialects import scf, tile
from tritonx.dialects.gpu_layout import (
    ConvertLayoutOp,
    LocalAllocOp,
    LocalDeallocOp,
    MemDescType,
    attribute_of,
    distributed_encoding,
    memdesc,
)
from tritonx.dialects.nvidia import (
    WarpGroupDotOp,
)
from tritonx.dialects.tile import TensorDescType
from tritonx.ir.builder import Builder
from tritonx.ir.edit import erase
from tritonx.ir.effects import is_terminator
from tritonx.ir.explain import explain
from tritonx.ir.fold.constants import constant_of
from tritonx.ir.types import (
    bit_width,
    element_type,
    encoding_of,
    i32,
    is_tensor,
    shape_of,
    type_as,
    type_of,
    with_encoding,
)
from tritonx.layouts.convert import conversion_layout
from tritonx.layouts.dims import OFFSET
from tritonx.layouts.encodings import BlockedEncoding, SharedLinearEncoding
from tritonx.transforms.gpu.copies_to_slots import BufferedTile, Rewriting
from tritonx.transforms.gpu.text_in_stages import put_in_stages

COPY_BYTES = (4, 8, 16)
"""That a thread's asynchronous copy can have (PTX ISA 9.0, cp.async)."""


@dataclass(frozen=True)
class BufferValues(ModulePass):
    """In `scf.for` loops with a schedule, a `tt.load` whose tile goes to a `ttg.local_alloc` that is read in a later
    stage becomes a `ttg.async_copy_global_to_local` to a slot of a buffer in front of the loop, a `tt.descriptor_load`
    a `ttng.async_tma_copy_global_to_local`, if the buffer has the encoding of the descriptor's blocks. One that is
    computed with in a later stage does too, where there is a product, and is read by a `ttg.local_load`. The
    `ttg.local_alloc` of a computed operand of products that only add up becomes a `ttg.local_store` to a slot.
    `expand-pipeline` then runs the schedule. Without `copies` there are none: a tile whose `ttg.local_alloc` runs in an
    earlier stage than the readers is stored to the slot there, by a `ttg.local_store`.

    Loads that the copies cannot do (other widths than 4, 8 or 16 bytes, a value for masked-off elements that is not
    zero) stay, and what they load goes round in registers. As many stages are kept as have room in the `shared_memory`
    of a block; a loop of which not even two have, or whose schedule contradicts itself, loses its schedule."""

    name = "buffer-values"

    shared_memory: int = 48 * 1024
    copies: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        loops = scheduled_loops(op)
        if not loops:
            return
        facts = analyze_axes(op)
        budget = SharedBudget(self.shared_memory).within(op)
        for loop in loops:
            with in_place_of(loop):
                _buffer(loop, facts if self.copies else None, budget)


def _buffer(loop: scf.ForOp, facts: AxisFacts | None, budget: SharedBudget) -> None:
    """`facts` are for copies of the threads: None where there are none."""
    schedule = schedule_of(loop) if facts is None else _turned_behind(loop, facts)
    assert schedule is not None
    for last in range(schedule.last, 0, -1):
        shorter = _shortened(schedule, last)
        if shorter.fault() is not None:
            continue
        choices = _choices(shorter, facts) if facts is not None else _choices_of_threads(shorter, budget)
        for tiles in choices:
            buffers = _take(loop, tiles)
            if _fits(loop, tiles, budget.limit):
                _write_down(shorter)
                if tiles:
                    told = put_in_stages(shorter) if _are_read_between(shorter, tiles) else shorter
                    Rewriting(told, tiles, buffers).run()
                if last < schedule.last:
                    explain(TOPIC, loop, f"{last + 1} stages: slots for more do not fit shared memory")
                return
            _give_back(buffers)
    explain(TOPIC, loop, f"not pipelined: {schedule.fault() or 'slots for two stages do not fit shared memory'}")
    drop_schedule(loop)


def _choices(schedule: LoopSchedule, facts: AxisFacts) -> Iterator[list[BufferedTile]]:
    """The tiles that may go to slots, from all to those that must not wait otherwise: what is stored for products can
    wait until the last one is read, and what is computed with can wait in registers."""
    loaded = [found for op in schedule.order if (found := _tile(schedule, op, facts)) is not None]
    stored = [found for op in schedule.order if (found := _stored(schedule, op)) is not None]
    operands = [each for each in loaded if each.alloc is not None]
    yield [*loaded, *stored]
    if stored:
        yield loaded
    if len(operands) < len(loaded) and schedule.last == 1:
        yield operands


def _choices_of_threads(schedule: LoopSchedule, budget: SharedBudget) -> Iterator[list[BufferedTile]]:
    """The tiles that threads load ahead and store, with a slot more where as many blocks have room, two at most."""
    tiles = [found for op in schedule.order if (found := _stored_ahead(schedule, op)) is not None]
    spared = [_with_spare_slot(schedule, each) for each in tiles]
    loop = schedule.loop
    if spared != tiles and _blocks(loop, spared, budget) >= max(1, _blocks(loop, tiles, budget)):
        yield spared
    yield tiles


def _stored_ahead(schedule: LoopSchedule, alloc: Operation) -> BufferedTile | None:
    """One that threads load, and store earlier than it is read; None where they do not."""
    if not isinstance(alloc, LocalAllocOp) or alloc.src is None or not is_shared_memory(alloc.result):
        return None
    if not isinstance(alloc.src.owner, tile.LoadOp) or alloc.src.owner.parent is not alloc.parent:
        return None
    readers = _readers(schedule, alloc)
    if readers is None or any(schedule.stage(reader) <= schedule.stage(alloc) for reader in readers):
        return None
    slots = max(_slots(schedule, alloc, reader) for reader in readers)
    return BufferedTile(alloc, alloc, type_as(alloc.result, MemDescType), 0, readers, slots)


def _with_spare_slot(schedule: LoopSchedule, each: BufferedTile) -> BufferedTile:
    """With a slot more, if a tile is stored behind readers of an interval."""
    last = max(schedule.position[reader] for reader in each.readers)
    return each if schedule.position[each.source] < last else replace(each, slots=each.slots + 1)


def _blocks(loop: scf.ForOp, tiles: Sequence[BufferedTile], budget: SharedBudget) -> int:
    """How many blocks, two at most, have room beside each other with slots for these tiles."""
    buffers = _take(loop, tiles)
    count = sum(_fits(loop, tiles, budget.limit // blocks) for blocks in (1, 2))
    _give_back(buffers)
    return count


def _are_read_between(schedule: LoopSchedule, tiles: Sequence[BufferedTile]) -> bool:
    """Whether a tile is read in front of where another one is loaded, in the text."""
    number = {op: number for number, op in enumerate(schedule.loop.body.block.ops)}
    users = [schedule.of(use.operation) for each in tiles for use in each.source.result.uses]
    readers = [*users, *(reader for each in tiles for reader in each.readers)]
    read = [op for op in readers if not any(op is each.alloc for each in tiles)]
    return min(map(number.__getitem__, read)) < max(number[each.source] for each in tiles)


def _shortened(schedule: LoopSchedule, last: int) -> LoopSchedule:
    """The schedule with fewer stages: what runs furthest ahead runs less far ahead."""
    less = schedule.last - last
    places = {op: replace(at, stage=max(0, at.stage - less)) for op, at in schedule.places.items()}
    return replace(schedule, last=last, places=places)


def _write_down(schedule: LoopSchedule) -> None:
    schedule.loop.attributes[LAST_STAGE] = IntegerAttr(schedule.last, i32)
    for op, place in schedule.places.items():
        set_place(op, place)


# --- what is turned


def _turned_behind(loop: scf.ForOp, facts: AxisFacts) -> LoopSchedule:
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
    """What stores a tile for products that its copies can only be narrow for; None of others."""
    if not isinstance(load, tile.LoadOp) or not is_tensor(type_of(load.result)) or not load.result.has_one_use():
        return None
    (use,) = load.result.uses
    alloc = use.operation
    if not isinstance(alloc, LocalAllocOp) or not is_shared_memory(alloc.result):
        return None
    encoding = distributed_encoding(type_of(load.result))
    if not isinstance(encoding, BlockedEncoding) or len(encoding.order) != 2:
        return None
    readers = _readers(schedule, alloc)
    if readers is None or not all(isinstance(reader, WarpGroupDotOp) for reader in readers):
        return None
    intervals = schedule.stage(alloc) - schedule.stage(load)
    wide = _copied_at_once(load, facts)
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


# --- what is buffered


def _tile(schedule: LoopSchedule, load: Operation, facts: AxisFacts) -> BufferedTile | None:
    """What is loaded for later stages, for a product's operand or to be computed with."""
    if not isinstance(load, tile.LoadOp | tile.DescriptorLoadOp) or not is_tensor(type_of(load.result)):
        return None
    allocs = [use.operation for use in load.result.uses if isinstance(use.operation, LocalAllocOp)]
    if len(allocs) > 1 or (allocs and not is_shared_memory(allocs[0].result)):
        return None
    alloc = allocs[0] if allocs else None
    readers = _users(schedule, load) if alloc is None else _readers(schedule, alloc)
    if readers is None:
        return None
    memory = _plain_memory(schedule, load, readers) if alloc is None else type_as(alloc.result, MemDescType)
    if memory is None:
        return None
    threads = isinstance(load, tile.LoadOp)
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
    """Memory for what is computed with behind copies; None where it waits in registers."""
    type_ = type_of(load.result)
    intervals = max(map(schedule.stage, users)) - schedule.stage(load)
    if not any(map(is_product, schedule.order)) or not waits_in_memory(load, intervals):
        return None
    if isinstance(load, tile.DescriptorLoadOp):
        block = type_as(load.desc, TensorDescType).block_type
        return memdesc(shape_of(type_), element_type(type_), encoding_of(block))
    layout = tensor_layout(type_)
    arrangement = conversion_layout(layout, layout, 8 * stored_bytes(type_))
    encoding = attribute_of(SharedLinearEncoding(arrangement.bases(OFFSET)))
    return memdesc(shape_of(type_), element_type(type_), encoding)


def _stored(schedule: LoopSchedule, alloc: Operation) -> BufferedTile | None:
    """What is computed and stored for products that nothing in the loop waits for: with a slot more, the next one is
    stored while they run."""
    if not isinstance(alloc, LocalAllocOp) or alloc.src is None or not is_shared_memory(alloc.result):
        return None
    if alloc.parent is not schedule.loop.body.block or isinstance(alloc.src.owner, tile.LoadOp | tile.DescriptorLoadOp):
        return None
    readers = _readers(schedule, alloc)
    if readers is None or not all(isinstance(reader, WarpGroupDotOp) for reader in readers):
        return None
    if any(isinstance(op, WarpGroupDotOp) and not _only_adds_up(schedule, op) for op in schedule.order):
        return None
    slots = max(_slots(schedule, alloc, reader) for reader in readers)
    return BufferedTile(alloc, alloc, type_as(alloc.result, MemDescType), 0, readers, slots)


def _only_adds_up(schedule: LoopSchedule, product: WarpGroupDotOp) -> bool:
    """Whether a product reads memory, and nothing in the loop reads its result but another one that adds to it."""
    sums = [product.d, *(each.argument for each in schedule.carried if each.yielded.value is product.d)]
    uses = ((value, use.operation) for value in sums for use in value.uses if not is_terminator(use.operation))
    added = all(isinstance(user, WarpGroupDotOp) and user.c is value for value, user in uses)
    return added and isinstance(product.a.type, MemDescType)


def _readers(schedule: LoopSchedule, alloc: LocalAllocOp) -> tuple[Operation, ...] | None:
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
    intervals = schedule.stage(reader) - schedule.stage(load)
    sooner = schedule.position[load] < schedule.position[reader]
    return intervals + sooner + isinstance(reader, WarpGroupDotOp)


def _copy_width(load: tile.LoadOp, memory: MemDescType, facts: AxisFacts) -> int | None:
    """Elements that one copy moves; None where there is no such copy."""
    wide, type_ = _copied_at_once(load, facts), type_of(load.result)
    if wide is None:
        return None
    width = stored_width(type_, memory, wide)
    return width if width * bit_width(element_type(type_)) // 8 in COPY_BYTES else None


def _copied_at_once(load: tile.LoadOp, facts: AxisFacts) -> int | None:
    """Elements that a copy could move at once out of global memory; None where it could not do what the load does."""
    if load.isVolatile.value.data or (load.other is not None and constant_of(load.other) != 0):
        return None
    type_ = type_of(load.result)
    bits = bit_width(element_type(type_))
    width = access_width(facts, tensor_layout(type_), load.ptr, load.mask, bits)
    return width if width * bits // 8 in COPY_BYTES else None


def _block_width(load: tile.DescriptorLoadOp, memory: MemDescType) -> int | None:
    """Elements that the copy engine brings: all; None where the buffer is not as it writes it."""
    block = type_as(load.desc, TensorDescType).block_type
    alike = encoding_of(block) == memory.encoding and shape_of(block) == memory.shape
    return prod(memory.shape) if alike else None


# --- room


def _take(loop: scf.ForOp, tiles: Sequence[BufferedTile]) -> list[LocalAllocOp]:
    """Buffers in front of the loop, given back behind it."""
    before, block = Builder.before(loop), loop.parent
    assert block is not None
    made: list[LocalAllocOp] = []
    for each in tiles:
        memory = each.memory
        whole = memdesc((each.slots, *memory.shape), memory.element_type, memory.encoding, mutable=True)
        buffer = before.create(LocalAllocOp, (), (whole,))
        buffer.result.name_hint = each.source.result.name_hint
        made.append(buffer)
        free = LocalDeallocOp.create(operands=(buffer.result,), location=loop.location)
        block.insert_op_after(free, loop)
    return made


def _give_back(buffers: Sequence[LocalAllocOp]) -> None:
    for buffer in buffers:
        for use in list(buffer.result.uses):
            erase(use.operation)
        erase(buffer)


def _fits(loop: scf.ForOp, tiles: Sequence[BufferedTile], limit: int) -> bool:
    """Whether so many bytes have room for all buffers of the function but those that are going to go."""
    function = loop.parent_op()
    while function is not None and not isinstance(function, tile.FuncOp):
        function = function.parent_op()
    assert function is not None
    gone = {each.alloc for each in tiles}
    try:
        plan([buffer for buffer in buffers_of(function) if buffer.op not in gone], limit)
    except OverBudget:
        return False
    return True
