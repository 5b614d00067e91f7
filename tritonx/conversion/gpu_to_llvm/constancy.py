"""Runs of equal elements: what the axis analysis knows to be equal is computed once.

`x // 4096` of a tile's indices is one number for each thread that owns a few neighbours, and so is a load through it;
but an assembler sees a division for each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Operation

from tritonx.conversion.gpu_to_llvm.indices import register_constants
from tritonx.dialects.layout_constraints import is_elementwise
from tritonx.ir.types import is_tensor, type_of

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter


def first_registers(op: Operation, f: FunctionEmitter) -> list[int] | None:
    """For every register of an elementwise op's result the first one in the same run of equal elements; None where no
    two are known to be equal.
    """
    if len(op.results) != 1 or not is_tensor(type_ := type_of(op.results[0])) or not is_elementwise(op):
        return None
    runs = f.module.axis_info.of(op.results[0]).constancy
    if all(run == 1 for run in runs):
        return None
    layout = f.layout(type_)
    constants = [register_constants(layout, d) for d in range(len(layout.out_dims))]
    seen: dict[tuple[int, ...], int] = {}
    first = [
        seen.setdefault(tuple(values[r] & -run for values, run in zip(constants, runs, strict=True)), r)
        for r in range(f.registers(type_))
    ]
    return first if len(seen) < len(first) else None
