"""Memory access through buffer descriptors: a scalar base pointer and a tile of 32-bit element offsets."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Attribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.effects import Effects, by_op, copied, effects, reads, writes, writes_memory
from tritonx.dialects.gpu_layout.rules import MEMDESC, check_mutable, i1_like, i32_like, mem_desc
from tritonx.dialects.gpu_layout.types import ASYNC_TOKEN
from tritonx.dialects.layout_constraints import SAME_LAYOUT, LayoutConstraint, SameLayout
from tritonx.dialects.tile.atomic import atomic_effects, check_swap, works_on
from tritonx.dialects.tile.cache_policy import WORDS, cached
from tritonx.dialects.tile.enums import CacheModifier, MemSemantic, MemSyncScope, RMWOp
from tritonx.dialects.tile.rules import tensor_type
from tritonx.dialects.tile.types import PointerType
from tritonx.ir.declaration import TypeRules, enum_prop, same
from tritonx.ir.define import define
from tritonx.ir.spelling import Spellings, TextLevel
from tritonx.ir.types import CONSTANT, GLOBAL, bit_width, element_type, is_float, shape_of

CACHE = "oilist(`cacheModifier` `=` $cache)"
STRIDE = "(`stride` `=` $stride^)?"


def _check_pointer(type_: Attribute, data: Attribute) -> None:
    """The base of a buffer points to elements of the data in global memory, which may be constant."""
    assert isinstance(type_, PointerType)
    if type_.pointee != element_type(data) or type_.address_space not in (GLOBAL, CONSTANT):
        raise VerifyException(f"{type_} does not point to {element_type(data)} in global memory")


def _example(text: str) -> Spellings:
    """Of an access, as before 3.9, which has the pointer's type and another word for the cache."""
    before, _, type_ = text.rpartition(" : ")
    since = f"{before.replace(WORD, POLICY)} : !tt.ptr<f32> -> {type_}"
    return Spellings({TextLevel.V3_6: text, TextLevel.V3_9: since}, CACHED.read, CACHED.write)


COPY = (
    "%r = amdg.buffer_load_to_local %p[%offsets] into %memory : {}[tensor<128xi32, #blocked>] "
    " -> <128xf32, #shared, #smem, mutable>"
)
CACHED = cached(WORDS)
WORD = "cacheModifier = cg"
POLICY = "{cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_normal>}"


@define
class BufferLoadOp(IRDLOperation):
    """Reads `ptr[offsets]`; where the mask is false, `other` (or zero). `stride` lets the hardware check rows."""

    name = "amdg.buffer_load"
    ptr = operand_def(PointerType)
    offsets = operand_def()
    stride = opt_operand_def(i32)
    mask = opt_operand_def()
    other = opt_operand_def()
    cache = enum_prop(CacheModifier, default=CacheModifier.NONE)
    result = result_def()
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    LAYOUTS: ClassVar[LayoutConstraint] = SAME_LAYOUT
    EFFECTS: ClassVar[Effects] = effects(reads("ptr"))
    SPELLINGS: ClassVar[Spellings] = _example(
        "%r = amdg.buffer_load %p[%offsets] cacheModifier = cg : tensor<128xf32, #blocked>"
    )
    FORMAT: ClassVar[str] = (
        f"$ptr `[` $offsets `]` (`,` $mask^)? (`,` $other^)? {CACHE} {STRIDE} attr-dict `:` behind($ptr, $result)"
    )
    TYPES: ClassVar[TypeRules] = {
        "offsets": ("result", i32_like),
        "mask": ("result", i1_like),
        "other": ("result", same),
    }

    def verify_(self) -> None:
        tensor_type(self.result.type, "result")
        _check_pointer(self.ptr.type, self.result.type)
        if self.other is not None and self.mask is None:
            raise VerifyException("'other' needs a mask")


@define
class BufferStoreOp(IRDLOperation):
    """Writes `ptr[offsets]` where the mask is true."""

    name = "amdg.buffer_store"
    value = operand_def()
    ptr = operand_def(PointerType)
    offsets = operand_def()
    stride = opt_operand_def(i32)
    mask = opt_operand_def()
    cache = enum_prop(CacheModifier, default=CacheModifier.NONE)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    LAYOUTS: ClassVar[LayoutConstraint] = SAME_LAYOUT
    EFFECTS: ClassVar[Effects] = effects(writes("ptr"))
    SPELLINGS: ClassVar[Spellings] = _example(
        "amdg.buffer_store %data, %p[%offsets] cacheModifier = cg : tensor<128xf32, #blocked>"
    )
    FORMAT: ClassVar[str] = (
        f"$value `,` $ptr `[` $offsets `]` (`,` $mask^)? {CACHE} {STRIDE} attr-dict `:` behind($ptr, $value)"
    )
    TYPES: ClassVar[TypeRules] = {
        "offsets": ("value", i32_like),
        "mask": ("value", i1_like),
    }

    def verify_(self) -> None:
        tensor_type(self.value.type, "value")
        _check_pointer(self.ptr.type, self.value.type)


