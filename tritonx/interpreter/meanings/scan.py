"""Prefix scans: from the first element of the axis to the last (or back), one after the other; that order is the
meaning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tritonx.dialects import tile
from tritonx.interpreter.execution import Binder, Function, LaneFunction, Table
from tritonx.interpreter.values import Array
from tritonx.ir.dispatch import case


def serial_scan(combine: LaneFunction, sources: Sequence[Array], axis: int, *, reverse: bool) -> tuple[Array, ...]:
    """Inclusive scan of `sources` (arrays of one shape, scanned together); `combine` takes what was gathered, then
    the element."""
    values = [np.moveaxis(source, axis, 0) for source in sources]
    ufunc = combine.ufunc
    if ufunc is not None:  # NumPy accumulates in the same order, one step after the other
        way = slice(None, None, -1) if reverse else slice(None)
        total = ufunc.accumulate(values[0][way], axis=0, dtype=values[0].dtype)[way]
        return (np.moveaxis(total, 0, axis),)
    results = [np.empty_like(v) for v in values]
    count = values[0].shape[0]
    order = range(count - 1, -1, -1) if reverse else range(count)
    gathered: Sequence[Array] = ()
    for index in order:
        element = [v[index] for v in values]
        gathered = combine(*gathered, *element) if gathered else element
        for result, value in zip(results, gathered, strict=True):
            result[index] = value
    return tuple(np.moveaxis(result, 0, axis) for result in results)


def _scan(op: tile.ScanOp, bind: Binder) -> Function:
    combine, axis, reverse = bind.lanewise(op.combineOp), op.axis.value.data, bool(op.reverse.value.data)
    return lambda *sources: serial_scan(combine, sources, axis, reverse=reverse)


TABLE: Table = {
    **case(tile.ScanOp, _scan),
}
