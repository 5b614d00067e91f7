"""The graph of a loop's body: which op needs which, of how many iterations before; and macro-ops made of it.

Nodes are the ops of the body of an `scf.for`, in the order of the text; what is inside an op's regions belongs to it.
An arc leads from an op to one that must come after it:

- by values: the result of an op, in the same iteration; what the loop carries, one iteration later, or more where it
  is handed on from one argument to the next;
- by memory: two accesses of which one writes, if both may mean the same array. Arrays that come in as different
  arguments are taken for different ones between iterations, as Triton takes them; a pointer that was itself loaded, or
  made of an integer, may mean any. What is seen outside (text, stops) keeps its order, and stays in front of the
  accesses behind it: a check in front of what it guards.

A loop that the graph cannot say all of is refused with the reason (`NotScheduled`): barriers and waits, copies that are
already asynchronous, shared memory that the body writes, calls, volatile accesses, atomics whose old values decide
something and that order memory (locks), loops inside.

A *macro-op* is a set of ops that a schedule has no reason to tear apart: each of the anchors (products, and loads that
are to run ahead) is one, and of the rest those that come behind the same anchors and in front of the same, of their
iteration; behind the same results of anchors in the iteration before; and in front of the same anchors of the next.
Such sets never depend on each other in a circle: what lies between two ops of one set is of that set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.ir import BlockArgument, Operation, SSAValue

from tritonx.analysis.pointer_sources import Roots, pointers_of, roots_of
from tritonx.dialects import scf, tile
from tritonx.dialects.control_flow import carried_by, is_per_element, repeats
from tritonx.dialects.effects import Completion, Effect, Kind, Resource, declared_by
from tritonx.dialects.layout_constraints import DotOperands, constraint_of
from tritonx.ir.walk import ops_in


class NotScheduled(Exception):
    """Why a loop stays as it is, in a few words."""


@dataclass(frozen=True)
class Dependence:
    """`target` needs `source`, both numbers of ops, of `distance` iterations before: its `value`, or that it comes
    first, where both touch the same array or are `seen` outside."""

    source: int
    target: int
    distance: int = 0
    value: SSAValue | None = None
    seen: bool = False


@dataclass(frozen=True)
class LoopGraph:
    """The ops of a loop's body but the last one, and what they need of each other."""

    loop: scf.ForOp
    ops: tuple[Operation, ...]
    arcs: tuple[Dependence, ...]

    @cached_property
    def before(self) -> tuple[tuple[Dependence, ...], ...]:
        """Of each op the arcs to it."""
        found: list[list[Dependence]] = [[] for _ in self.ops]
        for arc in self.arcs:
            found[arc.target].append(arc)
        return tuple(map(tuple, found))

    @cached_property
    def after(self) -> tuple[tuple[Dependence, ...], ...]:
        """Of each op the arcs from it."""
        found: list[list[Dependence]] = [[] for _ in self.ops]
        for arc in self.arcs:
            found[arc.source].append(arc)
        return tuple(map(tuple, found))

    def needed(self, number: int) -> frozenset[int]:
        """The ops that an op needs in its own iteration, itself included."""
        return self._needed[number]

    @cached_property
    def _needed(self) -> tuple[frozenset[int], ...]:
        found: list[frozenset[int]] = []
        for number, arcs in enumerate(self.before):
            found.append(frozenset((number,)).union(*(found[a.source] for a in arcs if not a.distance)))
        return tuple(found)

    def macro_ops(self, anchors: Iterable[int]) -> tuple[tuple[int, ...], ...]:
        """The ops as macro-ops, each in the order of the text, by their last ops."""
        chosen = set(anchors)
        behind = [needed & chosen for needed in self._needed]
        ahead: list[set[int]] = [set() for _ in self.ops]
        for number in reversed(range(len(self.ops))):
            ahead[number] |= {number} & chosen
            for arc in self.before[number]:
                if not arc.distance:
                    ahead[arc.source] |= ahead[number]
        last, following = self._results_before(chosen), self._anchors_after(ahead)
        sets: dict[tuple[frozenset[int], ...], list[int]] = {}
        for number in range(len(self.ops)):
            key = (behind[number], frozenset(ahead[number]), frozenset(last[number]), frozenset(following[number]))
            sets.setdefault(key, []).append(number)
        return tuple(sorted(map(tuple, sets.values()), key=lambda each: each[-1]))

    def _results_before(self, chosen: set[int]) -> list[set[int]]:
        """Of each op the anchors whose results, of iterations before, it needs, or what it needs does."""
        found: list[set[int]] = [set() for _ in self.ops]
        for number, arcs in enumerate(self.before):
            for arc in arcs:
                found[number] |= {arc.source} & chosen if arc.distance else found[arc.source]
        return found

    def _anchors_after(self, ahead: Sequence[set[int]]) -> list[set[int]]:
        """Of each op the anchors, of iterations behind, that need it, or what needs it."""
        found: list[set[int]] = [set() for _ in self.ops]
        for number in reversed(range(len(self.ops))):
            for arc in self.after[number]:
                found[number] |= ahead[arc.target] if arc.distance else found[arc.target]
        return found


def must_happen(op: Operation) -> bool:
    """Whether the op, or one in its regions, does what others see: not to be done for an iteration that there may not
    be."""
    return any(
        effect.kind in (Kind.OUTPUT, Kind.FENCE) or (effect.kind is Kind.WRITE and effect.resource is Resource.GLOBAL)
        for inner in ops_in(op)
        for effect in _own(inner)
    )


def is_product(op: Operation) -> bool:
    """Whether the op multiplies matrices."""
    return isinstance(constraint_of(op), DotOperands) or isinstance(op, tile.DotScaledOp)


