"""Run with the plug-in on the path: ``tl.extra.toy.fixed_multiply`` of tiles and scalars, on the chip and in tritonx's
interpreter, against Python's integers."""

from __future__ import annotations

import itertools
import os
from typing import Any

import numpy as np
from tritonx.language.extra.toy import fixed_multiply

import tritonx
import tritonx.language as tl
from tritonx.interpreter import interpreted

SEED = int(os.environ["TRITONX_SEED"])
EDGES = (-32768, -32767, -16384, -1, 0, 1, 2, 16383, 16384, 32767)


@tritonx.jit
def multiply(x, y, tiles, mixed, scalars, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b = tl.load(x + at, mask=at < n), tl.load(y + at, mask=at < n)
    tl.store(tiles + at, tl.extra.toy.fixed_multiply(a, b), mask=at < n)
    first = tl.load(y)
    tl.store(mixed + at, fixed_multiply(first, a), mask=at < n)
    tl.store(scalars + tl.program_id(0), fixed_multiply(first, tl.load(x + tl.program_id(0))))


def fixed(x: Any, y: Any) -> int:
    """Half of the last of 15 bits goes up."""
    return min((int(x) * int(y) * 2 + (1 << 15)) // (1 << 16), 32767)


def check(kernel: Any, block: int) -> None:
    drawn = np.random.default_rng(SEED).integers(-32768, 32768, (100, 2)).tolist()
    x, y = np.array([*itertools.product(EDGES, EDGES), *drawn], np.int16).T.copy()
    blocks = tritonx.cdiv(len(x), block)
    tiles, mixed, scalars = np.full((3, len(x)), 77, np.int16)
    kernel[(blocks,)](x, y, tiles, mixed, scalars, len(x), BLOCK=block)
    assert tiles.tolist() == [fixed(a, b) for a, b in zip(x, y, strict=True)]
    assert mixed.tolist() == [fixed(y[0], a) for a in x]
    assert scalars[:blocks].tolist() == [fixed(y[0], a) for a in x[:blocks]]
    assert (scalars[blocks:] == 77).all()


if __name__ == "__main__":
    for block in (32, 24):  # the second is no power of two
        check(multiply, block)
        check(interpreted(multiply), block)
    print("all right")
