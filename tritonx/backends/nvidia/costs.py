"""What a multiprocessor of each compute capability does in a cycle, for the schedules of loops.

Sources: CUDA C++ programming guide, "Arithmetic instructions", for lanes and products from registers; the tuning guides
of Ampere and Hopper; the 9.0 figures of products from shared memory and of block copies were measured on an H200.
"""

from __future__ import annotations

from dataclasses import replace

from tritonx.analysis.chip import Chip
from tritonx.analysis.unit_costs import UnitCosts
from tritonx.backends.nvidia.targets import GRID_LIMITS, MAX_REGISTERS

_REGISTERS = UnitCosts(held_bytes=128, register_bytes=256 * 1024, thread_bytes=4 * MAX_REGISTERS)

_TURING = replace(_REGISTERS, products=(("f16", 512),), lanes=64)

_AMPERE = replace(
    _REGISTERS,
    products=(("f16", 1024), ("bf16", 1024), ("f32", 512), ("i8", 2048), ("f64", 64)),
    lanes=64,
    copy_bytes=(4, 8, 16),
)

_SMALL_AMPERE = replace(
    _AMPERE, products=(("f16", 512), ("bf16", 512), ("f32", 256), ("i8", 1024), ("f64", 2)), lanes=128
)

_ADA = replace(_SMALL_AMPERE, products=(*_SMALL_AMPERE.products, ("f8E4M3FN", 1024), ("f8E5M2", 1024)))

_HOPPER = replace(
    _REGISTERS,
    products=(("f16", 1024), ("bf16", 1024), ("f32", 512), ("i8", 2048), ("f64", 128)),
    shared_products=(
        *(("f16", 2048), ("bf16", 2048), ("f32", 1024)),
        *(("i8", 4096), ("f8E4M3FN", 4096), ("f8E5M2", 4096)),
    ),
    copy_bytes=(4, 8, 16),
    copies_blocks=True,
    copied=36,
)

_COSTS = {75: _TURING, 80: _AMPERE, 86: _SMALL_AMPERE, 89: _ADA, 90: _HOPPER, 100: _HOPPER, 120: _ADA}

CHIPS = {
    80: Chip("A100 80 GB SXM", 108, 1.41e9, 2.039e12, GRID_LIMITS),
    90: Chip("H200", 132, 1.98e9, 4.8e12, GRID_LIMITS),
}
"""The chip of a compute capability that times are estimated for (NVIDIA's data sheets)."""


def costs_of(number: int) -> UnitCosts:
    """Of a compute capability; one that is not listed costs what the one below does."""
    return _COSTS[max(known for known in _COSTS if known <= max(number, 75))]
