"""Loads of a loop's body become copies to slots of buffers, with counters that go over the slots and waits in front of
the readers: how `buffer-values` writes down what it has decided.

What the copy engine brings in one stage for the same product has one mbarrier a slot, which expects the bytes of all of
it, so that there is one wait.

Whatever is made here has a place in the loop's schedule, and stands in the text in front of all that use it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue

from tritonx.dialects import arith, scf, tile
from tritonx.dialects.arith import CmpiPredicate
from tritonx.dialects.effects import viewed
from tritonx.dialects.gpu_layout import (
    AsyncCommitGroupOp,
    AsyncCopyGlobalToLocalOp,
    AsyncWaitOp,
    ConvertLayoutOp,
    LocalAllocOp,
    LocalDeallocOp,
    LocalLoadOp,
    LocalStoreOp,
    MemDescIndexOp,
    MemDescType,
    attribute_of,
    memdesc,
)
from tritonx.dialects.gpu_layout.types import ASYNC_TOKEN
from tritonx.dialects.interfaces import BlockCopies, NewOp, is_memory_product
from tritonx.ir.builder import Builder
from tritonx.ir.edit import erase
from tritonx.ir.types import bit_width, element_type, i1, i32, i64, type_of
from tritonx.layouts.encodings import SwizzledSharedEncoding
from tritonx.transforms.gpu.iter_args import with_carried
from tritonx.transforms.pipelining.loop_schedule import (
    LoopSchedule,
    Place,
    set_place,
)

OpT = TypeVar("OpT", bound=Operation)


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
    def loads(self) -> bool:
        """Whether the tile comes from global memory."""
        return not isinstance(self.source, LocalAllocOp)

    @property
    def is_stored_ahead(self) -> bool:
        """Whether threads have loaded the tile, and store it."""
        source = self.source
        return isinstance(source, LocalAllocOp) and source.src is not None and isinstance(source.src.owner, tile.LoadOp)


@dataclass(frozen=True)
class Counter:
    """Goes round over slots, for the ops of one stage."""

    slots: int
    stage: int


@dataclass(frozen=True)
class Turn:
    """Where a counter is: the slot, and the parity of the time round."""

    slot: SSAValue
    parity: SSAValue


@dataclass(frozen=True)
class Reading:
    """The ops that must find a tile in its slot: the first one of the schedule, and the first one in the text."""

    at: Operation
    first: Operation


@dataclass(frozen=True)
class Arrival:
    """Tiles of which one mbarrier tells, and who waits for it."""

    tiles: tuple[BufferedTile, ...]
    reading: Reading

    @property
    def slots(self) -> int:
        return self.tiles[0].slots

    @property
    def loads(self) -> list[Operation]:
        return [each.source for each in self.tiles]

    @property
    def nbytes(self) -> int:
        return sum(each.width * bit_width(element_type(type_of(each.source.result))) // 8 for each in self.tiles)


class Rewriting:
    """Puts copies, views and waits into the body of a loop, all with a place in its schedule."""

    def __init__(
        self,
        schedule: LoopSchedule,
        tiles: Sequence[BufferedTile],
        buffers: Sequence[LocalAllocOp],
        blocks: BlockCopies | None,
    ) -> None:
        """``blocks``: how blocks of descriptors are copied, where some of the tiles are such."""
        self.schedule, self.tiles, self.blocks = schedule, tiles, blocks
        self.buffers = dict(zip(tiles, buffers, strict=True))
        self.number = {op: number for number, op in enumerate(schedule.loop.body.block.ops)}
        """In the text, in which whatever is used must be made before."""

    def run(self) -> None:
        outside = Builder.before(self.schedule.loop)
        self.zero, self.one, self.true = outside.constant(0, i32), outside.constant(1, i32), outside.constant(1, i1)
        arrivals = self._arrivals()
        turns = self._count(arrivals)
        for arrival in arrivals:
            assert self.blocks is not None
            barriers = _barriers(self.schedule.loop, arrival.slots, self.blocks)
            self._copy_blocks(self.blocks, arrival, barriers, turns)
            self._wait_for_blocks(self.blocks, arrival, barriers, turns)
        tokens: dict[BufferedTile, SSAValue] = {}
        for each in self.tiles:
            slot = turns[Counter(each.slots, self._stage(each.source))].slot
            if isinstance(each.source, tile.LoadOp):
                tokens[each] = self._copy(each, each.source, slot)
            elif isinstance(each.source, LocalAllocOp):
                self._store(each, each.source, slot)
        self._wait(tokens)
        for each in self.tiles:
            self._read(each, turns)
        for each in self.tiles:
            for op in dict.fromkeys((each.alloc, each.source)):
                if op is not None:
                    erase(op)

    def _stage(self, op: Operation) -> int:
        return self.schedule.stage(op)

    def _users(self, each: BufferedTile) -> dict[int, list[Operation]]:
        """Stage → the ops of the body that use a tile or its buffer."""
        found: dict[int, list[Operation]] = {}
        for value in dict.fromkeys(op.result for op in (each.alloc, each.source) if op is not None):
            for use in value.uses:
                if use.operation is not each.alloc:
                    user = self.schedule.of(use.operation)
                    found.setdefault(self._stage(user), []).append(user)
        return found

    def _before(self, users: Sequence[Operation]) -> _Placed:
        """Builds in front of all of these ops, in the text and in the schedule."""
        first = min(users, key=self.number.__getitem__)
        return _Placed(first, min(self.schedule.places[user] for user in users))

    def _reading(self, tiles: Sequence[BufferedTile]) -> Reading:
        """Of all these tiles."""
        readers: list[Operation] = []
        for each in tiles:
            users = [user for ops in self._users(each).values() for user in ops]
            readers += [*each.readers, *(user for user in users if not _is_view(user))]
        stage = min(map(self._stage, readers))
        at = min((op for op in readers if self._stage(op) == stage), key=self.schedule.position.__getitem__)
        return Reading(at, min(readers, key=self.number.__getitem__))

    def _at(self, reading: Reading) -> _Placed:
        """Builds where tiles must be there."""
        return _Placed(reading.first, self.schedule.places[reading.at])

    def _arrivals(self) -> list[Arrival]:
        """The tiles that the copy engine brings, those together that are told of together: all are copied before the
        first is read."""
        together: list[tuple[tuple[int, int, int, int], list[BufferedTile]]] = []
        for each in self.tiles:
            if isinstance(each.source, tile.DescriptorLoadOp):
                at = self._reading([each]).at
                key = (each.slots, self._stage(each.source), self._stage(at), self._next_product(at))
                alike = (tiles for known, tiles in together if known == key)
                tiles = next((tiles for tiles in alike if self._are_copied_first([*tiles, each])), None)
                if tiles is None:
                    together.append((key, [each]))
                else:
                    tiles.append(each)
        return [Arrival(tuple(tiles), self._reading(tiles)) for _, tiles in together]

    def _are_copied_first(self, tiles: Sequence[BufferedTile]) -> bool:
        """Whether all are copied before one is read, in the text and in the schedule."""
        reading = self._reading(tiles)
        read = self._stage(reading.at), self.schedule.position[reading.at]
        copied = max((self._stage(each.source), self.schedule.position[each.source]) for each in tiles)
        return copied < read and all(self.number[each.source] < self.number[reading.first] for each in tiles)

    # --- counters

    def _count(self, arrivals: Sequence[Arrival]) -> dict[Counter, Turn]:
        """Where each counter is, as values of the body; with parities, where ops wait at mbarriers by it."""
        waiting: dict[Counter, list[Operation]] = {}
        for arrival in arrivals:
            waiting.setdefault(self._counter(arrival), []).append(arrival.reading.first)
        users: dict[Counter, list[Operation]] = {}
        for each in self.tiles:
            users.setdefault(Counter(each.slots, self._stage(each.source)), []).append(each.source)
            for stage, ops in self._users(each).items():
                users.setdefault(Counter(each.slots, stage), []).extend(ops)
        loop = self.schedule.loop
        outside = Builder.before(loop)
        before = outside.constant(-1, i32)
        found: dict[Counter, Turn] = {}
        initial: list[SSAValue] = []
        yielded: list[SSAValue] = []
        for counter, ops in users.items():
            if counter.slots == 1 and counter not in waiting:
                found[counter] = Turn(self.zero, self.zero)
                continue
            placed = self._before(ops)
            first = min((placed.first, *waiting.get(counter, ())), key=self.number.__getitem__)
            placed = replace(placed, first=first)
            last = loop.body.block.insert_arg(i32, len(loop.body.block.args))
            following = placed.emit(arith.AddiOp, (last, self.one), i32)
            bound = outside.constant(counter.slots, i32)
            around = placed.emit(arith.CmpiOp, (following, bound), i1, predicate=IntegerAttr(CmpiPredicate.SGE, i64))
            slot = placed.emit(arith.SelectOp, (around, self.zero, following), i32)
            initial.append(before)
            yielded.append(slot)
            parity = self.zero
            if counter in waiting:
                old = loop.body.block.insert_arg(i32, len(loop.body.block.args))
                turned = placed.emit(arith.XOrIOp, (old, self.one), i32)
                parity = placed.emit(arith.SelectOp, (around, turned, old), i32)
                initial.append(self.zero)
                yielded.append(parity)
            found[counter] = Turn(slot, parity)
        self.schedule = replace(self.schedule, loop=with_carried(loop, initial, yielded))
        return found

    # --- copies

    def _target(self, each: BufferedTile, slot: SSAValue) -> SSAValue:
        """The slot that a copy in front of the load writes."""
        target = memdesc(each.memory.shape, each.memory.element_type, each.memory.encoding, mutable=True)
        return self._before([each.source]).emit(MemDescIndexOp, (self.buffers[each].result, slot), target)

    def _counter(self, arrival: Arrival) -> Counter:
        """By which is waited for it."""
        return Counter(arrival.slots, self._stage(arrival.reading.at))

    def _copy_blocks(
        self, blocks: BlockCopies, arrival: Arrival, barriers: SSAValue, turns: Mapping[Counter, Turn]
    ) -> None:
        """The copies in front of the loads, whose bytes the slot's barrier expects."""
        slot = turns[Counter(arrival.slots, self._stage(arrival.loads[0]))].slot
        placed = self._before(arrival.loads)
        barrier = placed.emit(MemDescIndexOp, (barriers, slot), BARRIER)
        placed.make(blocks.expect(barrier, arrival.nbytes, self.true))
        for each in arrival.tiles:
            assert isinstance(each.source, tile.DescriptorLoadOp)
            view, load = self._target(each, slot), each.source
            copy = blocks.copy(load.desc, load.indices, barrier, view, self.true, _caching(load))
            self._before([load]).make(copy)

    def _copy(self, each: BufferedTile, load: tile.LoadOp, slot: SSAValue) -> SSAValue:
        """The copy in front of the load, and the token of its group."""
        placed, view = self._before([load]), self._target(each, slot)
        given = [value for value in (load.mask, load.other) if value is not None]
        width = IntegerAttr(each.width, i32)
        placed.create(
            AsyncCopyGlobalToLocalOp, (load.ptr, view, *given), ASYNC_TOKEN, contiguity=width, **_caching(load)
        )
        return placed.emit(AsyncCommitGroupOp, (), ASYNC_TOKEN)

    def _store(self, each: BufferedTile, alloc: LocalAllocOp, slot: SSAValue) -> None:
        """The store of what was computed, where its own memory was made."""
        assert alloc.src is not None
        self._before([alloc]).make(NewOp(LocalStoreOp, (alloc.src, self._target(each, slot))))

    # --- readers

    def _wait_for_blocks(
        self, blocks: BlockCopies, arrival: Arrival, barriers: SSAValue, turns: Mapping[Counter, Turn]
    ) -> None:
        """A wait in front of the first reader, for the phase of its time round."""
        placed, turn = self._at(arrival.reading), turns[self._counter(arrival)]
        barrier = placed.emit(MemDescIndexOp, (barriers, turn.slot), BARRIER)
        placed.make(blocks.wait(barrier, turn.parity, self.true))

    def _wait(self, tokens: Mapping[BufferedTile, SSAValue]) -> None:
        """A wait in front of the first reader of each tile that threads copy; one for those that the same product
        needs, and for those that have had more than an interval's time, because each is followed by a barrier. These
        have time enough to be waited for in front of the interval's copies as well."""
        together: dict[tuple[int, int], list[BufferedTile]] = {}
        for each in tokens:
            at = self._reading([each]).at
            early = self._stage(at) - self._stage(each.source) > 1
            together.setdefault((self._stage(at), -1 if early else self._next_product(at)), []).append(each)
        for (_, product), found in together.items():
            reading, groups = self._reading(found), [tokens[each] for each in found]
            placed = self._at(reading) if product >= 0 else self._before_copies(reading)
            placed.create(AsyncWaitOp, groups, ASYNC_TOKEN, num=IntegerAttr(0, i32))

    def _before_copies(self, reading: Reading) -> _Placed:
        """Builds in front of the readers of tiles, and of the copies, and stores of what was loaded, that come before
        these in an interval. Such a copy writes to the slot that was read last in the interval before, so that all
        threads must meet in front of it: then they need not meet again behind it."""
        placed, position = self._at(reading), self.schedule.position
        copies = (each.source for each in self.tiles if isinstance(each.source, tile.LoadOp) or each.is_stored_ahead)
        clusters = [self.schedule.places[copy].cluster for copy in copies if position[copy] < position[reading.at]]
        first = min([placed.place.cluster, *(cluster - 1 for cluster in clusters)])
        return replace(placed, place=replace(placed.place, cluster=first))

    def _next_product(self, at: Operation) -> int:
        """Position of the next product from an op in the order on."""
        order, position = self.schedule.order, self.schedule.position[at]
        while position < len(order) and not _multiplies(order[position]):
            position += 1
        return position

    def _read(self, each: BufferedTile, turns: Mapping[Counter, Turn]) -> None:
        """The users of the tile, or of its buffer, take the slot of their stage."""
        stored = None if each.alloc is None else each.alloc.result
        for stage, users in self._users(each).items():
            placed = self._before(users)
            slot = turns[Counter(each.slots, stage)].slot
            view = placed.emit(MemDescIndexOp, (self.buffers[each].result, slot), each.memory)
            taking = {self.schedule.of(use.operation) for use in each.source.result.uses}
            first = self._before([user for user in users if user in taking] or users)
            # Memory may be viewed before it is waited for; the tile is loaded where it is used itself.
            loaded: SSAValue | None = None
            for user in users:
                for inner in user.walk():
                    for number, operand in enumerate(inner.operands):
                        if operand is stored:
                            inner.operands[number] = view
                        elif operand is each.source.result:
                            loaded = loaded or first.emit(LocalLoadOp, (view,), type_of(each.source.result))
                            inner.operands[number] = loaded
            self._load_as_wanted(loaded)

    def _load_as_wanted(self, loaded: SSAValue | None) -> None:
        """What is only loaded to lie otherwise is loaded so."""
        if loaded is None or not loaded.has_one_use():
            return
        (use,) = loaded.uses
        if isinstance(use.operation, ConvertLayoutOp) and use.operation.parent is self.schedule.loop.body.block:
            assert isinstance(loaded.owner, LocalLoadOp)
            made = _Placed(use.operation, self.schedule.places[use.operation])
            use.operation.result.replace_all_uses_with(
                made.emit(LocalLoadOp, loaded.owner.operands, type_of(use.operation.result))
            )
            erase(use.operation)
            erase(loaded.owner)


