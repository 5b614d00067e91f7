"""Atomic operations. Lanes act one after the other in row-major order, so that lanes on one address all apply and
each sees what the ones before it left; the order among lanes is the interpreter's choice, a device promises none.

Programs run one after another, so what a poll waits for comes from a program before or from outside the interpreter."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from tritonx.dialects import tile
from tritonx.dialects.tile.enums import RMWOp
from tritonx.interpreter.arithmetic import maximum_number, minimum_number
from tritonx.interpreter.errors import EndlessPoll
from tritonx.interpreter.execution import Binder, Function, Table
from tritonx.interpreter.meanings.memory import read, write
from tritonx.interpreter.memory import Lanes, Memory
from tritonx.interpreter.values import Array, dtype_of, is_float, undefined, unsigned
from tritonx.ir.dispatch import case
from tritonx.ir.types import type_of

Combine = Callable[[Array, Array], Array]
"""(values in memory, operand of the lanes) → new values."""


def exchange(old: Array, new: Array) -> Array:
    return new


def maximum_unsigned(old: Array, new: Array) -> Array:
    return np.where(unsigned(old) >= unsigned(new), old, new)


def minimum_unsigned(old: Array, new: Array) -> Array:
    return np.where(unsigned(old) <= unsigned(new), old, new)


_COMBINE: dict[int, Combine] = {
    RMWOp.AND: np.bitwise_and,
    RMWOp.OR: np.bitwise_or,
    RMWOp.XOR: np.bitwise_xor,
    RMWOp.ADD: np.add,
    RMWOp.FADD: np.add,
    RMWOp.MAX: np.maximum,
    RMWOp.MIN: np.minimum,
    RMWOp.UMAX: maximum_unsigned,
    RMWOp.UMIN: minimum_unsigned,
    RMWOp.XCHG: exchange,
}


_COMBINE_FLOATS: dict[int, Combine] = {**_COMBINE, RMWOp.MAX: maximum_number, RMWOp.MIN: minimum_number}


def rounds(addresses: Array) -> list[Array]:
    """The lanes in groups: the n-th group holds the n-th lane of each address. Lanes of one group never share an
    address."""
    order = np.argsort(addresses, kind="stable")
    ordered = addresses[order]
    first = np.ones(len(ordered), dtype=np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    if first.all():
        return [np.arange(len(addresses))]
    starts = np.flatnonzero(first)
    position = np.arange(len(ordered)) - np.repeat(starts, np.diff(np.append(starts, len(ordered))))
    return [order[position == n] for n in range(int(position.max()) + 1)]


def read_modify_write(memory: Memory, addresses: Array, values: Array, combine: Combine, lanes: Lanes) -> Array:
    """Apply `combine` at flat `addresses`; returns what each lane found there."""
    memory.load(addresses, values.dtype, lanes)  # check every lane before any of them changes anything
    found = np.empty_like(values)
    for group in rounds(addresses):
        at = addresses[group]
        old = found[group] = memory.load(at, values.dtype)
        memory.store(at, combine(old, values[group]), lanes)
    return found


def _read_modify_write(op: tile.AtomicRMWOp, bind: Binder) -> Function:
    dtype = dtype_of(type_of(op.results[0]))
    combine = (_COMBINE_FLOATS if is_float(dtype) else _COMBINE)[op.atomic_rmw_op.value.data]

    def atomic(ptr: Array, val: Array, mask: Array | None = None) -> Array:
        addresses = np.asarray(ptr)
        shape = addresses.shape
        flat, values = addresses.reshape(-1), np.broadcast_to(val, shape).reshape(-1)
        execution = bind.execution
        if mask is None:
            return read_modify_write(execution.memory, flat, values, combine, Lanes(shape)).reshape(shape)[()]
        active = np.broadcast_to(mask, shape).reshape(-1)
        result = np.full(flat.shape, undefined(dtype, execution.poison), dtype)
        lanes = Lanes(shape, active)
        result[active] = read_modify_write(execution.memory, flat[active], values[active], combine, lanes)
        return result.reshape(shape)[()]

    return atomic


def _compare_and_swap(op: tile.AtomicCASOp, bind: Binder) -> Function:
    """Compares bits, so that a NaN equals itself and -0.0 differs from 0.0, as devices do."""
    bits = np.dtype(f"i{dtype_of(type_of(op.results[0])).itemsize}")

    def atomic(ptr: Array, cmp: Array, val: Array) -> Array:
        addresses = np.asarray(ptr)
        shape, memory, lanes = addresses.shape, bind.execution.memory, Lanes(addresses.shape)
        flat = addresses.reshape(-1)
        expected, values = (np.ascontiguousarray(np.broadcast_to(x, shape)).reshape(-1) for x in (cmp, val))
        found = np.empty_like(values)
        memory.load(flat, values.dtype, lanes)
        for group in rounds(flat):
            old = found[group] = memory.load(flat[group], values.dtype)
            same = old.view(bits) == expected[group].view(bits)
            memory.store(flat[group][same], values[group][same], lanes)
        return found.reshape(shape)[()]

    return atomic


def _load(op: tile.AtomicLoadOp, bind: Binder) -> Function:
    dtype = dtype_of(type_of(op.result))

    def load(ptr: Array, mask: Array | None = None) -> Array:
        return read(bind, ptr, dtype, mask)

    return load


def _store(op: tile.AtomicStoreOp, bind: Binder) -> Function:
    def store(ptr: Array, val: Array, mask: Array | None = None) -> None:
        write(bind, ptr, val, mask)

    return store


PATIENCE_NS = 5_000_000_000
"""How long a poll without a timeout waits for other threads of this process, or for other processes."""

PAUSE = 1e-5
"""Seconds between two reads."""


def _poll(op: tile.AtomicPollOp, bind: Binder) -> Function:
    dtype = dtype_of(type_of(op.expected))

    def poll(ptr: Array, expected: Array, timeout: Array | None = None) -> Array:
        addresses = np.asarray(ptr)
        shape = addresses.shape
        flat, wanted = addresses.reshape(-1), np.broadcast_to(expected, shape).reshape(-1)
        limit = None if timeout is None else int(timeout) & (1 << 64) - 1
        equal, begin = np.zeros(flat.shape, np.bool_), time.perf_counter_ns()
        while True:
            lanes = ~equal
            equal[lanes] = bind.execution.memory.load(flat[lanes], dtype, Lanes(shape, lanes)) == wanted[lanes]
            passed = time.perf_counter_ns() - begin
            if equal.all() or (limit is not None and passed >= limit):
                return equal.reshape(shape)[()]
            if limit is None and passed >= PATIENCE_NS:
                lane = Lanes(shape, ~equal).name(0)
                raise EndlessPoll(
                    f"a poll without a timeout has waited {passed / 1e9:.0f} s for {lane}: the interpreter runs "
                    "programs one after another, so that none can wait for a later one"
                )
            time.sleep(PAUSE)

    return poll


TABLE: Table = {
    **case(tile.AtomicRMWOp, _read_modify_write),
    **case(tile.AtomicCASOp, _compare_and_swap),
    **case(tile.AtomicLoadOp, _load),
    **case(tile.AtomicStoreOp, _store),
    **case(tile.AtomicPollOp, _poll),
}
