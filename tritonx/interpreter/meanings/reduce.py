"""Reductions, in a fixed order.

The order is part of the meaning, so that every way of executing on a host gives the same bits: a halving tree. Of n
elements along the axis, element i of the first half is combined with element i of the second half (as the region's
first and second argument), all of them at once; then the n/2 results in the same way, until one is left. An odd n
leaves its middle element for the next step. A device may use another order: reductions of floats are compared with
tolerances there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tritonx.dialects import tile
from tritonx.interpreter.execution import Binder, Function, Table
from tritonx.interpreter.values import Array
from tritonx.ir.dispatch import case


def tree_reduce(combine: Function, sources: Sequence[Array], axis: int) -> tuple[Array, ...]:
    """Combine the elements of `sources` (arrays of one shape, reduced together) along `axis`.

    `combine` takes as many arrays for the left sides as there are sources, then as many for the right sides.
    """
    values = [np.moveaxis(source, axis, 0) for source in sources]
    count = values[0].shape[0]
    while count > 1:
        half = (count + 1) // 2
        pairs = count - half
        left, right = [v[:pairs] for v in values], [v[half:count] for v in values]
        combined = [
            c if np.shape(c) == v.shape else np.broadcast_to(c, v.shape)
            for c, v in zip(combine(*left, *right), left, strict=True)
        ]
        if pairs < half:
            combined = [np.concatenate((c, v[pairs:half])) for c, v in zip(combined, values, strict=True)]
        values, count = combined, half
    return tuple(v[0] for v in values)


def _reduce(op: tile.ReduceOp, bind: Binder) -> Function:
    combine, axis = bind.lanewise(op.combineOp), op.axis.value.data
    return lambda *sources: tree_reduce(combine, sources, axis)


TABLE: Table = {
    **case(tile.ReduceOp, _reduce),
}
