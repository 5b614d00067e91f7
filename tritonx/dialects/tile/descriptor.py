"""Tensor descriptors: a tensor in global memory that is read and written block by block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Attribute
from xdsl.irdl import AttrSizedOperandSegments, IRDLOperation, operand_def, result_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.effects import PURE, Effects, effects, reads, writes
from tritonx.dialects.layout_constraints import NO_TENSORS, SAME_LAYOUT, LayoutConstraint, SameLayout
from tritonx.dialects.tile.atomic import reduces
from tritonx.dialects.tile.cache_policy import WORDS, cached
from tritonx.dialects.tile.enums import CacheModifier, DescriptorReduceKind, EvictionPolicy, PaddingOption
from tritonx.dialects.tile.memory import MODIFIERS
from tritonx.dialects.tile.rules import pointer_to_element, signless
from tritonx.dialects.tile.types import TensorDescType
from tritonx.ir.declaration import TypeRules, enum_prop
from tritonx.ir.define import define
from tritonx.ir.spelling import Spellings
from tritonx.ir.types import element_type, is_integer, is_tensor, shape_of

DESCRIPTOR = "tt.descriptor"
"""On a kernel's parameter that is a descriptor still: which of its source's descriptors it is, counted from 0."""

PARTIAL_END = "tt.partial_end"
"""On a kernel's parameter that is a descriptor: its rows end within a piece of 16 bytes."""

ROUNDS = "tt.round_f32_to_tf32"
"""On a kernel's parameter that is a descriptor: what is read through it is rounded to tf32."""

OF_POINTERS = "tt.of_pointers"
"""On a descriptor that stands for regular pointers if its strides are above 0, which its launch is to ask."""

OUTSIDE = -(1 << 30)
"""An index at which no element of a block is in the tensor, however large it is."""


def _elements(shape: tuple[int, ...]) -> int:
    product = 1
    for size in shape:
        product *= size
    return product


def dropped_dims(block: Sequence[int], tile: Sequence[int]) -> int | None:
    """How many dims of one element a descriptor's block has in front of those of a tile; None where the tile is no such
    part of it."""
    more = len(block) - len(tile)
    same = more >= 0 and tuple(block[more:]) == tuple(tile)
    return more if same and all(size == 1 for size in block[:more]) else None


def _check_block(descriptor: Attribute, block: Attribute, indices: int) -> None:
    """A block of a descriptor has its element type and its shape, leading dimensions of size 1 aside."""
    assert isinstance(descriptor, TensorDescType)
    if not is_tensor(block):
        raise VerifyException(f"a block must be a tensor, got {block}")
    if element_type(block) != signless(descriptor.element_type):
        raise VerifyException(f"the element types of descriptor and block differ: {descriptor} and {block}")
    if _elements(descriptor.shape) != _elements(shape_of(block)):
        raise VerifyException(f"descriptor and block differ in size: {descriptor} and {block}")
    if indices != len(descriptor.shape):
        raise VerifyException(f"{descriptor} needs {len(descriptor.shape)} indices, got {indices}")


def check_reduction(kind: int, descriptor: Attribute) -> None:
    """Elements of the descriptor's type can be combined in this way."""
    assert isinstance(descriptor, TensorDescType)
    if not reduces(DescriptorReduceKind(kind), descriptor.element_type):
        raise VerifyException(f"{DescriptorReduceKind(kind).name.lower()} does not work on {descriptor.element_type}")


def _check_rows(descriptor: Attribute, x_offsets: Attribute, block: Attribute) -> None:
    """Gather and scatter move one row of the descriptor for every element of `x_offsets`."""
    assert isinstance(descriptor, TensorDescType)
    if not is_tensor(block) or len(shape_of(block)) != 2:
        raise VerifyException(f"rows form a tensor of rank 2, got {block}")
    if len(descriptor.shape) != 2 or descriptor.shape[0] != 1:
        raise VerifyException(f"the descriptor's block must be a single row, got {descriptor}")
    if signless(descriptor.element_type) != element_type(block):
        raise VerifyException(f"the element types of descriptor and rows differ: {descriptor} and {block}")
    rows = shape_of(x_offsets)
    if len(rows) != 1 or not is_integer(x_offsets) or rows[0] != shape_of(block)[0]:
        raise VerifyException(f"'x_offsets' needs one integer for each row of {block}, got {x_offsets}")
    if shape_of(block)[1] != descriptor.shape[1]:
        raise VerifyException(f"rows and descriptor differ in width: {block} and {descriptor}")
    if rows[0] < 8:
        raise VerifyException(f"at least 8 rows are needed, got {rows[0]}")
    bits = getattr(element_type(block), "bitwidth", 32)
    if shape_of(block)[1] < 32 // bits * 8:
        raise VerifyException(
            f"rows of {element_type(block)} need at least {32 // bits * 8} elements, got {shape_of(block)[1]}"
        )


