"""What the cache modifiers of loads and stores are here, as in Triton: `.cg` and `.cs` of loads and `.cs` of stores are
for what is not used again (LLVM's `nontemporal`), `.cv` and `.wt` go past the caches that others do not see (LLVM's
`volatile`); the others are what the hardware does anyway. Which bits that sets in which processor LLVM's AMDGPU guide
says ("memory model"), but for buffers' nontemporal accesses, whose bits the intrinsic is given."""

from __future__ import annotations

from tritonx.backends.amd.targets import Processor
from tritonx.dialects.tile.enums import CacheModifier

_NONTEMPORAL = {CacheModifier.CG: (True, False), CacheModifier.CS: (True, True)}
"""Whether loads with a modifier are, and stores."""

_VOLATILE_BUFFER = -(1 << 31)
"""Bit 31 of the last operand of an intrinsic for buffers or loads to the LDS, which LLVM takes for itself."""

_BUFFER_BITS = {"gfx90": (3, 3), "gfx94": (2, 2), "gfx95": (2, 2), "gfx11": (6, 7), "gfx12": (1, 1)}
"""Of nontemporal loads and stores by generation: GLC 1, SLC 2 and DLC 4 (CDNA 2, RDNA 3), NT 2 (CDNA 3 and 4), TH 1
(RDNA 4)."""


def is_nontemporal(cache: int, *, stores: bool) -> bool:
    return _NONTEMPORAL.get(CacheModifier(cache), (False, False))[stores]


def is_volatile(cache: int, *, stores: bool) -> bool:
    return cache == (CacheModifier.WT if stores else CacheModifier.CV)


def buffer_bits(processor: Processor, cache: int, *, stores: bool) -> int:
    """The last operand of an intrinsic for buffers or loads to the LDS."""
    if is_volatile(cache, stores=stores):
        return _VOLATILE_BUFFER
    return _BUFFER_BITS[processor.name[:5]][stores] if is_nontemporal(cache, stores=stores) else 0
