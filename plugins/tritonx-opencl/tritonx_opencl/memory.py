"""Global memory: guarded accesses are branches around plain ones, atomics are LLVM's with OpenCL's scopes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tritonx.conversion.gpu_to_llvm.machine import Access
from tritonx.conversion.gpu_to_llvm.types import bits
from tritonx.conversion.llvm_text import FAILURE_ORDERS, MEMORY_ORDERS, RMW_OPERATIONS, float_literal, is_float
from tritonx.dialects.tile.enums import MemSyncScope
from tritonx.ir.failure import PassError

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter

_SCOPE = {
    MemSyncScope.GPU: 'syncscope("device") ',
    MemSyncScope.CTA: 'syncscope("workgroup") ',
    MemSyncScope.SYSTEM: "",
}


def guarded(f: FunctionEmitter, mask: str | None, type_: str, otherwise: str, make: Callable[[], str]) -> str:
    """What ``make`` writes and names, of LLVM type ``type_``, run where ``mask`` holds; ``otherwise`` elsewhere."""
    if mask is None:
        return make()
    before = f.block
    with f.where(mask):
        made = make()
        after = f.block
    return f.inst(f"phi {type_} [ {made}, %{after} ], [ {otherwise}, %{before} ]")


def load(f: FunctionEmitter, pointer: str, access: Access, mask: str | None, other: str | None) -> str:
    volatile = "volatile " if access.volatile else ""
    in_memory = access.type.replace("i1", "i8") if access.elem == "i1" else access.type

    def make() -> str:
        value = f.inst(f"load {volatile}{in_memory}, ptr addrspace(1) {pointer}, align {access.bytes_aligned}")
        return f.inst(f"trunc {in_memory} {value} to {access.type}") if access.elem == "i1" else value

    return guarded(f, mask, access.type, _zero(access) if other is None else other, make)


def _zero(access: Access) -> str:
    if access.width > 1:
        return "zeroinitializer"
    if access.elem.startswith("ptr"):
        return "null"
    return float_literal(0.0, access.elem) if is_float(access.elem) else "0"


def store(f: FunctionEmitter, pointer: str, value: str, access: Access, mask: str | None) -> None:
    with f.where(mask):
        type_ = access.type
        if access.elem == "i1":
            type_ = access.type.replace("i1", "i8")
            value = f.inst(f"zext {access.type} {value} to {type_}")
        f.line(f"store {type_} {value}, ptr addrspace(1) {pointer}, align {access.bytes_aligned}")


def atomic_width(kind: int, elem: str) -> int:
    return 1


def atomic(
    f: FunctionEmitter, kind: int, pointer: str, value: str, access: Access, sem: int, scope: int, mask: str | None
) -> str:
    elem = access.elem
    _refuse_narrow(f, elem)
    operation, where = f"{RMW_OPERATIONS[kind]} ptr addrspace(1) {pointer}", _SCOPE[MemSyncScope(scope)]
    order, align = MEMORY_ORDERS[sem], bits(elem) // 8

    def make() -> str:
        return f.inst(f"atomicrmw {operation}, {elem} {value} {where}{order}, align {align}")

    return guarded(f, mask, elem, "poison", make)


def compare_and_swap(
    f: FunctionEmitter,
    pointer: str,
    compare: str,
    value: str,
    elem: str,
    sem: int,
    scope: int,
    mask: str | None,
) -> str:
    _refuse_narrow(f, elem)
    order, where, word = MEMORY_ORDERS[sem], _SCOPE[MemSyncScope(scope)], f"i{bits(elem)}"

    def make() -> str:
        old, new = (x if elem == word else f.inst(f"bitcast {elem} {x} to {word}") for x in (compare, value))
        pair = f.inst(
            f"cmpxchg ptr addrspace(1) {pointer}, {word} {old}, {word} {new} {where}{order} {FAILURE_ORDERS[order]}"
        )
        found = f.inst(f"extractvalue {{ {word}, i1 }} {pair}, 0")
        return found if elem == word else f.inst(f"bitcast {word} {found} to {elem}")

    return guarded(f, mask, elem, "poison", make)


def _refuse_narrow(f: FunctionEmitter, elem: str) -> None:
    if bits(elem) < 32:
        assert f.current is not None
        raise PassError(f.current, f"OpenCL has no atomics of {bits(elem)} bits")
