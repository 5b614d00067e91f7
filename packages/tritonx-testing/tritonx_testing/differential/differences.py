"""What hardware legitimately does otherwise than the interpreter, each with the reason.

An element that a row covers is not compared on a device (it is for the kernel's Python lines)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tritonx_testing.conformance.case import Array
from tritonx_testing.differential.table import COLUMNS, ROWS, Operation

Covered = Callable[[Sequence[Array]], Array]
"""Operands → which elements."""


@dataclass(frozen=True)
class Difference:
    """``op`` is a part of the op's name."""

    op: str
    covers: Covered
    reason: str


def _row_with_nan(operands: Sequence[Array]) -> Array:
    with np.errstate(invalid="ignore"):  # of NaNs that signal
        rows = operands[0].reshape(ROWS, COLUMNS).astype(np.float64)
    return np.logical_or.reduce(np.isnan(rows), axis=1)


def _flushed_sum(operands: Sequence[Array]) -> Array:
    """Where a 32-bit float that is added in memory, or the sum, is subnormal: of the new values only."""
    x, y = operands
    covered = np.zeros(2 * len(x), np.bool_)
    if x.dtype == np.float32:
        with np.errstate(all="ignore"):
            for number in (x, y, x + y):
                covered[: len(x)] |= (number != 0) & (np.abs(number) < np.finfo(np.float32).tiny)
    return covered


DIFFERENCES: tuple[Difference, ...] = (
    *(
        Difference(op, _row_with_nan, "NaN is neither above nor equal: what is found depends on the order of comparing")
        for op in ("tl.argmin", "tl.argmax")
    ),
    Difference("tl.atomic_add", _flushed_sum, "memory units add 32-bit floats without subnormal numbers"),
)
"""The table."""


def ignored(operation: Operation, operands: Sequence[Array]) -> Array | None:
    """The elements of an op's result that need not agree on a device; None where all must."""
    masks = [d.covers(operands) for d in DIFFERENCES if d.op in operation.name]
    return np.logical_or.reduce(masks) if masks else None
