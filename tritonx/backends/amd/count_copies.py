"""Waits for groups of copies to the LDS become waits for instructions.

The hardware counts the loads of a wave that are under way, and knows no groups. So a wait for all but the last groups
is one for all but the instructions that these are made of; one too few only waits for more. They are counted backwards
from the wait, on every way that leads to it, and of the ways the least counts: in a loop from its start as well as from
its end. Nothing is counted beyond where a way is no longer followed: an op with copies in its regions, the function's
start."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tritonx.analysis.axis_info import AxisFacts, analyze_axes
from tritonx.backends.amd.direct_copies import Copy, copies_directly, direct_accesses
from tritonx.dialects import scf
from tritonx.dialects import tile
from tritonx.dialects.amd import AsyncWaitOp
from tritonx.dialects.gpu_layout import AsyncCommitGroupOp
from tritonx.dialects.gpu_layout import AsyncWaitOp as GroupWaitOp
from tritonx.dialects.gpu_layout.types import ASYNC_TOKEN
from tritonx.ir.builder import Builder
from tritonx.ir.edit import replace
from tritonx.ir.types import i32


@dataclass(frozen=True)
class CountCopies(ModulePass):
    """`ttg.async_wait` becomes `amdg.async_wait`, where copies of `lane_bytes` bytes a lane go past the registers. What
    was an `amdg.async_wait` before was counted by another rule of which copies do: it waits for all. Needs the module
    as it is emitted."""

    name = "count-copies"

    lane_bytes: tuple[int, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not self.lane_bytes or not copies_directly(op):
            return
        counts = _Counts(analyze_axes(op), self.lane_bytes)
        for wait in [inner for inner in op.walk() if isinstance(inner, AsyncWaitOp | GroupWaitOp)]:
            if isinstance(wait, GroupWaitOp):
                number = counts.since(wait, wait.num.value.data)
                made = Builder.before(wait).create(
                    AsyncWaitOp, tuple(wait.operands), (ASYNC_TOKEN,), {"num_inst": IntegerAttr(number, i32)}
                )
                replace(wait, made.results)
            else:
                wait.properties["num_inst"] = IntegerAttr(0, i32)


class _Counts:
    """Instructions of the last groups in front of an op."""

    def __init__(self, facts: AxisFacts, lane_bytes: tuple[int, ...]) -> None:
        self.facts, self.lane_bytes = facts, lane_bytes
        self.known: dict[Operation, int] = {}

    def since(self, wait: Operation, groups: int) -> int:
        """At least how many have been issued behind all but the last so many groups, in front of a wait."""
        return self._least(wait, groups, frozenset())

    def _least(self, before: Operation, groups: int, seen: frozenset[tuple[Operation, int]]) -> int:
        """On the ways to an op; `seen`: the loops from whose ends they have come, with as many groups left."""
        found, op = 0, before.prev_op
        while op is not None:
            if isinstance(op, AsyncCommitGroupOp):
                if not groups:
                    return found
                groups -= 1
            elif isinstance(op, Copy):
                found += self._instructions(op)
            elif isinstance(op, tile.CallOp) or _has_copies(op):
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

    def _instructions(self, op: Copy) -> int:
        if op not in self.known:
            access = direct_accesses(op, self.facts, self.lane_bytes)
            self.known[op] = 0 if access is None else len(access.accesses)
        return self.known[op]


def _has_copies(op: Operation) -> bool:
    """Whether copies, or groups, are made in the op's regions."""
    return bool(op.regions) and any(isinstance(inner, Copy | AsyncCommitGroupOp) for inner in op.walk())
