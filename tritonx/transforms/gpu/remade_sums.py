"""Pointers of nested loops are summed so that what an outer loop's iterations have in common need not be kept for them
(`rematerialise`).

`(p + rows * stride) + columns`, in a loop in which only the columns change, is a pointer for each row that LLVM
computes in front of the loop, as it does with all loop invariants. In a loop that itself has loops,
with a product's sum, these pointers are registers that nothing else can have in the meantime, two a row, and as many
again for each stage of a pipeline that is filled there. `(p + columns) + rows * stride` takes no more additions and is
one pointer, of which nothing can be computed in front.

A grouped product of 64×256×64 with four stages in 128 threads kept 96 registers of pointers beside the sum's 128, and
spilled 428 bytes; it spills none now. Where there is room it is left alone: what is kept is not computed again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from tritonx.analysis.registers import Pressure, elements
from tritonx.dialects import scf, tile
from tritonx.ir.builder import Builder
from tritonx.ir.data_flow import sources_first
from tritonx.ir.edit import is_defined_inside
from tritonx.ir.effects import has_effects
from tritonx.ir.types import element_type, encoding_of, shape_of, tensor, type_of
from tritonx.ir.walk import ops_in

_LOOPS = (scf.ForOp, scf.WhileOp)

WORDS = 2
"""Registers of a pointer into global memory."""


def remake_sums(module: ModuleOp, room: int) -> None:
    """Add an offset that changes before one that does not, where the sums would be kept in loops.

    Exchanges the offsets of a `tt.addptr` of a `tt.broadcast` of another one, of a splat pointer, where the second
    offset is a `tt.broadcast` of fewer numbers in a thread, and alone changes in a loop with loops inside. The tile of
    pointers is the same. It is done in loops in which such sums and what a loop inside carries take more than ``room``
    registers."""
    nests = [_Nest(loop) for loop in ops_in(module) if isinstance(loop, _LOOPS) and _loops_in(loop)]
    for nest in nests:
        sums = nest.sums()
        if sums and _kept(sums) + nest.held() > room:
            for each in sums:
                _exchange(each)


@dataclass(frozen=True)
class _Sum:
    """Of an op, `broadcast(splat(pointer) + first) + broadcast(second)`."""

    op: tile.AddPtrOp
    pointer: SSAValue
    first: SSAValue
    second: SSAValue


def _sum_of(op: tile.AddPtrOp) -> _Sum | None:
    outer, offsets = op.ptr.owner, op.offset.owner
    if not isinstance(outer, tile.BroadcastOp) or not isinstance(offsets, tile.BroadcastOp):
        return None
    inner = outer.src.owner
    if not isinstance(inner, tile.AddPtrOp) or not isinstance(inner.ptr.owner, tile.SplatOp):
        return None
    return _Sum(op, inner.ptr.owner.src, inner.offset, offsets.src)


def _kept(sums: Sequence[_Sum]) -> int:
    """Registers of the pointers with the first offset, each of them once."""
    kept = {(each.pointer, each.first): elements(type_of(each.first)) for each in sums}
    return sum(kept.values()) * WORDS


@dataclass(frozen=True)
class _Nest:
    """A loop with loops inside."""

    loop: Operation
    changes: dict[SSAValue, bool] = field(default_factory=dict[SSAValue, bool])

    def sums(self) -> list[_Sum]:
        """Those of which only the second offset changes between iterations, and is fewer numbers in a thread."""
        found = (_sum_of(op) for op in ops_in(self.loop) if isinstance(op, tile.AddPtrOp))
        return [
            each
            for each in found
            if each is not None
            and elements(type_of(each.first)) > elements(type_of(each.second))
            and self.varies(each.second)
            and not self.varies(each.pointer)
            and not self.varies(each.first)
        ]

    def held(self) -> int:
        """Registers at a loop inside, of the one with most."""
        return max(Pressure(block).across(loop) for loop in _loops_in(self.loop) if (block := loop.parent) is not None)

    def varies(self, value: SSAValue) -> bool:
        """Whether a value may differ between iterations."""
        for each in sources_first((value,), self._undecided):
            if each not in self.changes:
                self.changes[each] = is_defined_inside(each, self.loop) and self._made_anew(each.owner)
        return self.changes[value]

    def _made_anew(self, maker: object) -> bool:
        """Not by an op without effects on what does not change."""
        return not _only_computes(maker) or any(self.changes[operand] for operand in maker.operands)

    def _undecided(self, value: SSAValue) -> Sequence[SSAValue]:
        """What decides it and is not decided."""
        if value in self.changes or not is_defined_inside(value, self.loop) or not _only_computes(value.owner):
            return ()
        return [operand for operand in value.owner.operands if operand not in self.changes]


def _only_computes(maker: object) -> TypeGuard[Operation]:
    return isinstance(maker, Operation) and not maker.regions and not has_effects(maker)


def _loops_in(loop: Operation) -> list[scf.ForOp | scf.WhileOp]:
    return [op for op in ops_in(loop) if isinstance(op, _LOOPS) and op is not loop]


def _exchange(found: _Sum) -> None:
    op, builder = found.op, Builder.before(found.op)
    narrow, encoding = shape_of(type_of(found.second)), encoding_of(type_of(found.second))
    pointers = tensor(type_of(found.pointer), narrow, encoding)
    made = builder.emit(tile.SplatOp, (found.pointer,), (pointers,))
    made = builder.emit(tile.AddPtrOp, (made, found.second), (pointers,))
    offsets = tensor(element_type(type_of(found.first)), shape_of(type_of(op.result)), encoding)
    op.operands[0] = builder.emit(tile.BroadcastOp, (made,), (op.ptr.type,))
    op.operands[1] = builder.emit(tile.BroadcastOp, (found.first,), (offsets,))
