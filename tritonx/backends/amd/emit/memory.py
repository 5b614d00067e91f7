"""Global memory on AMD GPUs: guarded stores by a branch around them, guarded loads from zeros where the mask is false,
atomics by LLVM, which honours order and scope here.

A branch around a load would end with a wait for it, because what is loaded is moved where ways join; loads of a
pipeline, all of which are guarded, would then not run ahead of anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tritonx.backends.amd.emit.cache_modifiers import is_nontemporal, is_volatile
from tritonx.conversion.gpu_to_llvm.machine import Access
from tritonx.conversion.gpu_to_llvm.portable_memory import PortableMemory
from tritonx.conversion.gpu_to_llvm.types import bits
from tritonx.dialects.tile.enums import MemSyncScope, RMWOp

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter

_OWN_MEMORY = ", !amdgpu.no.fine.grained.memory !{}, !amdgpu.no.remote.memory !{}"
"""For scopes inside the device: what they order is the device's own memory, where the hardware has every operation.
Without it LLVM assumes memory that is shared over the bus, and makes loops of compare-and-swap."""


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


@dataclass(frozen=True)
class AmdMemory(PortableMemory):
    """What is not said here is LLVM's own, with AMD's names of scopes: it has every atomic, of any width."""

    scopes: Mapping[MemSyncScope, str] = field(
        default_factory=lambda: {MemSyncScope.GPU: "agent", MemSyncScope.CTA: "workgroup"}
    )
    smallest_atomic: int = 8
    float_sums: frozenset[str] = frozenset({"half", "bfloat", "float", "double"})

    def load(self, f: FunctionEmitter, pointer: str, access: Access, mask: str | None, other: str | None) -> str:
        stored = 8 if access.elem == "i1" else bits(access.elem)
        if mask is None or self.cache_marks(access, stores=False)[0] or access.width * stored > 8 * _ZERO_BYTES:
            return super().load(f, pointer, access, mask, other)
        value = super().load(f, zeros_where_false(f, pointer, mask, access), access, None, None)
        return value if is_zero(other) else f.inst(f"select i1 {mask}, {access.type} {value}, {access.type} {other}")

    def cache_marks(self, access: Access, *, stores: bool) -> tuple[str, str]:
        volatile = access.volatile or is_volatile(access.cache, stores=stores)
        marks = ", !nontemporal !{i32 1}" if is_nontemporal(access.cache, stores=stores) else ""
        return "volatile " if volatile else "", marks

    def atomic_width(self, kind: int, elem: str) -> int:
        """Two floats of 16 bits are added as a word: by an instruction of most processors, and else in one loop of
        compare-and-swap for both."""
        return 2 if RMWOp(kind) is RMWOp.FADD and elem in ("half", "bfloat") else 1

    def atomic_marks(self, operation: str, where: str) -> str:
        marks = _OWN_MEMORY if where else ""
        return f"{marks}, !amdgpu.ignore.denormal.mode !{{}}" if operation == "fadd" else marks
