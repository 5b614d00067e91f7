"""Fences between what threads do with shared memory and what copy engines and matrix units do with the same bytes.

They access memory by different proxies (PTX ISA 9.0, section 8.6): a barrier orders threads, but what a thread has
written, or read, by the generic proxy is ordered with a block copy that reads, or overwrites, these bytes by the
asynchronous one only if a proxy fence is between them. Which proxy an op uses it declares (`EFFECTS`).

That concerns a buffer that threads fill for a copy, and as much two that have nothing to do with each other: the
allocation lays a block that is going to be copied where a conversion has exchanged its data before. So this pass comes
after the allocation, and walks the program as `insert-barriers` does, with the bytes that threads have touched since
the last fence. It runs before `insert-barriers`: a fence that its thread executes before a barrier is known to
all behind it.

A fence follows the last op of its block that has touched the bytes, so that a barrier comes between it and the
access: threads fence what they have done, and then tell. What is in front of a loop, or of groups of warps that run
beside each other, is fenced in front of those. Such a group fences what another one is going to access in the same way
before it arrives at an mbarrier, which is how the other gets to know.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import BoolAttr, ModuleOp
from xdsl.ir import Operation, Region
from xdsl.passes import ModulePass

from tritonx.analysis.buffers import is_shared_memory
from tritonx.dialects import tile
from tritonx.dialects.control_flow import is_concurrent, is_per_element, regions_of, repeats
from tritonx.dialects.effects import Completion, Effect, Kind, Proxy, Resource, effects_of, resources_of
from tritonx.dialects.nvidia import FenceAsyncSharedOp
from tritonx.ir.contract import Contract
from tritonx.ir.walk import ops_in
from tritonx.transforms.gpu.forward_flow import ForwardFlow
from tritonx.transforms.gpu.placed_memory import (
    ALL,
    Interval,
    PlacedMemory,
    functions_with_shared_memory,
    meets,
    scratch_of,
)


@dataclass(frozen=True)
class InsertFences(ModulePass):
    """Inserts fences where the asynchronous proxy meets what threads did to shared memory.

    A `ttng.fence_async_shared` stands where the proxy reads bytes of shared memory that threads have
    written, or writes bytes that they have read or written, and no fence stands between on some way. Needs the offsets
    of `allocate-shared-memory`; barriers come later.

    Fences that are there already count. Copies that threads make themselves (cp.async) need none: units read what they
    have brought once they have been waited for.
    """

    name = "insert-fences"
    contract = Contract(
        ("ttg",),
        on=("ttng",),
        creates=("ttng.fence_async_shared",),
        reads=("allocation.offset",),
        needs=("allocate-shared-memory",),
        after=("fence-stores",),
        placed=True,
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        users = functions_with_shared_memory(op)
        for function in op.ops:
            if isinstance(function, tile.FuncOp) and any(map(_is_asynchronous, ops_in(function))):
                # Where a function is called, others of its bytes may have been touched for other calls.
                _Fencer(function, users).function(function, NOTHING if function.is_kernel else EVERYTHING)


@dataclass(frozen=True)
class Unfenced:
    """What threads have touched since the last fence."""

    reads: frozenset[Interval] = frozenset()
    writes: frozenset[Interval] = frozenset()

    def joined(self, other: Unfenced) -> Unfenced:
        return Unfenced(self.reads | other.reads, self.writes | other.writes)


@dataclass(frozen=True)
class Later:
    """What is accessed by the asynchronous proxy, which fences must come before."""

    reads: tuple[Interval, ...] = ()
    writes: tuple[Interval, ...] = ()

    def meets(self, before: Unfenced) -> bool:
        """Whether a fence is needed between them."""
        return meets(self.reads, before.writes) or meets(self.writes, before.reads | before.writes)


NOTHING = Unfenced()
EVERYTHING = Unfenced(frozenset({ALL}), frozenset({ALL}))
NOTHING_LATER = Later()


@dataclass(frozen=True)
class _Step:
    """What an op itself does that fences are about, on every way through it: it is walked as often as states are new.
    Of the two nothings most ops have, there is one object each."""

    is_fence: bool
    later: Later
    touched: Unfenced


class _Fencer(ForwardFlow[Unfenced]):
    def __init__(self, function: tile.FuncOp, users: frozenset[str]) -> None:
        super().__init__(NOTHING)
        self.users = users
        self.memory = PlacedMemory(function)
        self.steps: dict[Operation, _Step] = {}
        self.beside: dict[Operation, Later] = {}
        """What others access beside an op that arrives at an mbarrier."""
        self.asking = False
        """Whether no fence is inserted, and only asked whether one would be: then `wanted` says so."""
        self.wanted = False

    # --- regions

    def regions(self, op: Operation, state: Unfenced) -> Unfenced:
        if is_per_element(op):
            return state
        if is_concurrent(op):
            self._look_beside(op)
        if (repeats(op) or is_concurrent(op)) and not self.asking and state != NOTHING:
            super().regions(op, NOTHING)  # the fences that are needed in any case
            if self._wants(op, state):
                _insert_before(op)
                state = NOTHING
        return super().regions(op, state)

    def _wants(self, op: Operation, state: Unfenced) -> bool:
        """Whether something inside needs a fence because of what was before."""
        self.asking, self.wanted = True, False
        super().regions(op, state)
        self.asking = False
        return self.wanted

    def _look_beside(self, op: Operation) -> None:
        """Which accesses of other groups an arrival in one group may be for: any."""
        inside = [(region, [each for top in _ops_of(region) for each in ops_in(top)]) for region in regions_of(op)]
        for region, ops in inside:
            others = [self._step(each).later for other, theirs in inside if other is not region for each in theirs]
            later = Later(tuple(r for one in others for r in one.reads), tuple(w for one in others for w in one.writes))
            self.beside.update((each, later) for each in ops if any(map(_tells, _effects(each))))

    # --- ops

    def after(self, op: Operation, state: Unfenced) -> Unfenced:
        if isinstance(op, tile.CallOp):
            return EVERYTHING if op.callee.string_value() in self.users else state
        step = self._step(op)
        if step.is_fence:
            return NOTHING
        for later in (step.later, self.beside.get(op, NOTHING_LATER)):
            if later is not NOTHING_LATER and later.meets(state):
                state = self._fence(op, later)
        return state if step.touched is NOTHING else state.joined(step.touched)

    def _fence(self, op: Operation, later: Later) -> Unfenced:
        """Inserts one behind what was done last, and tells what is unfenced where the op begins."""
        if self.asking:
            self.wanted = True
            return NOTHING
        at, between = op, NOTHING
        while (previous := at.prev_op) is not None and not self._is_before(previous, later):
            at, between = previous, between.joined(self._step(previous).touched)
        _insert_before(at)
        return between

    def _is_before(self, op: Operation, later: Later) -> bool:
        """Whether a fence must come behind the op: it may have touched the bytes, or made others known."""
        return bool(op.regions) or isinstance(op, tile.CallOp) or later.meets(self._step(op).touched)

    def _step(self, op: Operation) -> _Step:
        step = self.steps.get(op)
        if step is None:
            later, touched = self._later(op), self._touched(op)
            step = self.steps[op] = _Step(
                any(map(_is_fence, _effects(op))),
                NOTHING_LATER if later == NOTHING_LATER else later,
                NOTHING if touched == NOTHING else touched,
            )
        return step

    def _later(self, op: Operation) -> Later:
        """What the op accesses by the asynchronous proxy."""
        own = [effect for effect in _effects(op) if effect.proxy is Proxy.ASYNC]
        return Later(tuple(self._of(op, own, Kind.READ)), tuple(self._of(op, own, Kind.WRITE)))

    def _touched(self, op: Operation) -> Unfenced:
        """What the op's threads do themselves; an mbarrier is touched where it is made and ended."""
        if (scratch := scratch_of(op)) is not None:
            return Unfenced(frozenset({scratch}), frozenset({scratch}))
        own = [e for e in _effects(op) if e.proxy is Proxy.GENERIC and e.completion is Completion.AT_ONCE]
        return Unfenced(frozenset(self._of(op, own, Kind.READ)), frozenset(self._of(op, own, Kind.WRITE)))

    def _of(self, op: Operation, effects: Iterable[Effect], kind: Kind) -> list[Interval]:
        return [
            self.memory.of(value)
            for effect in effects
            if effect.kind is kind and effect.resource in (Resource.MEMDESC, Resource.MBARRIER)
            for value in effect.values(op)
            if is_shared_memory(value)
        ]


