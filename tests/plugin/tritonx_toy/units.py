"""What the chip's units compute, bit for bit: what the programs call, and what the chip's ops mean."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

SIDE, DEPTH = 8, 16
"""The matrix unit's instruction multiplies SIDE x DEPTH by DEPTH x SIDE elements."""


def multiply(a: Any, b: Any, c: Any) -> Any:
    """a · b + c by one instruction after the other along K.

    Of integers the sum wraps. Of floats an instruction adds its DEPTH products to the sum so far exactly and rounds
    once, to the nearest float32, ties to even; a sum of zero is +0.
    """
    if c.dtype == np.int32:
        return (a.astype(np.int64) @ b.astype(np.int64) + c).astype(np.int32)
    wide_a, wide_b = a.astype(np.float64), b.T.astype(np.float64)
    for k in range(0, a.shape[1], DEPTH):
        products = wide_a[:, None, k : k + DEPTH] * wide_b[None, :, k : k + DEPTH]  # exact: 22 digits at most
        terms = np.concatenate([c[..., None].astype(np.float64), products], axis=-1)
        c = np.array([_rounded_to_odd(row) for row in terms.reshape(-1, DEPTH + 1).tolist()]).reshape(c.shape)
        c = c.astype(np.float32)
    return c


def _rounded_to_odd(terms: list[float]) -> float:
    """Their sum in float64: where it is not exact, the one of its two neighbours whose last digit is 1. What is rounded
    so may be rounded again to fewer digits, and is as if it had been rounded once."""
    try:
        total = math.fsum(terms)
    except ValueError:  # infinities of both signs
        return math.nan
    if not math.isfinite(total):
        return total
    rest = math.fsum([*terms, -total])
    if rest and not int(math.ldexp(math.frexp(total)[0], 53)) & 1:
        total = math.nextafter(total, math.copysign(math.inf, rest))
    return total


def fixed_multiply(x: Any, y: Any) -> Any:
    """Of int16 with 15 bits behind the point: half of the last bit goes up, and -1 times -1 is the largest number."""
    product = (np.asarray(x, np.int32) * y + (1 << 14)) >> 15
    return np.minimum(product, (1 << 15) - 1).astype(np.int16)[()]
