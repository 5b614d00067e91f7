"""Random kernels on blocks of any extents, as cases of the suite.

One text is the kernel, and, run as Python with `numpy_language` in the place of `tl`, the reference, which shares no
line with the compiler or its interpreter. Loads, slices, reshapes, reductions over several axes, scans, sorts,
products, of every dtype, in loops that are left early, branches, tuples and functions that return early, one made of
another's results: what an op gets is what others leave, in whatever layout.

`arithmetic` has programs of another kind: long and straight, of integers and truth values alone.

Each is right for all inputs and on every device, bit for bit: sums of floats are of small integers, conversions round
once, indices are in range. Nothing divides floats or depends on the sign of a zero or the bits of a NaN.
"""

from tritonx_testing.conformance.random_blocks.case import ARITHMETIC as ARITHMETIC
from tritonx_testing.conformance.random_blocks.case import arithmetic_program as arithmetic_program
from tritonx_testing.conformance.random_blocks.case import random_case as random_case
