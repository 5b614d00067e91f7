"""Which of the threads that hold an element acts for all: needed by stores, atomics and reductions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from tritonx.layouts.dims import BLOCK, LANE, REGISTER, WARP
from tritonx.layouts.linear import LinearLayout


@dataclass(frozen=True)
class Redundancy:
    """Masks of the bits that select copies: a thread acts when `lane & lanes`, `warp & warps` and `block & blocks`
    are all 0; of its registers those act whose number has none of the bits of `registers`."""

    registers: int
    lanes: int
    warps: int
    blocks: int


@lru_cache(maxsize=4096)
def redundancy(layout: LinearLayout) -> Redundancy:
    """The copies of a distributed layout."""
    masks = layout.free_masks()
    return Redundancy(*(masks.get(dim, 0) for dim in (REGISTER, LANE, WARP, BLOCK)))
