"""What every op means: one table from op class to meaning, put together from a file for each family.

This is the definition of the tile dialect's ops. `execution.py` says what a meaning is; the machine and the eager
builder look ops up here, and so may any test.
"""

from __future__ import annotations

from tritonx.interpreter.execution import Table
from tritonx.interpreter.meanings import (
    atomic,
    casts,
    control,
    debug,
    descriptor,
    dot,
    elementwise,
    floating,
    integer,
    memory,
    reduce,
    scan,
    shape,
)

MEANINGS: Table = {
    **integer.TABLE,
    **floating.TABLE,
    **casts.TABLE,
    **elementwise.TABLE,
    **shape.TABLE,
    **memory.TABLE,
    **reduce.TABLE,
    **scan.TABLE,
    **dot.TABLE,
    **atomic.TABLE,
    **control.TABLE,
    **descriptor.TABLE,
    **debug.TABLE,
}
