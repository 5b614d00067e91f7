"""Barriers between accesses to shared memory that could meet.

Walks the program in order with the set of accesses since the last barrier. An access that overlaps, in bytes, a
pending one of which one is a write needs a barrier before it, which settles everything pending. Loops are walked
again with what their end leaves, until nothing is added; where control flow joins, the pending sets unite. What has
arrived by an asynchronous copy is seen by other threads only after a wait and a barrier, so a wait turns the copies
into pending writes.

A conversion in which every warp keeps to bytes of its own synchronises its warps each for itself. Such accesses pend
apart, with what says which warp owns what: another access with the same owners does not meet them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tritonx.analysis.buffers import VIEWS, aliases_of, allocation_size, owned_by_warps, scratch_size
from tritonx.dialects import gpu, gpu_layout, scf, tile
from tritonx.dialects.gpu_layout import MemDescType
from tritonx.ir.fold.constants import constant_of
from tritonx.ir.types import type_of
from tritonx.transforms.gpu.allocate_shared_memory import OFFSET

Interval = tuple[int, int]
"""Bytes [start, end) of shared memory."""


_NO_ACCESS = (*VIEWS, gpu_layout.LocalDeallocOp, gpu_layout.AsyncCommitGroupOp, scf.YieldOp, scf.ConditionOp)
"""Ops that take buffers without touching them."""


@dataclass(frozen=True)
class Pending:
    """Accesses since the last barrier; `copies` are asynchronous writes that no wait has covered, `owned` reads and
    writes of warps in bytes of their own, with what says which these are.
    """

    reads: frozenset[Interval] = frozenset()
    writes: frozenset[Interval] = frozenset()
    copies: frozenset[Interval] = frozenset()
    owned: frozenset[tuple[Interval, Hashable]] = frozenset()

    def joined(self, other: Pending) -> Pending:
        return Pending(
            self.reads | other.reads,
            self.writes | other.writes,
            self.copies | other.copies,
            self.owned | other.owned,
        )

    def of_others(self, scratch: Interval, owners: Hashable) -> list[Interval]:
        """What an access by these owners of this scratch may meet."""
        apart = [interval for interval, key in self.owned if (interval, key) != (scratch, owners)]
        return [*self.reads, *self.writes, *self.copies, *apart]

    def written(self) -> list[Interval]:
        return [*self.writes, *(interval for interval, _ in self.owned)]

    def touched(self) -> list[Interval]:
        return [*self.reads, *self.written()]

    def settled(self) -> Pending:
        """After a barrier."""
        return Pending(copies=self.copies)


@dataclass(frozen=True)
class InsertBarriers(ModulePass):
    """Inserts `ttg.local_barrier` where accesses to shared memory could meet. Needs the offsets of
    `allocate-shared-memory`.

    Ops with scratch memory synchronise inside themselves, between their writes and their reads; around them they are
    treated as a write before and a read after. Of a conversion inside warps only other owners of its bytes must wait.
    """

    name = "insert-barriers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        users = _functions_with_shared_memory(op)
        for function in op.ops:
            if isinstance(function, tile.FuncOp) and function.body.blocks.first is not None:
                _Inserter(function, users).run()


class _Inserter:
    def __init__(self, function: tile.FuncOp, users: frozenset[str]) -> None:
        self.function = function
        self.users = users
        self.places: dict[SSAValue, Interval] = {}
        for op in function.walk():
            if isinstance(op, gpu_layout.LocalAllocOp):
                self._place(op)

    def run(self) -> None:
        self._region(self.function.body, Pending())

    def _place(self, op: gpu_layout.LocalAllocOp) -> None:
        start = offset_of(op)
        descriptor = type_of(op.result)
        assert isinstance(descriptor, MemDescType)
        whole = (start, start + allocation_size(descriptor))
        for alias in aliases_of(op.results[0]):
            known = self.places.get(alias)
            interval = _narrowed(alias, whole)
            self.places[alias] = interval if known is None else (min(known[0], interval[0]), max(known[1], interval[1]))

    # --- control flow
    # -------------------------------------------------------------------------------------------------

    def _region(self, region: Region, entering: Pending) -> Pending:
        blocks = list(region.blocks)
        if len(blocks) == 1:
            return self._block(blocks[0], entering)
        at: dict[Block, Pending] = {blocks[0]: entering}
        leaving = Pending()
        changed = True
        while changed:
            changed = False
            leaving = Pending()
            for block in blocks:
                if block not in at:
                    continue
                end = self._block(block, at[block])
                last = block.last_op
                successors = last.successors if last is not None else ()
                if not successors:
                    leaving = leaving.joined(end)
                for successor in successors:
                    joined = at[successor].joined(end) if successor in at else end
                    if at.get(successor) != joined:
                        at[successor] = joined
                        changed = True
        return leaving

    def _block(self, block: Block, pending: Pending) -> Pending:
        for op in list(block.ops):
            pending = self._visit(op, pending)
        return pending

    def _visit(self, op: Operation, pending: Pending) -> Pending:
        match op:
            case scf.ForOp():
                return self._loop([op.body], pending)
            case scf.WhileOp():
                return self._loop([op.before_region, op.after_region], pending)
            case scf.IfOp():
                ends = [self._region(region, pending) for region in op.regions if region.blocks.first is not None]
                if len(ends) < 2:
                    ends.append(pending)
                return ends[0].joined(ends[1])
            case gpu_layout.WarpSpecializeOp():
                # Partitions synchronise by their own barriers; what stands before and after is settled.
                for region in op.regions:
                    self._region(region, Pending())
                return Pending()
            case gpu.BarrierOp() | gpu_layout.LocalBarrierOp():
                return pending.settled()
            case gpu_layout.AsyncWaitOp():
                return Pending(pending.reads, pending.writes | pending.copies, owned=pending.owned)
            case tile.CallOp():
                return self._call(op, pending)
            case _:
                for region in op.regions:
                    pending = self._region(region, pending)
                return self._access(op, pending)

    def _loop(self, regions: list[Region], pending: Pending) -> Pending:
        """A loop may be left from its condition, or before its body was entered."""
        entering = pending
        while True:
            after = entering
            leaving = entering
            for number, region in enumerate(regions):
                after = self._region(region, after)
                if number == 0:
                    leaving = leaving.joined(after) if len(regions) == 1 else after
            joined = entering.joined(after)
            if joined == entering:
                return leaving
            entering = joined

    def _call(self, op: tile.CallOp, pending: Pending) -> Pending:
        if op.callee.string_value() not in self.users:
            return pending
        if pending != pending.settled():
            _barrier_before(op)
        everything = frozenset({(0, 1 << 62)})
        return Pending(everything, everything, pending.copies)

    # --- accesses
    # -----------------------------------------------------------------------------------------------------

    def _access(self, op: Operation, pending: Pending) -> Pending:
        if OFFSET in op.attributes and not isinstance(op, gpu_layout.LocalAllocOp):
            scratch = offset_of(op), offset_of(op) + scratch_size(op)
            owners = owned_by_warps(op)
            if _meets([scratch], pending.of_others(scratch, owners)):
                _barrier_before(op)
                pending = pending.settled()
            if owners is not None:
                return replace(pending, owned=pending.owned | {(scratch, owners)})
            # Its own barrier, between writing and reading the scratch, settles what came before.
            return Pending(frozenset({scratch}), frozenset(), pending.copies)
        reads, writes, copies = self._effects(op)
        settled = (
            _meets(reads, pending.written()) or _meets(writes, pending.touched()) or _meets(copies, pending.touched())
        )
        if settled:
            _barrier_before(op)
            pending = pending.settled()
        if not (reads or writes or copies):
            return pending
        return Pending(
            pending.reads | frozenset(reads),
            pending.writes | frozenset(writes),
            pending.copies | frozenset(copies),
            pending.owned,
        )

    def _effects(self, op: Any) -> tuple[list[Interval], list[Interval], list[Interval]]:
        """(reads, writes, asynchronous writes) of an op that touches buffers."""
        match op:
            case gpu_layout.LocalAllocOp():
                return [], [self.places[op.result]] if op.src is not None else [], []
            case gpu_layout.LocalStoreOp():
                return [], self._of(op.dst), []
            case gpu_layout.LocalLoadOp():
                return [place for load in _neighbours(op) for place in self._of(load.src)], [], []
            case gpu_layout.AsyncCopyGlobalToLocalOp():
                return [], [], self._of(op.result)
            case _:
                if isinstance(op, _NO_ACCESS):
                    return [], [], []
                # Ops of other dialects that are given buffers may do anything with them.
                used = [self.places[v] for v in op.operands if v in self.places]
                return used, used, []

    def _of(self, value: SSAValue) -> list[Interval]:
        return [self.places.get(value, (0, 1 << 62))]


def offset_of(op: Operation) -> int:
    """The byte offset that the allocation gave to an op."""
    value: Any = op.attributes.get(OFFSET)
    if value is None:
        raise ValueError(f"{op.name} has no shared memory allocated: run allocate-shared-memory first")
    return value.value.data


def _neighbours(op: gpu_layout.LocalLoadOp) -> list[gpu_layout.LocalLoadOp]:
    """A load and those that follow it at once: the first one waits for all, so that a product can read its operands
    behind the barrier."""
    found = [op]
    while isinstance(following := found[-1].next_op, gpu_layout.LocalLoadOp):
        found.append(following)
    return found


def _narrowed(alias: SSAValue, whole: Interval) -> Interval:
    """The part that a view at a constant index can touch; all of it otherwise."""
    owner = alias.owner
    if not isinstance(owner, gpu_layout.MemDescIndexOp):
        return whole
    index = constant_of(owner.index)
    inner = type_of(owner.result)
    outer = type_of(owner.src)
    assert isinstance(inner, MemDescType) and isinstance(outer, MemDescType)
    if not isinstance(index, int) or not isinstance(owner.src.owner, gpu_layout.LocalAllocOp):
        return whole
    size = (whole[1] - whole[0]) // outer.shape[0]
    return whole[0] + index * size, whole[0] + (index + 1) * size


def _meets(intervals: Iterable[Interval], others: Iterable[Interval]) -> bool:
    others = list(others)
    return any(a[0] < b[1] and b[0] < a[1] for a in intervals for b in others)


def _barrier_before(op: Operation) -> None:
    block = op.parent
    assert block is not None
    block.insert_op_before(gpu_layout.LocalBarrierOp.create(location=op.location), op)


def _functions_with_shared_memory(module: ModuleOp) -> frozenset[str]:
    """Functions that use shared memory, themselves or through what they call."""
    functions = {f.sym_name.data: f for f in module.ops if isinstance(f, tile.FuncOp)}
    using = {name for name, f in functions.items() if any(OFFSET in op.attributes for op in f.walk())}
    while True:
        more = {
            name
            for name, f in functions.items()
            if name not in using
            and any(isinstance(op, tile.CallOp) and op.callee.string_value() in using for op in f.walk())
        }
        if not more:
            return frozenset(using)
        using |= more
