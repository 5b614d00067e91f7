"""How products read operands that lie in shared memory, told by the layout of their results, for code that serves every
vendor.
"""

from __future__ import annotations

from tritonx.layouts.encodings import AmdMfmaEncoding, AmdWmmaEncoding, BlockedEncoding, NvidiaMmaEncoding


def by_multiply_adds(encoding: object) -> bool:
    """Whether each thread computes its elements of such a product by itself, from whole rows and columns."""
    return isinstance(encoding, BlockedEncoding)


def loads_matrices(encoding: object) -> bool:
    """Whether warps load the operands of such a product as whole matrices, all of them before it, from memory that is
    swizzled for that."""
    return isinstance(encoding, NvidiaMmaEncoding)


def reads_slices(encoding: object) -> bool:
    """Whether a product with a result of this encoding reads its operands from shared memory a slice of K at a time, as
    its own loads."""
    return isinstance(encoding, BlockedEncoding | AmdMfmaEncoding | AmdWmmaEncoding)