@define
class MakeTensorDescOp(IRDLOperation):
    """A descriptor made on the device: base address, extents (i32) and strides in elements (i64, the last one is 1)."""

    name = "tt.make_tensor_descriptor"
    base = operand_def()
    shape = var_operand_def(i32)
    strides = var_operand_def(i64)
    padding = enum_prop(PaddingOption, default=PaddingOption.PAD_ZERO)
    result = result_def(TensorDescType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = (
        "$base `,` `[` $shape `]` `,` `[` $strides `]` attr-dict"
        " `:` elided($base, !tt.ptr) `,` elided($result, !tt.tensordesc)"
    )
    TYPES: ClassVar[TypeRules] = {"base": ("result", pointer_to_element)}

    @staticmethod
    def segment_sizes(count: int) -> tuple[int, ...] | None:
        rank, rest = divmod(count - 1, 2)
        return (1, rank, rank) if rest == 0 and rank > 0 else None

    def verify_(self) -> None:
        descriptor = self.result.type
        assert isinstance(descriptor, TensorDescType)
        rank = len(descriptor.shape)
        if len(self.shape) != rank or len(self.strides) != rank:
            raise VerifyException(
                f"{descriptor} needs {rank} extents and strides, got {len(self.shape)} and {len(self.strides)}"
            )


@define
class DescriptorLoadOp(IRDLOperation):
    """Reads the block at `indices`; the result may drop leading dimensions of size 1."""

    name = "tt.descriptor_load"
    desc = operand_def(TensorDescType)
    indices = var_operand_def(i32)
    cache = enum_prop(CacheModifier, default=CacheModifier.NONE)
    evict = enum_prop(EvictionPolicy, default=EvictionPolicy.NORMAL)
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = SAME_LAYOUT
    EFFECTS: ClassVar[Effects] = effects(reads("desc"))
    SPELLINGS: ClassVar[Spellings] = cached(
        f"%r = tt.descriptor_load %desc[%i] {WORDS} : !tt.tensordesc<tensor<128xf32>> -> tensor<128xf32>"
    )
    FORMAT: ClassVar[str] = f"$desc `[` $indices `]` {MODIFIERS} attr-dict `:` type($desc) `->` type($result)"

    def verify_(self) -> None:
        _check_block(self.desc.type, self.result.type, len(self.indices))


@define
class DescriptorStoreOp(IRDLOperation):
    """Writes the block at `indices`."""

    name = "tt.descriptor_store"
    desc = operand_def(TensorDescType)
    src = operand_def()
    indices = var_operand_def(i32)
    LAYOUTS: ClassVar[LayoutConstraint] = SAME_LAYOUT
    EFFECTS: ClassVar[Effects] = effects(writes("desc"))
    FORMAT: ClassVar[str] = "$desc `[` $indices `]` `,` $src attr-dict `:` type($desc) `,` type($src)"

    def verify_(self) -> None:
        _check_block(self.desc.type, self.src.type, len(self.indices))


@define
class DescriptorReduceOp(IRDLOperation):
    """Combines the block at `indices` with `src`, atomically element by element."""

    name = "tt.descriptor_reduce"
    kind = enum_prop(DescriptorReduceKind)
    desc = operand_def(TensorDescType)
    src = operand_def()
    indices = var_operand_def(i32)
    LAYOUTS: ClassVar[LayoutConstraint] = SAME_LAYOUT
    EFFECTS: ClassVar[Effects] = effects(reads("desc"), writes("desc"))
    FORMAT: ClassVar[str] = "$kind `,` $desc `[` $indices `]` `,` $src attr-dict `:` type($desc) `,` type($src)"

    def verify_(self) -> None:
        _check_block(self.desc.type, self.src.type, len(self.indices))
        check_reduction(self.kind.value.data, self.desc.type)


@define
class DescriptorGatherOp(IRDLOperation):
    """Reads the rows `x_offsets`, each from column `y_offset` on."""

    name = "tt.descriptor_gather"
    desc = operand_def(TensorDescType)
    x_offsets = operand_def()
    y_offset = operand_def(i32)
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = SameLayout(besides=("x_offsets",))
    EFFECTS: ClassVar[Effects] = effects(reads("desc"))
    FORMAT: ClassVar[str] = "$desc `[` $x_offsets `,` $y_offset `]` attr-dict `:` functional-type(operands, results)"

    def verify_(self) -> None:
        _check_rows(self.desc.type, self.x_offsets.type, self.result.type)


@define
class DescriptorScatterOp(IRDLOperation):
    """Writes the rows `x_offsets`, each from column `y_offset` on."""

    name = "tt.descriptor_scatter"
    desc = operand_def(TensorDescType)
    x_offsets = operand_def()
    y_offset = operand_def(i32)
    src = operand_def()
    LAYOUTS: ClassVar[LayoutConstraint] = SameLayout(besides=("x_offsets",))
    EFFECTS: ClassVar[Effects] = effects(writes("desc"))
    FORMAT: ClassVar[str] = "$desc `[` $x_offsets `,` $y_offset `]` `,` $src attr-dict `:` type(operands)"

    def verify_(self) -> None:
        _check_rows(self.desc.type, self.x_offsets.type, self.src.type)
