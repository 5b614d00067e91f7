"""Copies of which a warp's writes are consecutive: lane 0's at an address that all lanes share, each other lane's
behind the one of the lane before.

Nothing is left to choose about where a lane writes, only about which element it brings. So the layout of the copying
threads follows from the memory: the lowest bits of an offset number the elements of one copy, the next ones the lanes,
then come the warps, and what is left are a thread's further copies. However the memory permutes its rows, the lanes
read permuted elements.
"""

from __future__ import annotations

from functools import lru_cache

from tritonx.layouts.access import SharedAccess, shared_access
from tritonx.layouts.dims import LANE, OFFSET, REGISTER, WARP
from tritonx.layouts.encodings import LinearEncoding
from tritonx.layouts.linear import LinearLayout


@lru_cache(maxsize=1024)
def lane_ordered(memory: LinearLayout, elements: int, lanes: int, warps: int) -> LinearEncoding | None:
    """How a tile lies in threads that copy it to `memory` (offset → index), each so many `elements` at a time; None
    where there is less than a copy for each thread, or an element is in the memory twice."""
    bases = memory.bases(OFFSET)
    copied, in_warp, in_block = (
        size.bit_length() - 1 for size in (elements, elements * lanes, elements * lanes * warps)
    )
    if not memory.is_invertible or len(bases) < in_block:
        return None
    return LinearEncoding((*bases[:copied], *bases[in_block:]), bases[copied:in_warp], bases[in_warp:in_block], ())


@lru_cache(maxsize=1024)
def consecutive_accesses(places: LinearLayout, bits: int, max_vec_bits: int) -> SharedAccess | None:
    """The accesses of a placement (register, lane, warp) → offset, if each is one of consecutive lanes; None where one
    is not, or threads have the same elements."""
    access = shared_access(places, bits, max_vec_bits)
    together = access.vec * places.in_size(LANE)
    lanes = tuple(access.vec << number for number in range(places.in_bits(LANE)))
    others = (*places.columns(WARP), *(one.offset for one in access.accesses))
    if places.columns(LANE) != lanes or any(column & (together - 1) for column in others):
        return None
    return access if places.is_injective and len(access.repeats) == places.in_size(REGISTER) else None