BARRIER = memdesc((1,), i64, attribute_of(SwizzledSharedEncoding(1, 1, 1, (0,))), mutable=True)


def _barriers(loop: scf.ForOp, slots: int, blocks: BlockCopies) -> SSAValue:
    """Barriers for slots, made in front of the loop and ended behind it."""
    block, before = loop.parent, Builder.before(loop)
    assert block is not None
    type_ = memdesc((slots, 1), i64, BARRIER.encoding, mutable=True)
    barriers = before.create(LocalAllocOp, (), (type_,)).result
    behind: list[Operation] = []
    for number in range(slots):
        slot = before.constant(number, i32)
        barrier = before.create(MemDescIndexOp, (barriers, slot), (BARRIER,)).result
        begin = blocks.begin(barrier)
        before.create(begin.cls, begin.operands, (), begin.properties)
        again = MemDescIndexOp.create(operands=(barriers, slot), result_types=(BARRIER,), location=loop.location)
        end = blocks.end(again.result)
        made = end.cls.create(operands=end.operands, properties=end.properties, location=loop.location)
        behind += [again, made]
    behind.append(LocalDeallocOp.create(operands=(barriers,), location=loop.location))
    block.insert_ops_after(behind, loop)
    return barriers


def _caching(load: Operation) -> dict[str, Attribute]:
    """What a load says of caches, which its copy keeps."""
    return {name: load.properties[name] for name in ("cache", "evict") if name in load.properties}


def _multiplies(op: Operation) -> bool:
    return isinstance(op, tile.DotOp) or is_memory_product(op)


def _is_view(op: Operation) -> bool:
    """Whether the op only names memory otherwise: nothing is read."""
    return any(isinstance(result.type, MemDescType) and viewed(op, result) is not None for result in op.results)


@dataclass(frozen=True)
class _Placed:
    """Makes ops in front of one, all at the same place of the schedule."""

    first: Operation
    place: Place

    def make(self, new: NewOp) -> None:
        set_place(Builder.before(self.first).create(new.cls, new.operands, (), new.properties), self.place)

    def create(self, cls: type[OpT], operands: Sequence[SSAValue], type_: Attribute, **properties: Attribute) -> OpT:
        made = Builder.before(self.first).create(cls, operands, (type_,), properties)
        set_place(made, self.place)
        return made

    def emit(
        self, cls: type[Operation], operands: Sequence[SSAValue], type_: Attribute, **properties: Attribute
    ) -> SSAValue:
        return self.create(cls, operands, type_, **properties).results[0]
