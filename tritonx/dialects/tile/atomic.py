"""Atomic operations."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Attribute, Operation
from xdsl.irdl import IRDLOperation, operand_def, opt_operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.effects import (
    OUTPUT_EFFECT,
    SCRATCH_EFFECTS,
    Effect,
    EffectList,
    Effects,
    Kind,
    Resource,
    by_op,
    reads,
    writes,
)
from tritonx.dialects.layout_constraints import LayoutConstraint, SameLayout
from tritonx.dialects.tile.enums import DescriptorReduceKind, MemSemantic, MemSyncScope, RMWOp
from tritonx.dialects.tile.memory import LoadOp, StoreOp
from tritonx.dialects.tile.rules import loaded_from, mask_of
from tritonx.ir.declaration import TypeRules, enum_prop
from tritonx.ir.define import define
from tritonx.ir.properties import integer_property
from tritonx.ir.spelling import Spellings, TextLevel
from tritonx.ir.types import bit_width, element_type, i64, is_float, is_integer, is_unsigned

_MEETING = Effect(Kind.BARRIER, Resource.THREADS)


def atomic_effects(op: Operation) -> EffectList:
    """The old value is handed over to the threads with copies of the element, through scratch memory, if it is used."""
    access = (reads("ptr"), writes("ptr"))
    return (*access, *_fence(op), *_scratch(op))


def _fence(op: Operation) -> EffectList:
    return () if integer_property(op, "sem") == MemSemantic.RELAXED else (Effect(Kind.FENCE, Resource.GLOBAL),)


def _scratch(op: Operation) -> EffectList:
    return SCRATCH_EFFECTS if op.results[0].first_use is not None else ()


def _load_effects(op: Operation) -> EffectList:
    """Others write what it reads, so that it is neither merged nor moved. An acquire is one of all threads: they meet
    behind it."""
    fence = _fence(op)
    return (reads("ptr"), OUTPUT_EFFECT, *fence, *((_MEETING,) if fence else ()), *_scratch(op))


def _store_effects(op: Operation) -> EffectList:
    """A release is one of all threads: they meet in front of it."""
    fence = _fence(op)
    return (writes("ptr"), *fence, *((_MEETING,) if fence else ()))


def _poll_effects(op: AtomicPollOp) -> EffectList:
    """All threads wait for all polls. What one without a timeout gives is known."""
    return (reads("ptr"), OUTPUT_EFFECT, *_fence(op), _MEETING, *(() if op.timeout is None else _scratch(op)))


def works_on(kind: RMWOp, element: Attribute) -> bool:
    """Whether an atomic operation of a kind exists for elements of a type: what Triton's front end lets through, which
    is words of 32 and 64 bits and additions of 16-bit floats, and the order of these, in which descriptors reduce."""
    if not (is_integer(element) or is_float(element)):
        return False
    width = bit_width(element)
    if kind is RMWOp.FADD:
        return is_float(element) and width in (16, 32, 64)
    if kind in (RMWOp.MAX, RMWOp.MIN) and is_float(element):
        return width == 16
    return width in (32, 64) and (is_integer(element) or kind is RMWOp.XCHG)


def check_swap(type_: Attribute) -> None:
    """A compare-and-swap of values of a type exists."""
    element = element_type(type_)
    if not (is_integer(element) or is_float(element)) or bit_width(element) not in (16, 32, 64):
        raise VerifyException(f"a compare-and-swap is of 16, 32 or 64 bits, got {type_}")


def reduces(kind: DescriptorReduceKind, element: Attribute) -> bool:
    """Whether a descriptor combines elements of a type in a way: as the atomics do, and copies of blocks also count up
    and down (PTX ISA, "cp.reduce.async.bulk.tensor")."""
    match kind:
        case DescriptorReduceKind.NONE:
            return False
        case DescriptorReduceKind.ADD:
            return works_on(RMWOp.FADD if is_float(element) else RMWOp.ADD, element)
        case DescriptorReduceKind.INC | DescriptorReduceKind.DEC:
            return is_integer(element) and bit_width(element) == 32
        case _:
            return works_on(RMWOp[kind.name], element)


def combines_signed_bits(kind: DescriptorReduceKind, element: Attribute) -> bool:
    """Whether bits of signed 64-bit numbers are combined. Copies of blocks do so with unsigned ones only: on signed
    ones that is an illegal instruction (H200)."""
    of_bits = kind in (DescriptorReduceKind.AND, DescriptorReduceKind.OR, DescriptorReduceKind.XOR)
    return of_bits and is_integer(element) and not is_unsigned(element) and bit_width(element) == 64


@define
class AtomicRMWOp(IRDLOperation):
    """Replaces the value behind a pointer by a function of it and `val`, atomically; gives the old value.

    Of two floats the larger and the smaller are IEEE 754-2019's maximumNumber and minimumNumber (-0.0 is smaller than
    +0.0), but that a target's own instructions may do with a NaN what they like."""

    name = "tt.atomic_rmw"
    atomic_rmw_op = enum_prop(RMWOp)
    ptr = operand_def()
    val = operand_def()
    mask = opt_operand_def()
    sem = enum_prop(MemSemantic)
    scope = enum_prop(MemSyncScope)
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = SameLayout()
    EFFECTS: ClassVar[Effects] = by_op(atomic_effects)
    FORMAT: ClassVar[str] = (
        "$atomic_rmw_op `,` $sem `,` $scope `,` $ptr `,` $val (`,` $mask^)? attr-dict"
        " `:` functional-type(operands, $result)"
    )
    TYPES: ClassVar[TypeRules] = {"val": ("ptr", loaded_from), "mask": ("ptr", mask_of), "result": ("ptr", loaded_from)}

    def verify_(self) -> None:
        kind = RMWOp(self.atomic_rmw_op.value.data)
        if not works_on(kind, element_type(self.val.type)):
            raise VerifyException(f"{kind.keyword} does not work on {self.val.type}")


