"""Making, reshaping, permuting and combining tiles; picking from them and counting in them."""

# Operands are arrays of any dtype: to pyright, what NumPy makes of them is partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import Any

import numpy as np

from tritonx.dialects import tile
from tritonx.interpreter.errors import OutOfBoundsAccess
from tritonx.interpreter.execution import Binder, Function, Table
from tritonx.interpreter.values import dtype_of, unsigned
from tritonx.ir.types import shape_of, type_of


def _make_range(op: Any, bind: Binder) -> Function:
    values = np.arange(op.start.value.data, op.end.value.data, dtype=np.int32)
    return lambda: values


def _splat(op: Any, bind: Binder) -> Function:
    shape = shape_of(type_of(op.results[0]))
    return lambda src: np.broadcast_to(src, shape)


def _unsplat(op: Any, bind: Binder) -> Function:
    return lambda src: src.reshape(-1)[0]


def _expand_dims(op: Any, bind: Binder) -> Function:
    shape = shape_of(type_of(op.results[0]))
    return lambda src: src.reshape(shape)


def _reshape(op: Any, bind: Binder) -> Function:
    """Row-major, also where reordering is allowed."""
    shape = shape_of(type_of(op.results[0]))
    return lambda src: src.reshape(shape)


def _trans(op: Any, bind: Binder) -> Function:
    order = tuple(int(axis) for axis in op.order.get_values())
    return lambda src: np.transpose(src, order)


def _cat(op: Any, bind: Binder) -> Function:
    """In order: left, then right."""
    return lambda lhs, rhs: np.concatenate((lhs, rhs), axis=0)


def _join(op: Any, bind: Binder) -> Function:
    return lambda lhs, rhs: np.stack((lhs, rhs), axis=-1)


def _split(op: Any, bind: Binder) -> Function:
    return lambda src: (src[..., 0], src[..., 1])


def _gather(op: Any, bind: Binder) -> Function:
    """Indices are unsigned: integers of the IR have no sign, and a negative one is outside every tile."""
    axis: int = op.axis.value.data

    def gather(src: Any, indices: Any) -> Any:
        indices = unsigned(indices)
        wrong = indices >= src.shape[axis]
        if wrong.any():
            lane = tuple(int(i) for i in np.argwhere(wrong)[0])
            raise OutOfBoundsAccess(
                f"lane {lane} gathers element {int(indices[lane])} along axis {axis} of a tile with {src.shape[axis]}"
            )
        return np.take_along_axis(src, indices.astype(np.int64), axis)

    return gather


def _histogram(op: Any, bind: Binder) -> Function:
    """Values, read as unsigned, outside 0 .. bins - 1 are counted nowhere."""
    (bins,) = shape_of(type_of(op.results[0]))
    dtype = dtype_of(type_of(op.results[0]))

    def histogram(src: Any, mask: Any = None) -> Any:
        src = unsigned(src)
        counted = src < bins
        if mask is not None:
            counted = counted & mask
        return np.bincount(src[counted].astype(np.int64), minlength=bins).astype(dtype)

    return histogram


TABLE: Table = {
    tile.MakeRangeOp: _make_range,
    tile.SplatOp: _splat,
    tile.UnsplatOp: _unsplat,
    tile.ExpandDimsOp: _expand_dims,
    tile.BroadcastOp: _splat,
    tile.ReshapeOp: _reshape,
    tile.TransOp: _trans,
    tile.CatOp: _cat,
    tile.JoinOp: _join,
    tile.SplitOp: _split,
    tile.GatherOp: _gather,
    tile.HistogramOp: _histogram,
}
