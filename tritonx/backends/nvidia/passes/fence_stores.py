"""Stores to shared memory that a matrix unit reads are made visible to it."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import BoolAttr, ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from tritonx.analysis.buffers import aliases_of, allocated
from tritonx.dialects.effects import views_of
from tritonx.dialects.gpu_layout import LocalAllocOp, LocalStoreOp
from tritonx.dialects.nvidia import FenceAsyncSharedOp, WarpGroupDotOp
from tritonx.ir.contract import Contract
from tritonx.ir.walk import ops_in


@dataclass(frozen=True)
class FenceStores(ModulePass):
    """Fences what threads store to shared memory for warp-group products to read.

    Puts a `ttng.fence_async_shared` behind each `ttg.local_alloc` of a tile that a `ttng.warp_group_dot` reads: its
    threads store by the generic proxy, and the unit reads by the asynchronous one (PTX ISA 9.0, section 8.6). It stands
    in front of the first op of the block that reads the buffer, or another one that was stored since, or holds such an
    op; what is fenced there needs no other. The barrier behind it, for which the threads wait for each other, is
    `insert-barriers`'."""

    name = "fence-stores"
    contract = Contract(
        ("ttg",),
        on=("ttng.warp_group_dot",),
        creates=("ttng.fence_async_shared",),
        after=("expand-pipeline", "wait-for-products"),
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in ops_in(op):
            for region in inner.regions:
                for block in region.blocks:
                    _fence(block)


def _fence(block: Block) -> None:
    """The fences of one block's own stores."""
    pending = set[LocalAllocOp]()
    for op in list(block.ops):
        if pending and any(_reads(op, alloc) for alloc in pending):
            fence = FenceAsyncSharedOp.create(properties={"bCluster": BoolAttr.from_bool(False)}, location=op.location)
            block.insert_op_before(fence, op)
            pending.clear()
        if isinstance(op, FenceAsyncSharedOp):
            pending.clear()
        stored = _stored(op)
        if stored is not None and _feeds_a_product(stored):
            pending.add(stored)


def _stored(op: Operation) -> LocalAllocOp | None:
    """The buffer that an op stores a tile to."""
    if isinstance(op, LocalAllocOp):
        return None if op.src is None else op
    return allocated(op.dst) if isinstance(op, LocalStoreOp) else None


def _feeds_a_product(alloc: LocalAllocOp) -> bool:
    return any(isinstance(user, WarpGroupDotOp) for user in _readers(alloc))


def _readers(alloc: LocalAllocOp) -> list[Operation]:
    """What uses the buffer, under any name, but what only gives it one."""
    uses = (use for alias in aliases_of(alloc.result) for use in alias.uses)
    readers = (use.operation for use in uses if not views_of(use.operation, use.index))
    return [op for op in readers if not isinstance(op, LocalStoreOp)]


def _reads(op: Operation, alloc: LocalAllocOp) -> bool:
    """Whether `op` uses the buffer, itself or in its regions."""
    for reader in _readers(alloc):
        user: Operation | None = reader
        while user is not None and user.parent is not op.parent:
            user = user.parent_op()
        if user is op:
            return True
    return False
