"""The project's random kernels, as the language's own text, for both front ends."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np
from both_case import NAMES, Case

from tritonx_testing.generate import RandomKernel, random_kernel

SHORT = {long: short for short, long in NAMES.items()}


@dataclass(frozen=True)
class RandomCase(Case):
    """A case of which the kernel itself knows the arguments."""

    kernel: RandomKernel | None = None

    @property
    def signature(self) -> dict[str, str]:
        return {**super().signature, "n": "i32", "m": "i32"}

    def inputs(self, rng: np.random.Generator) -> list[np.ndarray]:
        assert self.kernel is not None
        return [*self.kernel.arrays(int(rng.integers(1 << 30))), *self.kernel.scalars]


def case(seed: int) -> RandomCase:
    kernel = random_kernel(Random(seed))
    source = kernel.source.replace("tritonx.runtime.jit", "triton").replace("tritonx", "triton")
    arrays = {p.name: SHORT[p.dtype] for p in kernel.parameters}
    return RandomCase(f"random kernel {seed}", source, arrays, grid=kernel.grid[0], kernel=kernel)
