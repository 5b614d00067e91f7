"""Loads of a loop's body become copies to slots of buffers, with counters that go over the slots and waits in front of
the readers: a plan (`plan`) is written down.

Whatever is made here has a place in the loop's schedule, and precedes all of its users in the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue

from tritonx.dialects import arith, scf, tile
from tritonx.dialects.arith import CmpiPredicate
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
    attribute_of,
    memdesc,
)
from tritonx.dialects.gpu_layout.types import ASYNC_TOKEN
from tritonx.dialects.interfaces import BlockCopies, NewOp
from tritonx.ir.builder import Builder
from tritonx.ir.edit import erase
from tritonx.ir.types import i1, i32, i64, type_of
from tritonx.layouts.encodings import SwizzledSharedEncoding
from tritonx.transforms.gpu.iter_args import with_carried
from tritonx.transforms.pipelining.loop_schedule import Place, place_of, set_place
from tritonx.transforms.pipelining.plan import Barrier, Buffer, Plan, Point, View, Wait

OpT = TypeVar("OpT", bound=Operation)


class Turn(NamedTuple):
    """Where a counter is, as values of the body: the slot, and the parity of the phase."""

    slot: SSAValue
    parity: SSAValue


class Rewriting:
    """Puts copies, views and waits into the body of a loop, all with a place in its schedule."""

    def __init__(
        self, loop: scf.ForOp, plan: Plan, memories: Sequence[LocalAllocOp], blocks: BlockCopies | None
    ) -> None:
        """``memories``: the slots of each buffer; ``blocks``: how blocks of descriptors are copied, where some are."""
        self.loop, self.plan, self.blocks = loop, plan, blocks
        self.memories = memories
        self.body = loop.body.block
        self.ops = list(self.body.ops)
        self.turns: dict[tuple[int, int], Turn] = {}

    def run(self) -> None:
        outside = Builder.before(self.loop)
        self.zero, self.one, self.true = outside.constant(0, i32), outside.constant(1, i32), outside.constant(1, i1)
        self._count()
        for barrier in self.plan.barriers:
            assert self.blocks is not None
            memory = _barriers(self.loop, self.plan.slots_of(barrier), self.blocks)
            self._copy_blocks(self.blocks, barrier, memory)
            self._wait_for_blocks(self.blocks, barrier, memory)
        tokens = [self._bring(number, buffer) for number, buffer in enumerate(self.plan.buffers)]
        for wait in self.plan.waits:
            self._wait(wait, tokens)
        for number, buffer in enumerate(self.plan.buffers):
            for view in buffer.views:
                self._read(number, buffer, view)
        for buffer in self.plan.buffers:
            for op in dict.fromkeys((self._alloc(buffer), self.ops[buffer.source.op])):
                if op is not None:
                    erase(op)

    def _alloc(self, buffer: Buffer) -> Operation | None:
        return None if buffer.alloc is None else self.ops[buffer.alloc]

    def _at(self, point: Point) -> _Placed:
        """Builds there."""
        return _Placed(self.ops[point.op], point.place)

    # --- counters

    def _count(self) -> None:
        """Where each counter is; with parities, where ops wait at mbarriers by it."""
        outside = Builder.before(self.loop)
        before = outside.constant(-1, i32)
        initial: list[SSAValue] = []
        yielded: list[SSAValue] = []
        for counter in self.plan.counters:
            placed = self._at(counter.at)
            last = self._argument()
            following = placed.emit(arith.AddiOp, (last, self.one), i32)
            bound = outside.constant(counter.slots, i32)
            around = placed.emit(arith.CmpiOp, (following, bound), i1, predicate=IntegerAttr(CmpiPredicate.SGE, i64))
            slot = placed.emit(arith.SelectOp, (around, self.zero, following), i32)
            initial.append(before)
            yielded.append(slot)
            parity = self.zero
            if counter.phases:
                old = self._argument()
                turned = placed.emit(arith.XOrIOp, (old, self.one), i32)
                parity = placed.emit(arith.SelectOp, (around, turned, old), i32)
                initial.append(self.zero)
                yielded.append(parity)
            self.turns[counter.key] = Turn(slot, parity)
        self.loop = with_carried(self.loop, initial, yielded)

    def _argument(self) -> SSAValue:
        return self.body.insert_arg(i32, len(self.body.args))

    def _turn(self, slots: int, at: Point) -> Turn:
        """Where the counter of this stage is; that of one slot stays there, unless a wait uses it."""
        return self.turns.get((slots, at.place.stage)) or Turn(self.zero, self.zero)

    # --- copies

    def _target(self, number: int) -> SSAValue:
        """The slot that is written in front of what brings a tile."""
        buffer = self.plan.buffers[number]
        target = memdesc(buffer.memory.shape, buffer.memory.element_type, buffer.memory.encoding, mutable=True)
        slot = self._turn(buffer.slots, buffer.source).slot
        return self._at(buffer.source).emit(MemDescIndexOp, (self.memories[number].result, slot), target)

    def _copy_blocks(self, blocks: BlockCopies, barrier: Barrier, memory: SSAValue) -> None:
        """The copies in front of the loads, whose bytes the slot's barrier expects."""
        placed, slot = self._at(barrier.expected), self._turn(self.plan.slots_of(barrier), barrier.expected).slot
        told = placed.emit(MemDescIndexOp, (memory, slot), BARRIER)
        placed.make(blocks.expect(told, barrier.nbytes, self.true))
        for number in barrier.buffers:
            source = self.plan.buffers[number].source
            load = self.ops[source.op]
            assert isinstance(load, tile.DescriptorLoadOp)
            view = self._target(number)
            copy = blocks.copy(load.desc, load.indices, told, view, self.true, _caching(load))
            self._at(source).make(copy)

    def _bring(self, number: int, buffer: Buffer) -> SSAValue | None:
        """What the threads do in front of a load, or of an op that makes memory: the token of a copy's group."""
        op, placed = self.ops[buffer.source.op], self._at(buffer.source)
        if isinstance(op, LocalAllocOp):
            assert op.src is not None
            placed.make(NewOp(LocalStoreOp, (op.src, self._target(number))))
        if not isinstance(op, tile.LoadOp):
            return None
        view, given = self._target(number), [value for value in (op.mask, op.other) if value is not None]
        width = IntegerAttr(buffer.width, i32)
        placed.create(AsyncCopyGlobalToLocalOp, (op.ptr, view, *given), ASYNC_TOKEN, contiguity=width, **_caching(op))
        return placed.emit(AsyncCommitGroupOp, (), ASYNC_TOKEN)

    # --- readers

    def _wait_for_blocks(self, blocks: BlockCopies, barrier: Barrier, memory: SSAValue) -> None:
        """A wait in front of the first reader, for its phase."""
        placed, turn = self._at(barrier.waited), self._turn(self.plan.slots_of(barrier), barrier.waited)
        told = placed.emit(MemDescIndexOp, (memory, turn.slot), BARRIER)
        placed.make(blocks.wait(told, turn.parity, self.true))

    def _wait(self, wait: Wait, tokens: Sequence[SSAValue | None]) -> None:
        groups = [token for number in wait.buffers if (token := tokens[number]) is not None]
        self._at(wait.at).create(AsyncWaitOp, groups, ASYNC_TOKEN, num=IntegerAttr(0, i32))

    def _read(self, number: int, buffer: Buffer, view: View) -> None:
        """The users of the tile, or of its buffer, take the slot of their stage."""
        alloc, tile_ = self._alloc(buffer), self.ops[buffer.source.op].results[0]
        slot = self._turn(buffer.slots, view.at).slot
        memory = self._at(view.at).emit(MemDescIndexOp, (self.memories[number].result, slot), buffer.memory)
        # Memory may be viewed before it is waited for; the tile is loaded where it is used itself.
        loaded: SSAValue | None = None
        for user in view.users:
            for inner in self.ops[user].walk():
                for place, operand in enumerate(inner.operands):
                    if alloc is not None and operand is alloc.results[0]:
                        inner.operands[place] = memory
                    elif operand is tile_:
                        loaded = loaded or self._at(view.load).emit(LocalLoadOp, (memory,), type_of(tile_))
                        inner.operands[place] = loaded
        self._load_as_wanted(loaded)

    def _load_as_wanted(self, loaded: SSAValue | None) -> None:
        """What is only loaded to lie otherwise is loaded so."""
        if loaded is None or not loaded.has_one_use():
            return
        (use,) = loaded.uses
        if isinstance(use.operation, ConvertLayoutOp) and use.operation.parent is self.body:
            assert isinstance(loaded.owner, LocalLoadOp)
            place = place_of(use.operation)
            assert place is not None
            made = _Placed(use.operation, place)
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
