"""Atomic operations."""

from __future__ import annotations

from typing import Any, ClassVar

from xdsl.irdl import IRDLOperation, operand_def, opt_operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.effects import SCRATCH_EFFECTS, Effect, EffectList, Effects, Kind, Resource, by_op, reads, writes
from tritonx.dialects.layout_constraints import LayoutConstraint, SameLayout
from tritonx.dialects.tile.enums import MemSemantic, MemSyncScope, RMWOp
from tritonx.dialects.tile.rules import loaded_from, mask_of
from tritonx.ir.declaration import TypeRules, enum_prop
from tritonx.ir.define import define
from tritonx.ir.types import bit_width, is_float


def atomic_effects(op: Any) -> EffectList:
    """The old value is handed over to the threads with copies of the element, through scratch memory, if it is used."""
    access = (reads("ptr"), writes("ptr"))
    fence = () if op.sem.value.data == MemSemantic.RELAXED else (Effect(Kind.FENCE, Resource.GLOBAL),)
    return (*access, *fence, *(SCRATCH_EFFECTS if op.result.first_use is not None else ()))


@define
class AtomicRMWOp(IRDLOperation):
    """Replaces the value behind a pointer by a function of it and `val`, atomically; gives the old value."""

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
        kind = self.atomic_rmw_op.value.data
        if kind == RMWOp.XCHG:
            return
        if is_float(self.val.type) != (kind == RMWOp.FADD) or (kind == RMWOp.FADD and bit_width(self.val.type) < 16):
            raise VerifyException(f"{RMWOp(kind).keyword} does not work on {self.val.type}")


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
