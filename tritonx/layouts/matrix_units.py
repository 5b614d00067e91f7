"""Encodings of the results of matrix units by the kind of unit, for code that serves every vendor.

Units differ in what multiplies together: *mma*, a warp of 32 lanes with 16x8 results; *mfma*, a wave of 64 lanes;
*wmma*, a wave of 32 lanes with 16x16 results.
"""

from __future__ import annotations

from tritonx.layouts.encodings import (
    AmdMfmaEncoding,
    AmdWmmaEncoding,
    Bases,
    BlockedEncoding,
    Ints,
    NvidiaMmaEncoding,
)


def mma(version: int, warps: Ints, instruction: Ints, cga: Bases = ()) -> NvidiaMmaEncoding:
    """`instruction` is [..., M, N] for version 2, [M, N, K] for version 3."""
    return NvidiaMmaEncoding(version, 0, warps, instruction, cga)


def mfma(version: int, warps: Ints, instruction: Ints, element_bits: int = 32) -> AmdMfmaEncoding:
    """Transposed: a lane holds neighbours of a row, so that stores are vectors."""
    return AmdMfmaEncoding(version, warps, instruction, True, (), (), element_bits)


def wmma(version: int, warps: Ints, instruction: Ints) -> AmdWmmaEncoding:
    """Transposed, as `mfma`."""
    return AmdWmmaEncoding(version, True, warps, instruction)


def is_mma(encoding: object, version: int | None = None) -> bool:
    """Whether results of this encoding come from mma instructions (of a version)."""
    return isinstance(encoding, NvidiaMmaEncoding) and version in (None, encoding.version_major)


def reads_slices(encoding: object) -> bool:
    """Whether a product with a result of this encoding reads its operands from shared memory a slice of K at a time, as
    its own loads: every product but those of `ldmatrix`'s."""
    return isinstance(encoding, BlockedEncoding | AmdMfmaEncoding | AmdWmmaEncoding)


def is_mfma(encoding: object) -> bool:
    return isinstance(encoding, AmdMfmaEncoding)


def is_wmma(encoding: object) -> bool:
    return isinstance(encoding, AmdWmmaEncoding)
