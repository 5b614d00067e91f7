"""Shared memory: allocation, loads, stores, views."""

# Operands are arrays of any dtype: to pyright, what NumPy makes of them is partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
from xdsl.ir import Attribute, Operation

from tritonx.analysis.buffers import stored_bytes
from tritonx.dialects import gpu_layout
from tritonx.dialects.gpu_layout import MemDescType
from tritonx.interpreter.asynchronous.footprints import View, addresses, corner, entry_bytes
from tritonx.interpreter.asynchronous.program import Program, Table
from tritonx.interpreter.asynchronous.shared import Mode
from tritonx.interpreter.execution import Function
from tritonx.interpreter.meanings.dot import decoded_pairs
from tritonx.interpreter.rounding import round_to
from tritonx.interpreter.values import Array, dtype_of, storage_of, undefined
from tritonx.ir.dispatch import case
from tritonx.ir.types import element_type, type_of


def where(bind: Program, type_: MemDescType, view: View) -> Array:
    """The byte addresses, over all blocks, of the elements of a view and their copies."""
    return addresses(type_, view, storage_of(type_.element_type).itemsize, bind.machine.stride)


def put(bind: Program, type_: MemDescType, view: View, value: Array, source: Attribute | None = None) -> None:
    """The contents of a view, without a check. A warp by itself has its elements of the tile `source` to put there."""
    at = where(bind, type_, view)
    stored = np.broadcast_to(np.asarray(value, storage_of(type_.element_type)), at.shape)
    if source is not None and (own := bind.group.own(source)) is not None:
        at, stored = (each.reshape(at.shape[0], -1)[:, own] for each in (at, stored))
    bind.machine.shared.write(view.buffer, at, stored)


def contents(bind: Program, op: Operation, type_: MemDescType, view: View, result: Attribute | None = None) -> Array:
    """The tile that a view holds; of copies, the first block's. A warp by itself reads its elements of the tile
    `result`; the others are undefined."""
    dtype, storage = dtype_of(type_.element_type), storage_of(type_.element_type)
    at = where(bind, type_, view)
    own = None if result is None else bind.group.own(result)
    if own is None:
        held = bind.machine.shared.read(op, view.buffer, at, storage)[0]
    else:
        held = np.full(at[0].size, undefined(storage, bind.execution.poison), storage)
        held[own] = bind.machine.shared.read(op, view.buffer, at[0].reshape(-1)[own], storage)
        held = held.reshape(at[0].shape)
    return held != 0 if dtype == np.bool_ else held


def _store(op: Operation, bind: Program, source: Attribute, type_: MemDescType, view: View, value: Array) -> None:
    touches = bind.group.touches(source, type_, view, stored_bytes(source), Mode.WRITE)
    bind.machine.shared.touch(op, touches)
    put(bind, type_, view, value, source)


def _local_alloc(op: gpu_layout.LocalAllocOp, bind: Program) -> Function:
    type_ = cast(MemDescType, type_of(op.result))
    source = None if op.src is None else type_of(op.src)

    def alloc(value: Array | None = None) -> View:
        buffer = bind.machine.buffer(op, bind.group)
        assert buffer is not None
        view = View(buffer, buffer.base)
        if source is not None and value is not None:
            _store(op, bind, source, type_, view, value)
        return view

    return alloc


def _local_store(op: gpu_layout.LocalStoreOp, bind: Program) -> Function:
    source, type_ = type_of(op.src), cast(MemDescType, type_of(op.dst))
    return lambda value, view: _store(op, bind, source, type_, view, value)


def _local_load(op: gpu_layout.LocalLoadOp, bind: Program) -> Function:
    type_, result = cast(MemDescType, type_of(op.src)), type_of(op.result)

    def load(view: View, token: object = None) -> Array:
        touches = bind.group.touches(result, type_, view, stored_bytes(result), Mode.READ)
        bind.machine.shared.touch(op, touches)
        return contents(bind, op, type_, view, result)

    return load


def index(op: gpu_layout.MemDescIndexOp, bind: Program) -> Function:
    type_ = cast(MemDescType, type_of(op.result))
    step = entry_bytes(type_, storage_of(type_.element_type).itemsize)
    return lambda view, index: replace(view, base=view.base + int(index) * step)


def _subslice(op: gpu_layout.MemDescSubsliceOp, bind: Program) -> Function:
    start = corner(cast(MemDescType, type_of(op.src)), [int(n) for n in op.offsets.get_values()])
    return lambda view: replace(view, start=view.start ^ start)


def _same_place(
    op: gpu_layout.MemDescTransOp | gpu_layout.MemDescReshapeOp | gpu_layout.MemDescReinterpretOp, bind: Program
) -> Function:
    """A view that only renames dims: its type says how."""
    return lambda view: view


def _dealloc(op: gpu_layout.LocalDeallocOp, bind: Program) -> Function:
    return lambda view: None


def _global_scratch(op: gpu_layout.GlobalScratchAllocOp, bind: Program) -> Function:
    size, alignment = op.nbytes.value.data, op.alignment.value.data

    def alloc() -> np.int64:
        held = np.zeros(size + alignment, np.uint8)
        address = bind.execution.memory.register(held, "global scratch memory", initialised=False)
        return np.int64(-(-address // alignment) * alignment)

    return alloc


def _fp4_to_fp(op: gpu_layout.Fp4ToFpOp, bind: Program) -> Function:
    axis, dtype = op.axis.value.data, dtype_of(element_type(type_of(op.result)))
    return lambda src: round_to(decoded_pairs(src, axis), dtype)


TABLE: Table = {
    **case(gpu_layout.LocalAllocOp, _local_alloc),
    **case(gpu_layout.LocalStoreOp, _local_store),
    **case(gpu_layout.LocalLoadOp, _local_load),
    **case(gpu_layout.LocalDeallocOp, _dealloc),
    **case(gpu_layout.MemDescSubsliceOp, _subslice),
    **case(gpu_layout.MemDescTransOp, _same_place),
    **case(gpu_layout.MemDescReshapeOp, _same_place),
    **case(gpu_layout.MemDescReinterpretOp, _same_place),
    **case(gpu_layout.GlobalScratchAllocOp, _global_scratch),
    **case(gpu_layout.Fp4ToFpOp, _fp4_to_fp),
}
