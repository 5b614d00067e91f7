"""Elements of shared memory at places that are computed: each warp touches those that its elements name."""

# Operands are arrays of any dtype: to pyright, what NumPy makes of them is partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import cast

import numpy as np

from tritonx.dialects.gpu_layout import LocalGatherOp, LocalScatterOp, MemDescType
from tritonx.interpreter.asynchronous.footprints import View, addresses_in, bytes_at, shares
from tritonx.interpreter.asynchronous.meanings.memory import where
from tritonx.interpreter.asynchronous.program import Program, Table
from tritonx.interpreter.asynchronous.shared import Mode
from tritonx.interpreter.errors import OutOfBoundsAccess
from tritonx.interpreter.execution import Function
from tritonx.interpreter.values import Array, dtype_of, storage_of, unsigned
from tritonx.ir.dispatch import case
from tritonx.ir.types import type_of


def _places(indices: Array, axis: int, shape: tuple[int, ...]) -> tuple[Array, ...]:
    """The coordinates of the elements. Indices are unsigned, as `tt.gather` has them."""
    indices = unsigned(indices)
    wrong = indices >= shape[axis]
    if wrong.any():
        lane = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise OutOfBoundsAccess(
            f"lane {lane} names element {int(indices[lane])} along axis {axis} of memory with {shape[axis]}"
        )
    own: Array = np.indices(indices.shape)
    return tuple(indices.astype(np.int64) if dim == axis else each for dim, each in enumerate(own))


def _touch(
    op: LocalGatherOp | LocalScatterOp, bind: Program, type_: MemDescType, view: View, at: tuple[Array, ...], mode: Mode
) -> None:
    size, machine = storage_of(type_.element_type).itemsize, bind.machine
    flat = [each.reshape(-1) for each in at]
    each: list[tuple[int, int, int]] = []
    for block, warp, own in shares(type_of(op.indices)):
        places = addresses_in(block, type_, view, size, machine.stride)[tuple(dim[own] for dim in flat)]
        each.append((block, warp, bytes_at(places, size)))
    machine.shared.touch(op, bind.group.joined(each, mode))


def _gather(op: LocalGatherOp, bind: Program) -> Function:
    type_, axis = cast(MemDescType, type_of(op.src)), op.axis.value.data

    def look_up(view: View, indices: Array) -> Array:
        at = _places(indices, axis, tuple(type_.shape))
        _touch(op, bind, type_, view, at, Mode.READ)
        storage, dtype = storage_of(type_.element_type), dtype_of(type_.element_type)
        held = bind.machine.shared.read(op, view.buffer, where(bind, type_, view)[(0, *at)], storage)
        return held != 0 if dtype == np.bool_ else held

    return look_up


def _scatter(op: LocalScatterOp, bind: Program) -> Function:
    type_, axis = cast(MemDescType, type_of(op.dst)), op.axis.value.data

    def scatter(view: View, values: Array, indices: Array) -> None:
        at = _places(indices, axis, tuple(type_.shape))
        _touch(op, bind, type_, view, at, Mode.WRITE)
        places = where(bind, type_, view)[(slice(None), *at)]
        stored = np.asarray(values, storage_of(type_.element_type))
        bind.machine.shared.write(view.buffer, places, np.broadcast_to(stored, places.shape))

    return scatter


TABLE: Table = {
    **case(LocalGatherOp, _gather),
    **case(LocalScatterOp, _scatter),
}
