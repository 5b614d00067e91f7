"""Making, reshaping, permuting and combining tiles; picking from them and counting in them."""

# Operands are arrays of any dtype: to pyright, what NumPy makes of them is partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import numpy as np

from tritonx.dialects import gluon, tile
from tritonx.interpreter.errors import OutOfBoundsAccess
from tritonx.interpreter.execution import Binder, Function, Table
from tritonx.interpreter.values import Array, dtype_of, unsigned
from tritonx.ir.dispatch import case
from tritonx.ir.types import shape_of, type_of


def _make_range(op: tile.MakeRangeOp, bind: Binder) -> Function:
    values = np.arange(op.start.value.data, op.end.value.data, dtype=np.int32)
    return lambda: values


def _splat(op: tile.SplatOp | tile.BroadcastOp, bind: Binder) -> Function:
    shape = shape_of(type_of(op.results[0]))
    return lambda src: np.broadcast_to(src, shape)


def _unsplat(op: tile.UnsplatOp, bind: Binder) -> Function:
    return lambda src: src.reshape(-1)[0]


def _expand_dims(op: tile.ExpandDimsOp, bind: Binder) -> Function:
    shape = shape_of(type_of(op.results[0]))
    return lambda src: src.reshape(shape)


def _reshape(op: tile.ReshapeOp, bind: Binder) -> Function:
    """Row-major, also where reordering is allowed."""
    shape = shape_of(type_of(op.results[0]))
    return lambda src: src.reshape(shape)


def _trans(op: tile.TransOp, bind: Binder) -> Function:
    order = tuple(int(axis) for axis in op.order.get_values())
    return lambda src: np.transpose(src, order)


def _cat(op: tile.CatOp, bind: Binder) -> Function:
    """In order: left, then right."""
    return lambda lhs, rhs: np.concatenate((lhs, rhs), axis=0)


def _join(op: tile.JoinOp, bind: Binder) -> Function:
    return lambda lhs, rhs: np.stack((lhs, rhs), axis=-1)


def _split(op: tile.SplitOp, bind: Binder) -> Function:
    return lambda src: (src[..., 0], src[..., 1])


def _gather(op: tile.GatherOp, bind: Binder) -> Function:
    """Indices are unsigned: integers of the IR have no sign, and a negative one is outside every tile."""
    axis: int = op.axis.value.data

    def gather(src: Array, indices: Array) -> Array:
        indices = unsigned(indices)
        wrong = indices >= src.shape[axis]
        if wrong.any():
            lane = tuple(int(i) for i in np.argwhere(wrong)[0])
            raise OutOfBoundsAccess(
                f"lane {lane} gathers element {int(indices[lane])} along axis {axis} of a tile with {src.shape[axis]}"
            )
        return np.take_along_axis(src, indices.astype(np.int64), axis)

    return gather


def _histogram(op: tile.HistogramOp, bind: Binder) -> Function:
    """Values, read as unsigned, outside 0 .. bins - 1 are counted nowhere."""
    (bins,) = shape_of(type_of(op.results[0]))
    dtype = dtype_of(type_of(op.results[0]))

    def histogram(src: Array, mask: Array | None = None) -> Array:
        src = unsigned(src)
        counted = src < bins
        if mask is not None:
            counted = counted & mask
        return np.bincount(src[counted].astype(np.int64), minlength=bins).astype(dtype)

    return histogram


def _set_auto_layout(op: gluon.SetAutoLayoutOp, bind: Binder) -> Function:
    return lambda src: src


TABLE: Table = {
    **case(tile.MakeRangeOp, _make_range),
    **case(tile.SplatOp, _splat),
    **case(tile.UnsplatOp, _unsplat),
    **case(tile.ExpandDimsOp, _expand_dims),
    **case(tile.BroadcastOp, _splat),
    **case(tile.ReshapeOp, _reshape),
    **case(tile.TransOp, _trans),
    **case(tile.CatOp, _cat),
    **case(tile.JoinOp, _join),
    **case(tile.SplitOp, _split),
    **case(tile.GatherOp, _gather),
    **case(tile.HistogramOp, _histogram),
    **case(gluon.SetAutoLayoutOp, _set_auto_layout),
}
