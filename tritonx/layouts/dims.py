"""Names of the dims that layouts map between."""

from __future__ import annotations

from functools import cache

REGISTER = "register"
LANE = "lane"
WARP = "warp"
BLOCK = "block"
OFFSET = "offset"

HARDWARE = (REGISTER, LANE, WARP, BLOCK)
"""Input dims of a distributed layout, in order."""


@cache
def tensor_dims(rank: int) -> tuple[str, ...]:
    """Output dims of a layout of a tensor of this rank."""
    return tuple(f"dim{i}" for i in range(rank))
