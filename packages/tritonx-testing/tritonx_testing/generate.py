"""Random kernels in the language itself, for comparing whatever executes kernels: the interpreter, the CPU, a GPU.

`random_kernel(Random(seed))` gives a `RandomKernel`: its source, the arrays it takes and the grid. Every kernel is
defined for all inputs and has one right result: addresses stay inside the arrays, divisors are positive, shifts in
range, floats are converted to integers inside the integers' range, programs write to places of their own or add
atomically, and sums of floats are taken over small integers, so that no order of summation shows. What is left is
compared bit for bit, NaNs and the sign of zero aside, if the compiler does not fuse multiplications and additions
(`enable_fp_fusion=False`). Elementary functions go to outputs of their own, which are compared with a tolerance.

    kernel = random_kernel(Random(7))
    arrays = kernel.arrays(seed=0)
    kernel.function()[kernel.grid](*arrays, *kernel.scalars, enable_fp_fusion=False)

The random numbers may be hypothesis's (`st.randoms()`), which shrinks a failure to a smaller kernel.
"""

from __future__ import annotations

from random import Random

from tritonx_testing.kernel_writer import KernelWriter
from tritonx_testing.random_kernel import EVERYTHING, Features
from tritonx_testing.random_kernel import RandomKernel as RandomKernel


def random_kernel(random: Random, *, features: Features = EVERYTHING, length: int = 8, depth: int = 2) -> RandomKernel:
    """A random kernel of about `length` statements, nested up to `depth` deep."""
    return KernelWriter(random, features).kernel(length, depth)
