"""The table of emitters: op class → the function that writes it. A backend may copy it and replace entries."""

from __future__ import annotations

from xdsl.ir import Operation

from tritonx.conversion.gpu_to_llvm import (
    asynchronous,
    atomic,
    computed_places,
    constant_offsets,
    control,
    convert_layout,
    custom,
    debug,
    dot,
    elementwise,
    global_scratch,
    lookup,
    memory,
    reduce,
    regions,
    scan,
    shape,
    shared,
)
from tritonx.conversion.gpu_to_llvm.function import Emit

TABLE: dict[type[Operation], Emit] = {
    **elementwise.TABLE,
    **constant_offsets.emitters(elementwise.TABLE),
    **memory.TABLE,
    **global_scratch.TABLE,
    **shape.TABLE,
    **reduce.TABLE,
    **scan.TABLE,
    **dot.TABLE,
    **atomic.TABLE,
    **control.TABLE,
    **convert_layout.TABLE,
    **shared.TABLE,
    **computed_places.TABLE,
    **asynchronous.TABLE,
    **lookup.TABLE,
    **debug.TABLE,
    **regions.TABLE,
    **custom.TABLE,
}
