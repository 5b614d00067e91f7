"""Descriptors that a kernel writes to memory itself (tensor maps): made, acquired, used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from xdsl.ir import Operation

from tritonx.dialects import nvidia as ttng
from tritonx.dialects.tile import TensorDescType
from tritonx.interpreter.asynchronous.machine import TensorMap
from tritonx.interpreter.asynchronous.program import Program, Table
from tritonx.interpreter.asynchronous.reports import Kind
from tritonx.interpreter.errors import OutOfBoundsAccess
from tritonx.interpreter.execution import Function
from tritonx.interpreter.meanings.memory import element_size
from tritonx.interpreter.values import Descriptor
from tritonx.ir.types import PointerType, type_of

NAN_FILL = 1
"""`fill_mode` of a map whose elements outside the tensor read as NaN (CUDA driver API, CUtensorMapFloatOOBfill)."""


@dataclass(frozen=True)
class MapAddress:
    """A descriptor that lies at an address."""

    pointer: int
    type_: TensorDescType


def checked(bind: Program, op: Operation, given: Any) -> Descriptor:
    """The descriptor that a copy uses: one of the host's, or a tensor map that has been acquired."""
    if isinstance(given, Descriptor):
        return given
    assert isinstance(given, MapAddress)
    pointer, type_ = given.pointer, given.type_
    found = bind.machine.tensor_maps.get(pointer)
    if found is None:
        raise OutOfBoundsAccess(f"no tensor map has been written at address {pointer:#x}")
    if not found.acquired:
        bind.machine.reports.add(Kind.UNFENCED, op, "uses a tensor map that nobody has acquired", found.op)
    held = found.descriptor
    return Descriptor(held.base, held.shape, held.strides, type_.shape, type_.element_type, held.pad_with_nan)


def _create(op: Any, bind: Program) -> Function:
    rank = len(op.box_dim)
    size = element_size(type_of(op.global_address))
    pointee = cast(PointerType, type_of(op.global_address)).pointee
    nan = op.fill_mode.value.data == NAN_FILL

    def create(pointer: Any, base: Any, *numbers: Any) -> None:
        values = [int(n) for n in numbers]
        box, shape = values[:rank], values[rank : 2 * rank]
        strides = values[2 * rank : 3 * rank - 1]
        steps = [1, *(stride // size for stride in strides)]
        made = Descriptor(int(base), tuple(shape[::-1]), tuple(steps[::-1]), tuple(box[::-1]), pointee, nan)
        bind.machine.tensor_maps[int(pointer)] = TensorMap(made, op)

    return create


def _acquire(op: Any, bind: Program) -> Function:
    def acquire(pointer: Any) -> None:
        found = bind.machine.tensor_maps.get(int(pointer))
        if found is not None:
            found.acquired = True

    return acquire


def _reinterpret(op: Any, bind: Program) -> Function:
    type_ = cast(TensorDescType, type_of(op.result))

    def at(pointer: Any) -> MapAddress:
        return MapAddress(int(pointer), type_)

    return at


TABLE: Table = {
    ttng.TensormapCreateOp: _create,
    ttng.TensormapFenceproxyAcquireOp: _acquire,
    ttng.ReinterpretTensorDescOp: _reinterpret,
}
