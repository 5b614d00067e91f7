"""Asynchronous copies: the threads' own (cp.async, in groups) and those of the tensor memory accelerator.

A thread's copies write when they are issued, as far as anybody can tell who has not waited: the bytes are there, but
they are unknown before the wait. A copy of the accelerator is issued by one thread of each block; the data moves
when the driver lands it, or at the latest when a wait for it ends.
"""

# Operands are arrays of any dtype: to pyright, what NumPy makes of them is partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np
from xdsl.ir import Operation, SSAValue

from tritonx.analysis.buffers import copied_alignment, stored_bytes, tensor_layout
from tritonx.dialects import gpu_layout
from tritonx.dialects import nvidia as ttng
from tritonx.dialects.gpu_layout import MemDescType
from tritonx.dialects.nvidia import WRITTEN_PIECE
from tritonx.dialects.tile import TensorDescType
from tritonx.dialects.tile.memory import loaded_from
from tritonx.interpreter.asynchronous.footprints import View, bytes_at, element_offsets
from tritonx.interpreter.asynchronous.group import Stored
from tritonx.interpreter.asynchronous.meanings.barrier import barrier_at
from tritonx.interpreter.asynchronous.meanings.memory import contents, put, where
from tritonx.interpreter.asynchronous.meanings.tensor_map import Given, checked, used
from tritonx.interpreter.asynchronous.program import Coroutine, Program, Table
from tritonx.interpreter.asynchronous.reports import Kind
from tritonx.interpreter.asynchronous.shared import Mode, Proxy, Touch
from tritonx.interpreter.execution import Function
from tritonx.interpreter.meanings import descriptor as tile_descriptor
from tritonx.interpreter.meanings.memory import read
from tritonx.interpreter.values import Array, Descriptor, dtype_of, storage_of
from tritonx.ir.dispatch import case
from tritonx.ir.types import type_as, type_of
from tritonx.layouts import redundancy

# --- copies of the threads, in groups


def _copy(op: gpu_layout.AsyncCopyGlobalToLocalOp, bind: Program) -> Function:
    machine, group = bind.machine, bind.group
    pointers, type_ = type_of(op.src), cast(MemDescType, type_of(op.result))
    source = loaded_from(pointers)
    dtype, size = dtype_of(source), stored_bytes(source)
    masked = op.mask is not None
    idle = redundancy(tensor_layout(pointers)).warps

    def copy(pointer: Array, view: View, *rest: Array) -> None:
        mask, other = (rest[0] if masked else None), (rest[1] if len(rest) > 1 else dtype.type(0))
        loaded = read(bind, pointer, dtype, mask, other)
        parts = group.operation(op, group.all).parts
        machine.shared.touch(op, group.touches(source, type_, view, size, Mode.WRITE, Proxy.BOTH, parts, idle))
        put(bind, type_, view, loaded, source)
        for agent, part in parts.items():
            group.copies[agent].open.append((part, op))

    return copy


def _commit(op: gpu_layout.AsyncCommitGroupOp, bind: Program) -> Function:
    def commit(*tokens: object) -> None:
        for queue in bind.group.copies.values():
            queue.commit()

    return commit


def _wait(op: gpu_layout.AsyncWaitOp, bind: Program) -> Function:
    count = op.num.value.data

    def wait(*tokens: object) -> None:
        for agent, queue in bind.group.copies.items():
            for part in queue.keep(count):
                bind.machine.clocks.wait_for(agent, part)

    return wait


# --- copies of the tensor memory accelerator


def _taken(bind: Program, type_: MemDescType, view: View, block: int) -> int:
    """The bytes of a view in one block."""
    _, blocks = element_offsets(type_, view.start)
    return bytes_at(where(bind, type_, view)[blocks == block], storage_of(type_.element_type).itemsize)


