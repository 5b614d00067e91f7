"""Which tiles of a scheduled loop may wait in slots: what is loaded for later stages by copies, what threads load ahead
and store themselves, what is computed and stored for products. And the plan (`plan`) for those that were chosen.

What the copy engine brings in one stage for the same product has one mbarrier a slot, which expects the bytes of all of
it, so that there is one wait."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

from xdsl.ir import Block, Operation, SSAValue

from tritonx.analysis.access_width import access_width, stored_width
from tritonx.analysis.axis_info import AxisFacts
from tritonx.analysis.buffers import (
    aliases_of,
    allocation_size,
    copied_alignment,
    copied_bytes,
    copied_encoding,
    is_shared_memory,
    stored_bytes,
    tensor_layout,
)
from tritonx.analysis.lane_copies import loaded_by_lanes
from tritonx.dialects import tile
from tritonx.dialects.effects import viewed
from tritonx.dialects.gpu_layout import LocalAllocOp, LocalDeallocOp, MemDescType, attribute_of, memdesc
from tritonx.dialects.interfaces import MemoryProductOp, is_memory_product
from tritonx.ir.effects import is_terminator
from tritonx.ir.fold.constants import constant_of
from tritonx.ir.types import bit_width, element_type, is_tensor, shape_of, type_as, type_of
from tritonx.layouts.convert import conversion_layout
from tritonx.layouts.dims import OFFSET
from tritonx.layouts.encodings import SharedLinearEncoding
from tritonx.transforms.pipelining.loads_ahead import waits_in_memory
from tritonx.transforms.pipelining.loop_graph import is_product
from tritonx.transforms.pipelining.loop_schedule import LoopSchedule
from tritonx.transforms.pipelining.plan import Agent, Barrier, Buffer, Counter, Plan, Point, Read, View, Wait


@dataclass(frozen=True)
class BufferedTile:
    """A tile that goes to slots, each like `memory`: of what loads it, which a copy takes the place of that moves
    `width` elements at a time, or of the `alloc` itself that stores what was computed. `readers` are the ops of the
    body that read the buffer, in as many slots as it needs. Where there is no `alloc`, they use what is loaded."""

    source: tile.LoadOp | tile.DescriptorLoadOp | LocalAllocOp
    alloc: LocalAllocOp | None
    memory: MemDescType
    width: int
    readers: tuple[Operation, ...]
    slots: int

    @property
    def by(self) -> Agent:
        """Who brings the tile to its slot."""
        if isinstance(self.source, LocalAllocOp):
            return Agent.STORE
        return Agent.THREADS if isinstance(self.source, tile.LoadOp) else Agent.ENGINE

    @property
    def loads(self) -> bool:
        """Whether the tile comes from global memory."""
        return not isinstance(self.source, LocalAllocOp)

    @property
    def is_stored_ahead(self) -> bool:
        """Whether threads have loaded the tile, and store it."""
        source = self.source
        return isinstance(source, LocalAllocOp) and source.src is not None and isinstance(source.src.owner, tile.LoadOp)


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
    """The ops of the body that use what is loaded, in order; None where the loop carries it, or there are none."""
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
        return None  # the loop carries it
    views = {alias.owner for alias in aliases if isinstance(alias.owner, Operation)}
    users = {use.operation for alias in aliases for use in alias.uses} - views
    if any(user is body.last_op or isinstance(user, LocalDeallocOp) for user in users):
        return None
    found = {schedule.of(user) for user in users}
    stages = {schedule.stage(op) for op in found}
    if any(schedule.stage(view) not in stages or len(stages) > 1 for view in views if view is not alloc):
        return None  # the view itself would be carried
    return tuple(sorted(found, key=schedule.position.__getitem__)) if found else None


def _slots(schedule: LoopSchedule, load: Operation, reader: Operation) -> int:
    """How many copies there are from the one that a reader reads to the first that must leave it alone."""
    return _copies(schedule, load, reader) + (_over(schedule, load, reader) is None)


def _over(schedule: LoopSchedule, load: Operation, reader: Operation) -> int | None:
    """The position in an interval, in front of the next load's, where a reader is over with a tile; None where a
    product reads on until the next one."""
    if not is_memory_product(reader):
        return schedule.position[reader]
    over = finished(schedule, reader)
    return over if over is not None and over < schedule.position[load] else None


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
    """How many there are from the one that a reader reads to the first after the reader."""
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


def planned_tile(
    schedule: LoopSchedule, source: Operation, alloc: Operation | None, buffer: Buffer
) -> BufferedTile | None:
    """The tile of a buffer that a plan has, brought by an op, in place of the memory of another one, if that is given;
    None where they are not such."""
    if not isinstance(source, tile.LoadOp | tile.DescriptorLoadOp | LocalAllocOp):
        return None
    if alloc is None and not isinstance(source, LocalAllocOp):
        readers = _users(schedule, source)
    elif isinstance(alloc, LocalAllocOp) and (alloc is source or alloc.src is source.result):
        readers = readers_in(schedule, alloc)
    else:
        return None
    if readers is None:
        return None
    return BufferedTile(source, alloc, buffer.memory, buffer.width, readers, buffer.slots)


# --- the plan


def plan_of(schedule: LoopSchedule, tiles: Sequence[BufferedTile]) -> Plan:
    """What is made for tiles that go to slots, and where."""
    return _Planning(schedule, tiles).plan()


@dataclass(frozen=True)
class _Reading:
    """The ops that must find tiles in their slots: the first one of the schedule, and in front of which op of the text,
    at what place, something is that must be there before."""

    at: Operation
    point: Point


class _Planning:
    def __init__(self, schedule: LoopSchedule, tiles: Sequence[BufferedTile]) -> None:
        self.schedule, self.tiles = schedule, tiles
        self.number = {op: number for number, op in enumerate(schedule.loop.body.block.ops)}
        """In the text, in which whatever is used must be made before."""
        self.users = [self._users(each) for each in tiles]

    def plan(self) -> Plan:
        barriers = [self._barrier(together) for together in self._brought_together()]
        waits = [self._wait(*key, together) for key, together in self._waited_together().items()]
        buffers = tuple(map(self._buffer, range(len(self.tiles))))
        return Plan(self.schedule.last + 1, buffers, tuple(self._counters(barriers)), tuple(barriers), tuple(waits))

    def _stage(self, op: Operation) -> int:
        return self.schedule.stage(op)

    def _own(self, op: Operation) -> Point:
        return Point(self.number[op], self.schedule.places[op])

    def _users(self, each: BufferedTile) -> dict[int, list[Operation]]:
        """Stage → the ops of the body that use a tile or its buffer."""
        found: dict[int, list[Operation]] = {}
        for value in dict.fromkeys(op.result for op in (each.alloc, each.source) if op is not None):
            for use in value.uses:
                if use.operation is not each.alloc:
                    user = self.schedule.of(use.operation)
                    found.setdefault(self._stage(user), []).append(user)
        return found

    def _before(self, users: Sequence[Operation]) -> Point:
        """In front of all of these ops, in the text and in the schedule."""
        return Point(min(map(self.number.__getitem__, users)), min(self.schedule.places[user] for user in users))

    def _reading(self, tiles: Sequence[int]) -> _Reading:
        """Of all these tiles."""
        readers: list[Operation] = []
        for number in tiles:
            users = [user for ops in self.users[number].values() for user in ops]
            readers += [*self.tiles[number].readers, *(user for user in users if not _is_view(user))]
        stage = min(map(self._stage, readers))
        at = min((op for op in readers if self._stage(op) == stage), key=self.schedule.position.__getitem__)
        return _Reading(at, Point(min(map(self.number.__getitem__, readers)), self.schedule.places[at]))

    def _next_product(self, at: Operation) -> int:
        """Position of the next product from an op in the order on."""
        order, position = self.schedule.order, self.schedule.position[at]
        while position < len(order) and not _multiplies(order[position]):
            position += 1
        return position

    # --- buffers

    def _buffer(self, number: int) -> Buffer:
        each = self.tiles[number]
        alloc = None if each.alloc is None else self.number[each.alloc]
        views = tuple(self._view(each, users) for users in self.users[number].values())
        reads = tuple(self._read(each, reader) for reader in each.readers)
        width = each.width if each.by is Agent.THREADS else 0
        return Buffer(each.slots, each.memory, each.by, self._own(each.source), width, alloc, views, reads)

    def _view(self, each: BufferedTile, users: Sequence[Operation]) -> View:
        taking = {self.schedule.of(use.operation) for use in each.source.result.uses}
        load = self._before([user for user in users if user in taking] or users)
        return View(self._before(users), load, tuple(map(self.number.__getitem__, users)))

    def _read(self, each: BufferedTile, reader: Operation) -> Read:
        over, at = _over(self.schedule, each.source, reader), self._own(reader)
        return Read(at, at, later=True) if over is None else Read(at, self._own(self.schedule.order[over]))

    def _counters(self, barriers: Sequence[Barrier]) -> Iterator[Counter]:
        """Over the slots of each stage that writes or uses some; with parities, where ops wait at mbarriers."""
        waiting: dict[tuple[int, int], list[int]] = {}
        for barrier in barriers:
            key = self.tiles[barrier.buffers[0]].slots, barrier.waited.place.stage
            waiting.setdefault(key, []).append(barrier.waited.op)
        users: dict[tuple[int, int], list[Operation]] = {}
        for each, found in zip(self.tiles, self.users, strict=True):
            users.setdefault((each.slots, self._stage(each.source)), []).append(each.source)
            for stage, ops in found.items():
                users.setdefault((each.slots, stage), []).extend(ops)
        for key, ops in users.items():
            slots, _ = key
            if slots > 1 or key in waiting:
                point = self._before(ops)
                first = min(point.op, *waiting.get(key, (point.op,)))
                yield Counter(slots, replace(point, op=first), phases=key in waiting)

    # --- what is waited for together

    def _brought_together(self) -> list[list[int]]:
        """The tiles that the copy engine brings, those together that are told of together: all are copied before the
        first is read."""
        together: list[tuple[tuple[int, int, int, int], list[int]]] = []
        for number, each in enumerate(self.tiles):
            if each.by is Agent.ENGINE:
                at = self._reading([number]).at
                key = (each.slots, self._stage(each.source), self._stage(at), self._next_product(at))
                alike = (tiles for known, tiles in together if known == key)
                tiles = next((tiles for tiles in alike if self._are_copied_first([*tiles, number])), None)
                if tiles is None:
                    together.append((key, [number]))
                else:
                    tiles.append(number)
        return [tiles for _, tiles in together]

    def _are_copied_first(self, tiles: Sequence[int]) -> bool:
        """Whether all are copied before one is read, in the text and in the schedule."""
        reading, sources = self._reading(tiles), [self.tiles[number].source for number in tiles]
        read = self._stage(reading.at), self.schedule.position[reading.at]
        copied = max((self._stage(source), self.schedule.position[source]) for source in sources)
        return copied < read and all(self.number[source] < reading.point.op for source in sources)

    def _barrier(self, tiles: Sequence[int]) -> Barrier:
        loads = [self.tiles[number].source for number in tiles]
        nbytes = sum(copied_bytes(self.tiles[number].memory) for number in tiles)
        return Barrier(tuple(tiles), nbytes, self._before(loads), self._reading(tiles).point)

    def _waited_together(self) -> dict[tuple[int, int], list[int]]:
        """The tiles that threads copy: one wait in front of the first reader for those that the same product needs, and
        for those that have had more than an interval's time, because each wait is followed by a barrier. These have
        time enough to be waited for in front of the interval's copies as well."""
        together: dict[tuple[int, int], list[int]] = {}
        for number, each in enumerate(self.tiles):
            if each.by is Agent.THREADS:
                at = self._reading([number]).at
                early = self._stage(at) - self._stage(each.source) > 1
                together.setdefault((self._stage(at), -1 if early else self._next_product(at)), []).append(number)
        return together

    def _wait(self, _: int, product: int, tiles: Sequence[int]) -> Wait:
        reading = self._reading(tiles)
        return Wait(tuple(tiles), reading.point if product >= 0 else self._before_copies(reading))

    def _before_copies(self, reading: _Reading) -> Point:
        """In front of the readers of tiles, and of the copies, and stores of what was loaded, that come before these in
        an interval. Such a copy writes to the slot that was read last in the interval before, so that all threads must
        meet in front of it: then they need not meet again behind it."""
        place, position = reading.point.place, self.schedule.position
        copies = (each.source for each in self.tiles if each.by is Agent.THREADS or each.is_stored_ahead)
        clusters = [self.schedule.places[copy].cluster for copy in copies if position[copy] < position[reading.at]]
        first = min([place.cluster, *(cluster - 1 for cluster in clusters)])
        return replace(reading.point, place=replace(place, cluster=first))


def _multiplies(op: Operation) -> bool:
    return isinstance(op, tile.DotOp | tile.DotScaledOp) or is_memory_product(op)


def _is_view(op: Operation) -> bool:
    """Whether the op only names memory otherwise: nothing is read."""
    return any(isinstance(result.type, MemDescType) and viewed(op, result) is not None for result in op.results)
