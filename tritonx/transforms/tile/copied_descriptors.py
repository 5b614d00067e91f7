"""Which descriptors of a kernel a unit that copies blocks by itself can take over.

Such a unit moves pieces of 16 bytes. A block that begins within one ends the kernel (an illegal instruction), so the
unit only gets blocks that are known to begin with a piece. It reads a tensor exactly, but what it writes are whole
pieces: where a row ends within one, the rest is overwritten, which is not the tensor's. So what is written is only
the unit's where rows are known to end with a piece. Of signed 64-bit numbers it takes the smaller and the larger, of
unsigned ones it also combines the bits (of signed ones: an illegal instruction): through a descriptor, either one.

A parameter that rounds is only the unit's where nothing is written through it: its maps are of tf32 numbers, and what
is written is not to be rounded."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import prod

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.ir import Operation, SSAValue, Use

from tritonx.analysis.access_width import pointer_alignment
from tritonx.analysis.axis_info import AxisFacts, analyze_axes
from tritonx.dialects import tile
from tritonx.dialects.control_flow import loop_around, repeats
from tritonx.dialects.tile.atomic import combines_signed_bits
from tritonx.dialects.tile.descriptor import PARTIAL_END, ROUNDS, dropped_dims
from tritonx.dialects.tile.enums import DescriptorReduceKind, PaddingOption
from tritonx.ir.types import bit_width, shape_of, type_as
from tritonx.ir.walk import ops_in

ALIGNMENT = 16
"""Bytes of which a descriptor's base and its strides, but the last one, are multiples: Triton's rule. It is not checked
for one that a kernel makes. Also the size of the pieces in which blocks are written."""


def copied(module: ModuleOp, block_bytes: int | None = None) -> frozenset[SSAValue]:
    """Descriptors of kernels that only ops on whole blocks use, of at most ``block_bytes`` bytes, and that the unit can
    take. One that a kernel makes, of which it can only take some uses, is made twice."""
    found: set[SSAValue] = set()
    facts = cache(lambda: analyze_axes(module))
    for function in module.ops:
        if not isinstance(function, tile.FuncOp) or not function.body.blocks or not function.is_kernel:
            continue
        found.update(_parameters(function, facts))
        made = [op for op in ops_in(function) if isinstance(op, tile.MakeTensorDescOp)]
        found.update(op.result for op in made if _moves_blocks(op.result) and _is_taken(op, facts))
    return frozenset(value for value in found if block_bytes is None or _block_bytes(value) <= block_bytes)


def _parameters(function: tile.FuncOp, facts: Callable[[], AxisFacts]) -> list[SSAValue]:
    arguments = function.body.blocks[0].args
    attributes = function.arg_attrs or [DictionaryAttr({})] * len(arguments)
    return [
        argument
        for argument, own in zip(arguments, attributes, strict=True)
        if isinstance(argument.type, tile.TensorDescType)
        and _moves_blocks(argument)
        and not ((PARTIAL_END in own.data or ROUNDS in own.data) and any(map(_is_write, argument.uses)))
        and not _is_combined_both_ways(argument)
        and all(_begins_with_a_piece(use, facts()) for use in argument.uses)
    ]


def _is_taken(op: tile.MakeTensorDescOp, facts: Callable[[], AxisFacts]) -> bool:
    """Whether the unit takes a descriptor that a kernel makes; from now on that has only uses that the unit can do."""
    if _is_in_innermost_loop(op) or _is_padded_with_byte_nans(op) or _is_combined_both_ways(op.result):
        return False
    if not _is_aligned(op, facts()):
        return False
    uses, whole = list(op.result.uses), _ends_with_a_piece(op, facts())
    left = [use for use in uses if (_is_write(use) and not whole) or not _begins_with_a_piece(use, facts())]
    if not left:
        return True
    if len(left) == len(uses):
        return False
    other, block = op.clone(), op.parent
    assert block is not None, "an op that is walked over stands in a block"
    block.insert_op_after(other, op)
    for use in left:
        use.operation.operands[use.index] = other.result
    return True


def combines_bits(descriptor: SSAValue) -> bool:
    """Whether bits of signed 64-bit numbers are combined through the descriptor."""
    element = type_as(descriptor, tile.TensorDescType).element_type
    return any(combines_signed_bits(kind, element) for kind in _ways(descriptor))


def _is_combined_both_ways(descriptor: SSAValue) -> bool:
    """Whether signed 64-bit numbers are ordered as well as their bits combined."""
    ordering = {DescriptorReduceKind.MIN, DescriptorReduceKind.MAX}
    return combines_bits(descriptor) and not ordering.isdisjoint(_ways(descriptor))


def _ways(descriptor: SSAValue) -> set[DescriptorReduceKind]:
    """In which blocks are combined through the descriptor."""
    users = [use.operation for use in descriptor.uses]
    return {DescriptorReduceKind(op.kind.value.data) for op in users if isinstance(op, tile.DescriptorReduceOp)}


def _is_in_innermost_loop(op: Operation) -> bool:
    """Where making it anew would keep the loop from being pipelined."""
    loop = loop_around(op)
    return loop is not None and not any(repeats(inner) for inner in ops_in(loop) if inner is not loop)


def _is_padded_with_byte_nans(op: tile.MakeTensorDescOp) -> bool:
    """8-bit floats are moved as bytes, of which none is a NaN."""
    return op.padding.value.data == PaddingOption.PAD_NAN and _element_bytes(op.result) == 1


def _block_bytes(descriptor: SSAValue) -> int:
    type_ = type_as(descriptor, tile.TensorDescType)
    return prod(type_.shape) * bit_width(type_.element_type) // 8


def _element_bytes(descriptor: SSAValue) -> int:
    return max(1, bit_width(type_as(descriptor, tile.TensorDescType).element_type) // 8)


def _is_aligned(op: tile.MakeTensorDescOp, facts: AxisFacts) -> bool:
    """Whether a descriptor is known to keep the rule."""
    strides = (facts.of(stride).divisibility[0] * _element_bytes(op.result) for stride in op.strides[:-1])
    return pointer_alignment(facts, op.base) % ALIGNMENT == 0 and all(bytes_ % ALIGNMENT == 0 for bytes_ in strides)


def _ends_with_a_piece(op: tile.MakeTensorDescOp, facts: AxisFacts) -> bool:
    """Whether the innermost extent is known to be whole pieces."""
    return facts.of(op.shape[-1]).divisibility[0] * _element_bytes(op.result) % ALIGNMENT == 0


def _begins_with_a_piece(use: Use, facts: AxisFacts) -> bool:
    """Whether the block is known to begin with a piece: where it begins in memory, as rows and base are aligned."""
    op = use.operation
    assert isinstance(op, tile.DescriptorLoadOp | tile.DescriptorStoreOp | tile.DescriptorReduceOp)
    return facts.of(op.indices[-1]).divisibility[0] * _element_bytes(op.desc) % ALIGNMENT == 0


def _is_write(use: Use) -> bool:
    return isinstance(use.operation, tile.DescriptorStoreOp | tile.DescriptorReduceOp)


def _moves_blocks(descriptor: SSAValue) -> bool:
    return all(_moves_a_block(use.operation) for use in descriptor.uses)


def _moves_a_block(op: Operation) -> bool:
    """Whether an op on a descriptor moves a block as it has it; what is loaded may drop leading dimensions."""
    match op:
        case tile.DescriptorLoadOp():
            return dropped_dims(type_as(op.desc, tile.TensorDescType).shape, shape_of(op.result.type)) is not None
        case tile.DescriptorStoreOp() | tile.DescriptorReduceOp():
            block = op.src.type
        case _:
            return False
    return shape_of(block) == type_as(op.desc, tile.TensorDescType).shape
