"""Loads of a loop's body become copies to slots of buffers, with counters that go over the slots and waits in front of
the readers: how `buffer-values` writes down what it has decided.

Whatever is made here has a place in the loop's schedule, and stands in the text in front of all that use it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue

from tritonx.analysis.scheduled_loops import (
    LoopSchedule,
    Place,
    set_place,
)
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
    attribute_of,
    memdesc,
)
from tritonx.dialects.gpu_layout.types import ASYNC_TOKEN
from tritonx.dialects.nvidia import (
    AsyncTMACopyGlobalToLocalOp,
    BarrierExpectOp,
    InitBarrierOp,
    InvalBarrierOp,
    WaitBarrierOp,
    WarpGroupDotOp,
)
from tritonx.ir.builder import Builder
from tritonx.ir.edit import erase, terminator_of
from tritonx.ir.types import bit_width, element_type, i1, i32, i64, type_as, type_of
from tritonx.layouts.encodings import SwizzledSharedEncoding

OpT = TypeVar("OpT", bound=Operation)


@dataclass(frozen=True)
class BufferedTile:
    """A tile that a copy can bring: how many elements a copy moves, the ops of the body that read its buffer, and as
    many slots as it needs."""

    load: tile.LoadOp | tile.DescriptorLoadOp
    alloc: LocalAllocOp
    width: int
    readers: tuple[Operation, ...]
    slots: int


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


class Rewriting:
    """Puts copies, views and waits into the body of a loop, all with a place in its schedule."""

    def __init__(self, schedule: LoopSchedule, tiles: Sequence[BufferedTile], buffers: Sequence[LocalAllocOp]) -> None:
        self.schedule, self.tiles = schedule, tiles
        self.buffers = dict(zip(tiles, buffers, strict=True))
        self.number = {op: number for number, op in enumerate(schedule.loop.body.block.ops)}
        """In the text, in which whatever is used must be made before."""
        self.barriers: dict[BufferedTile, SSAValue] = {}
        """One a slot, of those whose copies tell them."""

    def run(self) -> None:
        outside = Builder.before(self.schedule.loop)
        self.zero, self.one, self.true = outside.constant(0, i32), outside.constant(1, i32), outside.constant(1, i1)
        for each in self.tiles:
            if isinstance(each.load, tile.DescriptorLoadOp):
                self.barriers[each] = _barriers(self.schedule.loop, each.slots)
        turns = self._count()
        tokens: dict[BufferedTile, SSAValue] = {}
        for each in self.tiles:
            slot = turns[Counter(each.slots, self._stage(each.load))].slot
            if isinstance(each.load, tile.LoadOp):
                tokens[each] = self._copy(each, each.load, slot)
            else:
                self._copy_block(each, each.load, slot)
        self._wait(tokens, turns)
        for each in self.tiles:
            self._read(each, turns)
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

    def _count(self) -> dict[Counter, Turn]:
        """Where each counter is, as values of the body."""
        users: dict[Counter, list[Operation]] = {}
        for each in self.tiles:
            users.setdefault(Counter(each.slots, self._stage(each.load)), []).append(each.load)
            for stage, ops in self._users(each).items():
                users.setdefault(Counter(each.slots, stage), []).extend(ops)
        loop = self.schedule.loop
        outside = Builder.before(loop)
        before = outside.constant(-1, i32)
        found: dict[Counter, Turn] = {}
        initial: list[SSAValue] = []
        yielded: list[SSAValue] = []
        for counter, ops in users.items():
            placed = self._before(ops)
            last = loop.body.block.insert_arg(i32, len(loop.body.block.args))
            following = placed.emit(arith.AddiOp, (last, self.one), i32)
            bound = outside.constant(counter.slots, i32)
            around = placed.emit(arith.CmpiOp, (following, bound), i1, predicate=IntegerAttr(CmpiPredicate.SGE, i64))
            slot = placed.emit(arith.SelectOp, (around, self.zero, following), i32)
            initial.append(before)
            yielded.append(slot)
            parity = self.zero
            if any(each.slots == counter.slots for each in self.barriers):
                old = loop.body.block.insert_arg(i32, len(loop.body.block.args))
                turned = placed.emit(arith.XOrIOp, (old, self.one), i32)
                parity = placed.emit(arith.SelectOp, (around, turned, old), i32)
                initial.append(self.zero)
                yielded.append(parity)
            found[counter] = Turn(slot, parity)
        self.schedule = replace(self.schedule, loop=_with_carried(loop, initial, yielded))
        return found

    # --- copies

    def _target(self, each: BufferedTile, slot: SSAValue) -> SSAValue:
        """The slot that a copy in front of the load writes."""
        type_ = type_as(each.alloc.result, MemDescType)
        target = memdesc(type_.shape, type_.element_type, type_.encoding, mutable=True)
        return self._before([each.load]).emit(MemDescIndexOp, (self.buffers[each].result, slot), target)

    def _copy_block(self, each: BufferedTile, load: tile.DescriptorLoadOp, slot: SSAValue) -> None:
        """The copy in front of the load, whose bytes the slot's barrier expects."""
        placed, view = self._before([load]), self._target(each, slot)
        barrier = placed.emit(MemDescIndexOp, (self.barriers[each], slot), BARRIER)
        nbytes = each.width * bit_width(element_type(type_of(load.result))) // 8
        placed.make(BarrierExpectOp, (barrier, self.true), size=IntegerAttr(nbytes, i32))
        properties = {name: load.properties[name] for name in ("cache", "evict") if name in load.properties}
        operands = (load.desc, *load.indices, barrier, view, self.true)
        placed.make(AsyncTMACopyGlobalToLocalOp, operands, **properties)

    def _copy(self, each: BufferedTile, load: tile.LoadOp, slot: SSAValue) -> SSAValue:
        """The copy in front of the load, and the token of its group."""
        placed, view = self._before([load]), self._target(each, slot)
        given = [value for value in (load.mask, load.other) if value is not None]
        properties = {name: load.properties[name] for name in ("cache", "evict") if name in load.properties}
        width = IntegerAttr(each.width, i32)
        placed.create(AsyncCopyGlobalToLocalOp, (load.ptr, view, *given), ASYNC_TOKEN, contiguity=width, **properties)
        return placed.emit(AsyncCommitGroupOp, (), ASYNC_TOKEN)

    # --- readers

    def _wait(self, tokens: Mapping[BufferedTile, SSAValue], turns: Mapping[Counter, Turn]) -> None:
        """A wait in front of the first reader of each tile; one for those that the same product needs, and for those
        that have had more than an interval's time, because each is followed by a barrier."""
        together: dict[tuple[int, int], list[tuple[int, BufferedTile]]] = {}
        for each in self.tiles:
            users = [user for ops in self._users(each).values() for user in ops if not _is_view(user)]
            readers = [*each.readers, *users]
            stage = min(map(self._stage, readers))
            position = min(self.schedule.position[op] for op in readers if self._stage(op) == stage)
            if each in self.barriers:
                placed, turn = self._before([self.schedule.order[position]]), turns[Counter(each.slots, stage)]
                barrier = placed.emit(MemDescIndexOp, (self.barriers[each], turn.slot), BARRIER)
                placed.make(WaitBarrierOp, (barrier, turn.parity, self.true))
                continue
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

    def _read(self, each: BufferedTile, turns: Mapping[Counter, Turn]) -> None:
        """The users of the tile, or of its buffer, take the slot of their stage."""
        type_ = type_of(each.alloc.result)
        for stage, users in self._users(each).items():
            placed = self._before(users)
            slot = turns[Counter(each.slots, stage)].slot
            view = placed.emit(MemDescIndexOp, (self.buffers[each].result, slot), type_)
            loaded: SSAValue | None = None
            for user in users:
                for inner in user.walk():
                    for number, operand in enumerate(inner.operands):
                        if operand is each.alloc.result:
                            inner.operands[number] = view
                        elif operand is each.load.result:
                            loaded = loaded or placed.emit(LocalLoadOp, (view,), type_of(each.load.result))
                            inner.operands[number] = loaded


