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

A barrier that only the first iteration of a loop needs is placed in front of the loop. Which those are is tried: if
with nothing pending in front fewer barriers would be in it, one there is for them all.

A barrier for an op after products that are in flight is placed in front of these, if there it is as good: who has
issued a product, which takes a warp long when its operands are registers, starts the next copy without waiting for the
others (attention forward of 128 in 8 warps, H200: 1.03 times as fast).

The regions of `ttg.warp_specialize` are run by different threads at the same time. A barrier in one is for its threads
only and settles what they have done, so what is pending before the regions and meets any of them is settled before they
start. Between them the program has its mbarriers. When all are over, what each leaves is pending.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from tritonx.analysis.buffers import owned_by_warps
from tritonx.dialects import gpu_layout, tile
from tritonx.dialects.control_flow import is_concurrent, repeats
from tritonx.dialects.effects import Completion, Kind, Resource, effects_of, is_barrier, resources_of
from tritonx.ir.contract import Contract
from tritonx.ir.edit import erase
from tritonx.ir.walk import ops_in
from tritonx.transforms.gpu.forward_flow import ForwardFlow
from tritonx.transforms.gpu.pending_accesses import Accesses, Pending, accesses_of, waits_of
from tritonx.transforms.gpu.placed_memory import (
    ALL,
    Interval,
    PlacedMemory,
    functions_with_shared_memory,
    meets,
    scratch_of,
)