@define
class BufferLoadToLocalOp(IRDLOperation):
    """Copies `ptr[offsets]` into shared memory without passing through registers."""

    name = "amdg.buffer_load_to_local"
    dest = operand_def(MEMDESC)
    ptr = operand_def(PointerType)
    offsets = operand_def()
    mask = opt_operand_def()
    other = opt_operand_def()
    stride = opt_operand_def(i32)
    cache = enum_prop(CacheModifier, default=CacheModifier.NONE)
    contiguity = prop_def(IntegerAttr.constr(i32), default_value=IntegerAttr(1, i32))
    token = result_def(ASYNC_TOKEN)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    LAYOUTS: ClassVar[LayoutConstraint] = SAME_LAYOUT
    EFFECTS: ClassVar[Effects] = effects(copied(reads("ptr")), copied(writes_memory("dest")))
    SPELLINGS: ClassVar[Spellings] = Spellings(
        {TextLevel.V3_6: COPY.format("<f32>"), TextLevel.V3_9: COPY.format("!tt.ptr<f32>")}, CACHED.read, CACHED.write
    )
    FORMAT: ClassVar[str] = (
        f"$ptr `[` $offsets `]` (`mask` `=` $mask^)? (`other` `=` $other^)? {STRIDE} {CACHE} `into` $dest attr-dict"
        " `:` pointer($ptr) `[` type($offsets) `]` type($other) `->` elided($dest, !ttg.memdesc)"
    )
    TYPES: ClassVar[TypeRules] = {"mask": ("offsets", i1_like)}

    def verify_(self) -> None:
        destination = mem_desc(self.dest.type)
        check_mutable(destination)
        if shape_of(self.offsets.type) != destination.shape:
            raise VerifyException(f"offsets and destination differ in shape: {self.offsets.type} and {destination}")
        _check_pointer(self.ptr.type, destination.element_type)
        if self.offsets.type != i32_like(self.offsets.type):
            raise VerifyException(f"offsets must be i32, got {self.offsets.type}")
        if self.other is not None and self.mask is None:
            raise VerifyException("'other' needs a mask")


@define
class BufferAtomicRMWOp(IRDLOperation):
    """Replaces `ptr[offsets]` by a function of it and `value`, atomically element by element; gives the old values."""

    name = "amdg.buffer_atomic_rmw"
    atomic_rmw_op = enum_prop(RMWOp)
    ptr = operand_def(PointerType)
    offsets = operand_def()
    value = operand_def()
    stride = opt_operand_def(i32)
    mask = opt_operand_def()
    sem = enum_prop(MemSemantic)
    scope = enum_prop(MemSyncScope)
    result = result_def()
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    LAYOUTS: ClassVar[LayoutConstraint] = SameLayout()
    EFFECTS: ClassVar[Effects] = by_op(atomic_effects)
    FORMAT: ClassVar[str] = (
        f"$atomic_rmw_op `,` $sem `,` $scope `,` $value `,` $ptr `[` $offsets `]` (`,` $mask^)? {STRIDE}"
        " attr-dict `:` behind($ptr, $result)"
    )
    TYPES: ClassVar[TypeRules] = {
        "value": ("result", same),
        "offsets": ("result", i32_like),
        "mask": ("result", i1_like),
    }

    def verify_(self) -> None:
        kind = RMWOp(self.atomic_rmw_op.value.data)
        element = element_type(tensor_type(self.result.type, "result"))
        _check_pointer(self.ptr.type, element)
        # The hardware orders floats as well, of words (CDNA3 ISA, "Memory Buffer Instructions").
        orders = kind in (RMWOp.MAX, RMWOp.MIN) and is_float(element)
        if not (bit_width(element) in (32, 64) if orders else works_on(kind, element)):
            raise VerifyException(f"{kind.keyword} does not work on {self.value.type}")


@define
class BufferAtomicCASOp(IRDLOperation):
    """Replaces `ptr[offsets]` by `val` where it equals `cmp`, atomically element by element; gives the old values."""

    name = "amdg.buffer_atomic_cas"
    ptr = operand_def(PointerType)
    offsets = operand_def()
    cmp = operand_def()
    val = operand_def()
    stride = opt_operand_def(i32)
    sem = enum_prop(MemSemantic)
    scope = enum_prop(MemSyncScope)
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = SameLayout()
    EFFECTS: ClassVar[Effects] = by_op(atomic_effects)
    FORMAT: ClassVar[str] = (
        f"$sem `,` $scope `,` $cmp `,` $val `,` $ptr `[` $offsets `]` {STRIDE} attr-dict `:` behind($ptr, $result)"
    )
    TYPES: ClassVar[TypeRules] = {
        "cmp": ("result", same),
        "val": ("result", same),
        "offsets": ("result", i32_like),
    }

    def verify_(self) -> None:
        check_swap(tensor_type(self.result.type, "result"))
        _check_pointer(self.ptr.type, self.result.type)
