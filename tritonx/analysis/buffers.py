"""The shared memory that ops need: how much, how aligned, and under which names. From when to when says
`tritonx.analysis.lifetimes`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from math import prod
from typing import TypeGuard

from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from tritonx.analysis import scratch
from tritonx.dialects import gpu_layout, tile
from tritonx.dialects.control_flow import becomes
from tritonx.dialects.effects import Kind, Resource, effects_of, resources_of, viewed, views_of
from tritonx.dialects.gpu_layout import MemDescType, distributed_encoding, encoding_value, shared_encoding
from tritonx.dialects.interfaces import scratch_memory_of
from tritonx.dialects.layout_constraints import LookedUp, constraint_of, values_of
from tritonx.ir.dispatch import case
from tritonx.ir.failure import PassError
from tritonx.ir.properties import stated_number
from tritonx.ir.types import bit_width, element_type, encoding_of, is_tensor, shape_of, type_as, type_of
from tritonx.layouts import (
    LayoutError,
    LinearLayout,
    linear_layout,
    padded_size,
    plan_conversion,
    scratch_bytes,
    storage_shape,
)
from tritonx.layouts.convert import ConversionPlan, owners
from tritonx.layouts.encodings import (
    NvmmaSharedEncoding,
    PaddedSharedEncoding,
    SharedLinearEncoding,
    SwizzledSharedEncoding,
)
from tritonx.layouts.tiling import shape_per_cta

OFFSET = "allocation.offset"
"""Attribute of an op: the byte offset of its buffer, where memory has been placed."""

DEFAULT_ALIGNMENT = 16
"""Of scratch and plain buffers: the widest access."""

SWIZZLE_ALIGNMENT = {128: 1024, 64: 512, 32: 256, 0: 128}
"""Of buffers that a tensor-memory unit swizzles: eight rows of the swizzle width (PTX ISA, "Swizzling modes")."""

SHARED_MEMORY = "tritonx.shared_memory"
"""Attribute of a module: the bytes of shared memory that a block may have. Without it no conversion is taken to be
larger than these."""

ONE_BLOCK = "with num_ctas=1 every tile lies in one block"
"""What to do about a tile that is spread over a cluster."""


def tensor_layout(type_: Attribute) -> LinearLayout:
    """The layout of a tensor type that carries an encoding."""
    return linear_layout(distributed_encoding(type_), shape_of(type_))


def stored_bytes(type_: Attribute) -> int:
    """Bytes of an element in shared memory: an i1 takes one."""
    return max(8, bit_width(element_type(type_))) // 8


def tile_bytes(value: SSAValue) -> int:
    """Of shared memory that a tile takes."""
    type_ = type_of(value)
    count = stored_bytes(type_)
    for extent in shape_of(type_):
        count *= extent
    return count


def scratch_size(op: Operation) -> int:
    """Bytes of scratch memory that an op needs while it is executed; 0 where it declares no effect on any.

    Raises PassError where threads of several blocks would have to exchange data, and for an op that declares scratch
    memory and is not in the table.
    """
    if Resource.SCRATCH not in resources_of(op):
        return 0
    if (declared := scratch_memory_of(op)) is not None:
        return declared.size
    rule = _of_tables if tables_of(op) else SCRATCH.get(type(op))
    if rule is None:
        raise PassError(op, f"the scratch memory of {op.name} is not known, but it declares that it uses some")
    try:
        return rule(op)
    except LayoutError as error:
        raise PassError(op, str(error), ONE_BLOCK) from error


def allocates_memory(op: Operation) -> TypeGuard[gpu_layout.LocalAllocOp]:
    """Whether the op makes shared memory that its result names."""
    if Resource.MEMDESC not in resources_of(op):
        return False
    made = (v for effect in effects_of(op) or () if effect.kind is Kind.ALLOCATE for v in effect.values(op))
    return any(is_shared_memory(value) for value in made)


def is_shared_memory(value: SSAValue) -> bool:
    """Whether a value names shared memory, and not a tensor core's or no memory at all."""
    type_ = type_of(value)
    return isinstance(type_, MemDescType) and isinstance(type_.memory_space, gpu_layout.SharedMemoryAttr)