@dataclass(frozen=True)
class InsertBarriers(ModulePass):
    """Inserts `ttg.local_barrier` where accesses to shared memory could meet. Needs the offsets of
    `allocate-shared-memory`.

    Ops with scratch memory synchronise inside themselves, between their writes and their reads; around them they are
    treated as a write before and a read after. Of a conversion inside warps only other owners of its bytes must wait.
    """

    name = "insert-barriers"
    contract = Contract(
        ("ttg",),
        creates=("ttg.local_barrier",),
        reads=("allocation.offset",),
        needs=("allocate-shared-memory",),
        after=("insert-fences",),
        placed=True,
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        users = functions_with_shared_memory(op)
        for function in op.ops:
            if isinstance(function, tile.FuncOp) and function.body.blocks.first is not None:
                _Inserter(function, users).function(function, Pending())


class _Inserter(ForwardFlow[Pending]):
    def __init__(self, function: tile.FuncOp, users: frozenset[str]) -> None:
        super().__init__(Pending())
        self.users = users
        self.inserted: list[Operation] = []
        self.trying = False
        self.memory = PlacedMemory(function)
        self.steps: dict[Operation, _Step] = {}
        self.straight: list[tuple[Operation, Pending]] = []
        """The ops that were just walked, with nothing between them that settles, and what was pending before each;
        without those that do nothing here."""

    def after(self, op: Operation, state: Pending) -> Pending:
        if op.prev_op is None or op.regions:
            self.straight = []
        step = self._step(op)
        if step is _NOTHING:
            return state
        if isinstance(op, tile.CallOp):
            self.straight = []
            return self._call(op, state)
        if step.scratch is not None:
            self.straight = []
            return self._scratch(op, step.scratch, state)
        if step.is_barrier:
            self.straight = []
            return state.settled()
        if step.accesses.need_barrier(state):
            at, state = self._earliest(op) or (op, state.settled())
            self._wait_before(at)
            self.straight = []
        if not op.regions:
            self.straight.append((op, state))
        return step.added_to(state)

    def _step(self, op: Operation) -> _Step:
        step = self.steps.get(op)
        if step is None:
            step = self.steps[op] = _step_of(op, self.memory)
        return step

    def _earliest(self, op: Operation) -> tuple[Operation, Pending] | None:
        """The first product under way in front of which a barrier is as good as in front of an op, and what is pending
        in front of the op then."""
        for start, (product, state) in enumerate(self.straight):
            if not self._step(product).is_under_way:
                continue
            state = state.settled()
            for step in (self._step(inner) for inner, _ in self.straight[start:]):
                # Behind a wait more is over, which a barrier behind it tells all.
                if step.waits or step.accesses.need_barrier(state):
                    break
                state = step.added_to(state)
            else:
                if not self._step(op).accesses.need_barrier(state):
                    return product, state
        return None

    def before_regions(self, op: Operation, state: Pending) -> Pending:
        if state == state.settled():
            return state
        inside = is_concurrent(op) and self._meets_inside(op, state)
        if inside or (repeats(op) and self._had_better_wait(op, state)):
            self._wait_before(op)
            return state.settled()
        return state

    def _had_better_wait(self, loop: Operation, state: Pending) -> bool:
        """Whether fewer barriers would be run in a loop behind one. Loops inside it are then looked at by
        themselves."""
        if self.trying:
            return False
        many = self._cost(loop, state)
        return many > 0 and self._cost(loop, state.settled()) < many

    def _cost(self, loop: Operation, state: Pending) -> int:
        """How often barriers would be run in a loop, each loop with eight iterations; none of them stays."""
        before = len(self.inserted)
        self.trying = True
        self.regions(loop, state)
        self.trying = False
        made = self.inserted[before:]
        del self.inserted[before:]
        cost = sum(8 ** _loops_around(barrier) for barrier in made)
        for barrier in made:
            erase(barrier)
        return cost

    def behind_block(self, block: Block, state: Pending) -> Pending:
        return state.behind(block)

    def _wait_before(self, op: Operation) -> None:
        block = op.parent
        assert block is not None
        barrier = gpu_layout.LocalBarrierOp.create(location=op.location)
        block.insert_op_before(barrier, op)
        self.inserted.append(barrier)

    def _meets_inside(self, op: Operation, pending: Pending) -> bool:
        """Whether an op inside, wherever, would have to wait for what is pending."""
        for inner in ops_in(op):
            if inner is op:
                continue
            if isinstance(inner, tile.CallOp):
                accesses = Accesses([ALL], [ALL]) if inner.callee.string_value() in self.users else Accesses()
            elif (scratch := scratch_of(inner)) is not None:
                accesses = Accesses(writes=[scratch])
            else:
                accesses = accesses_of(inner, self.memory.in_round)
            if accesses.need_barrier(pending):
                return True
        return False

    def _call(self, op: tile.CallOp, pending: Pending) -> Pending:
        if op.callee.string_value() not in self.users:
            return pending
        if pending != pending.settled():
            self._wait_before(op)
        return Pending(frozenset({ALL}), frozenset({ALL}), pending.late)

    def _scratch(self, op: Operation, scratch: Interval, pending: Pending) -> Pending:
        owners = owned_by_warps(op)
        if meets([scratch], pending.of_others(scratch, owners)):
            self._wait_before(op)
            pending = pending.settled()
        if owners is not None:
            return replace(pending, owned=pending.owned | {(scratch, owners)})
        # Its own barrier, between writing and reading the scratch, settles what came before.
        return Pending(frozenset({scratch}), frozenset(), pending.late)


@dataclass(frozen=True)
class _Step:
    """What an op, without its regions, does that barriers are about. `is_under_way`: it starts a product that something
    else waits for."""

    scratch: Interval | None = None
    is_barrier: bool = False
    accesses: Accesses = field(default_factory=Accesses)
    waits: tuple[tuple[Completion, bool], ...] = ()
    is_under_way: bool = False

    def added_to(self, pending: Pending) -> Pending:
        pending = self.accesses.added_to(pending)
        for completion, for_all in self.waits:
            pending = pending.waited(completion, for_all=for_all)
        return pending


_NOTHING = _Step()


def _step_of(op: Operation, memory: PlacedMemory) -> _Step:
    """As an op is found on every way through it: it is walked as often as states are new, with the same effects.
    `_NOTHING` itself for what does nothing, as most ops."""
    if isinstance(op, tile.CallOp):
        return _Step()
    if not op.regions and effects_of(op) == ():
        return _NOTHING
    if (scratch := scratch_of(op)) is not None:
        return _Step(scratch)
    if Resource.THREADS in resources_of(op) and is_barrier(op):
        return _Step(is_barrier=True)
    accesses, waits = accesses_of(op, memory.in_round), tuple(waits_of(op))
    step = _Step(accesses=accesses, waits=waits, is_under_way=_is_under_way(op))
    return _NOTHING if step == _NOTHING else step


def _is_under_way(op: Operation) -> bool:
    """Whether the op starts a product that something else waits for."""
    return any(
        effect.kind is Kind.COMMIT and effect.completion is Completion.PRODUCT_GROUP for effect in effects_of(op) or ()
    )


def _loops_around(op: Operation) -> int:
    count, parent = 0, op.parent_op()
    while parent is not None:
        count += repeats(parent)
        parent = parent.parent_op()
    return count
