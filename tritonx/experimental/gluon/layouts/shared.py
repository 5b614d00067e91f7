"""Layouts of buffers in shared memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from tritonx.experimental.gluon.layouts.base import SharedLayout, frozen, frozen_bases, is_power_of_two, require
from tritonx.experimental.gluon.layouts.bases import block_share, check_reach, row_bases, row_order
from tritonx.language.values.constexpr_function import constexpr_function
from tritonx.layouts.encodings import (
    NvmmaSharedEncoding,
    PaddedSharedEncoding,
    SharedLinearEncoding,
    SwizzledSharedEncoding,
)
from tritonx.layouts.tiling import bases_extent

SWIZZLES = (128, 64, 32)
"""Bytes that NVIDIA's matrix units and copies of tensor memory swizzle over, the most first."""


class ElementType(Protocol):
    """What `NVMMASharedLayout.get_default_for` asks an element's type."""

    primitive_bitwidth: int


@constexpr_function
def _default_for(
    block_shape: Sequence[int],
    dtype: ElementType,
    transposed: bool = False,
    fp4_padded: bool = False,
    cga_layout: list[list[int]] | None = None,
) -> NVMMASharedLayout:
    rank = len(block_shape)
    share = [*block_shape] if cga_layout is None else block_share(block_shape, cga_layout)
    stored = [*share[1:], share[0]] if transposed else share
    row = stored[-1] * (2 if fp4_padded else 1) * dtype.primitive_bitwidth // 8
    width = next((width for width in SWIZZLES if row and row % width == 0), 0)
    has_rows = rank > 1 and math.prod(stored[:-1]) >= 8
    return NVMMASharedLayout(
        width if has_rows else 0, dtype.primitive_bitwidth, rank, transposed, fp4_padded, cga_layout or []
    )


