"""Shared memory: allocation, loads and stores, views, and changes of layout."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr, i32
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, operand_def, opt_operand_def, opt_prop_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.effects import (
    PURE,
    SCRATCH,
    VIEW,
    Effect,
    Effects,
    Kind,
    Resource,
    allocation,
    by_op,
    effects,
    reads_memory,
    writes_memory,
)
from tritonx.dialects.gpu_layout.rules import MEMDESC, check_mutable, check_same_tile, check_view, mem_desc
from tritonx.dialects.gpu_layout.types import ASYNC_TOKEN, MemDescType
from tritonx.dialects.layout_constraints import ANY_LAYOUTS, NO_TENSORS, AnyLayouts, LayoutConstraint, PairsUnpacked
from tritonx.dialects.tile.elementwise import CAST
from tritonx.dialects.tile.rules import check_axis, check_global, check_power_of_two, tensor_type
from tritonx.dialects.tile.types import PointerType
from tritonx.ir.define import define
from tritonx.ir.types import bit_width, element_type, encoding_of, i8, is_float, is_integer, shape_of


def _product(shape: tuple[int, ...]) -> int:
    product = 1
    for size in shape:
        product *= size
    return product


@define
class ConvertLayoutOp(IRDLOperation):
    """The same tile spread over registers, lanes, warps and blocks in another way."""

    name = "ttg.convert_layout"
    src = operand_def()
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = AnyLayouts()
    EFFECTS: ClassVar[Effects] = SCRATCH
    FORMAT: ClassVar[str] = CAST

    def verify_(self) -> None:
        a, b = tensor_type(self.src.type), tensor_type(self.result.type, "result")
        if shape_of(a) != shape_of(b) or a.element_type != b.element_type:
            raise VerifyException(f"only the layout may change, got {a} -> {b}")
        if encoding_of(a) is None or encoding_of(b) is None:
            raise VerifyException(f"both types need a layout, got {a} -> {b}")


@define
class LocalAllocOp(IRDLOperation):
    """Memory for a tile, filled with `src` if there is one."""

    name = "ttg.local_alloc"
    src = opt_operand_def()
    alignment = opt_prop_def(IntegerAttr.constr(i32))
    result = result_def(MEMDESC)
    LAYOUTS: ClassVar[LayoutConstraint] = ANY_LAYOUTS
    EFFECTS: ClassVar[Effects] = by_op(allocation)
    FORMAT: ClassVar[str] = "($src^)? attr-dict `:` functional-type(operands, results)"

    def verify_(self) -> None:
        descriptor = mem_desc(self.result.type)
        if self.src is not None:
            check_same_tile(self.src.type, descriptor)
        elif not descriptor.mutable:
            raise VerifyException("memory that nothing fills must be mutable")
        if descriptor.alloc_shape != descriptor.shape:
            raise VerifyException("an allocation is no view: its two shapes must be equal")


@define
class LocalDeallocOp(IRDLOperation):
    """Frees memory; where it is left out, the memory lives as long as it is used."""

    name = "ttg.local_dealloc"
    src = operand_def(MEMDESC)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(Effect(Kind.FREE, Resource.MEMDESC, "src"))
    FORMAT: ClassVar[str] = "$src attr-dict `:` type($src)"


@define
class LocalLoadOp(IRDLOperation):
    """Reads a tile from shared memory; a token says which asynchronous copies must have arrived."""

    name = "ttg.local_load"
    src = operand_def(MEMDESC)
    token = opt_operand_def(ASYNC_TOKEN)
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ANY_LAYOUTS
    EFFECTS: ClassVar[Effects] = effects(reads_memory("src"))
    FORMAT: ClassVar[str] = "$src (`token` $token^)? attr-dict `:` type($src) `->` type($result)"

    def verify_(self) -> None:
        check_same_tile(self.result.type, self.src.type)


@define
class LocalStoreOp(IRDLOperation):
    """Writes a tile to shared memory."""

    name = "ttg.local_store"
    src = operand_def()
    dst = operand_def(MEMDESC)
    LAYOUTS: ClassVar[LayoutConstraint] = ANY_LAYOUTS
    EFFECTS: ClassVar[Effects] = effects(writes_memory("dst"))
    FORMAT: ClassVar[str] = "$src `,` $dst attr-dict `:` type($src) `->` type($dst)"

    def verify_(self) -> None:
        check_same_tile(self.src.type, self.dst.type)
        check_mutable(self.dst.type)


@define
class MemDescIndexOp(IRDLOperation):
    """Entry `index` of the leading dimension."""

    name = "ttg.memdesc_index"
    src = operand_def(MEMDESC)
    index = operand_def(i32)
    result = result_def(MEMDESC)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = VIEW
    FORMAT: ClassVar[str] = "$src `[` $index `]` attr-dict `:` type($src) `->` type($result)"

    def verify_(self) -> None:
        a, b = check_view(self.src.type, self.result.type)
        if a.shape[1:] != b.shape and not (len(a.shape) == 1 and b.shape == (1,)):
            raise VerifyException(f"the result must have the shape without its leading dimension, got {a} -> {b}")


@define
class MemDescSubsliceOp(IRDLOperation):
    """A box of the memory, from fixed offsets on."""

    name = "ttg.memdesc_subslice"
    src = operand_def(MEMDESC)
    offsets = prop_def(DenseArrayBase.constr(i32))
    result = result_def(MEMDESC)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = VIEW
    FORMAT: ClassVar[str] = "$src `[` ints($offsets) `]` attr-dict `:` type($src) `->` type($result)"

    def verify_(self) -> None:
        a, b = check_view(self.src.type, self.result.type)
        offsets = [int(offset) for offset in self.offsets.get_values()]
        if len(a.shape) != len(b.shape) or len(offsets) != len(a.shape):
            raise VerifyException(f"source, result and offsets must have one rank, got {a} -> {b} at {offsets}")
        if a.encoding != b.encoding:
            raise VerifyException(f"a box keeps the layout, got {a} -> {b}")
        for axis, (offset, size, whole) in enumerate(zip(offsets, b.shape, a.shape, strict=True)):
            if offset < 0 or offset + size > whole:
                raise VerifyException(f"[{offset}, {offset + size}) is outside of dimension {axis} of {a}")
            if offset % size:
                raise VerifyException(f"offset {offset} of dimension {axis} is no multiple of the box's size {size}")


@define
class MemDescTransOp(IRDLOperation):
    """The memory with its dimensions permuted: dimension i of the result is dimension `order[i]` of the source."""

    name = "ttg.memdesc_trans"
    src = operand_def(MEMDESC)
    order = prop_def(DenseArrayBase.constr(i32))
    result = result_def(MEMDESC)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = VIEW
    FORMAT: ClassVar[str] = CAST

    def verify_(self) -> None:
        a, b = check_view(self.src.type, self.result.type)
        order = [int(axis) for axis in self.order.get_values()]
        if sorted(order) != list(range(len(a.shape))):
            raise VerifyException(f"'order' {order} is no permutation of {len(a.shape)} dimensions")
        if tuple(a.shape[axis] for axis in order) != b.shape:
            raise VerifyException(f"{a} permuted by {order} is not {b}")


@define
class MemDescReshapeOp(IRDLOperation):
    """The memory under another shape, elements in the same order."""

    name = "ttg.memdesc_reshape"
    src = operand_def(MEMDESC)
    result = result_def(MEMDESC)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = VIEW
    FORMAT: ClassVar[str] = CAST

    def verify_(self) -> None:
        a, b = check_view(self.src.type, self.result.type)
        if _product(a.shape) != _product(b.shape):
            raise VerifyException(f"the number of elements changes from {a} to {b}")


@define
class MemDescReinterpretOp(IRDLOperation):
    """The memory under another element type, shape and layout."""

    name = "ttg.memdesc_reinterpret"
    src = operand_def(MEMDESC)
    result = result_def(MEMDESC)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = VIEW
    FORMAT: ClassVar[str] = CAST

    def verify_(self) -> None:
        a, b = mem_desc(self.src.type), mem_desc(self.result.type)
        if a.memory_space != b.memory_space:
            raise VerifyException(f"the memory space changes from {a} to {b}")

        def bits(type_: MemDescType) -> int | None:
            element: Attribute = type_.element_type
            return bit_width(element) * _product(type_.shape) if is_float(element) or is_integer(element) else None

        old, new = bits(a), bits(b)
        if old is not None and new is not None and new > old:
            raise VerifyException(f"the result ({new} bits) is larger than the source ({old} bits)")


@define
class GlobalScratchAllocOp(IRDLOperation):
    """Global memory of this program for the time of the launch."""

    name = "ttg.global_scratch_alloc"
    nbytes = prop_def(IntegerAttr.constr(i32))
    alignment = prop_def(IntegerAttr.constr(i32))
    backend = opt_prop_def(StringAttr)
    result = result_def(PointerType)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(Effect(Kind.ALLOCATE, Resource.GLOBAL, "result"))
    FORMAT: ClassVar[str] = "attr-dict `:` type($result)"

    def verify_(self) -> None:
        check_power_of_two(self.alignment.value.data, "'alignment'")
        if self.nbytes.value.data < 1:
            raise VerifyException(f"'nbytes' must be positive, got {self.nbytes.value.data}")
        check_global(self.result.type)


@define
class Fp4ToFpOp(IRDLOperation):
    """Takes pairs of e2m1 numbers apart along `axis` and widens them."""

    name = "ttg.fp4_to_fp"
    src = operand_def()
    axis = prop_def(IntegerAttr.constr(i32))
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = PairsUnpacked()
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = CAST

    def verify_(self) -> None:
        a, b = tensor_type(self.src.type), tensor_type(self.result.type, "result")
        if element_type(a) != i8 or not is_float(b):
            raise VerifyException(f"expected pairs in i8 -> a floating-point type, got {a} -> {b}")
        axis = self.axis.value.data
        check_axis(axis, len(shape_of(a)))
        expected = tuple(size * 2 if i == axis else size for i, size in enumerate(shape_of(a)))
        if shape_of(b) != expected:
            raise VerifyException(f"dimension {axis} must double, got {a} -> {b}")
