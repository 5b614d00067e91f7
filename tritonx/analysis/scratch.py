"""Which of a layout's bits move along an axis, and the scratch memory that reductions and scans over it need.

The allocator and the emission both ask here, so that they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tritonx.layouts import LinearLayout
from tritonx.layouts.errors import LayoutError

ALIGNMENT = 16
"""Every area of scratch memory starts at a multiple of this many bytes: the widest shared-memory access."""


def align(nbytes: int) -> int:
    """``nbytes`` rounded up to the alignment of scratch areas."""
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


@dataclass(frozen=True)
class AxisBits:
    """The bits of registers, lanes and warps that move along one axis of a layout.

    ``registers[i]`` is the step along the axis of register bit ``i`` (0 where it does not move along it); the masks hold the
    lane and warp bits that do.
    """

    registers: tuple[int, ...]
    lanes: tuple[int, ...]
    warps: tuple[int, ...]

    @staticmethod
    def of(layout: LinearLayout, axis: int) -> AxisBits:
        """Raises ``LayoutError`` where a basis moves along the axis and another dim at once: convert first."""

        def steps(dim: str) -> tuple[int, ...]:
            out: list[int] = []
            for basis in layout.bases(dim):
                beside = any(x for d, x in enumerate(basis) if d != axis)
                if basis[axis] and (beside or basis[axis].bit_count() != 1):
                    raise LayoutError(f"{dim} basis {list(basis)} does not move along dim {axis} alone")
                out.append(basis[axis])
            return tuple(out)

        if any(any(b) for b in layout.bases("block")) and any(b[axis] for b in layout.bases("block")):
            raise LayoutError(f"dim {axis} is spread over the blocks of a cluster")
        return AxisBits(steps("register"), steps("lane"), steps("warp"))

    @property
    def lane_bits(self) -> int:
        return len(self.lanes)

    @property
    def warp_bits(self) -> int:
        return len(self.warps)

    @property
    def lane_mask(self) -> int:
        return sum(1 << i for i, step in enumerate(self.lanes) if step)

    @property
    def warp_mask(self) -> int:
        return sum(1 << i for i, step in enumerate(self.warps) if step)

    @property
    def slots_per_register(self) -> int:
        """Values that one register of all threads makes in an exchange between warps."""
        lanes = self.lane_bits - self.lane_mask.bit_count()
        return 1 << (lanes + self.warp_bits)


def exchange_bytes(axis: AxisBits, values_per_thread: int, element_bytes: Iterable[int]) -> int:
    """Scratch bytes of one exchange between warps of ``values_per_thread`` values of each element size; 0 within a warp."""
    if not axis.warp_mask:
        return 0
    return sum(align(axis.slots_per_register * values_per_thread * size) for size in element_bytes)


def reduce_bytes(layout: LinearLayout, axis: int, element_bytes: Iterable[int]) -> int:
    """Scratch bytes of a reduction over ``axis``; element sizes in bytes, one for each operand (an i1 is a byte)."""
    bits = AxisBits.of(layout, axis)
    return exchange_bytes(bits, 1 << sum(1 for step in bits.registers if not step), element_bytes)


def scan_bytes(layout: LinearLayout, axis: int, element_bytes: Iterable[int]) -> int:
    """Scratch bytes of a scan over ``axis``: a total for each run of registers that lies below the warps' steps."""
    bits = AxisBits.of(layout, axis)
    if not bits.warp_mask:
        return 0
    lowest = min(step for step in bits.warps if step)
    runs = sum(1 for step in bits.registers if not step or step > lowest)
    return exchange_bytes(bits, 1 << runs, element_bytes)


def copies_bytes(layout: LinearLayout | None, element_bytes: int) -> int:
    """Scratch bytes to hand a value from the one thread that has it to those with copies of its element (atomics).

    ``layout`` is None for a scalar, which thread 0 has; 0 where no element is held twice.
    """
    if layout is None:
        return align(element_bytes)
    free = layout.free_masks()
    if not any(free.get(dim, 0) for dim in ("lane", "warp")):
        return 0
    held = sum(layout.in_bits(dim) - free.get(dim, 0).bit_count() for dim in ("register", "lane", "warp"))
    return align(element_bytes << held)


def table_bytes(elements: int, element_bytes: int) -> int:
    """Scratch bytes of a whole tile in row-major order (gather) or of a histogram's bins."""
    return align(elements * element_bytes)
