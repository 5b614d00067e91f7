"""What a folding rule answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, Operation, SSAValue

Properties = Mapping[str, Attribute]
Operands = Sequence[SSAValue]


@dataclass(frozen=True, slots=True)
class Constant:
    """The op computes this number (in every element, for a tile). Integers may be given in either reading."""

    value: int | float


@dataclass(frozen=True, slots=True)
class Replacement:
    """The op is the same as this simpler one, of the same result type."""

    op: type[Operation]
    operands: tuple[SSAValue, ...]
    properties: Properties | None = None


Folded = SSAValue | Constant | Replacement | None
"""An existing value of the op's result type, a constant, a simpler op, or ``None``: nothing to fold."""

Rule = Callable[[Operands, Attribute, Properties], Folded]
"""(operands, result type, properties) of an op with one result → what it folds to."""
