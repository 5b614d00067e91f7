"""Tiles of pointers that a loop moves on as one scalar pointer, where accesses of a buffer gain by it.

As offsets from a buffer's base the pointers would have to be carried, and added up without proof that they stay in
range; but all of them move by the same number, so that the base can move instead: a scalar, which is added outside of
the vector registers. `use-buffer-accesses` then finds the scalar and the offsets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.ir import SSAValue

from tritonx.analysis.axis_info import AxisFacts
from tritonx.backends.amd.passes.use_buffer_accesses import is_small_buffer, split
from tritonx.ir.contract import Contract
from tritonx.transforms.gpu.carry_scalars import CarryScalars


@dataclass(frozen=True)
class CarryScalarPointers(CarryScalars):
    """Carries scalars where buffer instructions gain by it.

    That is `carry-scalars` where in front of the loop the tile is an argument marked `tt.pointer_range = 32` (or a
    scalar offset from one) plus 32-bit offsets."""

    name = "carry-scalar-pointers"
    contract = Contract(
        ("tt", "ttg"),
        on=("scf.for",),
        creates=CarryScalars.contract.creates,
        reads=("tt.pointer_range",),
    )

    def is_wanted(self, tile: SSAValue, facts: Callable[[], AxisFacts]) -> bool:
        start = split(tile)
        return start is not None and bool(start.parts) and is_small_buffer(start.base)