def _to_shared(
    op: ttng.AsyncTMACopyGlobalToLocalOp | ttng.AsyncTMAGatherOp,
    bind: Program,
    given: Given,
    barrier: View,
    view: View,
    fetch: Callable[[Descriptor], Array],
) -> None:
    """One copy a block of what `fetch` gives, whose bytes count for the block's barrier."""
    machine, group = bind.machine, bind.group
    descriptor = checked(bind, op, given)
    type_ = cast(MemDescType, type_of(op.result))
    _check_place(bind, op, type_, view)
    at = where(bind, type_, view)
    size = storage_of(type_.element_type).itemsize
    agents = [group.elected(block) for block in range(machine.blocks)]
    parts = group.operation(op, agents).parts
    used(bind, op, given, list(parts.values()))
    taken = [_taken(bind, type_, view, block) for block in range(machine.blocks)]
    touches = [
        Touch(each, Mode.WRITE, agent, Proxy.ASYNC, parts[agent]) for each, agent in zip(taken, agents, strict=True)
    ]
    machine.shared.touch(op, touches)
    machine.shared.reserve(view.buffer, at, size)
    told = [barrier_at(bind, op, barrier, block, agent) for block, agent in enumerate(agents)]

    def land() -> None:
        whole = machine.shared.owner[at] == view.buffer.number
        if whole.all():  # otherwise that has been reported already
            put(bind, type_, view, np.reshape(fetch(descriptor), type_.shape))
        for agent, each, one in zip(agents, taken, told, strict=True):
            if one is not None:
                one.receive(op, machine.clocks.only([parts[agent]]), each.bit_count())

    machine.issue(op, land)


def _begin(bind: Program, op: Operation, descriptor: SSAValue, column: Array) -> None:
    """Report a block that begins where none may: the accelerator ends the kernel with an illegal instruction."""
    byte = int(column) * storage_of(type_as(descriptor, TensorDescType).element_type).itemsize
    if byte % WRITTEN_PIECE:
        bind.machine.reports.add(Kind.CUT, op, f"begins at byte {byte} of a row")


def _check_place(bind: Program, op: Operation, type_: MemDescType, view: View) -> None:
    """Report a block in memory where the accelerator reads and writes none: it ends the kernel."""
    offsets, _ = element_offsets(type_, view.start)
    first = view.base + int(offsets.min()) * storage_of(type_.element_type).itemsize
    if first % (alignment := copied_alignment(type_)):
        bind.machine.reports.add(Kind.MISPLACED, op, f"its block lies at byte {first}, no multiple of {alignment}")


def _leave(op: ttng.AsyncTMACopyGlobalToLocalOp | ttng.AsyncTMAGatherOp, bind: Program, view: View) -> None:
    """No copy: in a pipeline, for an iteration that there is not."""
    type_ = cast(MemDescType, type_of(op.result))
    size = storage_of(type_.element_type).itemsize
    bind.machine.shared.leave(view.buffer, where(bind, type_, view), size)


def _load(op: ttng.AsyncTMACopyGlobalToLocalOp, bind: Program) -> Function:
    rank = len(op.coord)

    def load(given: Given, *rest: Any) -> Coroutine:
        yield None
        coordinates, (barrier, view, predicate) = rest[:rank], rest[rank:]
        if predicate:
            _begin(bind, op, op.desc, coordinates[-1])
            _to_shared(op, bind, given, barrier, view, lambda found: tile_descriptor.block_of(bind, found, coordinates))
        else:
            _leave(op, bind, view)
        return ()

    return load


def _gather(op: ttng.AsyncTMAGatherOp, bind: Program) -> Function:
    def gather(given: Given, rows: Array, column: Array, barrier: View, view: View, predicate: Array) -> Coroutine:
        yield None
        if predicate:
            _begin(bind, op, op.desc, column)
            _to_shared(op, bind, given, barrier, view, lambda found: tile_descriptor.rows_of(bind, found, rows, column))
        else:
            _leave(op, bind, view)
        return ()

    return gather


