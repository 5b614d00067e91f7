"""Tiles that a loop needs for its products come a few iterations ahead, by copies that no thread waits for.

A schedule (`loop_schedule`) lets a load run stages before the ops that read the tile from shared memory. The tile's
buffer then becomes one of several slots, each copy goes to the next, and as many intervals later readers take the slots
in the same order. Both wrap around: a counter that starts anew behind the last slot, no division.

A slot is free again when its last reader is over. That is where it runs, or one product later for the products of a
warp group, which read memory while the program goes on: such a tile gets one slot more, so that a copy need only wait
for the product before the one just issued. A copy of the engine comes behind that product, where a slot more is not
needed.

What products are computed of is copied as it is, and read back behind: so an operand that is converted, or scaled,
waits in shared memory as others do, and no registers hold it meanwhile. Nothing else reads its slots, so they lie as
the threads load them. What is made of it is stored for products of warp groups to slots as well, if there is room and
the loop waits for no result: one more than the last product reads, so that the next operand is stored while it runs.
An operand that lies otherwise in global memory than a matrix unit wants it is one that is computed: it is turned.

A block of a descriptor is brought by the copy engine, which tells an mbarrier of the slot. Whoever reads waits there
for the current phase, whose parity is carried with the counter and flips when the counter wraps.

Each copy of the threads is a group of its own, and its token is given to the wait in front of the first reader. Here
the wait is for all groups; `expand-pipeline`, which runs the schedule, knows how many others have been made by then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.utils.hints import isa

from tritonx.analysis.axis_info import AxisFacts, analyze_axes
from tritonx.analysis.blocks_together import RESERVED
from tritonx.analysis.registers import RegisterFile, carried_words, for_tiles
from tritonx.analysis.shared_budget import SharedBudget, blocks_around, fits_around
from tritonx.dialects import scf, tile
from tritonx.dialects.gpu_layout import LocalAllocOp, LocalDeallocOp, memdesc
from tritonx.dialects.interfaces import BlockCopies
from tritonx.ir.builder import Builder
from tritonx.ir.context import dialect_interface
from tritonx.ir.contract import Contract
from tritonx.ir.edit import erase
from tritonx.ir.explain import explain
from tritonx.ir.failure import PassError
from tritonx.ir.properties import stated_number
from tritonx.ir.types import i32, shape_of, type_of
from tritonx.transforms.pipelining.buffered_tiles import (
    BufferedTile,
    loaded_tile,
    overwritten,
    plan_of,
    planned_tile,
    stored_ahead,
    stored_tile,
)
from tritonx.transforms.pipelining.copies_to_slots import Rewriting
from tritonx.transforms.pipelining.loop_schedule import (
    LAST_STAGE,
    TOPIC,
    LoopSchedule,
    drop_schedule,
    in_place_of,
    put_in_stages,
    schedule_of,
    scheduled_loops,
    set_place,
)
from tritonx.transforms.pipelining.plan import Agent, Buffer, Plan, parse_plan
from tritonx.transforms.pipelining.rearrange import behind_readers, copies_behind, turned_behind

FAULT = "the plan does not hold"
"""A defect of this pass, for which a user's loop runs as it stands; tests look for it."""

PLAN = "tritonx.slots"
"""Of a loop: the plan by which its copies are made, line by line."""