def conversion_plan(op: gpu_layout.ConvertLayoutOp) -> ConversionPlan:
    """How a conversion moves its data; raises PassError where it would have to leave the block."""
    source, target = type_of(op.src), type_of(op.result)
    try:
        return plan_conversion(
            tensor_layout(source), tensor_layout(target), 8 * stored_bytes(source), most=_shared_memory(op)
        )
    except LayoutError as error:
        raise PassError(op, str(error), ONE_BLOCK) from error


def _shared_memory(op: Operation) -> int | None:
    """What the module says that a block may have."""
    outer = op.get_toplevel_object()
    return stated_number(outer.attributes, SHARED_MEMORY) if isinstance(outer, ModuleOp) else None


def _of_conversion(op: gpu_layout.ConvertLayoutOp) -> int:
    return scratch_bytes(conversion_plan(op), 8 * stored_bytes(type_of(op.src)))


def _of_reduction(op: tile.ReduceOp) -> int:
    elements = [stored_bytes(type_of(v)) for v in op.operands]
    return scratch.reduce_bytes(tensor_layout(type_of(op.operands[0])), op.axis.value.data, elements)


def _of_scan(op: tile.ScanOp) -> int:
    elements = [stored_bytes(type_of(v)) for v in op.operands]
    return scratch.scan_bytes(tensor_layout(type_of(op.operands[0])), op.axis.value.data, elements)


def _of_atomic(op: Operation) -> int:
    """Only of one whose results are used; see its effects."""
    result = op.results[0]
    layout = tensor_layout(type_of(result)) if is_tensor(type_of(result)) else None
    return scratch.copies_bytes(layout, stored_bytes(type_of(result)))


def tables_of(op: Operation) -> tuple[SSAValue, ...]:
    """The operands from any place of which the op takes elements (`LookedUp`)."""
    declared = constraint_of(op)
    return tuple(v for name in declared.besides for v in values_of(op, name)) if isinstance(declared, LookedUp) else ()


def _of_tables(op: Operation) -> int:
    types = [type_of(table) for table in tables_of(op)]
    return sum(scratch.table_bytes(_elements(shape_of(type_)), stored_bytes(type_)) for type_ in types)


def _of_histogram(op: Operation) -> int:
    return scratch.table_bytes(_elements(shape_of(type_of(op.results[0]))), 4)


SCRATCH: dict[type[Operation], Callable[[Operation], int]] = {
    **case(gpu_layout.ConvertLayoutOp, _of_conversion),
    **case(tile.ReduceOp, _of_reduction),
    **case(tile.ScanOp, _of_scan),
    tile.AtomicRMWOp: _of_atomic,
    tile.AtomicCASOp: _of_atomic,
    tile.AtomicLoadOp: _of_atomic,
    tile.AtomicPollOp: _of_atomic,
    tile.HistogramOp: _of_histogram,
}
"""Bytes of scratch memory, for every op that declares some and has an emitter; that of tables follows from LAYOUTS, and
an op of a backend's dialect says it itself (`ScratchMemory`)."""


def scratch_alignment(op: Operation) -> int:
    """Bytes that the address of an op's scratch memory is a multiple of."""
    declared = scratch_memory_of(op)
    return DEFAULT_ALIGNMENT if declared is None else declared.alignment


def owned_by_warps(op: Operation) -> tuple[Hashable, ...] | None:
    """Which warp owns which byte of an op's scratch memory; None where two warps access the same.

    Ops with equal answers and equal scratch never meet between warps.
    """
    if (declared := scratch_memory_of(op)) is not None:
        return None if declared.owner is None else declared.owner(op)
    if not isinstance(op, gpu_layout.ConvertLayoutOp):
        return None
    owned = owners(conversion_plan(op))
    return None if owned is None else (stored_bytes(type_of(op.src)), *owned)


def _elements(shape: Iterable[int]) -> int:
    count = 1
    for size in storage_shape(tuple(shape)):
        count *= size
    return count


