"""Where control goes, and which value becomes which argument: ops with regions and ops that end blocks declare it, as
`CONTROL_FLOW`.

A value goes on under another name where control goes on: an operand of `scf.for` becomes an argument of its body, what
the body yields becomes that argument again, or a result of the loop. Whoever follows values must know these pairs, for
every op that has any: one place knows each, and all who ask go by edges.

An `Edge` leads from an op to a block, or to behind the op with regions that it leaves, and says which operands become
which block arguments or results there. `edges_from` gives the edges of any op: those into its regions (and past them)
for an op with regions, those out of its block for one that ends a block, none for all others. What no edge feeds comes
from the op itself: a loop's counter, the elements that a reduction combines. A function's arguments come from its
callers; calls are no edges.

`repeats` says that the regions may be run again before the op is over, `concurrent` that they are run at the same time
by different threads. The regions of a `PerElement` op are run for elements, by whoever has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue

if TYPE_CHECKING:
    from tritonx.dialects.cf import ConditionalBranchOp
    from tritonx.dialects.gpu_layout import WarpSpecializeOp


@dataclass(frozen=True)
class Edge:
    """The operands of `source` from `first` on become `arguments`, the arguments of the block `target`, or the results
    of the op `target` that is left."""

    source: Operation
    first: int
    target: Block | Operation
    arguments: Sequence[SSAValue]

    def values(self) -> Sequence[SSAValue]:
        return self.source.operands[self.first : self.first + len(self.arguments)]

    def pairs(self) -> Iterator[tuple[SSAValue, SSAValue]]:
        """(value, what it becomes)"""
        return zip(self.values(), self.arguments, strict=True)


Edges = Sequence[Edge]


@dataclass(frozen=True)
class ControlFlow:
    """What `CONTROL_FLOW` of an op class holds; see the head of the file.

    >>> ControlFlow(repeats=True).concurrent
    False
    """

    repeats: bool = False
    concurrent: bool = False

    def entered(self, op: Operation) -> Edges:
        """The edges from the op itself: into its regions, past them, or to other blocks."""
        raise NotImplementedError

    def ended(self, op: Operation, end: Operation) -> Edges:
        """The edges from an op that ends a block of the op's regions, and goes to no block by itself."""
        raise NotImplementedError

    def regions(self, op: Operation) -> Sequence[Region]:
        """The regions that control enters from the op."""
        return op.regions


@dataclass(frozen=True)
class RegionEnd(ControlFlow):
    """Ends a block: where that leads, the op around says."""

    def entered(self, op: Operation) -> Edges:
        return _ended(op.parent_op(), op)


@dataclass(frozen=True)
class Nowhere(ControlFlow):
    """Ends a block where control never arrives."""

    def entered(self, op: Operation) -> Edges:
        return ()


@dataclass(frozen=True)
class Branch(ControlFlow):
    """Goes to another block."""

    def entered(self, op: Operation) -> Edges:
        return (Edge(op, 0, op.successors[0], op.successors[0].args),)


@dataclass(frozen=True)
class ConditionalBranch(ControlFlow):
    """Goes to one of two blocks; the condition is operand 0."""

    def entered(self, op: Operation) -> Edges:
        then, otherwise = op.successors
        given = len(cast("ConditionalBranchOp", op).then_arguments)
        return (Edge(op, 1, then, then.args), Edge(op, 1 + given, otherwise, otherwise.args))


@dataclass(frozen=True)
class Function(ControlFlow):
    """Entered by calls, and left to where it was called."""

    def entered(self, op: Operation) -> Edges:
        return ()

    def ended(self, op: Operation, end: Operation) -> Edges:
        return ()


@dataclass(frozen=True)
class CountedLoop(ControlFlow):
    """`scf.for`: bounds and step, then the initial carried values. The body's first argument counts."""

    repeats: bool = True

    def entered(self, op: Operation) -> Edges:
        body = op.regions[0].block
        return (Edge(op, 3, body, body.args[1:]), Edge(op, 3, op, op.results))

    def ended(self, op: Operation, end: Operation) -> Edges:
        body = op.regions[0].block
        return (Edge(end, 0, body, body.args[1:]), Edge(end, 0, op, op.results))


