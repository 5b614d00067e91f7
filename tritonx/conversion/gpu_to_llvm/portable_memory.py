"""Accesses to global memory in LLVM's own instructions: guarded ones are branches around plain ones, atomics have the
scopes that a backend names. It derives from this what its instructions do better."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tritonx.conversion.gpu_to_llvm.machine import Access
from tritonx.conversion.gpu_to_llvm.types import bits
from tritonx.conversion.llvm_text import FAILURE_ORDERS, MEMORY_ORDERS, RMW_OPERATIONS, float_literal, is_float
from tritonx.dialects.tile.enums import MemSyncScope
from tritonx.ir.failure import PassError

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter

WORD = 32


def guarded(f: FunctionEmitter, mask: str | None, type_: str, otherwise: str, make: Callable[[], str]) -> str:
    """What ``make`` writes and names, of LLVM type ``type_``, run where ``mask`` holds; ``otherwise`` elsewhere."""
    if mask is None:
        return make()
    before = f.block
    with f.where(mask):
        made = make()
        after = f.block
    return f.inst(f"phi {type_} [ {made}, %{after} ], [ {otherwise}, %{before} ]")


@dataclass(frozen=True)
class PortableMemory:
    """Global memory in address space ``space``. ``scopes`` gives LLVM's name of the threads that an atomic is for,
    where it is not all of the system. Atomics of fewer than ``smallest_atomic`` bits are refused."""

    space: int = 1
    scopes: Mapping[MemSyncScope, str] = field(default_factory=dict[MemSyncScope, str])
    smallest_atomic: int = WORD

    def load(self, f: FunctionEmitter, pointer: str, access: Access, mask: str | None, other: str | None) -> str:
        volatile = "volatile " if access.volatile else ""
        in_memory = access.type.replace("i1", "i8") if access.elem == "i1" else access.type

        def make() -> str:
            value = f.inst(f"load {volatile}{in_memory}, {self._pointer} {pointer}, align {access.bytes_aligned}")
            return f.inst(f"trunc {in_memory} {value} to {access.type}") if access.elem == "i1" else value

        return guarded(f, mask, access.type, zero_of(access) if other is None else other, make)

    def store(self, f: FunctionEmitter, pointer: str, value: str, access: Access, mask: str | None) -> None:
        with f.where(mask):
            type_ = access.type
            if access.elem == "i1":
                type_ = access.type.replace("i1", "i8")
                value = f.inst(f"zext {access.type} {value} to {type_}")
            f.line(f"store {type_} {value}, {self._pointer} {pointer}, align {access.bytes_aligned}")

    def atomic_width(self, kind: int, elem: str) -> int:
        return 1

    def atomic(
        self,
        f: FunctionEmitter,
        kind: int,
        pointer: str,
        value: str,
        access: Access,
        sem: int,
        scope: int,
        mask: str | None,
    ) -> str:
        elem = access.elem
        self._refuse_narrow(f, elem)
        operation, where = RMW_OPERATIONS[kind], self._scope(scope)
        ordered = f"{where}{MEMORY_ORDERS[sem]}, align {bits(elem) // 8}{self.atomic_marks(operation, where)}"

        def make() -> str:
            return f.inst(f"atomicrmw {operation} {self._pointer} {pointer}, {elem} {value} {ordered}")

        return guarded(f, mask, elem, "poison", make)

    def atomic_marks(self, operation: str, where: str) -> str:
        """The metadata of an ``atomicrmw``, each behind a comma; ``where`` is empty for all of the system."""
        return ""

    def compare_and_swap(
        self,
        f: FunctionEmitter,
        pointer: str,
        compare: str,
        value: str,
        elem: str,
        sem: int,
        scope: int,
        mask: str | None,
    ) -> str:
        self._refuse_narrow(f, elem)
        order, where, word = MEMORY_ORDERS[sem], self._scope(scope), f"i{bits(elem)}"

        def make() -> str:
            old, new = (x if elem == word else f.inst(f"bitcast {elem} {x} to {word}") for x in (compare, value))
            values = f"{word} {old}, {word} {new} {where}{order} {FAILURE_ORDERS[order]}"
            pair = f.inst(f"cmpxchg {self._pointer} {pointer}, {values}")
            found = f.inst(f"extractvalue {{ {word}, i1 }} {pair}, 0")
            return found if elem == word else f.inst(f"bitcast {word} {found} to {elem}")

        return guarded(f, mask, elem, "poison", make)

    @property
    def _pointer(self) -> str:
        return f"ptr addrspace({self.space})"

    def _scope(self, scope: int) -> str:
        name = self.scopes.get(MemSyncScope(scope))
        return f'syncscope("{name}") ' if name else ""

    def _refuse_narrow(self, f: FunctionEmitter, elem: str) -> None:
        if bits(elem) < self.smallest_atomic:
            assert f.current is not None
            raise PassError(f.current, f"the target has no atomics of {bits(elem)} bits")


def zero_of(access: Access) -> str:
    """What a masked load leaves: the literal of all bits zero."""
    if access.width > 1:
        return "zeroinitializer"
    if access.elem.startswith("ptr"):
        return "null"
    return float_literal(0.0, access.elem) if is_float(access.elem) else "0"
