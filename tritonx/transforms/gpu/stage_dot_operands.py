"""Operands of matrix products go through shared memory in the form that the matrix loads, or a thread's vector loads,
read fastest.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass

from tritonx.dialects import tile
from tritonx.dialects.gpu_layout import (
    ConvertLayoutOp,
    LocalAllocOp,
    LocalLoadOp,
    attribute_of,
    encoding_value,
    memdesc,
)
from tritonx.ir.edit import erase, replace
from tritonx.ir.types import bit_width, element_type, encoding_of, is_tensor, shape_of, type_of
from tritonx.layouts import LayoutError, LinearLayout, linear_layout, storage_shape
from tritonx.layouts.convert import exchange_layout, goes_through_memory
from tritonx.layouts.dims import OFFSET
from tritonx.layouts.distributed import cga_of, layout_order
from tritonx.layouts.encodings import (
    BlockedEncoding,
    DistributedEncoding,
    DotOperandEncoding,
    Ints,
    LinearEncoding,
    SharedLinearEncoding,
    SwizzledSharedEncoding,
)
from tritonx.layouts.matrix_units import is_mma, reads_slices

ROW_BYTES = 128
"""Bytes that all banks serve at once: rows shorter than this share one phase of the swizzle."""
GROUP_BYTES = 16
"""Bytes of a row that a matrix load, or four lanes side by side, take together: 32 where elements have 64 bits. The
groups of as many rows as fill ``ROW_BYTES`` must lie in different banks.
"""


STAGED_BYTES = 48 * 1024
"""What both operands of a product by multiply-adds may take together, and all that are staged for matrix units that
read slices, those made beside their product first: every target gives a block that much."""


@dataclass(frozen=True)
class StageDotOperands(ModulePass):
    """Replaces a `convert_layout` to a `dot_op` layout that would exchange data between warps by a store to shared
    memory and a load from it. Conversions inside a warp stay. The load is put in front of its first use.

    For `mma` the memory is swizzled so that the load can be `ldmatrix`. For a product by multiply-adds, or by the
    matrix units that have no such load, it lies as an exchange would put it; the load stands directly in front of the
    product, which then reads a slice of K at a time instead of keeping all of K in registers."""

    name = "stage-dot-operands"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        inside: list[Operand] = []
        outside: list[Operand] = []
        for inner in list(op.walk()):
            match inner:
                case ConvertLayoutOp():
                    _stage(inner)
                case tile.DotOp() if _is_blocked(inner):
                    operands = _operands(inner)
                    if sum(_bytes_of(type_of(x)) for x in (inner.a, inner.b)) <= STAGED_BYTES:
                        for operand in operands:
                            _stage_slices(operand)
                case tile.DotOp():
                    for operand in _operands(inner):
                        (inside if operand.convert.parent is inner.parent else outside).append(operand)
                case _:
                    pass
        taken = 0
        for operand in inside + outside:
            nbytes = _bytes_of(type_of(operand.convert.result))
            if taken + nbytes <= STAGED_BYTES:
                taken += nbytes
                _stage_slices(operand)


@dataclass(frozen=True)
class Operand:
    """Operand ``number`` of a product that reads slices of it, made by ``convert``, and how it would lie in memory."""

    dot: tile.DotOp
    number: int
    convert: ConvertLayoutOp
    memory: LinearLayout


def _is_blocked(dot: tile.DotOp) -> bool:
    """Whether a product is computed by multiply-adds."""
    type_ = type_of(dot.d)
    return is_tensor(type_) and isinstance(_encoding(type_), BlockedEncoding)


def _operands(dot: tile.DotOp) -> list[Operand]:
    """The operands of ``dot`` that could be staged for reading by slices."""
    found: list[Operand] = []
    for number, value in enumerate((dot.a, dot.b)):
        made, type_ = value.owner, type_of(value)
        if not isinstance(made, ConvertLayoutOp) or not is_tensor(type_):
            continue
        encoding = _encoding(type_)
        if isinstance(encoding, DotOperandEncoding) and reads_slices(encoding.parent):
            memory = _exchanged(made, encoding)
            if memory is not None:
                found.append(Operand(dot, number, made, memory))
    return found


def _bytes_of(type_: Attribute) -> int:
    return linear_size(shape_of(type_)) * max(8, bit_width(element_type(type_))) // 8 if is_tensor(type_) else 0


def _stage_slices(operand: Operand) -> None:
    """A buffer where the conversion stands, and its load in front of the product."""
    convert, dot = operand.convert, operand.dot
    target = type_of(convert.result)
    shared = SharedLinearEncoding(operand.memory.bases(OFFSET))
    descriptor = memdesc(shape_of(target), element_type(target), attribute_of(shared))
    alloc = LocalAllocOp.create(operands=(convert.src,), result_types=(descriptor,), location=convert.location)
    _before(convert, alloc)
    load = LocalLoadOp.create(operands=alloc.results, result_types=(target,), location=convert.location)
    dot.operands[operand.number] = _before(dot, load).results[0]
    if convert.result.first_use is None:
        erase(convert)


def _exchanged(convert: ConvertLayoutOp, operand: DotOperandEncoding) -> LinearLayout | None:
    """How the operand would lie in memory; None where the conversion needs none, or blocks would have to share it."""
    type_ = type_of(convert.src)
    if not is_tensor(type_) or cga_of(operand):
        return None
    shape, bits = shape_of(type_), max(8, bit_width(element_type(type_)))
    source, target = linear_layout(_encoding(type_), shape), linear_layout(operand, shape)
    try:
        return exchange_layout(source, target, bits) if goes_through_memory(source, target, bits) else None
    except LayoutError:
        return None


def linear_size(shape: Ints) -> int:
    """Elements of a tile in memory."""
    count = 1
    for size in storage_shape(shape):
        count *= size
    return count


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