def allocation_size(type_: MemDescType) -> int:
    """Bytes of a block's part of an allocation, padding included."""
    encoding = shared_encoding(type_)
    rank = len(type_.shape)
    inner = type_.shape[rank - encoding.rank :]
    layout = linear_layout(encoding, inner)
    count = layout.in_size("offset")
    if isinstance(encoding, PaddedSharedEncoding):
        count = padded_size(encoding, count)
    for copies in type_.shape[: rank - encoding.rank]:
        count *= copies
    return count * max(8, _storage_bits(type_)) // 8


def _storage_bits(type_: MemDescType) -> int:
    try:
        return bit_width(type_.element_type)
    except TypeError:
        return 64


def offset_of(op: Operation) -> int:
    """The byte offset that the allocation gave to the buffer, or to the scratch memory, of an op. Raises PassError
    where it has none."""
    value = op.attributes.get(OFFSET)
    if value is None:
        raise PassError(op, f"{op.name} has no shared memory allocated", "run the pass allocate-shared-memory first")
    offset = int(value.value.data) if isinstance(value, IntegerAttr) else -1
    if offset < 0:
        raise PassError(op, f"'{OFFSET}' must be a number of bytes, got {value}")
    return offset


def allocation_alignment(op: gpu_layout.LocalAllocOp) -> int:
    """Bytes that an allocation's address is a multiple of."""
    if op.alignment is not None:
        return op.alignment.value.data
    descriptor = type_of(op.result)
    assert isinstance(descriptor, MemDescType)
    encoding = encoding_value(descriptor.encoding)
    match encoding:
        case NvmmaSharedEncoding():
            return copied_alignment(descriptor)
        case SharedLinearEncoding():
            return max(DEFAULT_ALIGNMENT, encoding.alignment)
        case _:
            return DEFAULT_ALIGNMENT


def copied_encoding(load: tile.DescriptorLoadOp) -> Attribute | None:
    """Of the memory that the copy engine fills with a block: the descriptor's, of the rank of what is loaded."""
    encoding = encoding_of(type_as(load.desc, tile.TensorDescType).block_type)
    return None if encoding is None else of_rank(encoding, len(shape_of(type_of(load.result))))


def of_rank(encoding: Attribute, rank: int) -> Attribute:
    """The form of a block that has more or fewer leading dims of one element."""
    form = encoding_value(encoding)
    if not isinstance(form, NvmmaSharedEncoding) or form.rank == rank:
        return encoding
    return gpu_layout.attribute_of(replace(form, rank=rank))


def copied_alignment(type_: MemDescType) -> int:
    """Bytes that the address of a block in shared memory is a multiple of where the copy engine reads or writes it."""
    encoding = shared_encoding(type_)
    return SWIZZLE_ALIGNMENT[encoding.swizzling_byte_width if isinstance(encoding, NvmmaSharedEncoding) else 0]


def copied_bytes(type_: MemDescType) -> int:
    """Bytes that the copy engine writes to a tile's memory: of a cluster, to that of each block."""
    encoding = shared_encoding(type_)
    splits = encoding.cga if isinstance(encoding, NvmmaSharedEncoding | SwizzledSharedEncoding) else ()
    return prod(shape_per_cta(splits, type_.shape)) * bit_width(type_.element_type) // 8


def allocated(value: SSAValue) -> gpu_layout.LocalAllocOp | None:
    """The op that made the memory which a value is a view of; None where that is not known."""
    while isinstance(owner := value.owner, Operation) and not allocates_memory(owner):
        source = viewed(owner, value)
        if source is None:
            return None
        value = source
    return owner if isinstance(owner, Operation) and allocates_memory(owner) else None


def aliases_of(value: SSAValue) -> list[SSAValue]:
    """All values that may be views of this memory."""
    found: list[SSAValue] = []
    work = [value]
    while work:
        current = work.pop()
        if current in found:
            continue
        found.append(current)
        for use in current.uses:
            op, number = use.operation, use.index
            work += [*views_of(op, number), *becomes(op, number)]
    return found