def is_load(op: Operation) -> bool:
    """Whether all that the op does is to read global memory."""
    effects = _own(op)
    return bool(effects) and not op.regions and all(
        e.kind is Kind.READ and e.resource is Resource.GLOBAL and e.completion is Completion.AT_ONCE for e in effects
    )  # fmt: skip


def loop_graph(loop: scf.ForOp) -> LoopGraph:
    """The graph of a loop. Raises NotScheduled."""
    body = loop.body.block
    ops = tuple(body.ops)[:-1]
    for op in ops:
        for inner in ops_in(op):
            check_schedulable(inner)
    number = {op: i for i, op in enumerate(ops)}
    arcs = dict.fromkeys([*_by_values(loop, ops, number), *_by_memory(ops)])
    return LoopGraph(loop, ops, tuple(arcs))


# --- what cannot be said


_SYNCHRONISES = frozenset({Kind.BARRIER, Kind.ARRIVE, Kind.EXPECT, Kind.WAIT, Kind.COMMIT, Kind.FREE})


def _own(op: Operation) -> Sequence[Effect]:
    """What an op does itself."""
    declared = declared_by(type(op))
    return () if declared is None else declared.own(op)


def check_schedulable(op: Operation) -> None:
    """Raises NotScheduled for an op that keeps a loop from being scheduled."""
    if declared_by(type(op)) is None:
        raise NotScheduled(f"nothing is known of what {op.name} does")
    if isinstance(op, tile.CallOp):
        raise NotScheduled("it calls a function")
    if repeats(op) and not is_per_element(op):
        raise NotScheduled("there is a loop inside")
    kinds = {effect.kind for effect in _own(op)}
    if kinds & _SYNCHRONISES:
        raise NotScheduled(f"{op.name} synchronises threads")
    if Kind.FENCE in kinds and any(result.first_use is not None for result in op.results):
        raise NotScheduled(f"{op.name} waits for what others wrote")
    if Kind.FENCE in kinds and not op.results:
        raise NotScheduled(f"{op.name} orders memory")
    if Kind.OUTPUT in kinds and kinds & {Kind.READ, Kind.WRITE}:
        raise NotScheduled(f"{op.name} is volatile, or of unknown effect")
    for effect in _own(op):
        if effect.completion is not Completion.AT_ONCE:
            raise NotScheduled(f"{op.name} is asynchronous already")
        allocates = Kind.ALLOCATE in kinds
        if effect.kind is Kind.WRITE and effect.resource is Resource.MEMDESC and not allocates:
            raise NotScheduled(f"{op.name} writes shared memory")


# --- by values


def _by_values(loop: scf.ForOp, ops: Sequence[Operation], number: dict[Operation, int]) -> Iterable[Dependence]:
    handed_on: dict[SSAValue, SSAValue] = {each.argument: each.yielded.value for each in carried_by(loop)}
    for target, op in enumerate(ops):
        for value in dict.fromkeys(v for inner in ops_in(op) for v in inner.operands):
            found = _made_by(value, handed_on, number)
            if found is not None:
                source, distance, made = found
                yield Dependence(source, target, distance, made)


def _made_by(
    value: SSAValue, handed_on: Mapping[SSAValue, SSAValue], number: dict[Operation, int]
) -> tuple[int, int, SSAValue] | None:
    """The op of the body that makes a value, and how many iterations before; None for what comes from outside, and for
    what is carried without being changed."""
    distance = 0
    while isinstance(value, BlockArgument) and value in handed_on and distance <= len(handed_on):
        value, distance = handed_on[value], distance + 1
    owner = value.owner
    if isinstance(owner, Operation) and owner in number:
        return number[owner], distance, value
    return None


# --- by memory


@dataclass(frozen=True)
class _Access:
    """What an op does that others may see: reads or writes arrays with these roots (None: any), orders what is written
    (`releases`), or is seen outside."""

    number: int
    writes: bool = False
    roots: frozenset[SSAValue] | None = None
    releases: bool = False
    outside: bool = False

    @property
    def orders(self) -> bool:
        """Whether it is no mere read."""
        return self.writes or self.releases or self.outside

    def precedes(self, later: _Access) -> bool:
        """Whether it must stay in front of a later one of another iteration."""
        if self.outside or later.outside:
            return self.outside and later.outside
        if self.releases or later.releases:
            return later.releases or later.writes
        if not (self.writes or later.writes):
            return False
        return self.roots is None or later.roots is None or bool(self.roots & later.roots)


def _by_memory(ops: Sequence[Operation]) -> Iterable[Dependence]:
    known: dict[SSAValue, Roots] = {}
    accesses = list(dict.fromkeys(each for i, op in enumerate(ops) for each in _accesses(i, op, known)))
    ordering = [each for each in accesses if each.orders]
    for first in accesses:
        for second in accesses if first.orders else ordering:  # two reads never depend on each other
            ordered = first.precedes(second)
            if ordered:
                yield Dependence(first.number, second.number, 1, seen=first.outside)
            if first.number < second.number and (ordered or first.outside):
                yield Dependence(first.number, second.number, seen=first.outside)


def _accesses(number: int, op: Operation, known: dict[SSAValue, Roots]) -> Iterable[_Access]:
    for inner in ops_in(op):
        for effect in _own(inner):
            if effect.kind is Kind.OUTPUT:
                yield _Access(number, outside=True)
            elif effect.kind is Kind.FENCE:  # no result is used (`check_schedulable`): so it acquires nothing
                yield _Access(number, releases=True)
            elif effect.kind in (Kind.READ, Kind.WRITE) and effect.resource is Resource.GLOBAL:
                yield _Access(
                    number, effect.kind is Kind.WRITE, roots_of(effect.values(inner) or pointers_of(inner), known)
                )
