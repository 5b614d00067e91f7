"""Operands of matrix products go through shared memory in the form that the matrix loads read fastest."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass

from tritonx.dialects.gpu_layout import (
    ConvertLayoutOp,
    LocalAllocOp,
    LocalLoadOp,
    attribute_of,
    encoding_value,
    memdesc,
)
from tritonx.ir.edit import replace
from tritonx.ir.types import bit_width, element_type, encoding_of, is_tensor, shape_of, type_of
from tritonx.layouts import LayoutError, linear_layout
from tritonx.layouts.convert import goes_through_memory
from tritonx.layouts.distributed import cga_of, layout_order
from tritonx.layouts.encodings import (
    BlockedEncoding,
    DistributedEncoding,
    DotOperandEncoding,
    Ints,
    LinearEncoding,
    SwizzledSharedEncoding,
)
from tritonx.layouts.matrix_units import is_mma

ROW_BYTES = 128
"""Bytes that all banks serve at once: rows shorter than this share one phase of the swizzle."""
GROUP_BYTES = 16
"""Bytes of a row that a matrix load, or four lanes side by side, take together: 32 where elements have 64 bits. The
groups of as many rows as fill ``ROW_BYTES`` must lie in different banks.
"""


@dataclass(frozen=True)
class StageDotOperands(ModulePass):
    """Replaces a `convert_layout` to a `dot_op` layout that would exchange data between warps by a store to swizzled
    shared memory and a load from it, so that the load can be `ldmatrix`. Conversions inside a warp stay. The load is
    put in front of its first use."""

    name = "stage-dot-operands"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            if isinstance(inner, ConvertLayoutOp):
                _stage(inner)


def _stage(op: ConvertLayoutOp) -> None:
    source, target = type_of(op.src), type_of(op.result)
    if not is_tensor(source) or not is_tensor(target):
        return
    operand = _encoding(target)
    given = _encoding(source)
    if not isinstance(operand, DotOperandEncoding) or not is_mma(operand.parent):
        return
    shape, bits = shape_of(source), max(8, bit_width(element_type(source)))
    try:
        if not goes_through_memory(linear_layout(given, shape), linear_layout(operand, shape), bits):
            return
    except LayoutError:
        return
    order = memory_order(given, shape)
    shared = swizzled(operand, shape, order, bits)
    descriptor = memdesc(shape, element_type(source), attribute_of(shared))
    memory = _before(op, LocalAllocOp.create(operands=(op.src,), result_types=(descriptor,), location=op.location))
    load = LocalLoadOp.create(operands=memory.results, result_types=(target,), location=op.location)
    replace(op, _before(_first_user(op), load).results)


def _first_user(op: ConvertLayoutOp) -> Operation:
    """Where the load goes: late, so that both operands are stored before either is read and one barrier serves
    both.
    """
    block = op.parent
    users = {use.operation for use in op.result.uses}
    inside = [user for user in users if user.parent is block]
    if len(inside) < len(users) or not inside:
        return op
    return min(inside, key=block.get_operation_index) if block is not None else op


def _before(op: Operation, new: Operation) -> Operation:
    block = op.parent
    assert block is not None
    block.insert_op_before(new, op)
    return new


def _encoding(type_: TensorType[Attribute]) -> DistributedEncoding:
    attribute = encoding_of(type_)
    if attribute is None:
        raise ValueError(f"{type_} has no layout: run assign-layouts first")
    return encoding_value(attribute)


def memory_order(encoding: DistributedEncoding, shape: Ints) -> Ints:
    """The order of dims in which a thread's elements are neighbours."""
    if isinstance(encoding, BlockedEncoding):
        return encoding.order
    return layout_order(linear_layout(encoding, shape))


def swizzled(operand: DotOperandEncoding, shape: Ints, order: Ints, bits: int) -> SwizzledSharedEncoding:
    """The shared layout of an operand that is written in `order`: groups of 16 or 32 bytes, a phase for as many rows
    as fill all banks, eight or four phases (fewer where a row has fewer groups)."""
    group = GROUP_BYTES * max(1, bits // 32)
    phases = ROW_BYTES // group
    row = shape[order[0]] * bits // 8
    vec = max(1, min(group * 8 // bits, shape[order[0]]))
    per_phase = max(1, ROW_BYTES // max(1, row))
    groups = max(1, shape[order[0]] // vec)
    max_phase = max(1, min(phases // per_phase, groups))
    cga = () if isinstance(operand.parent, LinearEncoding) else cga_of(operand)
    return SwizzledSharedEncoding(vec, min(per_phase, phases), max_phase, order, cga)