@dataclass(frozen=True)
class BufferValues(ModulePass):
    """Gives what scheduled loops load for a later stage a buffer of slots in front of the loop.

    In `scf.for` loops with a schedule, a `tt.load` whose tile goes to a `ttg.local_alloc` that is read in a later
    stage becomes a `ttg.async_copy_global_to_local` to a slot of a buffer in front of the loop, a `tt.descriptor_load`
    a `ttng.async_tma_copy_global_to_local`, if the buffer has the encoding of the descriptor's blocks. One that is
    computed with in a later stage does too, where there is a product, and is read by a `ttg.local_load`. The
    `ttg.local_alloc` of a computed operand of products that only add up becomes a `ttg.local_store` to a slot, and so
    does any other whose last reader runs behind where the next one is stored. `expand-pipeline` then runs the schedule.
    Without `copies` a tile whose `ttg.local_alloc` runs in an earlier stage than the readers is stored to the slot
    there, by a `ttg.local_store`; others for products are copied where copies of one of `lane_bytes` bytes a lane can
    (`order-copies`), and nothing else is.

    Loads that the copies cannot do (other widths than 4, 8 or 16 bytes, a value for masked-off elements that is not
    zero) stay, and what they load is carried in registers. Copies of the threads are moved behind the last readers of
    the slot before where a multiprocessor then has room for more blocks. As many stages are kept
    as have room in the `shared_memory` of a block. Where not even two have, copies are moved behind their readers,
    which takes a slot less; a loop that does not fit so either, or whose schedule contradicts itself, loses its
    schedule. A loop with a plan in its text (`tritonx.slots`), as `plans` leaves it, is written by that one, whatever
    room there is."""

    name = "buffer-values"
    contract = Contract(
        ("ttg",),
        on=("scf.for",),
        creates=(
            "arith",
            "scf",
            "tt.splat",
            "ttg.local_alloc",
            "ttg.local_dealloc",
            "ttg.local_load",
            "ttg.local_store",
            "ttg.memdesc_index",
            "ttg.async_copy_global_to_local",
            "ttg.async_commit_group",
            "ttg.async_wait",
            "ttng.async_tma_copy_global_to_local",
            "ttng.barrier_expect",
            "ttng.init_barrier",
            "ttng.inval_barrier",
            "ttng.wait_barrier",
        ),
        reads=("loop.stage", "loop.cluster", "tritonx.slots"),
        writes=("tritonx.slots",),
        needs=("schedule-loops",),
        after=("encode-descriptors", "carry-scalars"),
    )

    shared_memory: int = 48 * 1024
    """Bytes of shared memory that a block may have."""
    copies: bool = True
    """Whether threads copy to shared memory asynchronously in general."""
    lane_bytes: tuple[int, ...] = ()
    """Bytes that a lane can copy past the registers; none where there are no such copies."""
    registers: int = 0
    """Registers of 32 bits of a multiprocessor, which its blocks share; 0 where no slots of `copies` are given up for
    more blocks."""
    usual: int = RegisterFile.usual
    """That a thread of a kernel with products has at least."""
    alternating_side: int = 0
    """Rows and columns of a loop's one product from which on no slots of `lane_bytes` are given up for more blocks, as
    groups of a block's warps alternate between the product and memory; 0: of none."""
    blocks: str = ""
    """The dialect whose ops copy blocks of descriptors; none where threads load these."""
    plans: bool = False
    """Whether to leave plans on the loops, as text, and no copies."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        loops = scheduled_loops(op)
        if not loops:
            return
        facts = analyze_axes(op)
        budget = SharedBudget(self.shared_memory).within(op)
        threads = _number(op, "ttg.num-warps") * _number(op, "ttg.threads-per-warp")
        given = replace(self, registers=self.registers // threads)
        taken: list[LocalAllocOp] = []
        for loop in loops:
            with in_place_of(loop):
                written = loop.attributes.pop(PLAN, None)
                taken += _buffer(loop, given, facts, budget) if written is None else _as_written(loop, written, given)
        if self.plans:
            _give_back(taken)

    def copying(self) -> BlockCopies | None:
        """How the dialect `blocks` copies blocks."""
        return dialect_interface(self.blocks, BlockCopies) if self.blocks else None


def _number(module: ModuleOp, name: str) -> int:
    return stated_number(module.attributes, name) or 1


def _buffer(loop: scf.ForOp, given: BufferValues, facts: AxisFacts, budget: SharedBudget) -> Sequence[LocalAllocOp]:
    """The buffers that a loop is given. `given`: with the registers for each thread of a block."""
    schedule = behind_readers(turned_behind(loop, facts)) if given.copies else schedule_of(loop)
    assert schedule is not None
    for shorter, tiles in _candidates(schedule, given, facts, budget):
        buffers = _take(loop, tiles)
        if _fits(loop, tiles, budget.limit):
            if given.registers and any(each.by is Agent.THREADS for each in tiles):
                _give_back(buffers)
                shorter, tiles = _with_room(shorter, tiles, facts, given, budget)
                buffers = _take(loop, tiles)
            _write_down(shorter)
            if tiles:
                told = put_in_stages(shorter) if _are_read_between(shorter, tiles) else shorter
                plan = plan_of(told, tiles)
                if (fault := plan.fault()) is not None:
                    _give_back(buffers)
                    return _unpipelined(loop, f"{FAULT}: {fault}")
                _write(loop, plan, buffers, given)
            if shorter.last < schedule.last:
                explain(TOPIC, loop, f"{shorter.last + 1} stages: slots for more do not fit shared memory")
            return buffers
        _give_back(buffers)
    return _unpipelined(
        loop, schedule.fault() or "slots do not fit shared memory, those of copies behind their readers neither"
    )


def _candidates(
    schedule: LoopSchedule, given: BufferValues, facts: AxisFacts, budget: SharedBudget
) -> Iterator[tuple[LoopSchedule, Sequence[BufferedTile]]]:
    """Schedules with the tiles that go to slots, the best first: with all stages and with fewer, and then those whose
    copies are placed after their last readers, which take a slot less and make the copies wait for the readers."""
    made: list[tuple[LoopSchedule, Sequence[BufferedTile]]] = []
    for last in range(schedule.last, 0, -1):
        shorter = _shortened(schedule, last)
        if shorter.fault() is not None:
            continue
        choices = (
            _choices(shorter, facts, blocks=bool(given.blocks))
            if given.copies
            else (_tiles_of_threads(shorter, facts, given.lane_bytes),)
        )
        for chosen in choices:
            made.append((shorter, [*chosen, *_must_wait_in_slots(shorter, chosen)]))
            yield made[-1]
    for shorter, tiles in made:
        if any(each.by is Agent.THREADS for each in tiles) and (found := _in_fewer_slots(shorter, tiles, facts, given)):
            yield found


def _unpipelined(loop: scf.ForOp, why: str) -> Sequence[LocalAllocOp]:
    explain(TOPIC, loop, f"not pipelined: {why}")
    drop_schedule(loop)
    return ()


def _write(loop: scf.ForOp, plan: Plan, buffers: Sequence[LocalAllocOp], given: BufferValues) -> None:
    if given.plans:
        loop.attributes[PLAN] = ArrayAttr([StringAttr(line) for line in str(plan).splitlines()])
    else:
        Rewriting(loop, plan, buffers, given.copying()).run()


def _as_written(loop: scf.ForOp, written: Attribute, given: BufferValues) -> Sequence[LocalAllocOp]:
    """The buffers of a loop whose plan is given, as text."""
    lines = written.data if isa(written, ArrayAttr[StringAttr]) else ()
    try:
        plan = parse_plan("\n".join(line.data for line in lines))
    except ValueError as error:
        raise PassError(loop, f"{PLAN}: {error}") from None
    if (fault := _misfit(loop, plan) or plan.fault()) is not None:
        raise PassError(loop, f"{PLAN}: {fault}")
    ops = list(loop.body.block.ops)
    buffers = [_in_front(loop, each, ops[each.source.op]) for each in plan.buffers]
    _write(loop, plan, buffers, given)
    return buffers


def _misfit(loop: scf.ForOp, plan: Plan) -> str | None:
    """Why a plan is not one of this loop; None where it is: with the same tiles, used by the same ops in the same
    places."""
    schedule, ops = schedule_of(loop), list(loop.body.block.ops)
    assert schedule is not None
    if plan.stages != schedule.last + 1:
        return f"the loop has {schedule.last + 1} stages"
    if plan.most() >= len(ops) - 1:
        return f"there is no op {plan.most()}"
    tiles: list[BufferedTile] = []
    for number, buffer in enumerate(plan.buffers):
        source, alloc = ops[buffer.source.op], None if buffer.alloc is None else ops[buffer.alloc]
        found = planned_tile(schedule, source, alloc, buffer)
        if found is None or found.by is not buffer.by or any(source is each.source for each in tiles):
            return f"{source.name} does not bring buffer {number}"
        tiles.append(found)
    for number, (buffer, wanted) in enumerate(zip(plan.buffers, plan_of(schedule, tiles).buffers, strict=True)):
        if _uses(buffer) != _uses(wanted):
            return f"buffer {number} is brought or used by other ops, or in other places"
    return None


def _uses(buffer: Buffer) -> object:
    views = {(view.at.place.stage, view.load, frozenset(view.users)) for view in buffer.views}
    return buffer.source, views, frozenset(buffer.reads)


def _choices(schedule: LoopSchedule, facts: AxisFacts, *, blocks: bool) -> Iterator[list[BufferedTile]]:
    """The tiles that may go to slots, from all to those that must not wait otherwise: what is stored for products can
    wait until the last one is read, and what is computed with can wait in registers, but for ``blocks`` of descriptors,
    where a unit copies these."""
    loads = [op for op in schedule.order if blocks or not isinstance(op, tile.DescriptorLoadOp)]
    loaded = [found for op in loads if (found := loaded_tile(schedule, op, facts)) is not None]
    stored = [found for op in schedule.order if (found := stored_tile(schedule, op)) is not None]
    in_slots = [each for each in loaded if each.alloc is not None or isinstance(each.source, tile.DescriptorLoadOp)]
    yield [*loaded, *stored]
    if stored:
        yield loaded
    if len(in_slots) < len(loaded) and schedule.last == 1:
        yield in_slots


def _must_wait_in_slots(schedule: LoopSchedule, tiles: Sequence[BufferedTile]) -> list[BufferedTile]:
    """What is stored while others of its kind are still to be read, of what the tiles are not made of."""
    covered = {op for each in tiles for op in (each.source, each.alloc)}
    others = (overwritten(schedule, op) for op in schedule.order if op not in covered)
    return [found for found in others if found is not None]


def _tiles_of_threads(schedule: LoopSchedule, facts: AxisFacts, lane_bytes: Sequence[int]) -> Sequence[BufferedTile]:
    """The tiles that threads load ahead and store, and those that the copies of warps bring."""
    stored = [found for op in schedule.order if (found := stored_ahead(schedule, op)) is not None]
    others = [op for op in schedule.order if isinstance(op, tile.LoadOp) and lane_bytes]
    by_threads = {each.source.src.owner for each in stored if isinstance(each.source, LocalAllocOp) and each.source.src}
    copied = (loaded_tile(schedule, op, facts, lane_bytes) for op in others if op not in by_threads)
    return [*stored, *(found for found in copied if found is not None)]


def _blocks(loop: scf.ForOp, tiles: Sequence[BufferedTile], budget: SharedBudget, reserved: int, most: int) -> int:
    """How many blocks, so many at most, have room beside each other with slots for these tiles."""
    buffers = _take(loop, tiles)
    count = blocks_around(loop, _gone(tiles), budget.limit, reserved, most)
    _give_back(buffers)
    return count


def _in_fewer_slots(
    schedule: LoopSchedule, tiles: Sequence[BufferedTile], facts: AxisFacts, given: BufferValues
) -> tuple[LoopSchedule, Sequence[BufferedTile]] | None:
    """The schedule with the copies of tiles behind the readers of the slot before, and the tiles in as many slots as
    that takes; None where no copy can be there."""
    behind = copies_behind(schedule, tiles)
    if behind is schedule:
        return None
    sources = {each.source for each in tiles}
    if given.copies:
        choice: Sequence[BufferedTile] = next(_choices(behind, facts, blocks=True))
    else:
        choice = _tiles_of_threads(behind, facts, given.lane_bytes)
    chosen = [each for each in choice if each.source in sources]
    return behind, [*chosen, *_must_wait_in_slots(behind, chosen)]


def _with_room(
    schedule: LoopSchedule, tiles: Sequence[BufferedTile], facts: AxisFacts, given: BufferValues, budget: SharedBudget
) -> tuple[LoopSchedule, Sequence[BufferedTile]]:
    """Schedule and tiles in fewer slots, if more blocks have room so; else as they are. Where lanes copy, not in one
    slot: nothing would be under way while the loop multiplies; nor in two where warps alternate."""
    if schedule.last > 1 and _alternates(schedule.loop, given.alternating_side):
        return schedule, tiles
    found = _in_fewer_slots(schedule, tiles, facts, given)
    if found is None or (not given.copies and any(each.loads and each.slots < 2 for each in found[1])):
        return schedule, tiles
    if not _makes_room(schedule, tiles, found[1], given, budget):
        return schedule, tiles
    return found


def _alternates(loop: scf.ForOp, side: int) -> bool:
    """Whether groups of warps alternate between memory and a loop's one product."""
    shapes = [shape_of(type_of(op.d)) for op in loop.body.block.ops if isinstance(op, tile.DotOp)]
    return bool(side) and len(shapes) == 1 and min(shapes[0]) >= side


