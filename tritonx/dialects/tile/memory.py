"""Loads, stores and block pointers."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, IntegerType, i32, i64
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.effects import OUTPUT_EFFECT, PURE, EffectList, Effects, by_op, effects, reads, writes
from tritonx.dialects.layout_constraints import NO_TENSORS, SAME_LAYOUT, LayoutConstraint
from tritonx.dialects.tile.cache_policy import WORDS, cached
from tritonx.dialects.tile.enums import CacheModifier, EvictionPolicy, PaddingOption
from tritonx.dialects.tile.rules import loaded_from, mask_of, pointer_to_element
from tritonx.ir.declaration import TypeRules, enum_prop, opt_enum_prop, same
from tritonx.ir.define import define
from tritonx.ir.spelling import Spellings, TextLevel
from tritonx.ir.types import PointerType, is_tensor, shape_of

UNTIL_3_6 = Spellings({TextLevel.V3_6: "", TextLevel.V3_8: None})
"""Later versions have no pointers to blocks."""

MODIFIERS = "oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict)"


def _check_boundary_check(op: LoadOp | StoreOp) -> None:
    """Boundary checks and padding belong to block pointers; masks to tensors of pointers."""
    axes = tuple(op.boundaryCheck.get_values())
    pointer = op.ptr.type
    if not (isinstance(pointer, PointerType) and is_tensor(pointer.pointee)):
        if axes:
            raise VerifyException("'boundaryCheck' needs a pointer to a tensor")
        return
    if op.mask is not None:
        raise VerifyException("a mask cannot be used with a pointer to a tensor")
    rank = len(shape_of(pointer.pointee))
    if any(not 0 <= axis < rank for axis in axes):
        raise VerifyException(f"'boundaryCheck' names an axis that a tensor of {rank} dimensions lacks: {axes}")


def _load_effects(op: LoadOp) -> EffectList:
    """A volatile access is seen by others; it is neither repeated nor dropped."""
    read = reads("ptr")
    return (read, OUTPUT_EFFECT) if op.isVolatile.value.data else (read,)


@define
class LoadOp(IRDLOperation):
    """Reads through a pointer, a tensor of pointers or a block pointer.

    Where the mask is false nothing is read and the result is `other`, or undefined without one.
    """

    name = "tt.load"
    ptr = operand_def()
    mask = opt_operand_def()
    other = opt_operand_def()
    boundaryCheck = opt_prop_def(DenseArrayBase.constr(i32), default_value=DenseArrayBase.from_list(i32, []))
    padding = opt_enum_prop(PaddingOption)
    cache = enum_prop(CacheModifier, default=CacheModifier.NONE)
    evict = enum_prop(EvictionPolicy, default=EvictionPolicy.NORMAL)
    isVolatile = prop_def(BoolAttr, default_value=BoolAttr.from_bool(False))
    result = result_def()
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    LAYOUTS: ClassVar[LayoutConstraint] = SAME_LAYOUT
    EFFECTS: ClassVar[Effects] = by_op(_load_effects)
    SPELLINGS: ClassVar[Spellings] = cached(f"%r = tt.load %ptrs {WORDS} : tensor<128x!tt.ptr<f32>>")
    FORMAT: ClassVar[str] = f"$ptr (`,` $mask^)? (`,` $other^)? {MODIFIERS} attr-dict `:` type($ptr)"
    TYPES: ClassVar[TypeRules] = {
        "result": ("ptr", loaded_from),
        "mask": ("ptr", mask_of),
        "other": ("ptr", loaded_from),
    }

    def verify_(self) -> None:
        if self.other is not None and self.mask is None:
            raise VerifyException("'other' needs a mask")
        _check_boundary_check(self)


@define
class StoreOp(IRDLOperation):
    """Writes through a pointer, a tensor of pointers or a block pointer, where the mask is true."""

    name = "tt.store"
    ptr = operand_def()
    value = operand_def()
    mask = opt_operand_def()
    boundaryCheck = opt_prop_def(DenseArrayBase.constr(i32), default_value=DenseArrayBase.from_list(i32, []))
    cache = enum_prop(CacheModifier, default=CacheModifier.NONE)
    evict = enum_prop(EvictionPolicy, default=EvictionPolicy.NORMAL)
    LAYOUTS: ClassVar[LayoutConstraint] = SAME_LAYOUT
    EFFECTS: ClassVar[Effects] = effects(writes("ptr"))
    SPELLINGS: ClassVar[Spellings] = cached(f"tt.store %ptrs, %floats {WORDS} : tensor<128x!tt.ptr<f32>>")
    FORMAT: ClassVar[str] = f"$ptr `,` $value (`,` $mask^)? {MODIFIERS} attr-dict `:` type($ptr)"
    TYPES: ClassVar[TypeRules] = {"value": ("ptr", loaded_from), "mask": ("ptr", mask_of)}

    def verify_(self) -> None:
        _check_boundary_check(self)


@define
class MakeTensorPtrOp(IRDLOperation):
    """A block pointer: base address, extents and strides of the whole tensor, and where the block begins."""

    name = "tt.make_tensor_ptr"
    base = operand_def()
    shape = var_operand_def(i64)
    strides = var_operand_def(i64)
    offsets = var_operand_def(i32)
    order = prop_def(DenseArrayBase.constr(i32))
    result = result_def()
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = PURE
    SPELLINGS: ClassVar[Spellings] = UNTIL_3_6
    FORMAT: ClassVar[str] = (
        "$base `,` `[` $shape `]` `,` `[` $strides `]` `,` `[` $offsets `]` attr-dict `:` elided($result, !tt.ptr)"
    )
    TYPES: ClassVar[TypeRules] = {"base": ("result", pointer_to_element)}

    @staticmethod
    def segment_sizes(count: int) -> tuple[int, ...] | None:
        rank, rest = divmod(count - 1, 3)
        return (1, rank, rank, rank) if rest == 0 and rank > 0 else None

    def verify_(self) -> None:
        pointer = self.result.type
        rank = len(shape_of(pointer.pointee)) if isinstance(pointer, PointerType) else 0
        if {len(self.shape), len(self.strides), len(self.offsets), len(self.order.get_values())} != {rank}:
            raise VerifyException(
                f"shape, strides, offsets and order must each have {rank} entries, as the block has dimensions"
            )
        if sorted(self.order.get_values()) != list(range(rank)):
            raise VerifyException(f"'order' must be a permutation of 0..{rank - 1}")


@define
class AdvanceOp(IRDLOperation):
    """A block pointer whose block begins `offsets` elements further on."""

    name = "tt.advance"
    ptr = operand_def()
    offsets = var_operand_def(IntegerType(32))
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = PURE
    SPELLINGS: ClassVar[Spellings] = UNTIL_3_6
    FORMAT: ClassVar[str] = "$ptr `,` `[` $offsets `]` attr-dict `:` elided($result, !tt.ptr)"
    TYPES: ClassVar[TypeRules] = {"ptr": ("result", same)}

    def verify_(self) -> None:
        pointer = self.ptr.type
        if not (isinstance(pointer, PointerType) and is_tensor(pointer.pointee)):
            raise VerifyException(f"'ptr' must point to a tensor, got {pointer}")
        if len(self.offsets) != len(shape_of(pointer.pointee)):
            raise VerifyException(
                f"expected one offset for each dimension of {pointer.pointee}, got {len(self.offsets)}"
            )
