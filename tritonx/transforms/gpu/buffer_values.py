"""Tiles that a loop loads for its products come a few iterations ahead, by copies that no thread waits for.

A schedule (`analysis/scheduled_loops`) lets a load run stages before the ops that read the tile from shared memory. The
tile's buffer then becomes one of several slots, each copy goes to the next, and as many intervals later readers take
the slots in the same order. Both go round: a counter that starts anew behind the last slot, no division.

A slot is free again when its last reader is over. That is where it runs, or one product later for the products of a
warp group, which read memory while the program goes on: such a tile gets one slot more, so that a copy need only wait
for the product before the one just issued.

Each copy is a group of its own, and its token is given to the wait in front of the first reader. As it stands here the
wait is for all groups; `expand-pipeline`, which runs the schedule, knows how many others have been made by then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from tritonx.analysis.access_width import access_width
from tritonx.analysis.axis_info import AxisFacts, analyze_axes
from tritonx.analysis.buffers import aliases_of, is_shared_memory, tensor_layout
from tritonx.analysis.lifetimes import buffers_of
from tritonx.analysis.memory_plan import OverBudget, plan
from tritonx.analysis.scheduled_loops import (
    LAST_STAGE,
    TOPIC,
    LoopSchedule,
    Place,
    drop_schedule,
    schedule_of,
    scheduled_loops,
    set_place,
)
from tritonx.analysis.shared_budget import SharedBudget
from tritonx.dialects import arith, scf, tile
from tritonx.dialects.arith import CmpiPredicate
from tritonx.dialects.effects import viewed
from tritonx.dialects.gpu_layout import (
    AsyncCommitGroupOp,
    AsyncCopyGlobalToLocalOp,
    AsyncWaitOp,
    LocalAllocOp,
    LocalDeallocOp,
    LocalLoadOp,
    MemDescIndexOp,
    MemDescType,
    encoding_value,
    memdesc,
)
from tritonx.dialects.gpu_layout.types import ASYNC_TOKEN
from tritonx.dialects.nvidia import WarpGroupDotOp
from tritonx.ir.builder import Builder
from tritonx.ir.edit import erase, terminator_of
from tritonx.ir.explain import explain
from tritonx.ir.fold.constants import constant_of
from tritonx.ir.types import bit_width, element_type, i1, i32, i64, is_tensor, type_of
from tritonx.layouts import LayoutError, linear_layout
from tritonx.layouts.access import placement, shared_access

OpT = TypeVar("OpT", bound=Operation)

COPY_BYTES = (4, 8, 16)
"""That a thread's asynchronous copy can have (PTX ISA 9.0, cp.async)."""


@dataclass(frozen=True)
class BufferValues(ModulePass):
    """In `scf.for` loops with a schedule, a `tt.load` whose tile goes to a `ttg.local_alloc` that is read in a later
    stage becomes a `ttg.async_copy_global_to_local` to a slot of a buffer in front of the loop. `expand-pipeline` then
    runs the schedule.

    Loads that the copies cannot do (other widths than 4, 8 or 16 bytes, a value for masked-off elements that is not
    zero) stay, and what they load goes round in registers. As many stages are kept as have room in the `shared_memory`
    of a block; a loop of which not even two have, or whose schedule contradicts itself, loses its schedule."""

    name = "buffer-values"

    shared_memory: int = 48 * 1024

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        loops = scheduled_loops(op)
        if not loops:
            return
        facts = analyze_axes(op)
        budget = SharedBudget(self.shared_memory).within(op)
        for loop in loops:
            _buffer(loop, facts, budget)


