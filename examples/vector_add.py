"""z = x + y: a program handles one block, the mask guards the tail."""

from __future__ import annotations

import numpy as np
from harness import Case, Device, main

import tritonx
import tritonx.language as tl


@tritonx.jit
def add_kernel(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(z_ptr + offsets, x + y, mask=mask)


def case(device: Device, rng: np.random.Generator) -> Case:
    n = 4_000_001
    x, y = (rng.standard_normal(n, dtype=np.float32) for _ in range(2))
    dx, dy, dz = device.put(x), device.put(y), device.empty(n, np.float32)
    grid = (tritonx.cdiv(n, 4096),)
    return Case(
        title="vector add",
        shapes=f"{n} f32",
        launch=lambda: add_kernel[grid](dx, dy, dz, n, BLOCK=4096),
        result=lambda: device.get(dz),
        numpy=lambda: x + y,
        exact=lambda: x.astype(np.float64) + y,
        tolerance=1e-7,
    )


if __name__ == "__main__":
    main(case)