@define
class AtomicCASOp(IRDLOperation):
    """Replaces the value behind a pointer by `val` if it equals `cmp`, atomically; gives the old value."""

    name = "tt.atomic_cas"
    ptr = operand_def()
    cmp = operand_def()
    val = operand_def()
    sem = enum_prop(MemSemantic)
    scope = enum_prop(MemSyncScope)
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = SameLayout()
    EFFECTS: ClassVar[Effects] = by_op(atomic_effects)
    FORMAT: ClassVar[str] = (
        "$sem `,` $scope `,` $ptr `,` $cmp `,` $val attr-dict `:` functional-type(operands, $result)"
    )
    TYPES: ClassVar[TypeRules] = {
        "cmp": ("ptr", loaded_from),
        "val": ("ptr", loaded_from),
        "result": ("ptr", loaded_from),
    }

    def verify_(self) -> None:
        check_swap(self.val.type)


def _check_access(op: Operation, element: Attribute, order: MemSemantic) -> None:
    """Checks what an atomic load or store is of, and that its order is relaxed or the one that it may have."""
    if not (is_integer(element) or is_float(element)) or bit_width(element) not in (8, 16, 32, 64):
        raise VerifyException(f"an atomic access is of numbers of 8, 16, 32 or 64 bits, got {element}")
    _check_order(op, order)


def _check_order(op: Operation, order: MemSemantic) -> None:
    """`sem` of the op is relaxed or `order`."""
    if integer_property(op, "sem") not in (MemSemantic.RELAXED, order):
        raise VerifyException(f"the order must be relaxed or {order.keyword}")