BARRIER = memdesc((1,), i64, attribute_of(SwizzledSharedEncoding(1, 1, 1, (0,))), mutable=True)


def _barriers(loop: scf.ForOp, slots: int) -> SSAValue:
    """Barriers for slots, made in front of the loop and ended behind it."""
    block, before = loop.parent, Builder.before(loop)
    assert block is not None
    type_ = memdesc((slots, 1), i64, BARRIER.encoding, mutable=True)
    barriers = before.create(LocalAllocOp, (), (type_,)).result
    behind: list[Operation] = []
    for number in range(slots):
        slot = before.constant(number, i32)
        barrier = before.create(MemDescIndexOp, (barriers, slot), (BARRIER,)).result
        before.create(InitBarrierOp, (barrier,), (), {"count": IntegerAttr(1, i32)})
        again = MemDescIndexOp.create(operands=(barriers, slot), result_types=(BARRIER,), location=loop.location)
        behind += [again, InvalBarrierOp.create(operands=again.results, location=loop.location)]
    behind.append(LocalDeallocOp.create(operands=(barriers,), location=loop.location))
    block.insert_ops_after(behind, loop)
    return barriers


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

    def make(self, cls: type[Operation], operands: Sequence[SSAValue], **properties: Attribute) -> None:
        """An op without results."""
        set_place(Builder.before(self.first).create(cls, operands, (), properties), self.place)

    def create(self, cls: type[OpT], operands: Sequence[SSAValue], type_: Attribute, **properties: Attribute) -> OpT:
        made = Builder.before(self.first).create(cls, operands, (type_,), properties)
        set_place(made, self.place)
        return made

    def emit(
        self, cls: type[Operation], operands: Sequence[SSAValue], type_: Attribute, **properties: Attribute
    ) -> SSAValue:
        return self.create(cls, operands, type_, **properties).results[0]
