"""Loads and stores through pointers.

A thread's elements are accessed ``width`` at a time, where the analysis has shown that so many registers are consecutive in
memory, aligned, and under one value of the mask. Threads that hold copies of an element load it each for itself, but only one
of them stores it.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from tritonx.analysis.access_width import access_width, pointer_alignment
from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.machine import Access
from tritonx.conversion.gpu_to_llvm.types import bits, llvm_type
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.dialects import tile


def make_access(op: Any, f: FunctionEmitter, pointer: SSAValue, mask: SSAValue | None) -> Access:
    """The vector access that ``op`` is cut into."""
    pointee = pointer.type.element_type if isinstance(pointer.type, TensorType) else pointer.type
    elem = llvm_type(pointee.pointee)  # pyright: ignore[reportAttributeAccessIssue]  # verified to be a pointer
    width, aligned = 1, bits(elem) // 8
    if isinstance(pointer.type, TensorType):
        layout = f.layout(pointer.type)
        width = access_width(f.module.axis_info, layout, pointer, mask, bits(elem))
    aligned = max(aligned, min(pointer_alignment(f.module.axis_info, pointer), width * bits(elem) // 8))
    cache, evict = (op.cache, op.evict) if hasattr(op, "cache") else (None, None)
    return Access(
        elem,
        width,
        aligned,
        1 if cache is None else cache.value.data,
        1 if evict is None else evict.value.data,
        bool(op.isVolatile.value.data) if getattr(op, "isVolatile", None) is not None else False,
    )


def load(op: Any, f: FunctionEmitter) -> None:
    access = make_access(op, f, op.ptr, op.mask)
    pointers = f.scalars(f.get(op.ptr))
    masks = None if op.mask is None else f.scalars(f.get(op.mask))
    other = None if op.other is None else f.get(op.other)
    w = access.width
    made: dict[tuple[str, str, str], str] = {}
    parts: list[str] = []
    for i in range(0, len(pointers), w):
        mask = None if masks is None or masks[i] == "true" else masks[i]
        rest = None
        if other is not None and mask is not None:
            rest = part(f, other, i, w)
        key = pointers[i], mask or "", rest or ""
        if (name := made.get(key)) is None:
            name = made[key] = f.machine.load(f, pointers[i], access, mask, rest)
        parts.append(name)
    f.result(op, gather_parts(f, access.elem, parts, w))


def part(f: FunctionEmitter, value: Tile, first: int, count: int) -> str:
    """``count`` registers of ``value`` as one operand."""
    if value.prefers_vector:
        return f.slice(value.elem, value.n, f.wide(value), first, count)
    return f.pack(value.elem, f.scalars(value)[first : first + count])


def gather_parts(f: FunctionEmitter, elem: str, parts: list[str], width: int) -> Tile:
    """A tile from operands of ``width`` elements each; data becomes a vector, single integers and pointers a list."""
    if width == 1 and (elem.startswith(("ptr", "i")) or len(parts) == 1 or all(p == parts[0] for p in parts)):
        return Tile.of(elem, parts)
    return Tile.wide(elem, width * len(parts), f.concat(elem, parts, width))


def store(op: Any, f: FunctionEmitter) -> None:
    access = make_access(op, f, op.ptr, op.mask)
    pointers, value = f.scalars(f.get(op.ptr)), f.get(op.value)
    masks = None if op.mask is None else f.scalars(f.get(op.mask))
    skip, owner = ownership(f, op.ptr)
    guard = Guard(f, owner)
    for i in range(0, len(pointers), access.width):
        if i & skip:
            continue
        mask = guard(None if masks is None else masks[i])
        f.machine.store(f, pointers[i], part(f, value, i, access.width), access, mask)


def ownership(f: FunctionEmitter, pointer: SSAValue) -> tuple[int, str | None]:
    """Register bits that only make copies, and an i1 that holds in one of the threads that own an element.

    A scalar belongs to thread 0.
    """
    if not isinstance(pointer.type, TensorType):
        thread = f.thread
        with f.in_prologue():
            return 0, f.inst(f"icmp eq i32 {thread}, 0")
    layout = f.layout(pointer.type)
    return layout.free_masks().get("register", 0), f.indices(layout).owner


class Guard:
    """``owner and mask``, written once for each mask."""

    def __init__(self, f: FunctionEmitter, owner: str | None) -> None:
        self.f = f
        self.owner = owner
        self.made: dict[str, str] = {}

    def __call__(self, mask: str | None) -> str | None:
        if mask is None or mask == "true":
            return self.owner
        if self.owner is None:
            return mask
        if mask not in self.made:
            self.made[mask] = self.f.inst(f"and i1 {self.owner}, {mask}")
        return self.made[mask]


TABLE: dict[type[Operation], Emit] = {
    tile.LoadOp: load,
    tile.StoreOp: store,
}
