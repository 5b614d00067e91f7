"""Dominators of the blocks of a region, in close to linear time (Lengauer and Tarjan, "A fast algorithm for finding
dominators in a flowgraph", the simple version: O(edges · log blocks)).

A block dominates another if every path from the entry to the other goes through it; the last of those on any path is
the *immediate* dominator. Sets of blocks and repeated intersections of paths, which are simpler, take quadratic time on
a long chain of blocks that all branch to one exit.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.ir import Block


def dominators(entry: Block) -> dict[Block, Block | None]:
    """Reachable block → its immediate dominator (None for ``entry``), each after its immediate dominator."""
    order, parents = _depth_first(entry)
    number = {block: i for i, block in enumerate(order)}
    predecessors: list[list[int]] = [[] for _ in order]
    for i, block in enumerate(order):
        for successor in successors_of(block):
            predecessors[number[successor]].append(i)
    forest = _Forest(list(range(len(order))))
    idom = [0] * len(order)
    waiting: list[list[int]] = [[] for _ in order]
    for block in range(len(order) - 1, 0, -1):
        for before in predecessors[block]:
            best = forest.semi[forest.best(before)]
            forest.semi[block] = min(forest.semi[block], best)
        waiting[forest.semi[block]].append(block)
        parent = parents[block]
        forest.link(parent, block)
        for below in waiting[parent]:
            best = forest.best(below)
            idom[below] = best if forest.semi[best] < forest.semi[below] else parent
        waiting[parent].clear()
    for block in range(1, len(order)):
        if idom[block] != forest.semi[block]:
            idom[block] = idom[idom[block]]
    return {block: order[idom[i]] if i else None for i, block in enumerate(order)}


def successors_of(block: Block) -> tuple[Block, ...]:
    """The blocks that a block may go on to."""
    return () if block.last_op is None else tuple(block.last_op.successors)


def _depth_first(entry: Block) -> tuple[list[Block], list[int]]:
    """The blocks that ``entry`` reaches in preorder, and for each the number of the one from which it was reached."""
    order: list[Block] = []
    parents: list[int] = []
    seen: set[Block] = set()
    stack = [(entry, 0)]
    while stack:
        block, parent = stack.pop()
        if block in seen:
            continue
        seen.add(block)
        parents.append(parent)
        number = len(order)
        order.append(block)
        stack.extend((successor, number) for successor in reversed(successors_of(block)))
    return order, parents


@dataclass
class _Forest:
    """The part of the depth-first tree that was visited, with compressed paths."""

    semi: list[int]
    """The semidominator of each block; at first the block itself."""
    ancestor: list[int | None] = field(init=False)
    label: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.ancestor = [None] * len(self.semi)
        self.label = list(range(len(self.semi)))

    def link(self, parent: int, block: int) -> None:
        self.ancestor[block] = parent

    def best(self, block: int) -> int:
        """The block of least semidominator on the path from the root of the tree of ``block``, without the root."""
        path: list[int] = []
        at = block
        while (above := self.ancestor[at]) is not None and self.ancestor[above] is not None:
            path.append(at)
            at = above
        for below in reversed(path):
            above = self.ancestor[below]
            assert above is not None
            if self.semi[self.label[above]] < self.semi[self.label[below]]:
                self.label[below] = self.label[above]
            self.ancestor[below] = self.ancestor[above]
        return self.label[block]