@dataclass(frozen=True)
class ConditionalLoop(ControlFlow):
    """`scf.while`: the first region decides whether its values go to the second or are the results."""

    repeats: bool = True

    def entered(self, op: Operation) -> Edges:
        before = op.regions[0].block
        return (Edge(op, 0, before, before.args),)

    def ended(self, op: Operation, end: Operation) -> Edges:
        before, after = op.regions[0].block, op.regions[1].block
        if end.parent is before:
            return (Edge(end, 1, after, after.args), Edge(end, 1, op, op.results))
        return (Edge(end, 0, before, before.args),)


@dataclass(frozen=True)
class OneOf(ControlFlow):
    """`scf.if`, `scf.execute_region`, `ttg.mask`: one of the regions is run, once. None may be if one of them is empty,
    or if the op is `optional`, whose results are then not defined."""

    optional: bool = False

    def entered(self, op: Operation) -> Edges:
        none = len(op.operands)
        found = [Edge(op, none, first, ()) for region in op.regions if (first := region.blocks.first) is not None]
        if self.optional or len(found) < len(op.regions):
            found.append(Edge(op, none, op, ()))
        return found

    def ended(self, op: Operation, end: Operation) -> Edges:
        return (Edge(end, 0, op, op.results),)


@dataclass(frozen=True)
class PerElement(ControlFlow):
    """The region is a function of scalars, run for every element, or to combine two."""

    repeats: bool = True

    def entered(self, op: Operation) -> Edges:
        return [Edge(op, 0, first, ()) for region in op.regions if (first := region.blocks.first) is not None]

    def ended(self, op: Operation, end: Operation) -> Edges:
        return (*(Edge(end, 0, edge.target, ()) for edge in self.entered(op)), Edge(end, 0, op, ()))


@dataclass(frozen=True)
class Specialized(ControlFlow):
    """`ttg.warp_specialize`: the default region, which yields the results, and partitions, which take the captured
    values, at the same time. The op is over when all are."""

    concurrent: bool = True

    def entered(self, op: Operation) -> Edges:
        default, *partitions = self.regions(op)
        first, parts = default.blocks.first, [region.blocks.first for region in partitions]
        edges = () if first is None else (Edge(op, len(op.operands), first, ()),)
        return (*edges, *(Edge(op, 0, part, part.args) for part in parts if part is not None))

    def ended(self, op: Operation, end: Operation) -> Edges:
        return (Edge(end, 0, op, op.results),) if end.parent_op() is op else (Edge(end, 0, op, ()),)

    def regions(self, op: Operation) -> Sequence[Region]:
        specialized = cast("WarpSpecializeOp", op)
        return (specialized.defaultRegion, *specialized.partitions)


@dataclass(frozen=True)
class PartitionHolder(ControlFlow):
    """Holds the partitions of the op around, which says where they lead; control never is at this op itself."""

    def entered(self, op: Operation) -> Edges:
        return ()

    def ended(self, op: Operation, end: Operation) -> Edges:
        return _ended(op.parent_op(), end)


REGION_END = RegionEnd()


def _ended(around: Operation | None, end: Operation) -> Edges:
    """Where an op leads that ends a block in `around`, as that one says."""
    declared = None if around is None else control_flow_of(around)
    return () if around is None or declared is None else declared.ended(around, end)


def control_flow_of(op: Operation) -> ControlFlow | None:
    """What an op declares; None for one that has no part in control flow, or declares nothing."""
    return getattr(type(op), "CONTROL_FLOW", None)


def repeats(op: Operation) -> bool:
    """Whether the op's regions may be run again before it is over: it is a loop."""
    declared = control_flow_of(op)
    return declared is not None and declared.repeats


def loop_around(op: Operation) -> Operation | None:
    """The innermost loop that an op is in."""
    around = op.parent_op()
    while around is not None and not repeats(around):
        around = around.parent_op()
    return around


