"""Accesses to shared memory since the last barrier, and those that an op declares."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

from tritonx.dialects.effects import COUNTED, Completion, Effect, Kind, Proxy, Resource, effects_of
from tritonx.dialects.gpu_layout import MemDescType
from tritonx.ir.failure import PassError
from tritonx.ir.types import type_of
from tritonx.transforms.gpu.placed_memory import Interval, meets

Late = tuple[Completion, Kind, Interval]
"""An asynchronous access, and what waits for it."""


@dataclass(frozen=True)
class Pending:
    """Accesses since the last barrier; `late` are asynchronous ones that no wait has covered, `owned` reads and writes
    of warps in bytes of their own, with what says which these are.
    """

    reads: frozenset[Interval] = frozenset()
    writes: frozenset[Interval] = frozenset()
    late: frozenset[Late] = frozenset()
    owned: frozenset[tuple[Interval, Hashable]] = frozenset()
    waiting: bool = False
    """Whether some threads may still wait at an mbarrier that others have passed."""

    def joined(self, other: Pending) -> Pending:
        return Pending(
            self.reads | other.reads,
            self.writes | other.writes,
            self.late | other.late,
            self.owned | other.owned,
            self.waiting or other.waiting,
        )

    def of_others(self, scratch: Interval, owners: Hashable) -> list[Interval]:
        """What an access by these owners of this scratch may meet."""
        apart = [interval for interval, key in self.owned if (interval, key) != (scratch, owners)]
        return [*self.reads, *self.writes, *(interval for _, _, interval in self.late), *apart]

    def written(self) -> list[Interval]:
        return [*self.writes, *(interval for interval, _ in self.owned)]

    def touched(self) -> list[Interval]:
        return [*self.reads, *self.written()]

    def settled(self) -> Pending:
        """After a barrier: what is still under way is not over by that."""
        return Pending(late=self.late)

    def behind(self, block: Block) -> Pending:
        """The pending accesses as they are known after an iteration of a block."""
        return replace(
            self,
            reads=frozenset(interval.behind(block) for interval in self.reads),
            writes=frozenset(interval.behind(block) for interval in self.writes),
            late=frozenset((completion, kind, interval.behind(block)) for completion, kind, interval in self.late),
        )

    def waited(self, completion: Completion, *, for_all: bool) -> Pending:
        """After a wait of this thread, which has other threads still to be told. Where some may still be under way, it
        is not known which, so that the next wait counts for them too."""
        over = [each for each in self.late if each[0] is completion]
        return Pending(
            self.reads | {interval for _, kind, interval in over if kind is Kind.READ},
            self.writes | {interval for _, kind, interval in over if kind is Kind.WRITE},
            self.late - frozenset(over) if for_all else self.late,
            self.owned,
            self.waiting,
        )


@dataclass(frozen=True)
class Accesses:
    """What an op does to shared memory: `reads` and `writes` by its threads, which are over with it, `late` ones, and
    `told`: asynchronous writes of which an mbarrier tells all who wait at it. Those who use an mbarrier do not wait for
    each other, but for who made it, as readers do; they are among the reads. An arrival that one thread makes `for_all`
    tells that all have come as far. Where one thread `goes_on` for all with what an mbarrier's next phase is made of,
    none may wait for an earlier one still: a thread that comes late sees only whether a phase is odd. `waits`: at an
    mbarrier."""

    reads: list[Interval] = field(default_factory=list[Interval])
    writes: list[Interval] = field(default_factory=list[Interval])
    late: list[Late] = field(default_factory=list[Late])
    told: list[Interval] = field(default_factory=list[Interval])
    for_all: bool = False
    goes_on: bool = False
    waits: bool = False

    def need_barrier(self, pending: Pending) -> bool:
        """Whether other threads must be waited for first."""
        if self.for_all and (pending.reads or pending.writes or pending.owned):
            return True
        if pending.waiting and (self.goes_on or self.told):
            return True
        changed = [*self.writes, *self.told, *(interval for _, kind, interval in self.late if kind is Kind.WRITE)]
        read = [*self.reads, *(interval for _, kind, interval in self.late if kind is Kind.READ)]
        return meets(read, pending.written()) or meets(changed, pending.touched())

    def added_to(self, pending: Pending) -> Pending:
        if not (self.reads or self.writes or self.late):
            return pending
        return replace(
            pending,
            reads=pending.reads | frozenset(self.reads),
            writes=pending.writes | frozenset(self.writes),
            late=pending.late | frozenset(self.late),
            waiting=pending.waiting or self.waits,
        )


Where = Callable[[SSAValue], Interval]


def accesses_of(op: Operation, where: Where) -> Accesses:
    """What an op, without its regions, does to the shared memory that its operands name. Raises PassError for one that
    is given memory and does not say what it does with it."""
    effects = effects_of(op) if not op.regions else ()
    at_barriers = [effect.kind for effect in effects or () if effect.resource is Resource.MBARRIER]
    found = Accesses(
        for_all=any(map(_is_for_all, effects or ())),
        goes_on=Kind.EXPECT in at_barriers,
        waits=Kind.WAIT in at_barriers,
    )
    if effects is None:
        if any(isinstance(type_of(value), MemDescType) for value in op.operands):
            raise PassError(op, f"{op.name} is given memory, and does not declare what it does with it")
        return found
    for effect in effects:
        for interval in _places(effect, op, where):
            _add(found, effect, interval)
    return found


def _is_for_all(effect: Effect) -> bool:
    """Whether one thread tells an mbarrier for all that run the op."""
    told = effect.kind is Kind.ARRIVE and effect.resource is Resource.MBARRIER
    return told and effect.completion is Completion.AT_ONCE and effect.proxy is Proxy.GENERIC


def _places(effect: Effect, op: Operation, where: Where) -> list[Interval]:
    if effect.resource is not Resource.MEMDESC and effect.resource is not Resource.MBARRIER:
        return []
    return [where(value) for value in effect.values(op) if isinstance(type_of(value), MemDescType)]


def _add(found: Accesses, effect: Effect, interval: Interval) -> None:
    match effect.kind:
        case Kind.READ | Kind.WRITE if effect.completion in COUNTED:
            found.late.append((effect.completion, effect.kind, interval))
        case Kind.READ | Kind.ARRIVE | Kind.EXPECT | Kind.WAIT:
            found.reads.append(interval)
        case Kind.WRITE if effect.completion is Completion.MBARRIER:
            found.told.append(interval)
        case Kind.WRITE:
            found.writes.append(interval)
        case _:
            pass


def waits_of(op: Operation) -> list[tuple[Completion, bool]]:
    """What an op waits for that is counted, and whether for all of it."""
    return [
        (effect.completion, left == 0)
        for effect in effects_of(op) or ()
        if effect.kind is Kind.WAIT and effect.left and (left := _left(op, effect.left)) is not None
    ]


def _left(op: Operation, name: str) -> int | None:
    """How many may be under way after a wait; None where it does not wait."""
    value = op.properties.get(name)
    return value.value.data if isinstance(value, IntegerAttr) else None
