"""What the passes that delete, merge and move ops ask of the effects that an op declares (`tritonx.dialects.effects`):
whether it reads, and whether it does anything that must neither be repeated, dropped nor moved.

Scratch memory is an op's own, and a trap touches nothing. An op that declares nothing may do anything. Facts of a
class are looked up once.
"""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.traits import IsTerminator

from tritonx.dialects import scf, tile
from tritonx.dialects.effects import COUNTED, Effect, EffectList, Effects, Kind, OfRegions, Resource, declared_by
from tritonx.ir.fold.constants import constant_of

_NONE, _READ, _WRITE, _ANY = 0, 1, 2, 3
"""Bits of what an op may do that is visible outside. To write stands for everything else that must neither be
repeated, dropped nor moved: printing, synchronising, unknown effects."""

_BY_CLASS: dict[type[Operation], int | None] = {}
_TERMINATORS: dict[type[Operation], bool] = {}
"""Both hold facts of classes, which do not change."""


def is_terminator(op: Operation) -> bool:
    """Whether the op ends its block, so that it is neither dead nor movable."""
    known = _TERMINATORS.get(op.__class__)
    if known is None:
        known = _TERMINATORS[op.__class__] = op.has_trait(IsTerminator, value_if_unregistered=False)
    return known


def may_read(op: Operation) -> bool:
    """Whether the op, or one in its regions, may read memory that others write."""
    return _bits(op) & _READ != 0


def may_write(op: Operation) -> bool:
    """Whether the op, or one in its regions, may do what must neither be repeated, dropped nor moved: write, print,
    synchronise."""
    return _bits(op) & _WRITE != 0


def has_effects(op: Operation) -> bool:
    """Whether the op, or one in its regions, does anything but compute its results."""
    return _bits(op) != _NONE


def _bits(op: Operation) -> int:
    cls = op.__class__
    known = _BY_CLASS[cls] if cls in _BY_CLASS else _BY_CLASS.setdefault(cls, _of_class(cls))
    return _of_op(op) if known is None else known


def is_mergeable(cls: type[Operation]) -> bool:
    """Whether two equal ops of this class compute the same, wherever they are."""
    if cls not in _BY_CLASS:
        _BY_CLASS[cls] = _of_class(cls)
    return _BY_CLASS[cls] == _NONE


def _of_class(cls: type[Operation]) -> int | None:
    """What all ops of a class do; None where that depends on the op."""
    declared = declared_by(cls)
    if declared is None:
        return _ANY
    return _joined(declared.effects) if type(declared) is Effects else None


def _of_op(op: Operation) -> int:
    declared = declared_by(op.__class__)
    assert declared is not None, "a class without a declaration has its answer"
    found = _joined(declared.own(op))
    if isinstance(declared, OfRegions):
        for region in op.regions:
            for block in region.blocks:
                for inner in block.ops:
                    found |= _bits(inner)
                    if found == _ANY:
                        return _ANY
    return found


def _joined(effects: EffectList) -> int:
    found = _NONE
    for effect in effects:
        found |= _seen(effect)
    return found


def _seen(effect: Effect) -> int:
    if effect.resource is Resource.SCRATCH or effect.kind is Kind.TRAP:
        return _NONE
    if effect.kind is Kind.READ:
        return _ANY if effect.completion in COUNTED else _READ
    return _WRITE


def is_removable(op: Operation) -> bool:
    """Whether an op without uses may be deleted: it writes nothing and ends no block."""
    return not may_write(op) and not is_terminator(op)


def may_trap(op: Operation) -> bool:
    """Whether the op itself is undefined for operands that it may have. Only divisors are looked at."""
    declared = declared_by(op.__class__)
    if declared is None or not any(effect.kind is Kind.TRAP for effect in declared.own(op)):
        return False
    divisor = constant_of(op.operands[1]) if len(op.operands) == 2 else None
    return divisor is None or divisor in (0, -1)


def is_speculatable(op: Operation) -> bool:
    """Whether the op may be executed where the program would not have: it touches no memory, cannot trap and ends."""
    if has_effects(op) or is_terminator(op) or may_trap(op) or isinstance(op, scf.WhileOp | tile.CallOp):
        return False
    if any(region.blocks.first is not region.blocks.last for region in op.regions):  # which may loop for ever
        return False
    return all(
        is_terminator(inner) or is_speculatable(inner)
        for region in op.regions
        for b in region.blocks
        for inner in b.ops
    )