def _ops_of(region: Region) -> Iterable[Operation]:
    return (op for block in region.blocks for op in block.ops)


def _effects(op: Operation) -> Sequence[Effect]:
    """What an op does itself."""
    return () if op.regions else effects_of(op) or ()


def _tells(effect: Effect) -> bool:
    """Whether a thread tells an mbarrier that it has come as far."""
    told = effect.kind in (Kind.ARRIVE, Kind.EXPECT) and effect.resource is Resource.MBARRIER
    return told and effect.proxy is Proxy.GENERIC


def _is_fence(effect: Effect) -> bool:
    return effect.kind is Kind.FENCE and effect.resource is Resource.MEMDESC and effect.proxy is Proxy.ASYNC


def _is_asynchronous(op: Operation) -> bool:
    """Whether the op itself accesses shared memory by the asynchronous proxy."""
    if Resource.MEMDESC not in resources_of(op):
        return False
    own = [effect for effect in _effects(op) if effect.kind in (Kind.READ, Kind.WRITE)]
    return any(effect.proxy is Proxy.ASYNC and effect.resource is Resource.MEMDESC for effect in own)


def _insert_before(op: Operation) -> None:
    block = op.parent
    assert block is not None
    fence = FenceAsyncSharedOp.create(properties={"bCluster": BoolAttr.from_bool(False)}, location=op.location)
    block.insert_op_before(fence, op)
