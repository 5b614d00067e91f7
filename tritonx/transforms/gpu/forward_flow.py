"""Walking a function forwards with a state, along the edges of its control flow, until nothing is added to it.

Where ways join, states unite. Ops may be inserted on the way: an op is visited again with every state that is new where
its block begins."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Generic, Protocol, Self, TypeVar

from xdsl.ir import Block, Operation

from tritonx.dialects import tile
from tritonx.dialects.control_flow import Edge, edges_from, regions_of


class State(Protocol):
    """What holds at a place; compared with ``==``."""

    def joined(self, other: Self) -> Self: ...


S = TypeVar("S", bound=State)


class ForwardFlow(ABC, Generic[S]):
    """`nothing` holds where no way leads."""

    def __init__(self, nothing: S) -> None:
        self.nothing = nothing

    @abstractmethod
    def after(self, op: Operation, state: S) -> S:
        """What holds behind an op, from what holds in front of it (of an op with regions: behind those)."""

    def before_regions(self, op: Operation, state: S) -> S:
        """What holds as the regions of an op are entered."""
        return state

    def behind_block(self, block: Block, state: S) -> S:
        """What is still said of a state where a block is left, and its values mean nothing any more."""
        return state

    def function(self, function: tile.FuncOp, state: S) -> S:
        """Walk a function that is entered with this state."""
        blocks = list(function.body.blocks)
        return self._blocks(function, blocks, {blocks[0]: state})

    def visit(self, op: Operation, state: S) -> S:
        if op.regions:
            state = self.regions(op, self.before_regions(op, state))
        return self.after(op, state)

    def regions(self, op: Operation, state: S) -> S:
        """What holds where the regions of an op are left, or passed by."""
        at: dict[Block, S] = {}
        past = self._into(at, op, edges_from(op), state)
        blocks = [block for region in regions_of(op) for block in region.blocks]
        return self._blocks(op, blocks, at).joined(past)

    def _blocks(self, op: Operation, blocks: Sequence[Block], at: dict[Block, S]) -> S:
        """What holds where an op's blocks are left, from what holds where they are entered."""
        while True:
            leaving = self.nothing
            before = dict(at)
            for block in blocks:
                if block not in at:
                    continue
                state = at[block]
                for inner in list(block.ops):
                    state = self.visit(inner, state)
                last = block.last_op
                state = self.behind_block(block, state)
                leaving = leaving.joined(self._into(at, op, edges_from(last) if last is not None else (), state))
            if at == before:
                return leaving

    def _into(self, at: dict[Block, S], op: Operation, edges: Iterable[Edge], state: S) -> S:
        """Unites a state with what holds at the blocks that the edges lead to; what leaves `op` is returned."""
        leaving = self.nothing
        for edge in edges:
            if edge.target is op:
                leaving = leaving.joined(state)
            elif isinstance(edge.target, Block):
                known = at.get(edge.target)
                at[edge.target] = state if known is None else known.joined(state)
        return leaving
