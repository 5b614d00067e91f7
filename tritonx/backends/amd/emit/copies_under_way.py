"""How many instructions are under way in front of a wait for groups of copies to the LDS.

The hardware counts the loads of a wave that are under way, and knows no groups. So a wait for all but the last groups
is one for all but the instructions that these are made of; one too few only waits for more. They are counted backwards
from the wait, on every way that leads to it, and of the ways the least counts: in a loop from its start as well as from
its end. Nothing is counted beyond where a way is no longer followed: an op with copies in its regions, the function's
start."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation

from tritonx.dialects import scf, tile
from tritonx.dialects.gpu_layout import AsyncCommitGroupOp

Instructions = Callable[[Operation], int | None]
"""How many a copy is; None for an op that is none."""


class CopiesUnderWay:
    """Instructions of the last groups in front of an op."""

    def __init__(self, instructions: Instructions) -> None:
        self.instructions = instructions

    def since(self, wait: Operation, groups: int) -> int:
        """At least how many have been issued in the last so many groups in front of a wait, and behind them."""
        return self._least(wait, groups, frozenset())

    def _least(self, before: Operation, groups: int, seen: frozenset[tuple[Operation, int]]) -> int:
        """On the ways to an op; `seen`: the loops from whose ends they have come, with as many groups left."""
        found, op = 0, before.prev_op
        while op is not None:
            if isinstance(op, AsyncCommitGroupOp):
                if not groups:
                    return found
                groups -= 1
            elif (number := self.instructions(op)) is not None:
                found += number
            elif self._has_copies(op):
                return found
            op = op.prev_op
        loop = before.parent_op()
        if not isinstance(loop, scf.ForOp):
            return found
        here = loop, groups
        ways = [self._least(loop, groups, seen)]
        end = loop.body.block.last_op
        if here not in seen and end is not None:
            ways.append(self._least(end, groups, seen | {here}))
        return found + min(ways)

    def _has_copies(self, op: Operation) -> bool:
        """Whether the op issues copies or groups, in its regions or in a function that it calls."""
        if isinstance(op, tile.CallOp):
            return True
        inside = (inner for inner in op.walk() if inner is not op)
        return any(isinstance(inner, AsyncCommitGroupOp) or self.instructions(inner) is not None for inner in inside)
