"""Conversions through shared memory that stand one after another wait once, together.

A conversion that exchanges data between warps writes its scratch memory, waits for the block, and reads. A second one
in the same memory must first wait for the first one's reads, and then for its own writes: a transposed store with a
transposed mask waits three times. Given memory of its own and written before the first one is read, the second needs
no barrier at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from tritonx.analysis.buffers import owned_by_warps, scratch_size, stored_bytes, tensor_layout
from tritonx.dialects import tile
from tritonx.dialects.gpu_layout import ConvertLayoutOp, LocalAllocOp, LocalLoadOp, attribute_of, memdesc
from tritonx.ir.edit import replace
from tritonx.ir.effects import Effect, effects_of, is_speculatable
from tritonx.ir.types import element_type, is_pointer, shape_of, type_of
from tritonx.layouts.convert import SCRATCH_LIMIT, exchange_layout
from tritonx.layouts.dims import OFFSET
from tritonx.layouts.encodings import SharedLinearEncoding


@dataclass(frozen=True)
class ShareBarriers(ModulePass):
    """Writes groups of conversions through shared memory, in one block and independent of each other, as
    `ttg.local_alloc` and `ttg.local_load`, all stores before the first load, so that one barrier serves them all.

    What a store needs may be computed earlier than it was, where that cannot be told. A group takes at most `limit`
    bytes. Conversions that are alone, or stay in their warps, are left."""

    name = "share-barriers"

    limit: int = SCRATCH_LIMIT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for block in [b for inner in op.walk() for region in inner.regions for b in region.blocks]:
            for group in _groups(block, self.limit):
                _write(group)


def _groups(block: Block, limit: int) -> list[list[ConvertLayoutOp]]:
    """Neighbouring conversions whose stores can all stand before the first use of a result."""
    found: list[list[ConvertLayoutOp]] = []
    group: list[ConvertLayoutOp] = []
    taken = 0
    for op in list(block.ops):
        if isinstance(op, ConvertLayoutOp) and (size := _exchanged_bytes(op)):
            if group and taken + size <= limit and _gather(group, op):
                group.append(op)
                taken += size
            else:
                found.append(group)
                group, taken = [op], size
        elif _synchronises(op):
            found.append(group)
            group, taken = [], 0
    return [g for g in (*found, group) if len(g) > 1]


def _exchanged_bytes(op: ConvertLayoutOp) -> int:
    """Shared memory of a conversion between warps that fits at once; 0 for others."""
    element: Any = element_type(type_of(op.src))
    if is_pointer(element) or owned_by_warps(op) is not None:
        return 0
    source = tensor_layout(type_of(op.src))
    whole = stored_bytes(type_of(op.src)) << source.total_out_bits
    return whole if scratch_size(op) == whole and not source.in_bits("block") else 0


def _synchronises(op: Operation) -> bool:
    """Whether an op may wait for other threads, or touch shared memory: no group reaches across it."""
    if isinstance(op, ConvertLayoutOp):
        return scratch_size(op) > 0
    if op.regions and not isinstance(op, tile.ReduceOp | tile.ScanOp | tile.MapElementwiseOp):
        return True
    if scratch_size(op) or isinstance(op, tile.CallOp):
        return True
    return not isinstance(op, tile.LoadOp | tile.StoreOp) and bool(effects_of(op) & Effect.WRITE)


def _gather(group: list[ConvertLayoutOp], op: ConvertLayoutOp) -> bool:
    """Move `op`, with what it alone needs, in front of the first use of the group's results; False if it cannot be."""
    block = op.parent
    assert block is not None
    place = {each: number for number, each in enumerate(block.ops)}
    users = [_user_in(block, use.operation) for each in group for use in each.result.uses]
    first = min(users, key=place.__getitem__, default=None)
    if first is None or place[first] > place[op]:
        return True
    needed: set[Operation] = set()
    work = [operand.owner for operand in op.operands]
    while work:
        current = work.pop()
        if current in group:
            return False
        if not isinstance(current, Operation) or current in needed or current.parent is not block:
            continue
        if place[current] < place[first]:
            continue
        if not is_speculatable(current):
            return False
        needed.add(current)
        work += [operand.owner for operand in current.operands]
    for moved in (*sorted(needed, key=place.__getitem__), op):
        moved.detach()
        block.insert_op_before(moved, first)
    return True


def _user_in(block: Block, user: Operation) -> Operation:
    """The op of `block` that a user is, or is inside of."""
    while user.parent is not block:
        parent = user.parent_op()
        assert parent is not None
        user = parent
    return user


def _write(group: list[ConvertLayoutOp]) -> None:
    block = group[0].parent
    assert block is not None
    for op in group:
        type_: Any = type_of(op.result)
        source, target = tensor_layout(type_of(op.src)), tensor_layout(type_)
        memory = exchange_layout(source, target, 8 * stored_bytes(type_))
        descriptor = memdesc(
            shape_of(type_), element_type(type_), attribute_of(SharedLinearEncoding(memory.bases(OFFSET)))
        )
        alloc = LocalAllocOp.create(operands=(op.src,), result_types=(descriptor,), location=op.location)
        block.insert_op_before(alloc, op)
        load = LocalLoadOp.create(operands=alloc.results, result_types=(type_,), location=op.location)
        place = {each: number for number, each in enumerate(block.ops)}
        users = [_user_in(block, use.operation) for use in op.result.uses]
        block.insert_op_before(load, min(users, key=place.__getitem__, default=op))
        replace(op, load.results)
