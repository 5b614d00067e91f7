"""Which registers, lanes and warps lie along one dim of a tensor: what a reduction or scan along it has to
combine.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from tritonx.layouts.dims import BLOCK, LANE, REGISTER, WARP
from tritonx.layouts.linear import LinearLayout


@dataclass(frozen=True)
class AxisBits:
    """For registers, lanes, warps and blocks, (bit, step) pairs: the bits that move along the axis and how far,
    ascending.

    Bits that move along another dim only, and bits that move nowhere (copies), are not listed.
    """

    registers: tuple[tuple[int, int], ...]
    lanes: tuple[tuple[int, int], ...]
    warps: tuple[tuple[int, int], ...]
    blocks: tuple[tuple[int, int], ...]

    @property
    def lane_mask(self) -> int:
        return sum(1 << bit for bit, _ in self.lanes)

    @property
    def warp_mask(self) -> int:
        return sum(1 << bit for bit, _ in self.warps)


@lru_cache(maxsize=1024)
def axis_bits(layout: LinearLayout, axis: int) -> AxisBits | None:
    """The bits along tensor dim `axis`, or None when the layout mixes it: a bit moves along it and another dim at
    once, or two bits make the same step (then convert first)."""
    name = layout.outs[axis][0]
    found: dict[str, list[tuple[int, int]]] = {dim: [] for dim in (REGISTER, LANE, WARP, BLOCK)}
    seen = 0
    for dim, bases in layout.ins:
        for bit, basis in enumerate(bases):
            step = layout.coordinate(basis, name)
            if not step:
                continue
            if basis != step << layout.offset_of(name) or step & (step - 1) or seen & step:
                return None
            seen |= step
            found[dim].append((bit, step))
    parts = (tuple(sorted(found[dim], key=lambda item: item[1])) for dim in (REGISTER, LANE, WARP, BLOCK))
    return AxisBits(*parts)
