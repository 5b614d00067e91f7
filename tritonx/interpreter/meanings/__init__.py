"""What every op means: one table from op class to meaning, put together from a file for each family.

This is the definition of the tile dialect's ops. `execution.py` says what a meaning is; the machine and the eager
builder look ops up here, and so may any test. An op of another package brings its own: its class holds it as `MEANING`.
"""

from __future__ import annotations

from xdsl.ir import Operation

from tritonx.interpreter.execution import Meaning, Table
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


def meaning_of(cls: type[Operation]) -> Meaning | None:
    """What the ops of a class mean; None where that is unknown.

    >>> from tritonx.backends.tile import arith, scf
    >>> meaning_of(arith.AddiOp) is None, meaning_of(scf.YieldOp) is None
    (False, True)
    """
    return MEANINGS.get(cls) or getattr(cls, "MEANING", None)
