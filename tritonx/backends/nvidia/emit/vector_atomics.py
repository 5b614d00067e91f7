"""How many neighbours one atomic on floats works on: PTX ISA, "atom": vectors of 128 bits from 9.0 on, and before pairs
of halves, to which is added."""

from __future__ import annotations

from tritonx.conversion.gpu_to_llvm.types import bits

_LLVM_TYPES = {"f16": "half", "bf16": "bfloat", "f32": "float"}


def summed_together(capability: int, elem: str) -> int:
    """``elem`` is LLVM's type."""
    if elem not in _LLVM_TYPES.values():
        return 1
    if capability >= 90:
        return 128 // bits(elem)
    return 2 if elem == "half" else 1


def ordered_together(capability: int, elem: str) -> int:
    """The same for the larger and the smaller of floats of 16 bits; of one alone no instruction makes it."""
    return 128 // bits(elem) if capability >= 90 and elem in ("half", "bfloat") else 1


def summed_types(capability: int) -> tuple[tuple[str, int], ...]:
    """The types of elements of which there are sums of several at once, with how many."""
    found = ((name, summed_together(capability, elem)) for name, elem in _LLVM_TYPES.items())
    return tuple((name, count) for name, count in found if count > 1)