def _buffer(loop: scf.ForOp, facts: AxisFacts, budget: SharedBudget) -> None:
    schedule = schedule_of(loop)
    assert schedule is not None
    for last in range(schedule.last, 0, -1):
        shorter = _shortened(schedule, last)
        if shorter.fault() is not None:
            continue
        tiles = [found for op in shorter.order if (found := _tile(shorter, op, facts)) is not None]
        buffers = _take(loop, tiles)
        if _fits(loop, tiles, budget):
            _write_down(shorter)
            if tiles:
                _Rewriting(shorter, tiles, buffers).run()
            if last < schedule.last:
                explain(TOPIC, loop, f"{last + 1} stages: slots for more do not fit shared memory")
            return
        _give_back(buffers)
    explain(TOPIC, loop, f"not pipelined: {schedule.fault() or 'slots for two stages do not fit shared memory'}")
    drop_schedule(loop)


def _shortened(schedule: LoopSchedule, last: int) -> LoopSchedule:
    """The schedule with fewer stages: what runs furthest ahead runs less far ahead."""
    less = schedule.last - last
    places = {op: replace(at, stage=max(0, at.stage - less)) for op, at in schedule.places.items()}
    return replace(schedule, last=last, places=places)


def _write_down(schedule: LoopSchedule) -> None:
    schedule.loop.attributes[LAST_STAGE] = IntegerAttr(schedule.last, i32)
    for op, place in schedule.places.items():
        set_place(op, place)


# --- what is buffered


@dataclass(frozen=True)
class BufferedTile:
    """A tile that a copy can bring: how many elements a copy moves, the ops of the body that read its buffer, and as
    many slots as it needs."""

    load: tile.LoadOp
    alloc: LocalAllocOp
    width: int
    readers: tuple[Operation, ...]
    slots: int


def _tile(schedule: LoopSchedule, load: Operation, facts: AxisFacts) -> BufferedTile | None:
    if not isinstance(load, tile.LoadOp) or not is_tensor(type_of(load.result)) or load.isVolatile.value.data:
        return None
    allocs = [use.operation for use in load.result.uses if isinstance(use.operation, LocalAllocOp)]
    if len(allocs) != 1 or not is_shared_memory(allocs[0].result):
        return None
    width = _copy_width(load, allocs[0], facts)
    readers = _readers(schedule, allocs[0])
    if width is None or readers is None:
        return None
    others = [schedule.of(use.operation) for use in load.result.uses if use.operation is not allocs[0]]
    slots = max(_slots(schedule, load, reader) for reader in (*readers, *others))
    if all(schedule.stage(reader) <= schedule.stage(load) for reader in readers):
        return None  # nothing is gained
    return BufferedTile(load, allocs[0], width, readers, slots)


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


def _copy_width(load: tile.LoadOp, alloc: LocalAllocOp, facts: AxisFacts) -> int | None:
    """Elements that one copy moves; None where there is no such copy."""
    if load.other is not None and constant_of(load.other) != 0:
        return None
    type_, memory = type_of(load.result), type_of(alloc.result)
    assert is_tensor(type_) and isinstance(memory, MemDescType)
    bits, layout = bit_width(element_type(type_)), tensor_layout(type_)
    width = access_width(facts, layout, load.ptr, load.mask, bits)
    try:
        places = placement(layout, linear_layout(encoding_value(memory.encoding), memory.shape))
    except LayoutError:
        return None
    together = shared_access(places, bits, max_vec_bits=width * bits).vec
    width = width if together == width else 1
    return width if width * bits // 8 in COPY_BYTES else None


# --- room


def _take(loop: scf.ForOp, tiles: Sequence[BufferedTile]) -> list[LocalAllocOp]:
    """Buffers in front of the loop, given back behind it."""
    before, block = Builder.before(loop), loop.parent
    assert block is not None
    made: list[LocalAllocOp] = []
    for each in tiles:
        type_ = type_of(each.alloc.result)
        assert isinstance(type_, MemDescType)
        whole = memdesc((each.slots, *type_.shape), type_.element_type, type_.encoding, mutable=True)
        buffer = before.create(LocalAllocOp, (), (whole,))
        buffer.result.name_hint = each.load.result.name_hint
        made.append(buffer)
        free = LocalDeallocOp.create(operands=(buffer.result,), location=loop.location)
        block.insert_op_after(free, loop)
    return made


