"""Dropout whose mask is never stored: seed and position of an element give the same random number at every launch."""

from __future__ import annotations

import numpy as np
from harness import Case, Device, main

import tritonx
import tritonx.language as tl


# `tl.rand` is a function of the seed and of each offset (Philox 4x32-10, as in Triton). The backward pass recomputes
# the mask from the seed, so that no mask is stored or loaded.
@tritonx.jit
def dropout_kernel(x_ptr, y_ptr, n, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    keep = tl.rand(seed, offsets) > p
    tl.store(y_ptr + offsets, tl.where(keep, x / (1 - p), 0.0), mask=mask)


# The reference draws the same numbers: Philox multiplies two of the counter's four words by constants, and mixes the
# halves of the products with the others and with the key, ten times. The first word of a counter (offset, 0, 0, 0) is
# the random number; its magnitude as a signed integer, scaled, is uniform in [0, 1).
def philox(seed: int, offsets: np.ndarray) -> np.ndarray:
    words = [offsets.astype(np.uint64), *(np.zeros(offsets.shape, np.uint64) for _ in range(3))]
    low = np.uint64(0xFFFFFFFF)
    keys = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * words[0], np.uint64(0xCD9E8D57) * words[2]
        words = [
            (second >> np.uint64(32)) ^ words[1] ^ np.uint64(keys[0]),
            second & low,
            (first >> np.uint64(32)) ^ words[3] ^ np.uint64(keys[1]),
            first & low,
        ]
        keys = [(keys[0] + 0x9E3779B9) & 0xFFFFFFFF, (keys[1] + 0xBB67AE85) & 0xFFFFFFFF]
    signed = words[0].astype(np.uint32).view(np.int32)
    return np.where(signed < 0, -signed - 1, signed).astype(np.float32) * np.float32(4.6566127342e-10)


def dropout(x: np.ndarray, p: float, seed: int) -> np.ndarray:
    return np.where(philox(seed, np.arange(x.size)) > np.float32(p), x / x.dtype.type(1 - p), 0)


def case(device: Device, rng: np.random.Generator) -> Case:
    n, p, seed = 500_003, 0.25, int(rng.integers(2**31))
    x = rng.standard_normal(n, dtype=np.float32)
    dx, dy = device.put(x), device.empty(n, np.float32)
    return Case(
        title="seeded dropout",
        shapes=f"{n} f32, p = {p}",
        launch=lambda: dropout_kernel[(tritonx.cdiv(n, 1024),)](dx, dy, n, p, seed, BLOCK=1024),
        result=lambda: device.get(dy),
        numpy=lambda: dropout(x, p, seed),
        exact=lambda: dropout(x.astype(np.float64), p, seed),
        tolerance=1e-6,
    )


if __name__ == "__main__":
    main(case)
