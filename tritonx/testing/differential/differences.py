"""What hardware legitimately does otherwise than the interpreter, each with the reason.

An element that a row covers is not compared on a device (it is for the kernel's Python lines)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tritonx.testing.conformance.case import Array
from tritonx.testing.differential.table import Operation

Covered = Callable[[Sequence[Array]], Array]
"""Operands → which elements."""


@dataclass(frozen=True)
class Difference:
    """``op`` is a part of the op's name."""

    op: str
    covers: Covered
    reason: str


def _no_quotient(operands: Sequence[Array]) -> Array:
    """A divisor of zero, or of -1 under the least integer."""
    x, y = operands
    none = y == 0
    if y.dtype.kind == "i":
        none |= (y == -1) & (x == np.iinfo(x.dtype).min)
    return none


DIFFERENCES: tuple[Difference, ...] = (
    *(
        Difference(op, _no_quotient, "the language, as C, leaves a quotient that does not exist undefined")
        for op in ("x // y", "x % y")
    ),
)
"""The table."""


def ignored(operation: Operation, operands: Sequence[Array]) -> Array | None:
    """The elements of an op's result that need not agree on a device; None where all must."""
    masks = [d.covers(operands) for d in DIFFERENCES if d.op in operation.name]
    return np.logical_or.reduce(masks) if masks else None
