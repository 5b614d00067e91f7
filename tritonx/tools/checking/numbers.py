"""How far two arrays are apart, and how far a kernel's formats let them be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import ml_dtypes
import numpy as np
from xdsl.ir import Operation

from tritonx.dialects import arith, scf, tile
from tritonx.dialects.tile.enums import InputPrecision
from tritonx.interpreter.values import dtype_of, is_float
from tritonx.ir.types import bit_width, element_type, type_of
from tritonx.ir.types import is_float as is_float_type

LIMITS = {8: 1e-10, 4: 1e-4, 2: 8e-3, 1: 0.3}
"""By the bytes of a format: the largest error of a kernel that rounds to it, relative to the largest value of an array.
Sums of some thousand terms are meant, and a result that is rounded a few times."""

BFLOAT16 = 6e-2
ADDED_UP = 8
"""A kernel that adds up in a narrow format may have a share of this of the error, one spacing of the format: its sums
are then as good as rounded once."""

TF32 = 5e-3
"""Of a kernel that multiplies in this format."""


@dataclass(frozen=True)
class Difference:
    """The largest error, relative to the largest expected value, and the index of an element that has it."""

    error: float
    index: tuple[int, ...]


def difference(got: np.ndarray, expected: np.ndarray) -> Difference:
    """Compares elements; NaNs are equal, infinities equal themselves. An element that is finite in one only has the
    error infinity."""
    if got.size == 0:
        return Difference(0.0, ())
    with np.errstate(all="ignore"):
        a, b = got.astype(np.float64), np.broadcast_to(expected, got.shape).astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    finite = np.isfinite(a) & np.isfinite(b)
    scale = float(np.max(np.abs(b[np.isfinite(b)]), initial=0.0)) or 1.0
    with np.errstate(all="ignore"):
        error = np.where(same, 0.0, np.where(finite, np.abs(a - b) / scale, np.inf))
    worst = int(np.argmax(error))
    index = tuple(int(i) for i in np.unravel_index(worst, error.shape))
    return Difference(float(error.reshape(-1)[worst]), index)


def rounded(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Values of float64 as an array of `dtype` holds them: what is too large is infinite, or in a format of 8 bits the
    largest number, as conversions on devices have it."""
    if not is_float(dtype):
        return values
    if dtype.itemsize == 1:
        largest = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float64)
        most = float(np.max(largest[np.isfinite(largest)]))
        return np.clip(values, -most, most)
    with np.errstate(all="ignore"):
        return values.astype(dtype)


def limit(dtype: np.dtype, module: Sequence[Operation] = ()) -> float:
    """The error that an array of `dtype` may have, of a kernel that rounds as its ops say; 0 of what is no float."""
    if not is_float(dtype):
        return 0.0
    narrowed = [dtype_of(type_of(op.results[0])) for op in module if _narrows(op)]
    found = max(map(_of, [dtype, *narrowed]))
    if found > LIMITS[4] and narrow_sum(module) is not None:
        found /= ADDED_UP
    return max(found, TF32) if any(_multiplies_narrowly(op) for op in module) else found


def _of(dtype: np.dtype) -> float:
    return BFLOAT16 if dtype == np.dtype(ml_dtypes.bfloat16) else LIMITS[dtype.itemsize]


def _narrows(op: Operation) -> bool:
    """A conversion that the kernel asks for, but not of a value that a loop carries."""
    if not isinstance(op, arith.TruncFOp | tile.FpToFpOp):
        return False
    return not any(isinstance(use.operation, scf.YieldOp) for use in op.results[0].uses)


def _multiplies_narrowly(op: Operation) -> bool:
    return isinstance(op, tile.DotScaledOp) or (
        isinstance(op, tile.DotOp) and op.inputPrecision.value.data != InputPrecision.IEEE
    )


def narrow_sum(module: Iterable[Operation]) -> Operation | None:
    """The first op that adds up in a format narrower than 32 bits: in a loop, or as a reduction."""
    for op in module:
        if isinstance(op, scf.ForOp):
            last = op.body.block.last_op
            for value in () if last is None else last.operands:
                if isinstance(value.owner, Operation) and _adds(value.owner):
                    return value.owner
        if isinstance(op, tile.ReduceOp | tile.ScanOp) and _is_narrow(op) and any(map(_adds, op.walk())):
            return op
    return None


def _adds(op: Operation) -> bool:
    """Whether the op is a sum of a narrow format, or rounds one to it."""
    if isinstance(op, arith.TruncFOp | tile.FpToFpOp):
        source = op.operands[0].owner
        return _is_narrow(op) and isinstance(source, arith.AddfOp | arith.SubfOp | tile.DotOp)
    return _is_narrow(op) and isinstance(op, arith.AddfOp | arith.SubfOp | tile.DotOp)


def _is_narrow(op: Operation) -> bool:
    element = element_type(type_of(op.results[0])) if op.results else None
    return element is not None and is_float_type(element) and bit_width(element) < 32
