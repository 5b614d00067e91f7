"""Blocks that are generated detached: what becomes of their ops.

Branches, loops and conditional expressions are generated into blocks of their own, and only then is it known whether
an op is made of them. Nothing that writes may be lost on the way, so a block ends in one of three ways: as a region of
an op, unpacked at the generator's insertion point, or discarded, which is for what is generated again and for what
Python does not evaluate. ``ModuleGenerator`` records every block that ops were put into, and ``lost`` finds what ended
otherwise.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

from xdsl.ir import Block, Operation, SSAValue

from tritonx.ir.builder import Builder
from tritonx.ir.effects import may_write


class RecordingBuilder(Builder):
    """A builder that knows every block it was put into."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[Block] = []

    @contextmanager
    def at(self, block: Block, *, nested: bool = False) -> Generator[Builder]:
        self.opened.append(block)
        with super().at(block, nested=nested):
            yield self


def writes(op: Operation) -> bool:
    """Whether dropping the op would be seen."""
    return may_write(op)


def has_effects(block: Block) -> bool:
    """Whether an op of the block writes."""
    return any(map(writes, block.ops))


def discard(block: Block) -> None:
    """Drop the block, so that values outside lose the uses in it."""
    block.erase(safe_erase=False)


def unpack(builder: Builder, block: Block, values: Sequence[SSAValue] = ()) -> None:
    """Put the ops of a detached block where the builder is, its arguments being ``values``."""
    for argument, value in zip(block.args, values, strict=True):
        argument.replace_all_uses_with(value)
    for op in list(block.ops):
        op.detach()
        builder.insert(op)


def discard_since(builder: RecordingBuilder, mark: int) -> None:
    """Drop what was generated detached into blocks from the ``mark``-th on that the builder was put into."""
    opened = builder.opened[mark:]
    del builder.opened[mark:]
    for block in opened:
        if block.parent is None:
            discard(block)


def lost(blocks: Iterable[Block]) -> Operation | None:
    """An op that writes in a block that belongs to nothing and was not discarded either."""
    for block in blocks:
        if block.parent is None:
            for op in block.ops:
                if op.parent is block and writes(op):
                    return op
    return None
