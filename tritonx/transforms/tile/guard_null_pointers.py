"""Accesses through arguments that may be null are errors in the place of faults of the processor.

A launch that passes no memory for a pointer (None, 0, an array without elements or with freed storage) is right as
long as the kernel accesses nothing there: its masks are false. Where one is true the processor would end the process.

    %x = tt.load %p, %mask        →    %known = %arg != null
                                       tt.assert (%known or not %mask), "arg is a null pointer"
                                       %x = tt.load %p, (%mask and %known)

The access is masked besides, because a host may evaluate a load in front of the assertion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from tritonx.analysis.pointer_sources import roots_of
from tritonx.dialects import arith, tile
from tritonx.dialects.arith import CmpiPredicate
from tritonx.dialects.tile.rules import mask_of
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.declaration import SEGMENTS
from tritonx.ir.edit import replace
from tritonx.ir.types import i1, i64, is_tensor, type_of, with_element
from tritonx.ir.walk import ops_in

NULL_POINTER = "null pointer: "
"""How the messages of these assertions begin; the argument's name follows."""


FIRST_PAGES = 1 << 16
"""No array begins below this address."""


@dataclass(frozen=True)
class GuardNullPointers(ModulePass):
    """Asserts of accesses through the kernel's pointers that these are not null.

    That is asserted in the lanes that make the access, and the others are masked. Accesses through pointers that may be
    loaded or made of integers and those of block pointers stay as they are. The level stays."""

    name = "guard-null-pointers"
    contract = Contract(
        ("tt",),
        on=tile.ACCESSES,
        creates=("arith", "tt.assert", "tt.ptr_to_int", "tt.splat"),
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for access in ops_in(op):
            if isinstance(access, tile.Access):
                roots = roots_of((access.ptr,))
                if roots is not None:
                    _guard(access, sorted(roots, key=lambda root: getattr(root, "index", 0)))


def _guard(access: tile.Access, roots: Sequence[SSAValue]) -> None:
    builder = Builder.before(access)
    known = _is_known(access, roots, builder)
    mask = access.mask if isinstance(access, tile.MaskedAccess) else None
    holds = known
    if mask is not None:
        off = builder.emit(arith.XOrIOp, (mask, builder.constant(1, type_of(mask))), (mask.type,))
        holds = builder.emit(arith.OrIOp, (off, known), (mask.type,))
    names = " or ".join(root.name_hint or "an argument" for root in roots)
    builder.create(tile.AssertOp, (holds,), (), {"message": StringAttr(f"{NULL_POINTER}{names}")})
    if isinstance(access, tile.MaskedAccess):
        both = known if mask is None else builder.emit(arith.AndIOp, (mask, known), (mask.type,))
        _replace_mask(access, both, builder)


def _is_known(access: tile.Access, roots: Sequence[SSAValue], builder: Builder) -> SSAValue:
    """Whether there is memory: the argument is not null; of a pointer that may come from one of several arguments, the
    address itself is not in the first pages of memory."""
    pointers = type_of(access.ptr)
    one = len(roots) == 1
    compared = roots[0] if one else access.ptr
    type_ = with_element(type_of(compared), i64)
    address = builder.emit(tile.PtrToIntOp, (compared,), (type_,))
    predicate = {"predicate": IntegerAttr(CmpiPredicate.NE if one else CmpiPredicate.UGE, i64)}
    least = builder.constant(0 if one else FIRST_PAGES, type_)
    result = i1 if one or not is_tensor(pointers) else mask_of(pointers)
    known = builder.emit(arith.CmpiOp, (address, least), (result,), predicate)
    if one and is_tensor(pointers):
        return builder.emit(tile.SplatOp, (known,), (mask_of(pointers),))
    return known


def _replace_mask(access: tile.MaskedAccess, mask: SSAValue, builder: Builder) -> None:
    loads = isinstance(access, tile.LoadOp | tile.AtomicLoadOp)
    before: tuple[SSAValue, ...] = (access.ptr,) if loads else tuple(access.operands)[:2]
    other = (access.other,) if isinstance(access, tile.LoadOp) and access.other is not None else ()
    properties = {name: value for name, value in access.properties.items() if name != SEGMENTS}
    types = [result.type for result in access.results]
    made = builder.create(type(access), (*before, mask, *other), types, properties, access.attributes)
    replace(access, made.results)
