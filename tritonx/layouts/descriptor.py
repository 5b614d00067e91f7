"""Shared-memory operands of the warpgroup matrix instruction: how a descriptor describes a layout.

The instruction reads a tile of rows and K from shared memory in *core matrices*, eight rows of one swizzle width
(PTX ISA, "wgmma: shared memory matrix layout", "matrix-descriptor format"). The descriptor gives the swizzle and two
strides in bytes between core matrices; the major-ness is part of the instruction. Whether a buffer can be read, and
with which numbers, is read off the inverse of its layout: the core matrix must be its low bits and each further bit
of a dim must double one stride.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tritonx.layouts.dims import BLOCK, OFFSET
from tritonx.layouts.linear import LinearLayout
from tritonx.layouts.shared import NVMMA_PHASES

K_BYTES = 32
"""Bytes of K that one instruction consumes."""
CORE_ROWS = 8


@dataclass(frozen=True)
class MatrixDescriptor:
    """Fields of a descriptor, and how to step through the buffer.

    `swizzle` in bytes; `k_major`: K is the contiguous dim; `leading` and `stride` are the byte offsets of the
    descriptor (LBO and SBO; 1 element unit is never implied). `place` is (rows dim, K dim) → element offset: an
    instruction whose tile starts at (row, k) adds `place(row, k) * element bytes` to the start address.
    """

    swizzle: int
    k_major: bool
    leading: int
    stride: int
    place: LinearLayout


@lru_cache(maxsize=1024)
def matrix_descriptor(
    memory: LinearLayout, rows_dim: str, k_dim: str, instruction_rows: int, bits: int
) -> MatrixDescriptor | None:
    """The descriptor of a buffer (offset → dims) read by an instruction of `instruction_rows` rows (M or N), or
    None.
    """
    inside = memory.sublayout([dim for dim in memory.in_dims if dim != BLOCK], (rows_dim, k_dim))
    if not inside.is_surjective:
        return None
    inverse = inside.pseudo_inverse()
    for swizzle in (128, 64, 32, 0):
        for k_major in (True, False):
            if not k_major and bits != 16:
                continue  # only 16-bit types may have K as the slow dim
            found = _match(inverse, rows_dim, k_dim, instruction_rows, bits, swizzle, k_major)
            if found is not None:
                return found
    return None


def _match(
    inverse: LinearLayout, rows_dim: str, k_dim: str, rows: int, bits: int, swizzle: int, k_major: bool
) -> MatrixDescriptor | None:
    k_elements = K_BYTES * 8 // bits
    width = 8 * max(16, swizzle) // bits
    contiguous, slow = (k_dim, rows_dim) if k_major else (rows_dim, k_dim)
    extent = {rows_dim: rows, k_dim: k_elements}
    along = [inverse.coordinate(b, OFFSET) for b in inverse.columns(contiguous)]
    across = [inverse.coordinate(b, OFFSET) for b in inverse.columns(slow)]
    per_phase, max_phase = NVMMA_PHASES[swizzle]
    vec = 128 // bits
    expected_along = [1 << i for i in range(_log2(width))]
    expected_across = [row * width ^ vec * (row // per_phase % max_phase) for row in (1, 2, 4)]
    if along[: len(expected_along)] != expected_along or across[:3] != expected_across:
        return None
    byte = bits // 8
    along_stride = _stride(along[len(expected_along) : _log2(extent[contiguous])])
    across_stride = _stride(across[3 : _log2(extent[slow])])
    if along_stride is None or across_stride is None:
        return None
    step_along, step_across = along_stride * byte, across_stride * byte
    # Plain K-major operands pass the K step first; everywhere else the leading offset steps along the contiguous dim.
    return MatrixDescriptor(swizzle, k_major, step_along, step_across, inverse)


def _stride(bases: Sequence[int]) -> int | None:
    """s when the bases are s, 2s, 4s, ...; 0 when there are none."""
    if not bases:
        return 0
    if any(basis != bases[0] << i for i, basis in enumerate(bases)):
        return None
    return bases[0]


def _log2(size: int) -> int:
    return size.bit_length() - 1
