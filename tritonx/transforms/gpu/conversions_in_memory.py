"""What the passes share that write a conversion as a buffer in shared memory: which may be, and how."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation

from tritonx.analysis.buffers import owned_by_warps, scratch_size, stored_bytes, tensor_layout
from tritonx.dialects.gpu_layout import ConvertLayoutOp, LocalAllocOp, LocalLoadOp, attribute_of, memdesc
from tritonx.ir.edit import replace
from tritonx.ir.types import bit_width, element_type, is_pointer, shape_of, type_of
from tritonx.layouts import LinearLayout
from tritonx.layouts.convert import conversion_layout, matrix_conversion_layout
from tritonx.layouts.dims import BLOCK, OFFSET
from tritonx.layouts.encodings import SharedLinearEncoding
from tritonx.layouts.gf2 import rank


def conversion_bytes(op: ConvertLayoutOp) -> int:
    """Shared memory of a conversion between warps that fits at once, in each block of a cluster; 0 for others."""
    element = element_type(type_of(op.src))
    if is_pointer(element) or owned_by_warps(op) is not None:
        return 0
    source, target = tensor_layout(type_of(op.src)), tensor_layout(type_of(op.result))
    if source.columns(BLOCK) != target.columns(BLOCK):
        return 0
    whole = stored_bytes(type_of(op.src)) << (source.total_out_bits - rank(source.columns(BLOCK)))
    return whole if scratch_size(op) == whole else 0


def matrix_arrangement(op: ConvertLayoutOp, loads: bool, stores: bool) -> LinearLayout | None:
    """offset → index for a conversion that matrix loads or stores make cheaper; None for others."""
    if not (loads or stores) or bit_width(element_type(type_of(op.src))) < 8:
        return None
    return matrix_conversion_layout(*_sides(op), loads=loads, stores=stores)


def plain_arrangement(op: ConvertLayoutOp) -> LinearLayout:
    """offset → index for plain accesses."""
    return conversion_layout(*_sides(op))


def _sides(op: ConvertLayoutOp) -> tuple[LinearLayout, LinearLayout, int]:
    """The two layouts of a conversion, and the bits of an element in memory."""
    return tensor_layout(type_of(op.src)), tensor_layout(type_of(op.result)), 8 * stored_bytes(type_of(op.src))


def write_through_buffers(group: Sequence[tuple[ConvertLayoutOp, LinearLayout]]) -> None:
    """Write conversions of one block as `ttg.local_alloc` and `ttg.local_load`, each with the arrangement beside it
    (offset → index); a load is placed in front of the first user.
    """
    for op, memory in group:
        type_ = type_of(op.result)
        block = op.parent
        assert block is not None
        encoding = SharedLinearEncoding(memory.bases(OFFSET), tensor_layout(type_of(op.src)).bases(BLOCK))
        descriptor = memdesc(shape_of(type_), element_type(type_), attribute_of(encoding))
        alloc = LocalAllocOp.create(operands=(op.src,), result_types=(descriptor,), location=op.location)
        block.insert_op_before(alloc, op)
        load = LocalLoadOp.create(operands=alloc.results, result_types=(type_,), location=op.location)
        place = {each: number for number, each in enumerate(block.ops)}
        users = [user_in(block, use.operation) for use in op.result.uses]
        block.insert_op_before(load, min(users, key=place.__getitem__, default=op))
        replace(op, load.results)


def user_in(block: Block, user: Operation) -> Operation:
    """The op of `block` that a user is, or is inside of."""
    found = block.find_ancestor_op_in_block(user)
    assert found is not None
    return found


def first_load_before(op: Operation) -> Operation:
    """The first of the loads from shared memory directly in front of `op`; `op` where there are none. What
    is stored there is waited for with what they load, and comes between none of them and the product that they are for
    (`fuse-operand-loads`)."""
    while isinstance(op.prev_op, LocalLoadOp):
        op = op.prev_op
    return op
