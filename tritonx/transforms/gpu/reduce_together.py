"""Consecutive reductions across warps exchange what they have found behind one barrier.

A reduction folds a thread's registers, combines lanes, writes what each warp has found to shared memory, waits, and
reads. Two of them wait twice; and the assembler issues what a warp-wide instruction does not need behind it, so that
the second one's loads begin when the first one's have arrived. Together they are one op: both fold, both combine lanes,
all is written, and one barrier serves them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import islice

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tritonx.analysis.buffers import scratch_size, tensor_layout
from tritonx.analysis.registers import RegisterFile
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
from tritonx.transforms.gpu.neighbours import neighbours


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
    results: int = RegisterFile.joined
    """Results of a thread that reductions make together: they wait in registers until all are written."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for room in SharedBudget(self.shared_memory).rooms(op):
            for block in [b for each in ops_in(room.function) for region in each.regions for b in region.blocks]:
                for group in neighbours(block, _exchanging, partial(_fit, room, self.results)):
                    _join(group)


def _exchanging(op: Operation) -> tile.ReduceOp | None:
    """A reduction for which warps exchange data, and that does nothing else."""
    if not isinstance(op, tile.ReduceOp) or scratch_size(op) == 0:
        return None
    body = only_block(op.combineOp)
    return op if body is not None and all(is_speculatable(each) for each in list(body.ops)[:-1]) else None


def _fit(room: Room, most: int, group: list[tile.ReduceOp]) -> bool:
    """Whether threads hold the same elements for all, and combine them along one axis, a thread has registers for the
    results and the block memory."""
    kinds = {
        (shape_of(type_), distributed_encoding(type_), op.axis, op.reduction_ordering)
        for op in group for type_ in [type_of(op.srcs[0])]
    }  # fmt: skip
    if len(kinds) > 1:
        return False
    first = group[0]
    layout = tensor_layout(type_of(first.srcs[0]))
    along = bits_along(layout, first.axis.value.data).registers
    results = sum(len(op.srcs) for op in group) << (layout.in_bits(REGISTER) - len(along))
    return results <= most and sum(map(scratch_size, group)) <= room.for_conversions(group)


def _join(group: list[tile.ReduceOp]) -> None:
    """One op in place of the last of them."""
    builder = Builder.before(group[-1])
    builder.location = group[0].location
    arguments = [argument for side in (0, 1) for op in group for argument in _side(op, side)]
    body = Block(arg_types=[argument.type for argument in arguments])
    values: ValueMap = dict(zip(arguments, body.args, strict=True))
    returned: list[SSAValue] = []
    for op in group:
        *ops, end = op.combineOp.block.ops
        for each in ops:
            append(body, clone(each, values))
        returned += [values.get(value, value) for value in end.operands]
    append(body, tile.ReduceReturnOp.create(operands=returned, location=builder.location))
    joint = builder.create(
        tile.ReduceOp,
        operands=[value for op in group for value in op.srcs],
        result_types=[result.type for op in group for result in op.results],
        properties=dict(group[0].properties),
        regions=[Region(body)],
    )
    results = iter(joint.results)
    for op in group:
        replace(op, list(islice(results, len(op.results))))


def _side(op: tile.ReduceOp, side: int) -> tuple[SSAValue, ...]:
    """The arguments of the region for the left values (0) or the right ones."""
    count = len(op.srcs)
    return tuple(op.combineOp.block.args[side * count : (side + 1) * count])
