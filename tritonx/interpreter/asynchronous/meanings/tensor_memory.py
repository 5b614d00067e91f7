"""Tensor memory, and the products that accumulate in it.

The tensor cores are agents of their own, one for each warp that may issue products: they know what their warp knew when
it issued, and do one product after another. A commit hands on what they know, some time later. So whoever reads a
result, or overwrites an operand, must have waited for an mbarrier that a commit told."""

# Operands are arrays of any dtype: to pyright, what NumPy makes of them is partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
from xdsl.ir import Attribute, Operation

from tritonx.dialects import gpu_layout
from tritonx.dialects import nvidia as ttng
from tritonx.dialects.gpu_layout import MemDescType
from tritonx.dialects.nvidia.tensor_memory import address_of, extent_of, is_tensor_memory
from tritonx.dialects.tile.enums import InputPrecision
from tritonx.interpreter.asynchronous import tensor_memory
from tritonx.interpreter.asynchronous.footprints import View, addresses_in, bytes_at
from tritonx.interpreter.asynchronous.meanings import memory
from tritonx.interpreter.asynchronous.meanings.barrier import barrier_at
from tritonx.interpreter.asynchronous.program import Coroutine, Program, Table
from tritonx.interpreter.asynchronous.shared import Mode, Proxy, Touch
from tritonx.interpreter.errors import UnsupportedInInterpreter
from tritonx.interpreter.execution import Function
from tritonx.interpreter.meanings.dot import product
from tritonx.interpreter.values import Array, dtype_of, storage_of
from tritonx.ir.dispatch import case
from tritonx.ir.types import element_type, type_as, type_of


def _where(bind: Program, type_: MemDescType, view: View) -> Array:
    assert bind.machine.tensor_memory is not None
    return tensor_memory.addresses(bind.machine.tensor_memory, type_, view.base, bind.machine.stride)


def _contents(bind: Program, op: Operation, type_: MemDescType, view: View) -> Array:
    """The tile that lies there."""
    at = _where(bind, type_, view)[0]
    return bind.machine.shared.read(op, view.buffer, at, storage_of(type_.element_type))


def _put(bind: Program, type_: MemDescType, view: View, value: Array) -> None:
    at = _where(bind, type_, view)
    stored = np.broadcast_to(np.asarray(value, storage_of(type_.element_type)), at.shape)
    bind.machine.shared.write(view.buffer, at, stored)


def _touch(bind: Program, op: Operation, tile: Attribute, type_: MemDescType, view: View, mode: Mode) -> None:
    machine = bind.machine
    assert machine.tensor_memory is not None
    if bind.group.only is not None:
        raise UnsupportedInInterpreter("tensor memory where warps are each executed by themselves")
    each = tensor_memory.touched(machine.tensor_memory, tile, type_, view.base, machine.stride)
    machine.shared.touch(op, bind.group.joined(each, mode))


def _alloc(op: ttng.TMEMAllocOp, bind: Program) -> Function:
    machine, type_ = bind.machine, type_as(op.result, MemDescType)
    given = None if op.src is None else type_of(op.src)
    results = len(op.results)

    def alloc(value: Array | None = None) -> View | tuple[View, None]:
        assert machine.tensor_memory is not None
        buffer = machine.shared.buffer(op, machine.tensor_memory.base, machine.tensor_memory.size)
        view = View(buffer, machine.tensor_memory.addresses[op])
        if given is not None and value is not None:
            _touch(bind, op, given, type_, view, Mode.WRITE)
            _put(bind, type_, view, value)
        return view if results == 1 else (view, None)

    return alloc


def _load(op: ttng.TMEMLoadOp, bind: Program) -> Function:
    type_, tile = type_as(op.src, MemDescType), type_of(op.result)
    results = len(op.results)

    def load(view: View, token: object = None) -> Array | tuple[Array, None]:
        _touch(bind, op, tile, type_, view, Mode.READ)
        value = _contents(bind, op, type_, view)
        return value if results == 1 else (value, None)

    return load


def _store(op: ttng.TMEMStoreOp, bind: Program) -> Function:
    type_, tile = type_as(op.dst, MemDescType), type_of(op.src)
    results = len(op.results)

    def store(view: View, *rest: Array) -> tuple[None, ...]:
        value, predicate = rest[-2:]
        if predicate:
            _touch(bind, op, tile, type_, view, Mode.WRITE)
            _put(bind, type_, view, value)
        return (None,) * results

    return store


def _subslice(op: ttng.TMEMSubsliceOp, bind: Program) -> Function:
    by = address_of(type_as(op.src, MemDescType), 0, op.N.value.data)
    return lambda view: replace(view, base=view.base + by)