@dataclass(frozen=True, eq=False)
class NVMMASharedLayout(SharedLayout):
    """What NVIDIA's matrix units and bulk copies read and write: rows, swizzled over 0, 32, 64 or 128 bytes.

    `swizzle_byte_width` is in bytes, `element_bitwidth` in bits (8, 16, 32 or 64). `transposed`: the first dim is the
    contiguous one. `fp4_padded`: eight bytes of 4-bit pairs are followed by eight unused ones (8 bits, 128 bytes only).
    `cga_layout` as in `BlockedLayout`. Raises GluonLayoutError for other numbers.

    >>> from tritonx.experimental.gluon.layouts import NVMMASharedLayout
    >>> NVMMASharedLayout.get_default_for([64, 32], tl.float16)
    NVMMASharedLayout(swizzle_byte_width=64, element_bitwidth=16, rank=2, transposed=False, fp4_padded=False, ...)
    """

    TAG: ClassVar[str] = "NVMMA"
    swizzle_byte_width: int
    element_bitwidth: int
    rank: int = 2
    transposed: bool = False
    fp4_padded: bool = False
    cga_layout: list[list[int]] = field(default_factory=list[list[int]])

    get_default_for = staticmethod(_default_for)
    """(block_shape, dtype, transposed=False, fp4_padded=False, cga_layout=None): the layout whose swizzle is the
    widest that divides a row of the block's part of a shape; none below eight rows."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_entries(self.rank, "cga_layout")
        bits, width = self.element_bitwidth, self.swizzle_byte_width
        require(bits in (8, 16, 32, 64), f"element_bitwidth must be 8, 16, 32 or 64, got {bits}")
        require(width in (0, *SWIZZLES), f"swizzle_byte_width must be 0, 32, 64 or 128, got {width}")
        padding = not self.fp4_padded or (bits, width) == (8, 128)
        require(padding, f"fp4_padded needs 8-bit elements swizzled over 128 bytes, got {bits} bits and {width} bytes")

    def encoding(self) -> NvmmaSharedEncoding:
        return NvmmaSharedEncoding(
            self.swizzle_byte_width,
            self.transposed,
            self.element_bitwidth,
            self.fp4_padded,
            frozen_bases(self.cga_layout),
            self.rank,
        )


@dataclass(frozen=True, eq=False)
class SwizzledSharedLayout(SharedLayout):
    """Rows, in which groups of `vec` elements change places: the number of a group is XORed with the row's phase,
    ``row // per_phase % max_phase``.

    `order` lists the dims, fastest first; `cga_layout` as in `BlockedLayout`.

    >>> from tritonx.experimental.gluon.layouts import SwizzledSharedLayout
    >>> SwizzledSharedLayout(vec=8, per_phase=2, max_phase=4, order=[1, 0]).rank
    2
    """

    TAG: ClassVar[str] = "SSS"
    vec: int
    per_phase: int
    max_phase: int
    order: list[int]
    cga_layout: list[list[int]] = field(default_factory=list[list[int]])

    @property
    def rank(self) -> int:
        """Dims of the buffers that it lays out."""
        return len(self.order)

    def encoding(self) -> SwizzledSharedEncoding:
        return SwizzledSharedEncoding(
            self.vec, self.per_phase, self.max_phase, frozen(self.order), frozen_bases(self.cga_layout)
        )


@constexpr_function
def _identity_for(
    interval_padding_pairs: list[list[int]],
    shape: Sequence[int],
    order: Sequence[int],
    cga_layout: list[list[int]] | None = None,
) -> PaddedSharedLayout:
    rank = len(shape)
    require(sorted(order) == list(range(rank)), f"order {list(order)} does not permute the dims of {list(shape)}")
    require(all(map(is_power_of_two, shape)), f"the shape of a PaddedSharedLayout must be powers of two: {list(shape)}")
    share = block_share(shape, cga_layout) if cga_layout else shape
    return PaddedSharedLayout(interval_padding_pairs, row_bases(share, order), cga_layout or [], [*shape])


@dataclass(frozen=True, eq=False)
class PaddedSharedLayout(SharedLayout):
    """Explicit bases, and padding: element ``o`` in the order of the bases is at ``o + sum(o // interval * padding)``.

    `interval_padding_pairs` holds [interval, padding] in elements, powers of two, intervals different.
    `offset_bases` has the step along each dim of each bit of ``o``; `cga_layout` as in `BlockedLayout`; `shape` is
    in elements. Raises GluonLayoutError for other pairs and where a basis and the shape have different lengths.

    >>> from tritonx.experimental.gluon.layouts import PaddedSharedLayout
    >>> PaddedSharedLayout.with_identity_for([[32, 4]], shape=[2, 4], order=[1, 0]).offset_bases
    [[0, 1], [0, 2], [1, 0]]
    """

    TAG: ClassVar[str] = "PaddedShared"
    VIEWED: ClassVar[bool] = False
    interval_padding_pairs: list[list[int]]
    offset_bases: list[list[int]]
    cga_layout: list[list[int]]
    shape: list[int]

    with_identity_for = staticmethod(_identity_for)
    """(interval_padding_pairs, shape, order, cga_layout=[]): the layout whose bases count through the block's part of a
    shape, dims in `order`, fastest first."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_entries(2, "interval_padding_pairs")
        self._require_entries(self.rank, "offset_bases", "cga_layout")
        pairs = self.interval_padding_pairs
        require(bool(pairs), "interval_padding_pairs of a PaddedSharedLayout must not be empty")
        powers = all(is_power_of_two(value) for pair in pairs for value in pair)
        require(powers, f"intervals and paddings must be powers of two, got {pairs}")
        require(len({interval for interval, _ in pairs}) == len(pairs), f"an interval stands twice in {pairs}")
        require(self.rank > 0, "the shape of a PaddedSharedLayout must not be empty")

    @property
    def rank(self) -> int:
        """Dims of the buffers that it lays out."""
        return len(self.shape)

    def encoding(self) -> PaddedSharedEncoding:
        intervals, paddings = (tuple(pair[at] for pair in self.interval_padding_pairs) for at in (0, 1))
        shape, offset = frozen(self.shape), frozen_bases(self.offset_bases)
        share = bases_extent(self.rank, offset)
        block = tuple(tuple(s * size for s, size in zip(basis, share, strict=True)) for basis in self.cga_layout)
        check_reach(type(self).__name__, shape, offset, block)
        order = None if block else row_order(shape, self.offset_bases)
        if order is not None:
            return PaddedSharedEncoding(intervals, paddings, order, shape)
        return PaddedSharedEncoding(intervals, paddings, offset=offset, block=block)


@dataclass(frozen=True, eq=False)
class SharedLinearLayout(SharedLayout):
    """Explicit bases: the step in elements along each dim that each bit of an element's offset, and of the block's
    number, takes. `alignment` of the buffer is in bytes, a power of two. Raises GluonLayoutError where there are no
    offsets, or bases have different lengths.

    >>> from tritonx.experimental.gluon.layouts import SharedLinearLayout
    >>> SharedLinearLayout([[0, 1], [0, 2], [1, 0]]).shape
    [2, 4]
    """

    TAG: ClassVar[str] = "SharedLinear"
    offset_bases: list[list[int]]
    block_bases: list[list[int]] = field(default_factory=list[list[int]])
    alignment: int = 16

    def __post_init__(self) -> None:
        super().__post_init__()
        bases = self.offset_bases
        require(bool(bases) and bool(bases[0]), "offset_bases of a SharedLinearLayout must not be empty")
        self._require_entries(self.rank, "offset_bases", "block_bases")
        require(is_power_of_two(self.alignment), f"alignment must be a power of two, got {self.alignment}")

    @property
    def rank(self) -> int:
        """Dims of the buffers that it lays out."""
        return len(self.offset_bases[0])

    @property
    def shape(self) -> list[int]:
        """The smallest powers of two that hold all steps."""
        return [*bases_extent(self.rank, frozen_bases(self.offset_bases), frozen_bases(self.block_bases))]

    def encoding(self) -> SharedLinearEncoding:
        offset, block = frozen_bases(self.offset_bases), frozen_bases(self.block_bases)
        check_reach(type(self).__name__, frozen(self.shape), offset, block)
        return SharedLinearEncoding(offset, block, self.alignment)
