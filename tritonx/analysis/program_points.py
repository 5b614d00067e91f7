"""The ops of a function as points that control passes, in numbers.

Ops are numbered in the order of the text, an op with regions before what is inside. Where control goes from each says
`CONTROL_FLOW` (`tritonx.dialects.control_flow`): to the next op, into regions, around loops, to other blocks. Regions
that are run at the same time are all entered from the op around, and left to behind it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from xdsl.ir import Block, Operation

from tritonx.dialects import tile
from tritonx.dialects.control_flow import control_flow_of, edges_from
from tritonx.ir.walk import ops_in

Points = set[int]


class ProgramPoints:
    """The points of a function; `ops[i]` is the op with the number `i`, and `number` the way back."""

    def __init__(self, function: tile.FuncOp) -> None:
        self.ops: list[Operation] = [op for op in ops_in(function) if op is not function]
        self.number: dict[Operation, int] = {op: i for i, op in enumerate(self.ops)}

    @cached_property
    def successors(self) -> list[list[int]]:
        """Where control goes from each point; nowhere from a return."""
        return [self._successors(op) for op in self.ops]

    @cached_property
    def predecessors(self) -> list[list[int]]:
        """Where control comes from to each point."""
        found: list[list[int]] = [[] for _ in self.ops]
        for point, following in enumerate(self.successors):
            for each in following:
                found[each].append(point)
        return found

    def _successors(self, op: Operation) -> list[int]:
        if control_flow_of(op) is None:
            return [] if op.next_op is None else [self.number[op.next_op]]
        targets = (_first_at(edge.target) for edge in edges_from(op))
        return list(dict.fromkeys(self.number[target] for target in targets if target is not None))

    def last_inside(self, op: Operation) -> int:
        """The last point of an op's regions; of an op without any its own."""
        return max(self.number[inner] for inner in ops_in(op))

    def before(self, points: Iterable[int], start: int) -> Points:
        """The points from which control gets to one of `points` without coming to `start` (again): with these, and
        with `start` where it does so itself."""
        return _reached(points, self.predecessors, stop=start)

    def after(self, start: int) -> Points:
        """The points to which control gets from behind `start`."""
        return _reached(self.successors[start], self.successors)


def _first_at(target: Block | Operation) -> Operation | None:
    """The op at which control goes on: the first of a block, or the one behind an op that is left."""
    return target.first_op if isinstance(target, Block) else target.next_op


def _reached(start: Iterable[int], ways: list[list[int]], stop: int | None = None) -> Points:
    found: Points = set()
    work = list(start)
    while work:
        point = work.pop()
        if point not in found:
            found.add(point)
            if point != stop:
                work += ways[point]
    return found
