"""Reductions across warps that stand one after another exchange what they have found behind one barrier.

A reduction folds a thread's registers, combines lanes, writes what each warp has found to shared memory, waits, and
reads. Two of them wait twice; and the assembler issues what a warp-wide instruction does not need behind it, so that
the second one's loads begin when the first one's have arrived. Together they are one op: both fold, both combine lanes,
all is written, and one barrier serves them.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import ModulePass

from tritonx.analysis.buffers import scratch_size, tensor_layout
from tritonx.analysis.scratch import bits_along
from tritonx.analysis.shared_budget import Room, SharedBudget
from tritonx.dialects import tile
from tritonx.dialects.gpu_layout import distributed_encoding
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.define import append
from tritonx.ir.edit import ValueMap, clone, only_block, replace
from tritonx.ir.effects import is_speculatable
from tritonx.ir.types import shape_of, type_of
from tritonx.ir.walk import ops_in
from tritonx.layouts.dims import REGISTER
from tritonx.transforms.gpu.neighbours import bring_together, synchronises

MOST = 8
"""Results a thread that reductions make together: what they have found is in registers until all are written."""


@dataclass(frozen=True)
class ReduceTogether(ModulePass):
    """Makes one `tt.reduce` of several independent ones.

    They are in one block, along the same axis of tiles with one shape and layout, with warps along the axis, and
    nothing between them waits or touches shared memory. What a later one needs may be computed earlier than it was. A
    group takes what a block with `shared_memory` bytes has for it."""

    name = "reduce-together"
    contract = Contract(("ttg",), on=("tt.reduce",))

    shared_memory: int = 48 * 1024
    """Bytes of shared memory that a block may have."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for room in SharedBudget(self.shared_memory).rooms(op):
            for block in [b for each in ops_in(room.function) for region in each.regions for b in region.blocks]:
                for group in _groups(block, room):
                    _join(group)


def _groups(block: Block, room: Room) -> list[list[tile.ReduceOp]]:
    """Neighbouring reductions of which none needs another's results."""
    found: list[list[tile.ReduceOp]] = []
    group: list[tile.ReduceOp] = []
    for op in list(block.ops):
        if isinstance(op, tile.ReduceOp) and _exchanges(op):
            if group and _alike(group[0], op) and _fit([*group, op], room) and bring_together(group, op):
                group.append(op)
            else:
                found.append(group)
                group = [op]
        elif synchronises(op):
            found.append(group)
            group = []
    return [g for g in (*found, group) if len(g) > 1]


def _exchanges(op: tile.ReduceOp) -> bool:
    """Whether warps exchange data, and do nothing else."""
    body = only_block(op.combineOp)
    return scratch_size(op) > 0 and body is not None and all(is_speculatable(each) for each in list(body.ops)[:-1])


def _alike(one: tile.ReduceOp, other: tile.ReduceOp) -> bool:
    """Whether two reductions have threads hold the same elements, and combine them along the same axis."""
    types = [type_of(op.srcs[0]) for op in (one, other)]
    same = {(shape_of(type_), distributed_encoding(type_)) for type_ in types}
    return len(same) == 1 and one.axis == other.axis and one.reduction_ordering == other.reduction_ordering


def _fit(group: list[tile.ReduceOp], room: Room) -> bool:
    """Whether a thread has registers for the results of all, and the block memory."""
    layout = tensor_layout(type_of(group[0].srcs[0]))
    along = bits_along(layout, group[0].axis.value.data).registers
    results = sum(len(op.srcs) for op in group) << (layout.in_bits(REGISTER) - len(along))
    return results <= MOST and sum(map(scratch_size, group)) <= room.for_conversions(group)


def _join(group: list[tile.ReduceOp]) -> None:
    """One op where the last of them stands."""
    builder = Builder.before(group[-1])
    builder.location = group[0].location
    types = [argument.type for side in (0, 1) for op in group for argument in _side(op, side)]
    body = Block(arg_types=types)
    returned: list[SSAValue] = []
    taken, half = 0, len(types) // 2
    for op in group:
        count = len(op.srcs)
        inner = op.combineOp.block
        values: ValueMap = dict(zip(inner.args[:count], body.args[taken : taken + count], strict=True))
        values |= dict(zip(inner.args[count:], body.args[half + taken : half + taken + count], strict=True))
        *ops, end = inner.ops
        for each in ops:
            append(body, clone(each, values))
        returned += [values.get(value, value) for value in end.operands]
        taken += count
    append(body, tile.ReduceReturnOp.create(operands=returned, location=builder.location))
    joint = builder.create(
        tile.ReduceOp,
        operands=[value for op in group for value in op.srcs],
        result_types=[result.type for op in group for result in op.results],
        properties=dict(group[0].properties),
        regions=[Region(body)],
    )
    results = list(joint.results)
    for op in group:
        replace(op, [results.pop(0) for _ in op.results])


def _side(op: tile.ReduceOp, side: int) -> tuple[SSAValue, ...]:
    """The arguments of the region for the left values (0) or the right ones."""
    count = len(op.srcs)
    return tuple(op.combineOp.block.args[side * count : (side + 1) * count])
