"""Asynchronous copies from global to shared memory, their groups and waits."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, i32
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.effects import (
    Completion,
    Effect,
    Effects,
    Kind,
    copied,
    effects,
    reads,
    waits,
    writes_memory,
)
from tritonx.dialects.gpu_layout.rules import MEMDESC, check_mutable, check_same_tile
from tritonx.dialects.gpu_layout.types import ASYNC_TOKEN
from tritonx.dialects.layout_constraints import NO_TENSORS, SAME_LAYOUT, LayoutConstraint
from tritonx.dialects.tile.cache_policy import WORDS, cached
from tritonx.dialects.tile.enums import CacheModifier, EvictionPolicy
from tritonx.dialects.tile.memory import MODIFIERS
from tritonx.dialects.tile.rules import check_power_of_two, loaded_from, mask_of
from tritonx.ir.declaration import TypeRules, enum_prop
from tritonx.ir.define import define
from tritonx.ir.spelling import Spellings


@define
class AsyncCopyGlobalToLocalOp(IRDLOperation):
    """Copies what a tensor of pointers points to into shared memory, without passing through registers.

    `contiguity`: how many neighbouring elements one thread may copy at once. Where the mask is false, `other` (or
    zero) is written.
    """

    name = "ttg.async_copy_global_to_local"
    src = operand_def()
    result = operand_def(MEMDESC)
    mask = opt_operand_def()
    other = opt_operand_def()
    cache = enum_prop(CacheModifier, default=CacheModifier.NONE)
    evict = enum_prop(EvictionPolicy, default=EvictionPolicy.NORMAL)
    isVolatile = prop_def(BoolAttr, default_value=BoolAttr.from_bool(False))
    contiguity = prop_def(IntegerAttr.constr(i32), default_value=IntegerAttr(1, i32))
    token = result_def(ASYNC_TOKEN)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    LAYOUTS: ClassVar[LayoutConstraint] = SAME_LAYOUT
    EFFECTS: ClassVar[Effects] = effects(copied(reads("src")), copied(writes_memory("result")))
    SPELLINGS: ClassVar[Spellings] = cached(
        f"%r = ttg.async_copy_global_to_local %laid, %memory {WORDS}"
        " : tensor<128x!tt.ptr<f32>, #blocked> -> <128xf32, #shared, #smem, mutable>"
    )
    FORMAT: ClassVar[str] = (
        f"$src `,` $result (`mask` $mask^)? (`other` $other^)? {MODIFIERS} attr-dict"
        " `:` type($src) `->` elided($result, !ttg.memdesc)"
    )
    TYPES: ClassVar[TypeRules] = {"mask": ("src", mask_of), "other": ("src", loaded_from)}

    def verify_(self) -> None:
        check_same_tile(loaded_from(self.src.type), self.result.type)
        check_mutable(self.result.type)
        check_power_of_two(self.contiguity.value.data, "'contiguity'")
        if self.other is not None and self.mask is None:
            raise VerifyException("'other' needs a mask")


@define
class AsyncCommitGroupOp(IRDLOperation):
    """Makes one group of the copies that were issued since the last one."""

    name = "ttg.async_commit_group"
    inputTokens = var_operand_def(ASYNC_TOKEN)
    asyncToken = result_def(ASYNC_TOKEN)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(Effect(Kind.COMMIT, completion=Completion.COPY_GROUP))
    FORMAT: ClassVar[str] = "(`tokens` $inputTokens^)? attr-dict"


@define
class AsyncWaitOp(IRDLOperation):
    """Waits until at most `num` groups are under way."""

    name = "ttg.async_wait"
    asyncToken = var_operand_def(ASYNC_TOKEN)
    num = prop_def(IntegerAttr.constr(i32))
    retToken = result_def(ASYNC_TOKEN)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(waits(Completion.COPY_GROUP, "num"))
    FORMAT: ClassVar[str] = "($asyncToken^)? attr-dict"

    def verify_(self) -> None:
        if self.num.value.data < 0:
            raise VerifyException(f"'num' must not be negative, got {self.num.value.data}")
