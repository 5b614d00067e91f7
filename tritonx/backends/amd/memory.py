"""Global memory on AMD GPUs: guarded stores by a branch around them, guarded loads from zeros where the mask is false,
atomics by LLVM, which honours order and scope here.

A branch around a load would end with a wait for it, because what is loaded is moved where ways join; loads of a
pipeline, all of which are guarded, would then not run ahead of anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from tritonx.conversion.gpu_to_llvm.machine import Access
from tritonx.conversion.gpu_to_llvm.types import bits
from tritonx.conversion.llvm_text import FAILURE_ORDERS, MEMORY_ORDERS, RMW_OPERATIONS
from tritonx.dialects.tile.enums import MemSyncScope

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter

_SCOPE = {
    MemSyncScope.GPU: 'syncscope("agent") ',
    MemSyncScope.CTA: 'syncscope("workgroup") ',
    MemSyncScope.SYSTEM: "",
}

_OWN_MEMORY = ", !amdgpu.no.fine.grained.memory !{}, !amdgpu.no.remote.memory !{}"
"""For scopes inside the device: what they order is the device's own memory, where the hardware has every operation.
Without it LLVM assumes memory that is shared over the bus, and makes loops of compare-and-swap."""


def guarded(f: FunctionEmitter, mask: str | None, type_: str, otherwise: str, make: Callable[[], str]) -> str:
    """``make()`` where ``mask`` holds, ``otherwise`` elsewhere."""
    if mask is None:
        return make()
    before = f.block
    with f.where(mask):
        made = make()
        after = f.block
    if not made:
        return ""
    return f.inst(f"phi {type_} [ {made}, %{after} ], [ {otherwise}, %{before} ]")


_ZERO_BYTES = 64
_ZEROS = f"internal unnamed_addr addrspace(1) constant [{_ZERO_BYTES} x i8] zeroinitializer, align {_ZERO_BYTES}"
_ZERO = re.compile(r"(splat \(\w+ )?(zeroinitializer|null|0x[HR]?0+|0(\.0+(e\+00)?)?)\)?")


def is_zero(other: str | None) -> bool:
    """Whether what stands for elements under a false mask, as text, is all zero bits, or nothing in particular."""
    return other is None or _ZERO.fullmatch(other) is not None


def zeros_where_false(f: FunctionEmitter, pointer: str, mask: str, access: Access) -> str:
    """``pointer``, or where ``mask`` is false that of zeros."""
    assert access.width * bits(access.elem) <= 8 * _ZERO_BYTES
    zeros = f.module.global_("@zeros", _ZEROS)
    return f.inst(f"select i1 {mask}, ptr addrspace(1) {pointer}, ptr addrspace(1) {zeros}")


def load(f: FunctionEmitter, pointer: str, access: Access, mask: str | None, other: str | None) -> str:
    volatile = "volatile " if access.volatile else ""
    elem = "i8" if access.elem == "i1" else access.elem
    type_ = elem if access.width == 1 else f"<{access.width} x {elem}>"

    def make() -> str:
        value = f.inst(f"load {volatile}{type_}, ptr addrspace(1) {pointer}, align {access.bytes_aligned}")
        return f.inst(f"trunc {type_} {value} to {access.type}") if access.elem == "i1" else value

    if mask is not None and not access.volatile and access.width * bits(elem) <= 8 * _ZERO_BYTES:
        pointer = zeros_where_false(f, pointer, mask, access)
        value = make()
        return value if is_zero(other) else f.inst(f"select i1 {mask}, {access.type} {value}, {access.type} {other}")
    zero = "zeroinitializer" if access.width > 1 else "null" if elem.startswith("ptr") else "0"
    if elem in ("half", "bfloat", "float", "double") and access.width == 1:
        zero = {"half": "0xH0000", "bfloat": "0xR0000"}.get(elem, "0.0")
    return guarded(f, mask, access.type, zero if other is None else other, make)


def store(f: FunctionEmitter, pointer: str, value: str, access: Access, mask: str | None) -> None:
    def make() -> str:
        stored, type_ = value, access.type
        if access.elem == "i1":
            type_ = access.type.replace("i1", "i8")
            stored = f.inst(f"zext {access.type} {value} to {type_}")
        f.line(f"store {type_} {stored}, ptr addrspace(1) {pointer}, align {access.bytes_aligned}")
        return ""

    guarded(f, mask, "", "", make)


def atomic_width(kind: int, elem: str) -> int:
    return 1


def atomic(
    f: FunctionEmitter, kind: int, pointer: str, value: str, access: Access, sem: int, scope: int, mask: str | None
) -> str:
    elem = access.elem
    operation, order, where = RMW_OPERATIONS[kind], MEMORY_ORDERS[sem], _SCOPE[MemSyncScope(scope)]
    place = _OWN_MEMORY if where else ""
    if operation == "fadd":
        place += ", !amdgpu.ignore.denormal.mode !{}"
    alignment = f"align {bits(elem) // 8}"

    def make() -> str:
        return f.inst(
            f"atomicrmw {operation} ptr addrspace(1) {pointer}, {elem} {value} {where}{order}, {alignment}{place}"
        )

    return guarded(f, mask, elem, "poison", make)


def compare_and_swap(
    f: FunctionEmitter, pointer: str, compare: str, value: str, elem: str, sem: int, scope: int, mask: str | None
) -> str:
    order, where = MEMORY_ORDERS[sem], _SCOPE[MemSyncScope(scope)]
    failure = FAILURE_ORDERS[order]
    integer = elem if elem.startswith("i") else f"i{bits(elem)}"

    def make() -> str:
        words = [x if elem == integer else f.inst(f"bitcast {elem} {x} to {integer}") for x in (compare, value)]
        pair = f.inst(
            f"cmpxchg ptr addrspace(1) {pointer}, {integer} {words[0]}, {integer} {words[1]} {where}{order} {failure}"
        )
        old = f.inst(f"extractvalue {{ {integer}, i1 }} {pair}, 0")
        return old if elem == integer else f.inst(f"bitcast {integer} {old} to {elem}")

    return guarded(f, mask, elem, "poison", make)