def _as_written(descriptor: Descriptor) -> Descriptor:
    """What the accelerator changes of a tensor: whole pieces of it, where reads end with the tensor."""
    elements = max(1, WRITTEN_PIECE // storage_of(descriptor.element).itemsize)
    *outer, extent = descriptor.shape
    return replace(descriptor, shape=(*outer, -(-extent // elements) * elements))


def _from_shared(
    op: ttng.AsyncTMACopyLocalToGlobalOp | ttng.AsyncTMAReduceOp | ttng.AsyncTMAScatterOp,
    bind: Program,
    given: Given,
    view: View,
    give: Callable[[Descriptor, Array], None],
) -> None:
    """One copy a block, a group of its own, of what a view holds."""
    machine, group = bind.machine, bind.group
    descriptor = checked(bind, op, given)
    type_ = cast(MemDescType, type_of(op.src))
    _check_place(bind, op, type_, view)
    agents = [group.elected(block) for block in range(machine.blocks)]
    parts = group.operation(op, agents).parts
    used(bind, op, given, list(parts.values()))
    touches = [
        Touch(_taken(bind, type_, view, block), Mode.READ, agent, Proxy.ASYNC, parts[agent])
        for block, agent in enumerate(agents)
    ]
    machine.shared.touch(op, touches)
    machine.shared.check_contents(op, view.buffer, where(bind, type_, view))
    taken: list[Array] = []
    # One thread's stores are taken to be written in the order of their issue, as Triton takes them too: another store
    # of the engine needs no more than that the buffer has been read.
    before = [group.stores[agent][-1].copy for agent in agents if group.stores[agent]]

    def read() -> None:
        if not taken:
            taken.append(contents(bind, op, type_, view))

    def land() -> None:
        for earlier in before:
            machine.land(earlier)
        read()
        give(_as_written(descriptor), taken[0])

    copy = machine.issue(op, land)
    for agent in agents:
        group.stores[agent].append(Stored(parts[agent], copy, read))


def _store(op: ttng.AsyncTMACopyLocalToGlobalOp, bind: Program) -> Function:
    def store(given: Given, *rest: Any) -> Coroutine:
        yield None
        *coordinates, view = rest
        _begin(bind, op, op.desc, coordinates[-1])
        _from_shared(
            op, bind, given, view, lambda found, tile: tile_descriptor.put_block(bind, found, coordinates, tile)
        )
        return ()

    return store


def _reduce(op: ttng.AsyncTMAReduceOp, bind: Program) -> Function:
    combine = tile_descriptor.combination(op.kind.value.data, cast(TensorDescType, type_of(op.desc)))

    def reduce(given: Given, *rest: Any) -> Coroutine:
        yield None
        *coordinates, view = rest
        _begin(bind, op, op.desc, coordinates[-1])

        def give(found: Descriptor, tile: Array) -> None:
            tile_descriptor.combine_block(bind, found, coordinates, tile, combine)

        _from_shared(op, bind, given, view, give)
        return ()

    return reduce


def _scatter(op: ttng.AsyncTMAScatterOp, bind: Program) -> Function:
    def scatter(given: Given, rows: Array, column: Array, view: View) -> Coroutine:
        yield None
        _begin(bind, op, op.desc, column)
        _from_shared(
            op, bind, given, view, lambda found, tile: tile_descriptor.put_rows(bind, found, rows, column, tile)
        )
        return ()

    return scatter


def _store_wait(op: ttng.TMAStoreWaitOp, bind: Program) -> Function:
    count, whole, machine = op.pendings.value.data, op.read_only is None, bind.machine

    def wait() -> Coroutine:
        yield None
        for agent, stores in bind.group.stores.items():
            done = stores[: max(0, len(stores) - count)]
            for one in done:
                if whole:
                    machine.land(one.copy)
                else:
                    one.read()
                    machine.has_read(one.copy)
                machine.clocks.wait_for(agent, one.part)
            while stores and stores[0] in done and not machine.is_under_way(stores[0].copy):
                del stores[0]
        return ()

    return wait


TABLE: Table = {
    **case(gpu_layout.AsyncCopyGlobalToLocalOp, _copy),
    **case(gpu_layout.AsyncCommitGroupOp, _commit),
    **case(gpu_layout.AsyncWaitOp, _wait),
    **case(ttng.AsyncTMACopyGlobalToLocalOp, _load),
    **case(ttng.AsyncTMACopyLocalToGlobalOp, _store),
    **case(ttng.AsyncTMAReduceOp, _reduce),
    **case(ttng.AsyncTMAGatherOp, _gather),
    **case(ttng.AsyncTMAScatterOp, _scatter),
    **case(ttng.TMAStoreWaitOp, _store_wait),
}