def _makes_room(
    schedule: LoopSchedule,
    tiles: Sequence[BufferedTile],
    fewer: Sequence[BufferedTile],
    given: BufferValues,
    budget: SharedBudget,
) -> bool:
    """Whether more blocks have room with the one's slots than with the other's, and registers as far as what the loop
    carries tells: two, or where lanes copy as many as these leave room for. (A third one of 8.0 or 9.0 was not
    measured.)"""
    most, reserved = (2, RESERVED) if given.copies else (given.registers // given.usual, 0)
    before, after = (_blocks(schedule.loop, each, budget, reserved, most) for each in (tiles, fewer))
    share = given.registers // max(2, after)
    return before < after and share >= given.usual and carried_words(schedule.loop) <= for_tiles(share)


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


# --- room


def _take(loop: scf.ForOp, tiles: Sequence[BufferedTile]) -> list[LocalAllocOp]:
    """Buffers in front of the loop, given back behind it."""
    return [_in_front(loop, each, each.source) for each in tiles]


def _in_front(loop: scf.ForOp, each: BufferedTile | Buffer, source: Operation) -> LocalAllocOp:
    block, memory = loop.parent, each.memory
    assert block is not None
    whole = memdesc((each.slots, *memory.shape), memory.element_type, memory.encoding, mutable=True)
    buffer = Builder.before(loop).create(LocalAllocOp, (), (whole,))
    buffer.result.name_hint = source.results[0].name_hint
    free = LocalDeallocOp.create(operands=(buffer.result,), location=loop.location)
    block.insert_op_after(free, loop)
    return buffer


def _give_back(buffers: Sequence[LocalAllocOp]) -> None:
    for buffer in buffers:
        for use in list(buffer.result.uses):
            erase(use.operation)
        erase(buffer)


def _fits(loop: scf.ForOp, tiles: Sequence[BufferedTile], limit: int) -> bool:
    """Whether so many bytes have room for all buffers of the function but those that are going to go."""
    return fits_around(loop, _gone(tiles), limit)


def _gone(tiles: Sequence[BufferedTile]) -> set[Operation]:
    """What slots take the place of."""
    return {each.alloc for each in tiles if each.alloc is not None}
