"""Accesses to global memory in LLVM's own instructions: guarded ones are branches around plain ones, atomics have the
scopes that a backend names, and are loops of compare-and-swap where it has no instruction. It derives from this what
its instructions do better."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tritonx.conversion.float_order import orders
from tritonx.conversion.gpu_to_llvm.machine import Access
from tritonx.conversion.gpu_to_llvm.swap_loops import Part, Swap, compare_and_swap, modify
from tritonx.conversion.gpu_to_llvm.types import bits
from tritonx.conversion.llvm_text import MEMORY_ORDERS, RMW_OPERATIONS, float_literal, is_float
from tritonx.dialects.tile.enums import MemSemantic, MemSyncScope, RMWOp
from tritonx.ir.failure import PassError

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter

WORD = 32


def guarded(f: FunctionEmitter, mask: str | None, type_: str, otherwise: str, make: Callable[[], str]) -> str:
    """What ``make`` writes and names, of LLVM type ``type_``, run where ``mask`` holds, or ``otherwise``."""
    if mask is None:
        return make()
    before = f.block
    with f.where(mask):
        made = make()
        after = f.block
    return f.inst(f"phi {type_} [ {made}, %{after} ], [ {otherwise}, %{before} ]")


@dataclass(frozen=True)
class PortableMemory:
    """``scopes`` gives LLVM's name of the threads that an atomic is for, where it is not all of the system. Atomics of
    fewer than ``smallest_atomic`` bits, sums of floats that are none of ``float_sums`` (LLVM's types), and what orders
    floats are made by compare-and-swap (`swap_loops`). With ``polls_by_modifying`` a poll reads by a read-modify-write
    that changes nothing."""

    scopes: Mapping[MemSyncScope, str] = field(default_factory=dict[MemSyncScope, str])
    smallest_atomic: int = WORD
    float_sums: frozenset[str] = frozenset()
    polls_by_modifying: bool = False

    def load(self, f: FunctionEmitter, pointer: str, access: Access, mask: str | None, other: str | None) -> str:
        stored = _stored(f, access)
        volatile, marks = self.cache_marks(access, stores=False)

        def make() -> str:
            value = f.inst(f"load {volatile}{stored.type}, {f.global_} {pointer}, align {access.bytes_aligned}{marks}")
            if stored == access:
                return value
            opcode = "inttoptr" if access.elem.startswith("ptr") else "trunc"
            return f.inst(f"{opcode} {stored.type} {value} to {access.type}")

        return guarded(f, mask, access.type, zero_of(access) if other is None else other, make)

    def store(self, f: FunctionEmitter, pointer: str, value: str, access: Access, mask: str | None) -> None:
        with f.where(mask):
            stored = _stored(f, access)
            if stored != access:
                opcode = "ptrtoint" if access.elem.startswith("ptr") else "zext"
                value = f.inst(f"{opcode} {access.type} {value} to {stored.type}")
            volatile, marks = self.cache_marks(access, stores=True)
            where = f"{f.global_} {pointer}, align {access.bytes_aligned}{marks}"
            f.line(f"store {volatile}{stored.type} {value}, {where}")

    def cache_marks(self, access: Access, *, stores: bool) -> tuple[str, str]:
        """The text before the type and after the alignment of a load or a store for its cache modifier, which a
        target without such hints leaves out."""
        return "volatile " if access.volatile else "", ""

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
        elem, operation, where = access.elem, RMWOp(kind), self.scope(scope)
        _refuse(f, operation, elem)

        def make() -> str:
            if self._swaps(operation, elem):
                part = Part.at(f, pointer, elem, self.smallest_atomic)
                return modify(f, part, Swap(where, sem), operation, value)
            name, nbytes = RMW_OPERATIONS[kind], access.width * bits(elem) // 8
            ordered = f"{where}{MEMORY_ORDERS[sem]}, align {nbytes}{self.atomic_marks(name, where)}"
            return f.inst(f"atomicrmw {name} {f.global_} {pointer}, {access.type} {value} {ordered}")

        return guarded(f, mask, access.type, "poison", make)

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
        _refuse(f, None, elem)

        def make() -> str:
            part = Part.at(f, pointer, elem, self.smallest_atomic)
            return compare_and_swap(f, part, Swap(self.scope(scope), sem), compare, value)

        return guarded(f, mask, elem, "poison", make)

    def atomic_load(self, f: FunctionEmitter, pointer: str, elem: str, sem: int, scope: int, mask: str | None) -> str:
        def make() -> str:
            part = Part.at(f, pointer, elem, self.smallest_atomic)
            ordered = f"{self.scope(scope)}{MEMORY_ORDERS[sem]}, align {bits(part.word) // 8}"
            return part.of(f, f.inst(f"load atomic {part.word}, {f.global_} {part.pointer} {ordered}"))

        return guarded(f, mask, elem, "poison", make)

    def atomic_store(
        self, f: FunctionEmitter, pointer: str, value: str, elem: str, sem: int, scope: int, mask: str | None
    ) -> None:
        with f.where(mask):
            part, where = Part.at(f, pointer, elem, self.smallest_atomic), self.scope(scope)
            if part.shift is not None:
                modify(f, part, Swap(where, sem), RMWOp.XCHG, value)
                return
            ordered = f"{where}{MEMORY_ORDERS[sem]}, align {bits(elem) // 8}"
            f.line(f"store atomic {part.word} {part.alone(f, value)}, {f.global_} {pointer} {ordered}")

    def poll(self, f: FunctionEmitter, pointer: str, elem: str, scope: int) -> str:
        if self.polls_by_modifying:
            return self.atomic(f, RMWOp.OR, pointer, "0", Access(elem, 1, 0), MemSemantic.RELAXED, scope, None)
        return self.atomic_load(f, pointer, elem, MemSemantic.RELAXED, scope, None)

    def acquire(self, f: FunctionEmitter, scope: int) -> None:
        f.line(f"fence {self.scope(scope)}acquire")

    def _swaps(self, operation: RMWOp, elem: str) -> bool:
        if operation is RMWOp.FADD and elem not in self.float_sums:
            return True
        return bits(elem) < self.smallest_atomic or orders(operation, elem)

    def scope(self, scope: int) -> str:
        """LLVM's text of a scope, with a blank behind it; empty for all of the system."""
        name = self.scopes.get(MemSyncScope(scope))
        return f'syncscope("{name}") ' if name else ""


def _stored(f: FunctionEmitter, access: Access) -> Access:
    """The access with the type that its elements have in memory."""
    stored = f.module.numbers.stored(access.elem)
    return access if stored == access.elem else replace(access, elem=stored)


def _refuse(f: FunctionEmitter, operation: RMWOp | None, elem: str) -> None:
    """Raises ``PassError`` for what no target has: ``operation``, or a compare-and-swap, on elements that are no
    numbers of a byte or more, or on floats that it is not for."""
    assert f.current is not None
    name = "compare-and-swap" if operation is None else RMW_OPERATIONS[operation]
    if elem == "i1" or (elem.startswith("ptr") and operation is not RMWOp.XCHG):
        raise PassError(f.current, f"there is no atomic {name} of {'pointers' if elem != 'i1' else elem}")
    if operation in (None, RMWOp.XCHG) or orders(operation, elem):
        return
    if is_float(elem) != (operation is RMWOp.FADD):
        raise PassError(f.current, f"there is no atomic {name} of {elem}")


def zero_of(access: Access) -> str:
    """What a masked load leaves: the literal of all bits zero.

    >>> from tritonx.backends.gpu import Access
    >>> zero_of(Access("float", 1, 4)), zero_of(Access("i32", 4, 16))
    ('0x0000000000000000', 'zeroinitializer')
    """
    if access.width > 1:
        return "zeroinitializer"
    if access.elem.startswith("ptr"):
        return "null"
    return float_literal(0.0, access.elem) if is_float(access.elem) else "0"
