"""Products that read shared memory; those of a warp group: issued, under way, waited for.

While a product is under way it may read its operands in shared memory, through the asynchronous proxy, and its result
belongs to the next product that adds to it. Each warp multiplies the rows and columns that it has of the result.
"""

# Operands are arrays of any dtype: to pyright, what NumPy makes of them is partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import numpy as np
from xdsl.ir import Attribute, Operation

from tritonx.analysis.buffers import stored_bytes
from tritonx.dialects import arith, gpu_layout
from tritonx.dialects import nvidia as ttng
from tritonx.dialects.gpu_layout import MemDescType
from tritonx.interpreter.asynchronous.footprints import View, addresses_in, bytes_at, shares
from tritonx.interpreter.asynchronous.group import Operations
from tritonx.interpreter.asynchronous.meanings.memory import contents
from tritonx.interpreter.asynchronous.program import Coroutine, InFlight, Program, Table
from tritonx.interpreter.asynchronous.reports import Kind
from tritonx.interpreter.asynchronous.shared import Mode, Proxy
from tritonx.interpreter.execution import Function
from tritonx.interpreter.meanings.dot import product
from tritonx.interpreter.values import Array, dtype_of, storage_of
from tritonx.ir.dispatch import case
from tritonx.ir.types import shape_of, type_of


def _read_by(
    bind: Program, result: Attribute, type_: MemDescType, view: View, axis: int
) -> Iterator[tuple[int, int, int]]:
    """(block, warp, bytes) of an operand of which each warp reads what it has of the result along `axis`."""
    shape, size = shape_of(result), storage_of(type_.element_type).itemsize
    for block, warp, elements in shares(result):
        chosen = np.unique(np.unravel_index(elements, shape)[axis])
        own = addresses_in(block, type_, view, size, bind.machine.stride)
        yield block, warp, bytes_at(np.take(own, chosen, axis=axis), size)


def _dot(op: ttng.WarpGroupDotOp, bind: Program) -> Function:
    machine, group = bind.machine, bind.group
    types = type_of(op.a), type_of(op.b)
    result = type_of(op.d)
    elements = [t.element_type if isinstance(t, MemDescType) else t for t in types]
    multiply = product(dtype_of(elements[0]), dtype_of(result), op.inputPrecision.value.data)
    waits = not op.isAsync.value.data
    read: dict[tuple[int, int, int], list[tuple[int, int, int]]] = {}

    def operand(number: int, given: Array | View | InFlight, issued: Operations) -> Array:
        type_ = types[number]
        if not isinstance(type_, MemDescType):
            return _settled(op, bind, cast(Array | InFlight, given))
        view = cast(View, given)
        key = number, view.base, view.start
        if key not in read:
            read[key] = list(_read_by(bind, result, type_, view, number))
        touches = group.joined(read[key], Mode.READ, Proxy.ASYNC, issued.parts)
        machine.shared.touch(op, touches)
        return contents(bind, op, type_, view)

    def dot(a: Array | View | InFlight, b: View, c: Array | InFlight, use: Array | bool = True) -> Coroutine:
        yield None
        issued = group.operation(op, group.all)
        left, right = operand(0, a, issued), operand(1, b, issued)
        total = _accumulator(c)
        value = multiply(left, right, total if use else np.zeros_like(total))
        group.products.append(issued)
        if waits:
            wait_for(bind, 0)
            return (value,)
        return (InFlight(value, issued),)

    return dot


def _accumulator(given: Array | InFlight) -> Array:
    """The tile that a product adds to: products that follow one another need no wait between them."""
    return given.value if isinstance(given, InFlight) else given


def _settled(op: Operation, bind: Program, given: Array | InFlight) -> Array:
    if isinstance(given, InFlight):
        if not bind.group.finished(given.product):
            bind.machine.reports.add(Kind.IN_FLIGHT, op, "reads a result before a wait for it", given.product.op)
        return given.value
    return given


def wait_for(bind: Program, count: int) -> None:
    """All products of the group but the last `count` are over."""
    group, machine = bind.group, bind.machine
    kept = max(0, len(group.products) - count)
    done, group.products = group.products[:kept], group.products[kept:]
    for one in done:
        for agent, part in one.parts.items():
            machine.clocks.wait_for(agent, part)
        if machine.timeline is not None:
            machine.timeline.span(f"products of {group.name}", one.op, one.issued, machine.time)


def _wait(op: ttng.WarpGroupDotWaitOp, bind: Program) -> Function:
    count = op.pendings.value.data

    def wait(*inputs: object) -> tuple[object, ...]:
        wait_for(bind, count)
        return tuple(
            given.value if isinstance(given, InFlight) and bind.group.finished(given.product) else given
            for given in inputs
        )

    return wait


def _select(op: arith.SelectOp, bind: Program) -> Function:
    """Which of two accumulators is added to next may be chosen while a product is under way; elements may not."""

    def select(condition: Array, a: Array | InFlight, b: Array | InFlight) -> Array | InFlight:
        if np.ndim(condition) == 0:
            return a if condition else b
        return np.where(condition, _settled(op, bind, a), _settled(op, bind, b))

    return select


def _local_dot(op: gpu_layout.LocalDotOp, bind: Program) -> Function:
    """Threads read what lies in memory as a load in the operand's layout does."""
    tiles, result = op.operand_types, type_of(op.d)
    multiply = product(dtype_of(tiles[0]), dtype_of(result), op.inputPrecision.value.data)

    def operand(number: int, given: Array | View) -> Array:
        type_ = type_of(op.operands[number])
        if not isinstance(type_, MemDescType):
            return cast(Array, given)
        view = cast(View, given)
        touches = bind.group.touches(tiles[number], type_, view, stored_bytes(tiles[number]), Mode.READ)
        bind.machine.shared.touch(op, touches)
        return contents(bind, op, type_, view, tiles[number])

    return lambda a, b, c: multiply(operand(0, a), operand(1, b), c)


TABLE: Table = {
    **case(gpu_layout.LocalDotOp, _local_dot),
    **case(ttng.WarpGroupDotOp, _dot),
    **case(ttng.WarpGroupDotWaitOp, _wait),
    **case(arith.SelectOp, _select),
}
