"""What a plan is made of: groups of anchors over one iteration space; see plan.py for what the words mean."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue

from tritonx.conversion.tile_to_loops.index import Form, TensorAtom
from tritonx.dialects import tile
from tritonx.ir.types import is_tensor


@dataclass(frozen=True)
class Materialise:
    """Write a tile to its buffer."""

    value: SSAValue


@dataclass(frozen=True)
class Effect:
    """Perform a store or an assertion chunk by chunk."""

    op: Operation


@dataclass(frozen=True)
class Reduction:
    op: Operation


@dataclass(frozen=True)
class Compute:
    """Evaluate a tile here, before what follows in the loop's body; it is kept in registers."""

    value: SSAValue


Anchor = Materialise | Effect | Reduction | Compute


@dataclass(eq=False)
class Group:
    """Anchors over the iteration space ``shape``; ``axis`` is the one that its reductions reduce."""

    shape: tuple[int, ...]
    axis: int | None = None
    anchors: list[Anchor] = field(default_factory=list[Anchor])

    def operands(self) -> list[SSAValue]:
        return [v for a in self.anchors for v in anchor_operands(a)]


def anchor_operands(anchor: Anchor) -> list[SSAValue]:
    if isinstance(anchor, Materialise | Compute):
        return [anchor.value]
    return [v for v in anchor.op.operands if is_tensor(v.type)]


def anchor_op(anchor: Anchor) -> Operation | None:
    """The op that an anchor is of; None where it is a block's argument that is written."""
    owner = anchor.value.owner if isinstance(anchor, Materialise | Compute) else anchor.op
    return owner if isinstance(owner, Operation) else None


Item = Group | Operation


@dataclass
class Plan:
    """What to emit, in order, and where each tile is first written."""

    items: list[Item]
    buffered: set[SSAValue]


def nested_operands(op: Operation) -> list[SSAValue]:
    """The operands of an op and of everything in its regions."""
    if not op.regions:
        return list(op.operands)
    return [v for inner in op.walk() for v in inner.operands]


def pointer_root(pointer: SSAValue | None) -> SSAValue | None:
    """The pointer that scalar `addptr`s began with."""
    while pointer is not None and isinstance(pointer.owner, tile.AddPtrOp):
        pointer = pointer.owner.operands[0]
    return pointer


def opaque(form: Form, value: SSAValue) -> bool:
    """Whether a form says no more than "the elements of `value`"."""
    return any(isinstance(a, TensorAtom) and a.value is value for a in form.offset.atoms())