def _give_back(buffers: Sequence[LocalAllocOp]) -> None:
    for buffer in buffers:
        for use in list(buffer.result.uses):
            erase(use.operation)
        erase(buffer)


def _fits(loop: scf.ForOp, tiles: Sequence[BufferedTile], budget: SharedBudget) -> bool:
    """Whether a block has room for all buffers of the function but those that are going to go."""
    function = loop.parent_op()
    while function is not None and not isinstance(function, tile.FuncOp):
        function = function.parent_op()
    assert function is not None
    gone = {each.alloc for each in tiles}
    try:
        plan([buffer for buffer in buffers_of(function) if buffer.op not in gone], budget.limit)
    except OverBudget:
        return False
    return True


# --- rewriting


@dataclass(frozen=True)
class Counter:
    """Goes round over slots, for the ops of one stage."""

    slots: int
    stage: int


class _Rewriting:
    """Puts copies, views and waits into the body of a loop, all with a place in its schedule."""

    def __init__(self, schedule: LoopSchedule, tiles: Sequence[BufferedTile], buffers: Sequence[LocalAllocOp]) -> None:
        self.schedule, self.tiles = schedule, tiles
        self.buffers = dict(zip(tiles, buffers, strict=True))
        self.number = {op: number for number, op in enumerate(schedule.loop.body.block.ops)}
        """In the text, in which whatever is used must be made before."""

    def run(self) -> None:
        slots = self._count()
        tokens = {each: self._copy(each, slots[Counter(each.slots, self._stage(each.load))]) for each in self.tiles}
        self._wait(tokens)
        for each in self.tiles:
            self._read(each, slots)
        for each in self.tiles:
            erase(each.alloc)
            erase(each.load)

    def _stage(self, op: Operation) -> int:
        return self.schedule.stage(op)

    def _users(self, each: BufferedTile) -> dict[int, list[Operation]]:
        """Stage → the ops of the body that use a tile or its buffer."""
        found: dict[int, list[Operation]] = {}
        for value in (each.alloc.result, each.load.result):
            for use in value.uses:
                if use.operation is not each.alloc:
                    user = self.schedule.of(use.operation)
                    found.setdefault(self._stage(user), []).append(user)
        return found

    def _before(self, users: Sequence[Operation]) -> _Placed:
        """Builds in front of all of these ops, in the text and in the schedule."""
        first = min(users, key=self.number.__getitem__)
        return _Placed(first, min(self.schedule.places[user] for user in users))

    # --- counters

    def _count(self) -> dict[Counter, SSAValue]:
        """The slot of each counter, as a value of the body."""
        users: dict[Counter, list[Operation]] = {}
        for each in self.tiles:
            users.setdefault(Counter(each.slots, self._stage(each.load)), []).append(each.load)
            for stage, ops in self._users(each).items():
                users.setdefault(Counter(each.slots, stage), []).extend(ops)
        loop = self.schedule.loop
        outside = Builder.before(loop)
        zero, one, before = (outside.constant(number, i32) for number in (0, 1, -1))
        found: dict[Counter, SSAValue] = {}
        for counter, ops in users.items():
            placed = self._before(ops)
            last = loop.body.block.insert_arg(i32, len(loop.body.block.args))
            following = placed.emit(arith.AddiOp, (last, one), i32)
            bound = outside.constant(counter.slots, i32)
            around = placed.emit(arith.CmpiOp, (following, bound), i1, predicate=IntegerAttr(CmpiPredicate.SGE, i64))
            found[counter] = placed.emit(arith.SelectOp, (around, zero, following), i32)
        self.schedule = replace(self.schedule, loop=_with_carried(loop, [before] * len(found), [*found.values()]))
        return found

    # --- copies

    def _copy(self, each: BufferedTile, slot: SSAValue) -> SSAValue:
        """The copy in front of the load, and the token of its group."""
        load, placed = each.load, self._before([each.load])
        type_ = type_of(each.alloc.result)
        assert isinstance(type_, MemDescType)
        target = memdesc(type_.shape, type_.element_type, type_.encoding, mutable=True)
        view = placed.emit(MemDescIndexOp, (self.buffers[each].result, slot), target)
        given = [value for value in (load.mask, load.other) if value is not None]
        properties = {name: load.properties[name] for name in ("cache", "evict") if name in load.properties}
        width = IntegerAttr(each.width, i32)
        placed.create(AsyncCopyGlobalToLocalOp, (load.ptr, view, *given), ASYNC_TOKEN, contiguity=width, **properties)
        return placed.emit(AsyncCommitGroupOp, (), ASYNC_TOKEN)

    # --- readers

    def _wait(self, tokens: Mapping[BufferedTile, SSAValue]) -> None:
        """A wait in front of the first reader of each tile; one for those that the same product needs, and for those
        that have had more than an interval's time, because each is followed by a barrier."""
        together: dict[tuple[int, int], list[tuple[int, BufferedTile]]] = {}
        for each in self.tiles:
            users = [user for ops in self._users(each).values() for user in ops if not _is_view(user)]
            readers = [*each.readers, *users]
            stage = min(map(self._stage, readers))
            position = min(self.schedule.position[op] for op in readers if self._stage(op) == stage)
            early = stage - self._stage(each.load) > 1
            together.setdefault((stage, -1 if early else self._next_product(position)), []).append((position, each))
        for found in together.values():
            first = self.schedule.order[min(position for position, _ in found)]
            groups = [tokens[each] for _, each in found]
            self._before([first]).create(AsyncWaitOp, groups, ASYNC_TOKEN, num=IntegerAttr(0, i32))

    def _next_product(self, position: int) -> int:
        """Position of the next product from one in the order on."""
        order = self.schedule.order
        while position < len(order) and not isinstance(order[position], _PRODUCTS):
            position += 1
        return position

    def _read(self, each: BufferedTile, slots: dict[Counter, SSAValue]) -> None:
        """The users of the tile, or of its buffer, take the slot of their stage."""
        type_ = type_of(each.alloc.result)
        for stage, users in self._users(each).items():
            placed = self._before(users)
            view = placed.emit(MemDescIndexOp, (self.buffers[each].result, slots[Counter(each.slots, stage)]), type_)
            loaded: SSAValue | None = None
            for user in users:
                for inner in user.walk():
                    for number, operand in enumerate(inner.operands):
                        if operand is each.alloc.result:
                            inner.operands[number] = view
                        elif operand is each.load.result:
                            loaded = loaded or placed.emit(LocalLoadOp, (view,), type_of(each.load.result))
                            inner.operands[number] = loaded


