"""Barriers between threads that write shared memory and threads that read it.

A forward dataflow over every function. The state is what has been read and written since the last barrier, as byte
ranges of shared memory. An op that writes what is pending in either way, or reads what a pending write touches, needs
a barrier before it, which clears the state. Loops are walked until the state at their head is stable, branches meet
by union.

Asynchronous copies are writes that become visible to the thread that issued them when it waits, and to the others by a
barrier after that wait: a wait makes all copies of the function pending writes again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tritonx.analysis.buffers import Area, Buffers
from tritonx.dialects import cf, gpu, gpu_layout, scf, tile
from tritonx.ir.failure import PassError


@dataclass(frozen=True)
class InsertBarriers(ModulePass):
    """After ``allocate-shared-memory``: inserts the ``gpu.barrier`` ops that make shared-memory accesses safe.

    What was safe stays as it is: running the pass again inserts nothing.
    """

    name = "insert-barriers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.ops:
            if isinstance(function, tile.FuncOp) and function.body.blocks:
                Inserter(function).run(function.body)


@dataclass
class Pending:
    """Areas touched since the last barrier."""

    reads: set[Area] = field(default_factory=set[Area])
    writes: set[Area] = field(default_factory=set[Area])

    def copy(self) -> Pending:
        return Pending(set(self.reads), set(self.writes))

    def join(self, other: Pending) -> bool:
        """Union with ``other``; whether that added anything."""
        before = len(self.reads) + len(self.writes)
        self.reads |= other.reads
        self.writes |= other.writes
        return len(self.reads) + len(self.writes) != before

    def clear(self) -> None:
        self.reads.clear()
        self.writes.clear()


@dataclass(frozen=True)
class Effect:
    """What an op does to shared memory. With ``synchronises`` it contains a barrier between writing and reading its
    scratch.
    """

    reads: frozenset[Area] = frozenset()
    writes: frozenset[Area] = frozenset()
    synchronises: bool = False
    reads_after: frozenset[Area] = frozenset()


def meet(a: Iterable[Area], b: Iterable[Area]) -> bool:
    """Whether any area of one overlaps any of the other."""
    others = list(b)
    return any(x.overlaps(y) for x in a for y in others)


class Inserter:
    """The analysis of one function, and its edits."""

    def __init__(self, function: tile.FuncOp) -> None:
        self.buffers = Buffers(function)
        self.copies: set[Area] = set()
        for op, area in self.buffers.areas.items():
            offset = op.attributes.get("allocation.offset")
            if not isinstance(offset, IntegerAttr):
                raise PassError(op, "shared memory has not been allocated", "run allocate-shared-memory first")
            area.offset = int(offset.value.data)

    def run(self, region: Region) -> None:
        """Blocks in the order of control flow, again while what reaches them grows."""
        blocks = list(region.blocks)
        entry: dict[Block, Pending] = {blocks[0]: Pending()}
        changed = True
        while changed:
            changed = False
            for block in blocks:
                if block not in entry:
                    continue
                state = entry[block].copy()
                self.block(block, state)
                last = block.last_op
                for successor in last.successors if isinstance(last, cf.BranchOp | cf.ConditionalBranchOp) else ():
                    if successor not in entry:
                        entry[successor] = Pending()
                        changed = True
                    changed |= entry[successor].join(state)

    def block(self, block: Block, state: Pending) -> None:
        for op in list(block.ops):
            self.op(op, state)

    def op(self, op: Any, state: Pending) -> None:
        match op:
            case gpu.BarrierOp() | gpu_layout.LocalBarrierOp():
                state.clear()
            case scf.ForOp():
                self.loop([op.body], state)
            case scf.WhileOp():
                self.loop([op.before_region, op.after_region], state)
            case scf.IfOp():
                self.branches([r for r in op.regions if r.blocks], state, len(op.regions[1].blocks) == 0)
            case tile.CallOp():
                # The callee has memory of its own, but it starts and ends without a barrier.
                if state.reads or state.writes:
                    self.barrier_before(op, state)
            case gpu_layout.AsyncWaitOp():
                state.writes |= self.copies
            case _:
                self.access(op, state)

    def loop(self, regions: list[Region], state: Pending) -> None:
        while True:
            inside = state.copy()
            for region in regions:
                self.block(region.block, inside)
            if not state.join(inside):
                return

    def branches(self, regions: list[Region], state: Pending, may_skip: bool) -> None:
        ends: list[Pending] = []
        for region in regions:
            inside = state.copy()
            self.block(region.block, inside)
            ends.append(inside)
        if not may_skip:
            state.clear()
        for end in ends:
            state.join(end)

    def access(self, op: Operation, state: Pending) -> None:
        effect = self.effect(op)
        if meet(effect.writes, state.reads) or meet(effect.writes, state.writes) or meet(effect.reads, state.writes):
            self.barrier_before(op, state)
        if effect.synchronises:
            state.clear()
        state.writes |= effect.writes if not effect.synchronises else set()
        state.reads |= effect.reads | effect.reads_after

    def barrier_before(self, op: Operation, state: Pending) -> None:
        block = op.parent
        assert block is not None
        barrier = gpu.BarrierOp.create()
        barrier.location = op.location
        block.insert_op_before(barrier, op)
        state.clear()

    def effect(self, op: Any) -> Effect:
        own = self.buffers.areas.get(op)
        match op:
            case gpu_layout.LocalAllocOp():
                return Effect(writes=frozenset((own,))) if own is not None and op.src is not None else Effect()
            case gpu_layout.LocalStoreOp():
                return Effect(writes=self.views(op.dst))
            case gpu_layout.LocalLoadOp():
                return Effect(reads=self.views(op.src))
            case gpu_layout.AsyncCopyGlobalToLocalOp():
                views = self.views(op.result)
                self.copies |= views
                return Effect(writes=views)
            case _:
                pass
        if own is not None:
            # Scratch is written, there is a barrier inside the op, then it is read.
            scratch = frozenset((own,))
            return Effect(writes=scratch, synchronises=True, reads_after=scratch)
        views = frozenset[Area]().union(*(self.views(v) for v in op.operands))
        if views and not is_view(op):
            return Effect(reads=views)
        return Effect()

    def views(self, value: SSAValue) -> frozenset[Area]:
        return frozenset(self.buffers.areas[maker] for maker in self.buffers.views.get(value, ()))


_VIEWS = (
    gpu_layout.MemDescIndexOp,
    gpu_layout.MemDescSubsliceOp,
    gpu_layout.MemDescTransOp,
    gpu_layout.MemDescReshapeOp,
    gpu_layout.MemDescReinterpretOp,
    gpu_layout.LocalDeallocOp,
    scf.YieldOp,
    scf.ConditionOp,
)


def is_view(op: Operation) -> bool:
    """Whether ``op`` only passes descriptors on."""
    return isinstance(op, _VIEWS)
