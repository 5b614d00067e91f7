"""Barriers between accesses to shared memory that could meet.

Walks the program in order with the set of accesses since the last barrier. An access that overlaps, in bytes, a
pending one of which one is a write needs a barrier before it, which settles everything pending. What an op accesses it
declares (`EFFECTS`), and where control goes as well (`CONTROL_FLOW`): along the edges the pending sets unite, until
nothing is added. What is asynchronous is over only after a wait, and other threads know it only after a wait and a
barrier, so a wait turns it into pending accesses; where an mbarrier tells that it is over, all who wait there know.
Waiting at an mbarrier, and arriving, is no access; between making one and using it there must be a barrier, and
before one thread arrives for all, all must have come there.

A conversion in which every warp keeps to bytes of its own synchronises its warps each for itself. Such accesses pend
apart, with what says which warp owns what: another access with the same owners does not meet them.

The regions of `ttg.warp_specialize` are run by different threads at the same time. A barrier in one is for its threads
only and settles what they have done, so what is pending before the regions and meets any of them is settled before they
start. Between them the program has its mbarriers. When all are over, what each leaves is pending.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from tritonx.analysis.buffers import aliases_of, allocates_memory, allocation_size, owned_by_warps, scratch_size
from tritonx.dialects import gpu_layout, tile
from tritonx.dialects.control_flow import Edge, edges_from, is_concurrent, regions_of
from tritonx.dialects.effects import Kind, Resource, effects_of, resources_of
from tritonx.dialects.gpu_layout import MemDescType
from tritonx.ir.fold.constants import constant_of
from tritonx.ir.types import type_of
from tritonx.transforms.gpu.allocate_shared_memory import OFFSET
from tritonx.transforms.gpu.pending_accesses import ALL, Accesses, Interval, Pending, accesses_of, meets, waits_of


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
            if allocates_memory(op):
                self._place(op)

    def run(self) -> None:
        blocks = list(self.function.body.blocks)
        self._flow(self.function, blocks, {blocks[0]: Pending()})

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

    def _flow(self, op: Operation, blocks: list[Block], at: dict[Block, Pending]) -> Pending:
        """What is pending when an op's blocks are left, from what is pending where they are entered."""
        while True:
            leaving = Pending()
            before = dict(at)
            for block in blocks:
                if block not in at:
                    continue
                end = self._block(block, at[block])
                last = block.last_op
                leaving = leaving.joined(_into(at, op, edges_from(last) if last is not None else (), end))
            if at == before:
                return leaving

    def _block(self, block: Block, pending: Pending) -> Pending:
        for op in list(block.ops):
            pending = self._visit(op, pending)
        return pending

    def _visit(self, op: Operation, pending: Pending) -> Pending:
        if isinstance(op, tile.CallOp):
            return self._call(op, pending)
        if op.regions:
            pending = self._regions(op, pending)
        touched = resources_of(op)
        if Resource.SCRATCH in touched and OFFSET in op.attributes:
            return self._scratch(op, pending)
        if Resource.THREADS in touched and _is_barrier(op):
            return pending.settled()
        accesses = accesses_of(op, self._of)
        if isinstance(op, gpu_layout.LocalLoadOp):
            accesses.reads.extend(self._of(load.src) for load in _following_loads(op))
        if accesses.need_barrier(pending):
            _barrier_before(op)
            pending = pending.settled()
        pending = accesses.added_to(pending)
        for completion, for_all in waits_of(op):
            pending = pending.waited(completion, for_all=for_all)
        return pending

    def _regions(self, op: Operation, pending: Pending) -> Pending:
        if is_concurrent(op) and pending != pending.settled() and self._meets_inside(op, pending):
            _barrier_before(op)
            pending = pending.settled()
        at: dict[Block, Pending] = {}
        past = _into(at, op, edges_from(op), pending)
        blocks = [block for region in regions_of(op) for block in region.blocks]
        return self._flow(op, blocks, at).joined(past)

    def _meets_inside(self, op: Operation, pending: Pending) -> bool:
        """Whether an op inside, wherever, would have to wait for what is pending."""
        for inner in op.walk():
            if inner is op:
                continue
            if isinstance(inner, tile.CallOp):
                accesses = Accesses([ALL], [ALL]) if inner.callee.string_value() in self.users else Accesses()
            elif Resource.SCRATCH in resources_of(inner) and OFFSET in inner.attributes:
                accesses = Accesses(writes=[_scratch_of(inner)])
            else:
                accesses = accesses_of(inner, self._of)
            if accesses.need_barrier(pending):
                return True
        return False

    def _call(self, op: tile.CallOp, pending: Pending) -> Pending:
        if op.callee.string_value() not in self.users:
            return pending
        if pending != pending.settled():
            _barrier_before(op)
        return Pending(frozenset({ALL}), frozenset({ALL}), pending.late)

    # --- accesses
    # -----------------------------------------------------------------------------------------------------

    def _scratch(self, op: Operation, pending: Pending) -> Pending:
        scratch, owners = _scratch_of(op), owned_by_warps(op)
        if meets([scratch], pending.of_others(scratch, owners)):
            _barrier_before(op)
            pending = pending.settled()
        if owners is not None:
            return replace(pending, owned=pending.owned | {(scratch, owners)})
        # Its own barrier, between writing and reading the scratch, settles what came before.
        return Pending(frozenset({scratch}), frozenset(), pending.late)

    def _of(self, value: SSAValue) -> Interval:
        return self.places.get(value, ALL)


def _into(at: dict[Block, Pending], op: Operation, edges: Iterable[Edge], pending: Pending) -> Pending:
    """Unites what is pending with what is known at the blocks that the edges lead to; what leaves `op` is returned."""
    leaving = Pending()
    for edge in edges:
        if edge.target is op:
            leaving = leaving.joined(pending)
        elif isinstance(edge.target, Block):
            known = at.get(edge.target)
            at[edge.target] = pending if known is None else known.joined(pending)
    return leaving


def offset_of(op: Operation) -> int:
    """The byte offset that the allocation gave to an op."""
    value: Any = op.attributes.get(OFFSET)
    if value is None:
        raise ValueError(f"{op.name} has no shared memory allocated: run allocate-shared-memory first")
    return value.value.data


def _scratch_of(op: Operation) -> Interval:
    start = offset_of(op)
    return start, start + scratch_size(op)


def _is_barrier(op: Operation) -> bool:
    """Whether all threads that run the op meet there."""
    return any(effect.kind is Kind.BARRIER for effect in effects_of(op) or ())


def _following_loads(op: gpu_layout.LocalLoadOp) -> list[gpu_layout.LocalLoadOp]:
    """The loads that follow one at once: it waits for all, so that a product can read its operands behind the
    barrier."""
    found: list[gpu_layout.LocalLoadOp] = []
    while isinstance(following := (found[-1] if found else op).next_op, gpu_layout.LocalLoadOp):
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
