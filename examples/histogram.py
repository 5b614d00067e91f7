"""Counts of byte values: each program counts its block on chip and adds the 256 counts atomically."""

from __future__ import annotations

import numpy as np
from harness import Case, Device, main

import tritonx
import tritonx.language as tl


@tritonx.jit
def histogram_kernel(x_ptr, counts_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0).to(tl.int32)
    counts = tl.histogram(x, BINS, mask=mask)
    tl.atomic_add(counts_ptr + tl.arange(0, BINS), counts, sem="relaxed")


def case(device: Device, rng: np.random.Generator) -> Case:
    n, bins, block = 4_000_003, 256, 4096
    x = rng.binomial(bins - 1, 0.4, n).astype(np.uint8)
    dx, counts = device.put(x), device.empty(bins, np.int32)
    grid = (tritonx.cdiv(n, block),)

    def launch() -> None:
        device.fill(counts, 0)
        histogram_kernel[grid](dx, counts, n, BINS=bins, BLOCK=block)

    return Case(
        title="histogram",
        shapes=f"{n} u8 into {bins} bins",
        launch=launch,
        result=lambda: device.get(counts),
        numpy=lambda: np.bincount(x, minlength=bins),
        exact=lambda: np.bincount(x, minlength=bins).astype(np.float64),
        tolerance=0.0,
    )


if __name__ == "__main__":
    main(case)