@define
class AtomicLoadOp(IRDLOperation):
    """Reads through a pointer or a tensor of pointers, each element atomically; undefined where the mask is false.

    An acquire orders it before all accesses of the program that follow."""

    name = "tt.atomic_load"
    ptr = operand_def()
    mask = opt_operand_def()
    sem = enum_prop(MemSemantic)
    scope = enum_prop(MemSyncScope)
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = SameLayout()
    EFFECTS: ClassVar[Effects] = by_op(_load_effects)
    SPELLINGS: ClassVar[Spellings] = Spellings(
        {
            TextLevel.V3_6: None,
            TextLevel.V3_9: "%r = tt.atomic_load acquire, gpu, %ptrs, %mask"
            " : (tensor<128x!tt.ptr<f32>>, tensor<128xi1>) -> tensor<128xf32>",
        }
    )
    FORMAT: ClassVar[str] = "$sem `,` $scope `,` $ptr (`,` $mask^)? attr-dict `:` functional-type(operands, $result)"
    TYPES: ClassVar[TypeRules] = {"mask": ("ptr", mask_of), "result": ("ptr", loaded_from)}

    def verify_(self) -> None:
        _check_access(self, element_type(self.result.type), MemSemantic.ACQUIRE)


@define
class AtomicStoreOp(IRDLOperation):
    """Writes through a pointer or a tensor of pointers where the mask is true, each element atomically.

    A release orders all accesses of the program that come before ahead of it."""

    name = "tt.atomic_store"
    ptr = operand_def()
    val = operand_def()
    mask = opt_operand_def()
    sem = enum_prop(MemSemantic)
    scope = enum_prop(MemSyncScope)
    LAYOUTS: ClassVar[LayoutConstraint] = SameLayout()
    EFFECTS: ClassVar[Effects] = by_op(_store_effects)
    SPELLINGS: ClassVar[Spellings] = Spellings(
        {
            TextLevel.V3_6: None,
            TextLevel.V3_9: "tt.atomic_store release, sys, %ptrs, %floats, %mask : tensor<128x!tt.ptr<f32>>",
        }
    )
    FORMAT: ClassVar[str] = "$sem `,` $scope `,` $ptr `,` $val (`,` $mask^)? attr-dict `:` type($ptr)"
    TYPES: ClassVar[TypeRules] = {"val": ("ptr", loaded_from), "mask": ("ptr", mask_of)}

    def verify_(self) -> None:
        _check_access(self, element_type(self.val.type), MemSemantic.RELEASE)


@define
class AtomicPollOp(IRDLOperation):
    """Waits until the integer behind each pointer equals `expected`; gives whether it did.

    All elements share `timeout` nanoseconds (unsigned) of the device's clock; each is read once at least. Without a
    timeout it waits for as long as it takes. An acquire orders the read of an element that came to equal `expected`
    before all accesses of the program that follow."""

    name = "tt.atomic_poll"
    ptr = operand_def()
    expected = operand_def()
    timeout = opt_operand_def(i64)
    sem = enum_prop(MemSemantic)
    scope = enum_prop(MemSyncScope)
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = SameLayout()
    EFFECTS: ClassVar[Effects] = by_op(_poll_effects)
    SPELLINGS: ClassVar[Spellings] = Spellings(
        {
            TextLevel.V3_6: None,
            TextLevel.V3_9: "%r = tt.atomic_poll acquire, gpu, %words, %i timeout %wide : !tt.ptr<i32>, i32 -> i1",
        }
    )
    FORMAT: ClassVar[str] = (
        "$sem `,` $scope `,` $ptr `,` $expected (`timeout` $timeout^)? attr-dict"
        " `:` type($ptr) `,` type($expected) `->` type($result)"
    )
    TYPES: ClassVar[TypeRules] = {"expected": ("ptr", loaded_from), "result": ("ptr", mask_of)}

    def verify_(self) -> None:
        element = element_type(self.expected.type)
        if not is_integer(element) or bit_width(element) not in (16, 32, 64):
            raise VerifyException(f"a poll is of integers of 16, 32 or 64 bits, got {element}")
        _check_order(self, MemSemantic.ACQUIRE)


ATOMICS = (AtomicRMWOp, AtomicCASOp, AtomicLoadOp, AtomicStoreOp, AtomicPollOp)
"""One of the threads that hold an element does them."""

MaskedAccess = LoadOp | StoreOp | AtomicRMWOp | AtomicLoadOp | AtomicStoreOp
Access = MaskedAccess | AtomicCASOp | AtomicPollOp
"""What accesses global memory through pointers."""

ACCESSES = tuple(op.name for op in (LoadOp, StoreOp, *ATOMICS))
"""The names of `Access`."""
