"""Loads onto the DMA engine, which copies while the units compute."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from tritonx.backends.tile import (
    Contract,
    Kind,
    effects_of,
    element_type,
    insert_before,
    is_pointer,
    is_tensor,
    replace,
    tile,
)
from tritonx_toy.dialect import CopyAsyncOp, ReadOp, WaitOp


@dataclass(frozen=True)
class CopyAhead(ModulePass):
    """Loads of tiles become copies, waited for where the tile is used.

    Each becomes a copy where it stands, and a wait and a read of the buffer where the tile is first used, or where its
    block ends, memory may be written or a region begins: until there the copy may go on beside what else is done.
    Leaves the IR valid, with each copy waited for."""

    name = "toy-copy-ahead"
    contract = Contract(("tt",), on=("tt.load",), creates=("toy.copy_async", "toy.wait", "toy.read"))
    copies: int = 4
    """So many may be under way at a time; with 0 loads stay what they are."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for block in [b for inner in op.walk() for region in inner.regions for b in region.blocks]:
            _Schedule(self.copies).run(block)


@dataclass
class _Schedule:
    """The copies of one block that are under way, the oldest first, each with the load that it stands for."""

    most: int
    pending: deque[tuple[CopyAsyncOp, tile.LoadOp]] = field(default_factory=deque[tuple[CopyAsyncOp, tile.LoadOp]])

    def run(self, block: Block) -> None:
        for op in list(block.ops):
            self.finish(op, self.needed_by(op))
            if self.most and isinstance(op, tile.LoadOp) and _is_copied(op):
                self.finish(op, len(self.pending) + 1 - self.most)
                self.start(op)

    def needed_by(self, op: Operation) -> int:
        """How many of the oldest must be over when ``op`` begins."""
        if op.next_op is None or op.regions or _writes(op):
            return len(self.pending)
        used = [n for n, (_, load) in enumerate(self.pending, 1) if load.result in op.operands]
        return max(used, default=0)

    def start(self, load: tile.LoadOp) -> None:
        copy = CopyAsyncOp.create(
            operands=load.operands,
            result_types=[CopyAsyncOp.TYPES["buffer"][1](load.ptr.type)],
            location=load.location,
        )
        insert_before(copy, load)
        self.pending.append((copy, load))

    def finish(self, before: Operation, count: int) -> None:
        """Wait for the ``count`` oldest in front of ``before``, and read their buffers."""
        if count <= 0:
            return
        left = IntegerAttr(len(self.pending) - count, i32)
        first = self.pending[0][1]
        insert_before(WaitOp.create(properties={"left": left}, location=first.location), before)
        for copy, load in [self.pending.popleft() for _ in range(count)]:
            read = ReadOp.create(operands=[copy.buffer], result_types=[load.result.type], location=load.location)
            insert_before(read, before)
            replace(load, read.results)


def _is_copied(load: tile.LoadOp) -> bool:
    tiles = is_tensor(load.ptr.type) and is_pointer(element_type(load.ptr.type))
    return tiles and not load.isVolatile.value.data


def _writes(op: Operation) -> bool:
    """Whether an op may do more than to read; an op that does not say what it does may."""
    found = effects_of(op)
    return found is None or any(effect.kind not in (Kind.READ, Kind.TRAP, Kind.HINT) for effect in found)
