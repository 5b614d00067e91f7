"""What executing an op does to memory, as two bits, for the passes that delete, merge and move ops.

An op without an effect trait may do anything; so may one that is not registered. Facts that depend on the class alone
are looked up once per class.
"""

from __future__ import annotations

from enum import IntFlag

from xdsl.dialects.builtin import IntegerAttr, UnregisteredOp
from xdsl.ir import Operation
from xdsl.traits import (
    IsTerminator,
    MemoryEffect,
    MemoryEffectKind,
    MemoryReadEffect,
    MemoryWriteEffect,
    NoMemoryEffect,
    RecursiveMemoryEffect,
)

from tritonx.dialects import arith, scf, tile
from tritonx.ir.fold.constants import constant_of


class Effect(IntFlag):
    """What an op may do to memory that somebody else can see."""

    NONE = 0
    READ = 1
    WRITE = 2
    """Writing, and everything else that must neither be repeated, dropped nor moved: printing, synchronising, unknown
    effects.
    """


ANY = Effect.READ | Effect.WRITE

_BY_CLASS: dict[type[Operation], Effect | None] = {}
_TERMINATORS: dict[type[Operation], bool] = {}
"""Both hold facts of classes, which do not change."""


def is_terminator(op: Operation) -> bool:
    """Whether the op ends its block, so that it is neither dead nor movable."""
    known = _TERMINATORS.get(op.__class__)
    if known is None:
        known = _TERMINATORS[op.__class__] = op.has_trait(IsTerminator, value_if_unregistered=False)
    return known


def effects_of(op: Operation) -> Effect:
    """What the op does, its regions included."""
    cls = op.__class__
    if cls in _BY_CLASS:
        known = _BY_CLASS[cls]
    else:
        known = _BY_CLASS[cls] = _of_class(cls)
    if known is None:
        return _of_op(op)
    if cls is tile.LoadOp and _is_true(op, "isVolatile"):
        return ANY
    return known


def is_removable(op: Operation) -> bool:
    """Whether an op whose results nobody uses may go: it writes nothing and ends no block."""
    return not effects_of(op) & Effect.WRITE and not is_terminator(op)


def is_speculatable(op: Operation) -> bool:
    """Whether the op may be executed where the program would not have: it touches no memory and cannot trap."""
    if effects_of(op) or is_terminator(op) or isinstance(op, scf.WhileOp):  # a while may not end
        return False
    if isinstance(op, arith.DivSIOp | arith.RemSIOp | arith.DivUIOp | arith.RemUIOp | _OTHER_DIVISIONS):
        divisor = constant_of(op.operands[1])
        return divisor is not None and divisor not in (0, -1)
    return all(
        is_terminator(inner) or is_speculatable(inner)
        for region in op.regions
        for b in region.blocks
        for inner in b.ops
    )


_OTHER_DIVISIONS = arith.FloorDivSIOp | arith.CeilDivSIOp | arith.CeilDivUIOp


def _is_true(op: Operation, name: str) -> bool:
    value = op.properties.get(name)
    return isinstance(value, IntegerAttr) and value.value.data != 0


def _of_class(cls: type[Operation]) -> Effect | None:
    """The effects that all ops of a class have; ``None`` where they depend on the op."""
    if issubclass(cls, UnregisteredOp):
        return ANY
    traits = [trait for trait in cls.traits if isinstance(trait, MemoryEffect)]
    if not traits:
        return ANY
    effects = Effect.NONE
    for trait in traits:
        if isinstance(trait, NoMemoryEffect):
            continue
        if isinstance(trait, MemoryReadEffect):
            effects |= Effect.READ
        elif isinstance(trait, MemoryWriteEffect):
            effects |= Effect.WRITE
        else:
            return None
    return effects


def _of_op(op: Operation) -> Effect:
    effects = Effect.NONE
    for trait in op.get_traits_of_type(MemoryEffect):
        if isinstance(trait, RecursiveMemoryEffect):
            for region in op.regions:
                for block in region.blocks:
                    for inner in block.ops:
                        effects |= effects_of(inner)
                        if effects == ANY:
                            return ANY
            continue
        instances = trait.get_effects(op)
        if instances is None:
            return ANY
        for instance in instances:
            effects |= Effect.READ if instance.kind is MemoryEffectKind.READ else Effect.WRITE
    return effects
