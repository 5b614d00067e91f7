"""The scratch memory that ops need while they run, in bytes.

The allocator and the emission both ask here, so that they cannot disagree. Conversions between layouts ask
``tritonx.layouts.scratch_bytes`` instead.
"""

from __future__ import annotations

from collections.abc import Iterable

from tritonx.layouts import LayoutError, LinearLayout, redundancy
from tritonx.layouts.axis import AxisBits, axis_bits
from tritonx.layouts.dims import LANE, REGISTER, WARP

ALIGNMENT = 16
"""Every area of scratch memory starts at a multiple of this many bytes: the widest shared-memory access."""


def align(nbytes: int) -> int:
    """``nbytes`` rounded up to the alignment of scratch areas."""
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


def bits_along(layout: LinearLayout, axis: int) -> AxisBits:
    """The bits of a layout along one dim; raises ``LayoutError`` where they cannot be told apart: convert first."""
    bits = axis_bits(layout, axis)
    if bits is None:
        raise LayoutError(f"a basis of the layout moves along dim {axis} and another at once")
    if bits.blocks:
        raise LayoutError(f"dim {axis} is spread over the blocks of a cluster")
    return bits


def slots_per_register(layout: LinearLayout, bits: AxisBits) -> int:
    """Values that one register of all threads makes in an exchange between warps: one for each group of lanes that
    differ along the axis only, and each warp.
    """
    lanes = layout.in_bits(LANE) - bits.lane_mask.bit_count()
    return 1 << (lanes + layout.in_bits(WARP))


def exchange_bytes(layout: LinearLayout, bits: AxisBits, values: int, element_bytes: Iterable[int]) -> int:
    """Scratch bytes of one exchange between warps of ``values`` values a thread of each element size; 0 within a
    warp.
    """
    if not bits.warps:
        return 0
    slots = slots_per_register(layout, bits)
    return sum(align(slots * values * size) for size in element_bytes)


def reduce_bytes(layout: LinearLayout, axis: int, element_bytes: Iterable[int]) -> int:
    """Scratch bytes of a reduction over ``axis``; element sizes in bytes, one for each operand (an i1 is a byte)."""
    bits = bits_along(layout, axis)
    values = 1 << (layout.in_bits(REGISTER) - len(bits.registers))
    return exchange_bytes(layout, bits, values, element_bytes)


def scan_bytes(layout: LinearLayout, axis: int, element_bytes: Iterable[int]) -> int:
    """Scratch bytes of a scan over ``axis``: a total for each run of registers that lies below the warps' steps."""
    bits = bits_along(layout, axis)
    if not bits.warps:
        return 0
    lowest = bits.warps[0][1]
    below = sum(1 for _, step in bits.registers if step < lowest)
    return exchange_bytes(layout, bits, 1 << (layout.in_bits(REGISTER) - below), element_bytes)


def copies_bytes(layout: LinearLayout | None, element_bytes: int) -> int:
    """Scratch bytes to hand a value from the one thread that has it to those with copies of its element (atomics).

    ``layout`` is None for a scalar, which thread 0 has; 0 where no element is held twice.
    """
    if layout is None:
        return align(element_bytes)
    free = redundancy(layout)
    if not free.lanes and not free.warps:
        return 0
    masks = {REGISTER: free.registers, LANE: free.lanes, WARP: free.warps}
    held = sum(layout.in_bits(dim) - mask.bit_count() for dim, mask in masks.items())
    return align(element_bytes << held)


def table_bytes(elements: int, element_bytes: int) -> int:
    """Scratch bytes of a whole tile in row-major order (gather) or of a histogram's bins."""
    return align(elements * element_bytes)