def is_concurrent(op: Operation) -> bool:
    """Whether the op's regions are run at the same time."""
    declared = control_flow_of(op)
    return declared is not None and declared.concurrent


def is_per_element(op: Operation) -> bool:
    """Whether the op's region is a function of scalars that is run for elements."""
    return isinstance(control_flow_of(op), PerElement)


def carries(op: Operation) -> bool:
    """Whether values go on under other names at the op: it has regions that it enters, or ends a block."""
    return control_flow_of(op) is not None


def edges_from(op: Operation) -> Edges:
    """The edges from an op; none where control just goes on to the next one."""
    declared = control_flow_of(op)
    return () if declared is None else declared.entered(op)


def regions_of(op: Operation) -> Sequence[Region]:
    """The regions that control enters from the op."""
    declared = control_flow_of(op)
    return op.regions if declared is None else declared.regions(op)


def ends_of(op: Operation) -> list[Operation]:
    """The ops that end the blocks of an op's regions."""
    return [last for region in regions_of(op) for block in region.blocks if (last := block.last_op) is not None]


def edges_within(op: Operation) -> list[Edge]:
    """The edges into, between and out of the blocks of an op's regions."""
    return [*edges_from(op), *(edge for end in ends_of(op) for edge in edges_from(end))]


def becomes(op: Operation, operand: int) -> list[SSAValue]:
    """The block arguments and results that the operand of this number becomes."""
    return [
        edge.arguments[operand - edge.first]
        for edge in edges_from(op)
        if edge.first <= operand < edge.first + len(edge.arguments)
    ]


def comes_from(value: SSAValue) -> list[SSAValue]:
    """The values that become this block argument, or result of an op with regions. None for a function's argument, and
    for what the op around computes."""
    if isinstance(value, BlockArgument):
        target: Block | Operation = value.block
        around = value.block.parent_op()
        if isinstance(control_flow_of(around) if around is not None else None, PartitionHolder):
            around = around.parent_op() if around is not None else None
    else:
        target = around = value.owner
    if not isinstance(around, Operation) or control_flow_of(around) is None:
        return []
    found = [edge for edge in edges_within(around) if edge.target is target]
    return [given for edge in found for given, argument in edge.pairs() if argument is value]


# --- loop-carried values


@dataclass(frozen=True)
class Slot:
    """An operand: an op and the operand's number."""

    op: Operation
    number: int

    @property
    def value(self) -> SSAValue:
        return self.op.operands[self.number]

    def set(self, value: SSAValue) -> None:
        self.op.operands[self.number] = value


@dataclass(frozen=True)
class Carried:
    """One value that a loop of one block carries: what enters, what it is inside, what goes back, what leaves."""

    initial: Slot
    argument: BlockArgument
    yielded: Slot
    result: SSAValue


def carried_by(loop: Operation) -> list[Carried]:
    """What an `scf.for` carries, in order."""
    body = loop.regions[0].block
    end = body.last_op
    assert end is not None, "a loop's body ends in a yield"
    into = next(edge for edge in edges_from(loop) if edge.target is body)
    back = next(edge for edge in edges_from(end) if edge.target is body)
    return [
        Carried(Slot(loop, into.first + i), argument, Slot(end, back.first + i), loop.results[i])  # pyright: ignore[reportArgumentType] -- the arguments of a block
        for i, argument in enumerate(into.arguments)
    ]


def carried_argument(argument: BlockArgument) -> Carried | None:
    """What an argument of a counted loop's body is of what it carries; None for the counter, and for other blocks'."""
    loop = argument.block.parent_op()
    if loop is None or not isinstance(control_flow_of(loop), CountedLoop):
        return None
    return next((each for each in carried_by(loop) if each.argument is argument), None)


def carried_result(result: SSAValue) -> Carried | None:
    """What a result of a counted loop is of what the loop carries; None for other values."""
    loop = result.owner
    if not isinstance(loop, Operation) or not isinstance(control_flow_of(loop), CountedLoop):
        return None
    return next(each for each in carried_by(loop) if each.result is result)
