"""From an encoding, as types of the IR have it, to Gluon's layout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from tritonx.experimental.gluon.layouts.amd import AMDMFMALayout, AMDWMMALayout
from tritonx.experimental.gluon.layouts.base import DistributedLayout, LayoutValue, SharedLayout, sizes_of
from tritonx.experimental.gluon.layouts.bases import block_share, row_bases
from tritonx.experimental.gluon.layouts.distributed import (
    AutoLayout,
    BlockedLayout,
    DistributedLinearLayout,
    DotOperandLayout,
    NVMMADistributedLayout,
    SliceLayout,
)
from tritonx.experimental.gluon.layouts.linear import linear_of
from tritonx.experimental.gluon.layouts.shared import (
    NVMMASharedLayout,
    PaddedSharedLayout,
    SharedLinearLayout,
    SwizzledSharedLayout,
)
from tritonx.experimental.gluon.layouts.tensor_memory import tensor_memory_layout_of
from tritonx.layouts import encodings as E
from tritonx.layouts.cta_layout import bases_of
from tritonx.layouts.dims import BLOCK, LANE, OFFSET, REGISTER, WARP
from tritonx.layouts.tiling import bases_extent


def _lists(bases: E.Bases) -> list[list[int]]:
    return [list(basis) for basis in bases]


@overload
def layout_of(encoding: E.DistributedEncoding) -> DistributedLayout: ...
@overload
def layout_of(encoding: E.SharedEncoding) -> SharedLayout: ...
@overload
def layout_of(encoding: object) -> LayoutValue: ...
def layout_of(encoding: object) -> LayoutValue:
    """The layout whose `encoding` this is: ``layout_of(layout.encoding()) == layout``.

    Raises TypeError for what is no encoding, or one that Gluon has no layout of.

    >>> from tritonx.experimental.gluon.layouts import SwizzledSharedLayout, layout_of
    >>> layout_of(SwizzledSharedLayout(8, 1, 4, [1, 0]).encoding())
    SwizzledSharedLayout(vec=8, per_phase=1, max_phase=4, order=[1, 0], cga_layout=[])
    """
    found = _distributed(encoding) or _shared(encoding) or tensor_memory_layout_of(encoding)
    if found is None:
        raise TypeError(f"Gluon has no layout of {encoding!r}")
    return found


def _distributed(e: object) -> DistributedLayout | None:
    match e:
        case E.BlockedEncoding():
            per_thread, per_warp, warps = list(e.size_per_thread), list(e.threads_per_warp), list(e.warps_per_cta)
            return BlockedLayout(per_thread, per_warp, warps, list(e.order), _lists(e.cga))
        case E.SliceEncoding():
            return SliceLayout(e.dim, layout_of(e.parent))
        case E.DotOperandEncoding():
            return DotOperandLayout(e.op_idx, layout_of(e.parent), e.k_width)
        case E.LinearEncoding():
            groups = (e.register, e.lane, e.warp, e.block)
            register, lane, warp, block = map(_lists, groups)
            return DistributedLinearLayout(register, lane, warp, block, [*bases_extent(e.rank, *groups)])
        case E.NvidiaMmaEncoding():
            version = [e.version_major, e.version_minor]
            return NVMMADistributedLayout(version, list(e.warps_per_cta), list(e.instr_shape), _lists(e.cga))
        case E.AmdMfmaEncoding():
            instruction, warps, tiles = list(e.instr_shape), list(e.warps_per_cta), list(e.tiles_per_warp)
            cga = _lists(e.cga)
            return AMDMFMALayout(e.version, instruction, e.is_transposed, warps, e.element_bit_width, tiles, cga)
        case E.AmdWmmaEncoding():
            steps, instruction = bases_of(e), list(e.instr_shape)
            register, warp = (_lists(steps.get(name, ())) for name in ("register", "warp"))
            return AMDWMMALayout(e.version, e.is_transposed, warp, register, instruction, _lists(e.cga), e.rank)
        case _:
            return None


def _shared(e: object) -> SharedLayout | None:
    match e:
        case E.SwizzledSharedEncoding():
            return SwizzledSharedLayout(e.vec, e.per_phase, e.max_phase, list(e.order), _lists(e.cga))
        case E.NvmmaSharedEncoding():
            width, bits = e.swizzling_byte_width, e.element_bit_width
            return NVMMASharedLayout(width, bits, e.rank, e.transposed, e.fp4_padded, _lists(e.cga))
        case E.PaddedSharedEncoding():
            return _padded(e)
        case E.SharedLinearEncoding():
            return SharedLinearLayout(_lists(e.offset), _lists(e.block), e.alignment)
        case _:
            return None


def _padded(e: E.PaddedSharedEncoding) -> PaddedSharedLayout:
    pairs = [[interval, padding] for interval, padding in zip(e.intervals, e.paddings, strict=True)]
    if e.offset is None:
        assert e.order is not None and e.shape is not None
        cga = _lists(e.cga)
        return PaddedSharedLayout(pairs, row_bases(block_share(e.shape, cga), e.order), cga, list(e.shape))
    share = bases_extent(e.rank, e.offset)
    cga = [[step // size for step, size in zip(basis, share, strict=True)] for basis in e.block]
    return PaddedSharedLayout(pairs, _lists(e.offset), cga, [*bases_extent(e.rank, e.offset, e.block)])


ExplicitLayout = AutoLayout | DistributedLinearLayout | SharedLinearLayout
"""What `to_linear_layout` gives."""


def to_linear_layout(layout: DistributedLayout | SharedLayout, shape: Sequence[int]) -> ExplicitLayout:
    """The layout as explicit bases on a shape, in elements: a `DistributedLinearLayout` or `SharedLinearLayout`. These
    and `AutoLayout` are returned as they are. Raises ValueError where the layout cannot lay out the shape, or has
    padding, and TypeError for `CoalescedLayout`.

    >>> from tritonx.experimental.gluon.layouts import SwizzledSharedLayout, to_linear_layout
    >>> to_linear_layout(SwizzledSharedLayout(2, 1, 2, [1, 0]), [4, 4])
    SharedLinearLayout(offset_bases=[[0, 1], [0, 2], [1, 2], [2, 0]], block_bases=[], alignment=16)
    """
    if isinstance(layout, AutoLayout | DistributedLinearLayout | SharedLinearLayout):
        return layout
    if isinstance(layout, PaddedSharedLayout):
        raise ValueError("a PaddedSharedLayout has padding, which no SharedLinearLayout has")
    linear, sizes = linear_of(layout.encoding(), sizes_of(shape)), sizes_of(shape)
    if isinstance(layout, DistributedLayout):
        register, lane, warp, block = (_lists(linear.bases(dim)) for dim in (REGISTER, LANE, WARP, BLOCK))
        return DistributedLinearLayout(register, lane, warp, block, sizes)
    alignment = 8 * max(16, layout.swizzle_byte_width) if isinstance(layout, NVMMASharedLayout) else 16
    return SharedLinearLayout(_lists(linear.bases(OFFSET)), _lists(linear.bases(BLOCK)), alignment)
