"""Cache policies of NVIDIA GPUs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tritonx.language.values.constexpr import constexpr_type, unwrap

if TYPE_CHECKING:
    from xdsl.ir import Attribute

PRIMARY = ("evict_normal", "evict_unchanged", "evict_first", "evict_last")
L1 = (*PRIMARY, "no_allocate")
SECONDARY = ("evict_unchanged", "evict_first")
MODIFIERS = ("ca", "cg", "wb", "cs", "wt", "cv")
PREFETCHES = (64, 128, 256)
"""Bytes."""


def _one_of(value: object, what: str, known: tuple[object, ...]) -> None:
    if value is not None and value not in known:
        raise ValueError(f"Unsupported {what} {value!r}: it is one of {', '.join(map(str, known))}")


@dataclass(frozen=True)
class FractionalEvictionPolicy:
    """A part ``fraction`` of the lines of the second-level cache has the priority ``primary``, the others have
    ``secondary``. Raises ValueError for other words, and for a fraction that is not in (0, 1].

    >>> FractionalEvictionPolicy("evict_last", 0.5).secondary
    'evict_unchanged'
    """

    primary: Any
    fraction: Any
    secondary: Any = "evict_unchanged"

    def __post_init__(self) -> None:
        for name in ("primary", "fraction", "secondary"):
            object.__setattr__(self, name, unwrap(getattr(self, name)))
        _one_of(self.primary, "L2 primary eviction priority", PRIMARY)
        _one_of(self.secondary, "L2 secondary eviction priority", SECONDARY)
        if not isinstance(self.fraction, int | float) or not math.isfinite(self.fraction):
            raise ValueError("L2 eviction fraction must be finite")
        if not 0 < self.fraction <= 1:
            raise ValueError("L2 eviction fraction must be in (0, 1]")

    @property
    def type(self) -> constexpr_type:
        return constexpr_type(self)

    def mangle(self) -> str:
        """A short name for symbols."""
        return f"FEP_{self.primary}_{float(self.fraction).hex().replace('.', 'd')}_{self.secondary}_FEP"


@dataclass(frozen=True)
class CachePolicy:
    """What caches do with the lines of an access: a cache operator of PTX, a priority in the first-level cache, one in
    the second-level cache, bytes that are fetched at once. Raises ValueError for other words and for none.

    >>> CachePolicy(l1="no_allocate").l1
    'no_allocate'
    """

    cache_modifier: Any = None
    l1: Any = None
    l2: Any = None
    l2_prefetch_size: Any = None

    def __post_init__(self) -> None:
        for name in ("cache_modifier", "l1", "l2", "l2_prefetch_size"):
            object.__setattr__(self, name, unwrap(getattr(self, name)))
        if self.cache_modifier is not None:
            object.__setattr__(self, "cache_modifier", str(self.cache_modifier).removeprefix("."))
        _one_of(self.cache_modifier, "cache modifier", MODIFIERS)
        _one_of(self.l1, "L1 eviction priority", L1)
        _one_of(self.l2_prefetch_size, "L2 prefetch size", PREFETCHES)
        if self.l2 is not None and not isinstance(self.l2, FractionalEvictionPolicy):
            raise TypeError("l2 must be a FractionalEvictionPolicy")
        if all(part is None for part in (self.cache_modifier, self.l1, self.l2, self.l2_prefetch_size)):
            raise ValueError("CachePolicy requires a cache modifier, L1 policy, L2 policy, or L2 prefetch size")

    @property
    def type(self) -> constexpr_type:
        return constexpr_type(self)

    def mangle(self) -> str:
        """A short name for symbols."""
        l2 = "none" if self.l2 is None else self.l2.mangle()
        return f"CP_{self.cache_modifier}_{self.l1}_{l2}_{self.l2_prefetch_size}_CP"

    def attribute(self) -> Attribute:
        """What an access in the IR says of it."""
        from tritonx.dialects.nvidia.cache_policy import NvidiaCachePolicy, NvidiaCachePolicyAttr

        l2 = self.l2
        parts = (None, None, None) if l2 is None else (l2.primary, l2.secondary, float(l2.fraction))
        return NvidiaCachePolicyAttr(NvidiaCachePolicy(self.cache_modifier, self.l1, *parts, self.l2_prefetch_size))