def _index(op: gpu_layout.MemDescIndexOp, bind: Program) -> Function:
    if not is_tensor_memory(type_of(op.src)):
        return memory.index(op, bind)
    step = extent_of(type_as(op.result, MemDescType)).columns
    return lambda view, index: replace(view, base=view.base + int(index) * step)


def _wait(op: ttng.TMEMWaitOp, bind: Program) -> Function:
    """Loads and stores are over with their ops."""
    return lambda: None


# ---- products


def _read(bind: Program, op: Operation, type_: MemDescType, view: View, agents: dict[int, int]) -> Array:
    """What the cores of each block read of an operand."""
    machine = bind.machine
    size = storage_of(type_.element_type).itemsize
    if is_tensor_memory(type_):
        _by_cores(bind, op, type_, view, Mode.READ, agents)
        return _contents(bind, op, type_, view)
    for block, core in agents.items():
        taken = bytes_at(addresses_in(block, type_, view, size, machine.stride), size)
        machine.shared.touch(op, [Touch(taken, Mode.READ, core, Proxy.ASYNC)])
    return memory.contents(bind, op, type_, view)


def _by_cores(bind: Program, op: Operation, type_: MemDescType, view: View, mode: Mode, agents: dict[int, int]) -> None:
    at = _where(bind, type_, view)[0]
    size, stride = storage_of(type_.element_type).itemsize, bind.machine.stride
    for block, core in agents.items():
        taken = bytes_at(at[at // stride == block], size)
        bind.machine.shared.touch(op, [Touch(taken, mode, core)])


def _cores(bind: Program) -> dict[int, int]:
    """The agent of each block's cores, which learns what the warp that issues knows."""
    machine, found = bind.machine, dict[int, int]()
    for block in range(machine.blocks):
        agent = bind.group.elected(block)
        found[block] = machine.cores_of(agent)
        machine.clocks.acquire(found[block], machine.clocks.release(agent))
    return found


def _tell(bind: Program, op: Operation, view: View, agents: dict[int, int]) -> None:
    """A barrier is told of all that the cores have been given so far."""
    machine = bind.machine
    for block, core in agents.items():
        barrier = barrier_at(bind, op, view, block, bind.group.elected(block))
        if barrier is not None:
            known = machine.clocks.release(core)
            machine.issue(op, lambda barrier=barrier, known=known: barrier.arrive(op, known))


def _product(op: ttng.TCGen5MMAOp, bind: Program) -> Function:
    if op.two_ctas is not None or op.is_async is None:
        raise UnsupportedInInterpreter("products by two CTAs, and those that are waited for at once")
    a_type, b_type, d_type = (type_as(value, MemDescType) for value in (op.a, op.b, op.d))
    multiply = product(
        dtype_of(element_type(a_type.element_type)), dtype_of(d_type.element_type), InputPrecision.TF32.value
    )
    first, count, results = 3 + (op.acc_dep is not None), len(op.barriers), len(op.results)

    def run(a: View, b: View, d: View, *rest: object) -> Coroutine:
        yield None
        keeps, predicate = rest[first - 3 : first - 1]
        told, when = rest[first - 1 : first - 1 + count], rest[first - 1 + count :]
        if predicate:
            agents = _cores(bind)
            left, right = _read(bind, op, a_type, a, agents), _read(bind, op, b_type, b, agents)
            if keeps:
                _by_cores(bind, op, d_type, d, Mode.READ, agents)
                total = _contents(bind, op, d_type, d)
            else:
                total = np.zeros(d_type.shape[-2:], dtype_of(d_type.element_type))
            _by_cores(bind, op, d_type, d, Mode.WRITE, agents)
            _put(bind, d_type, d, multiply(left, right, total))
            for view, wanted in zip(told, when, strict=True):
                if wanted:
                    _tell(bind, op, cast(View, view), agents)
        return (None,) * results

    return run


def _commit(op: ttng.TCGen5CommitOp, bind: Program) -> Function:
    if op.two_ctas is not None:
        raise UnsupportedInInterpreter("commits of products by two CTAs")

    def commit(view: View, predicate: Array | bool = True) -> Coroutine:
        yield None
        if predicate:
            _tell(bind, op, view, _cores(bind))
        return ()

    return commit


TABLE: Table = {
    **case(ttng.TMEMAllocOp, _alloc),
    **case(ttng.TMEMLoadOp, _load),
    **case(ttng.TMEMStoreOp, _store),
    **case(ttng.TMEMSubsliceOp, _subslice),
    **case(ttng.TMEMWaitOp, _wait),
    **case(gpu_layout.MemDescIndexOp, _index),
    **case(ttng.TCGen5MMAOp, _product),
    **case(ttng.TCGen5CommitOp, _commit),
}
