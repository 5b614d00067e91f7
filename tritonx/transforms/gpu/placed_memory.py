"""Bytes of shared memory that a value names, or an op has for itself, as `allocate-shared-memory` has placed them.

Of a buffer of slots, which a loop takes in turn, a view names one of which the number is only known as a value. Two
such views of the same iteration are apart where their numbers are, however they are counted (`analysis/slot_sequence`).
The numbers are not valid after the iteration: then such an access is one of the whole buffer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from tritonx.analysis.buffers import (
    OFFSET,
    aliases_of,
    allocates_memory,
    allocation_size,
    is_shared_memory,
    offset_of,
    scratch_size,
)
from tritonx.analysis.slot_sequence import Known, Slot
from tritonx.dialects import gpu_layout, tile
from tritonx.dialects.effects import Resource, resources_of
from tritonx.dialects.gpu_layout import MemDescType
from tritonx.ir.fold.constants import constant_of
from tritonx.ir.types import type_of
from tritonx.ir.walk import ops_in


class Interval(NamedTuple):
    """Bytes [start, end) of shared memory, or one slot of these."""

    start: int
    end: int
    slot: Slot | None = None

    def meets(self, other: Interval) -> bool:
        if self.start >= other.end or other.start >= self.end:
            return False
        if self.slot is None or other.slot is None or self[:2] != other[:2]:
            return True
        return not self.slot.is_apart(other.slot)

    def behind(self, block: Block) -> Interval:
        """The memory as it is known after an iteration of a block."""
        loop = None if self.slot is None else self.slot.loop
        return self if loop is None or loop.body.block is not block else Interval(self.start, self.end)


ALL = Interval(0, 1 << 62)
BESIDE = Interval(ALL.end, ALL.end + 1)
"""Memory that is not shared memory (a matrix unit's): one piece, apart from all of that."""


def meets(intervals: Iterable[Interval], others: Iterable[Interval]) -> bool:
    """Whether any two have a byte in common."""
    others = list(others)
    return any(a.meets(b) for a in intervals for b in others)


class PlacedMemory:
    """The memory of one function."""

    def __init__(self, function: tile.FuncOp) -> None:
        self._places: dict[SSAValue, Interval] = {}
        self._known: Known = {}
        for op in ops_in(function):
            if allocates_memory(op):
                self._place(op)

    def of(self, value: SSAValue) -> Interval:
        """The bytes that a value may name: all, of a value of unknown origin."""
        if not is_shared_memory(value):
            return BESIDE
        return self._places.get(value, ALL)

    def in_round(self, value: SSAValue) -> Interval:
        """The same, or the slot of it in an iteration of a loop."""
        slot = Slot.of(value, self._known)
        known = isinstance(slot.root.owner, gpu_layout.LocalAllocOp) and slot.loop is not None
        return self.of(value)._replace(slot=slot if known else None)

    def _place(self, op: gpu_layout.LocalAllocOp) -> None:
        start = offset_of(op)
        descriptor = type_of(op.result)
        assert isinstance(descriptor, MemDescType)
        whole = Interval(start, start + allocation_size(descriptor))
        for alias in aliases_of(op.results[0]):
            known = self._places.get(alias)
            interval = _narrowed(alias, whole)
            self._places[alias] = (
                interval if known is None else Interval(min(known[0], interval[0]), max(known[1], interval[1]))
            )


def scratch_of(op: Operation) -> Interval | None:
    """The bytes that an op has for itself while it is executed; None for one without."""
    if Resource.SCRATCH not in resources_of(op) or OFFSET not in op.attributes:
        return None
    start = offset_of(op)
    return Interval(start, start + scratch_size(op))


def functions_with_shared_memory(module: ModuleOp) -> frozenset[str]:
    """Functions that use shared memory, themselves or through what they call."""
    functions = {f.sym_name.data: f for f in module.ops if isinstance(f, tile.FuncOp)}
    using = {name for name, f in functions.items() if any(OFFSET in op.attributes for op in ops_in(f))}
    while True:
        more = {
            name
            for name, f in functions.items()
            if name not in using
            and any(isinstance(op, tile.CallOp) and op.callee.string_value() in using for op in ops_in(f))
        }
        if not more:
            return frozenset(using)
        using |= more


def _narrowed(alias: SSAValue, whole: Interval) -> Interval:
    """The part that a view at a constant index can touch; all of it otherwise."""
    owner = alias.owner
    if not isinstance(owner, gpu_layout.MemDescIndexOp):
        return whole
    index = constant_of(owner.index)
    inner = type_of(owner.result)
    outer = type_of(owner.src)
    assert isinstance(inner, MemDescType) and isinstance(outer, MemDescType)
    if not isinstance(index, int) or not isinstance(owner.src.owner, gpu_layout.LocalAllocOp):
        return whole
    size = (whole[1] - whole[0]) // outer.shape[0]
    return Interval(whole.start + index * size, whole.start + (index + 1) * size)
