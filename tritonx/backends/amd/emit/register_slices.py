"""``amdg.extract_slice``: some of a thread's registers."""

from __future__ import annotations

from xdsl.ir import Operation

from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.shape import positions
from tritonx.dialects.amd import ExtractSliceOp
from tritonx.ir.dispatch import case


def extract_slice(op: ExtractSliceOp, f: FunctionEmitter) -> None:
    """A thread's elements of the box are where all of its elements are, so many further on."""
    starts = [int(start) for start in op.static_offsets.get_values()]
    held = {place: r for r, place in reversed(list(enumerate(positions(f.layout(op.source.type)))))}
    taken = [
        tuple(x + start for x, start in zip(place, starts, strict=True))
        for place in positions(f.layout(op.result.type))
    ]
    f.result(op, f.permute(f.get(op.source), [held[place] for place in taken]))


TABLE: dict[type[Operation], Emit] = {**case(ExtractSliceOp, extract_slice)}
