"""Buffers in shared memory: allocation, views, and moving tiles between them and registers."""

from __future__ import annotations

from dataclasses import replace

from xdsl.ir import Attribute, Operation, SSAValue

from tritonx.conversion.gpu_to_llvm.encodings import type_encoding
from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.transfer import SharedRegisters, VectorLoads, store_registers
from tritonx.conversion.gpu_to_llvm.values import SharedView, Tile
from tritonx.dialects import gpu_layout
from tritonx.dialects.gpu_layout import MemDescType, encoding_value
from tritonx.ir.dispatch import case
from tritonx.ir.types import type_as
from tritonx.layouts import LayoutError, LinearLayout
from tritonx.layouts import access as layout_access
from tritonx.layouts.access import VECTOR_BITS, shared_access
from tritonx.layouts.dims import BLOCK, OFFSET
from tritonx.layouts.encodings import PaddedSharedEncoding
from tritonx.layouts.lookup import linear_layout


def memory_layout(type_: MemDescType) -> LinearLayout:
    """offset → index of the allocation that a view belongs to, over the view's own dims."""
    shape = type_.alloc_shape[-len(type_.shape) :]
    return linear_layout(type_encoding(type_), tuple(shape))


def paddings(type_: MemDescType) -> tuple[tuple[int, int], ...]:
    """(interval, amount) pairs of a padded layout of shared memory; none of any other."""
    encoding = encoding_value(type_.encoding)
    if isinstance(encoding, PaddedSharedEncoding):
        return tuple(zip(encoding.intervals, encoding.paddings, strict=True))
    return ()


def placement(f: FunctionEmitter, registers: Attribute, memory: MemDescType) -> LinearLayout:
    """(register, lane, warp) → offset of a tile of type ``registers`` in a buffer of type ``memory``."""
    return layout_access.placement(f.layout(registers), memory_layout(memory))


def widest(view: SharedView, bits: int) -> int:
    """Bits of the widest access of a view: a start within a vector, as a swizzle of short vectors makes it, would
    permute what the vector moves."""
    return min(VECTOR_BITS, max(8, bits) * (view.start & -view.start)) if view.start else VECTOR_BITS


def write(f: FunctionEmitter, source: SSAValue, view: SharedView, memory: MemDescType) -> None:
    """Store a tile into a buffer."""
    write_tile(f, f.get(source), source.type, view, memory)


def write_tile(f: FunctionEmitter, value: Tile, type_: Attribute, view: SharedView, memory: MemDescType) -> None:
    """Store a tile of ``type_``, as it is in registers, into a buffer."""
    places = placement(f, type_, memory)
    if places.columns(BLOCK):
        raise LayoutError("the blocks of a cluster have other parts of a tile than their buffers")
    access = shared_access(places, f.bits(value.elem), widest(view, f.bits(value.elem)))
    store_registers(f, view, access, value)


def local_alloc(op: gpu_layout.LocalAllocOp, f: FunctionEmitter) -> None:
    type_ = type_as(op.result, MemDescType)
    view = SharedView(f.shared_base(f.scratch_offset(op)), 0, paddings(type_))
    f.set(op.results[0], view)
    if op.src is not None and not f.machine.local_store(f, op):
        write(f, op.src, view, type_)


def local_store(op: gpu_layout.LocalStoreOp, f: FunctionEmitter) -> None:
    if not f.machine.local_store(f, op):
        write(f, op.src, f.view(op.dst), type_as(op.dst, MemDescType))


def registers_of(f: FunctionEmitter, type_: Attribute, memory: SSAValue) -> SharedRegisters:
    """A thread's part of the tile of ``type_`` that lies in a buffer, loaded where it is asked for."""
    registers = f.machine.local_load(f, type_, memory)
    if registers is None:
        elem = f.type(type_)
        view, places = f.view(memory), placement(f, type_, type_as(memory, MemDescType))
        registers = VectorLoads(f, view, elem, shared_access(places, f.bits(elem), widest(view, f.bits(elem))))
    return registers


def local_load(op: gpu_layout.LocalLoadOp, f: FunctionEmitter) -> None:
    f.set(op.results[0], registers_of(f, op.results[0].type, op.src).whole())


def memdesc_index(op: gpu_layout.MemDescIndexOp, f: FunctionEmitter) -> None:
    """One of several buffers that lie one after another; in a cluster each block holds its part of every one."""
    source, type_ = f.view(op.src), type_as(op.result, MemDescType)
    elements = memory_layout(type_).in_size(OFFSET)
    elem = f.type(type_.element_type)
    index = f.scalar(op.index)
    step = f.inst(f"mul i32 {index}, {elements}")
    if source.padding:
        step = f.inst(f"mul i32 {index}, {padded_extent(elements, source.padding)}")
    pointer = f.inst(f"getelementptr inbounds {elem}, {f.shared} {source.pointer}, i32 {step}")
    f.set(op.result, replace(source, pointer=pointer))


def padded_extent(elements: int, padding: tuple[tuple[int, int], ...]) -> int:
    return elements + sum(elements // interval * amount for interval, amount in padding)


def memdesc_subslice(op: gpu_layout.MemDescSubsliceOp, f: FunctionEmitter) -> None:
    """A window at static offsets; the parent's layout stays, so the corner's element offset is XORed to every
    address.
    """
    source = f.view(op.src)
    inverse = memory_layout(type_as(op.src, MemDescType)).pseudo_inverse()
    corner = dict(zip(inverse.in_dims, op.offsets.get_values(), strict=True))
    start = inverse.coordinate(inverse.apply_packed(corner), OFFSET)
    f.set(op.results[0], replace(source, start=source.start ^ start))


def same_memory(op: Operation, f: FunctionEmitter) -> None:
    """A view that only renames dims: the type's encoding says how."""
    f.set(op.results[0], f.view(op.operands[0]))


def nothing(op: Operation, f: FunctionEmitter) -> None:
    """Ends of lifetimes: the allocator has used them."""


TABLE: dict[type[Operation], Emit] = {
    **case(gpu_layout.LocalAllocOp, local_alloc),
    **case(gpu_layout.LocalStoreOp, local_store),
    **case(gpu_layout.LocalLoadOp, local_load),
    gpu_layout.LocalDeallocOp: nothing,
    **case(gpu_layout.MemDescIndexOp, memdesc_index),
    **case(gpu_layout.MemDescSubsliceOp, memdesc_subslice),
    gpu_layout.MemDescTransOp: same_memory,
    gpu_layout.MemDescReshapeOp: same_memory,
    gpu_layout.MemDescReinterpretOp: same_memory,
}