_PRODUCTS = (tile.DotOp, WarpGroupDotOp)


def _is_view(op: Operation) -> bool:
    return any(viewed(op, result) is not None for result in op.results)


def _with_carried(loop: scf.ForOp, initial: Sequence[SSAValue], yielded: Sequence[SSAValue]) -> scf.ForOp:
    """The loop with more that goes round: the body has its arguments already."""
    end = terminator_of(loop.body.block)
    end.operands = [*end.operands, *yielded]
    made = Builder.before(loop).create(
        scf.ForOp,
        (*loop.operands, *initial),
        [*(result.type for result in loop.results), *(value.type for value in initial)],
        loop.properties,
        loop.attributes,
        [loop.detach_region(0)],
    )
    for old, new in zip(loop.results, made.results, strict=False):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    erase(loop)
    return made


@dataclass(frozen=True)
class _Placed:
    """Makes ops in front of one, all at the same place of the schedule."""

    first: Operation
    place: Place

    def create(self, cls: type[OpT], operands: Sequence[SSAValue], type_: Attribute, **properties: Attribute) -> OpT:
        made = Builder.before(self.first).create(cls, operands, (type_,), properties)
        set_place(made, self.place)
        return made

    def emit(
        self, cls: type[Operation], operands: Sequence[SSAValue], type_: Attribute, **properties: Attribute
    ) -> SSAValue:
        return self.create(cls, operands, type_, **properties).results[0]
