"""Descriptors that a kernel writes to memory itself (tensor maps): made, acquired, used.

One warp of those that run the op makes a map, in scratch memory that it has for that, and acquires one; then all of
them meet. So who uses a map must know of the acquisition, and whoever makes another in its place must know that the
copies which use it are over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from xdsl.ir import Operation

from tritonx.dialects import nvidia as ttng
from tritonx.dialects.nvidia.copy import TENSOR_MAP_BYTES, warp_of
from tritonx.dialects.tile import TensorDescType
from tritonx.interpreter.asynchronous.footprints import bytes_between
from tritonx.interpreter.asynchronous.machine import TensorMap
from tritonx.interpreter.asynchronous.meanings.scratch import touch
from tritonx.interpreter.asynchronous.program import Coroutine, Program, Table
from tritonx.interpreter.asynchronous.reports import Kind
from tritonx.interpreter.asynchronous.shared import Mode
from tritonx.interpreter.errors import OutOfBoundsAccess
from tritonx.interpreter.execution import Function
from tritonx.interpreter.meanings.descriptor import descriptors_of
from tritonx.interpreter.meanings.memory import element_size
from tritonx.interpreter.values import Array, Descriptor
from tritonx.ir.dispatch import case
from tritonx.ir.types import PointerType, type_of

NAN_FILL = 1
"""`fill_mode` of a map whose elements outside the tensor read as NaN (CUDA driver API, CUtensorMapFloatOOBfill)."""


@dataclass(frozen=True)
class MapAddress:
    """A descriptor that lies at an address."""

    pointer: int
    type_: TensorDescType


Given = Descriptor | MapAddress
"""What a copy is given as its descriptor."""


def checked(bind: Program, op: Operation, given: Given) -> Descriptor:
    """The descriptor that a copy uses: one of the host's, or a tensor map that has been acquired."""
    if isinstance(given, Descriptor):
        return given
    pointer, type_ = given.pointer, given.type_
    found = bind.machine.tensor_maps.get(pointer)
    if found is None:
        raise OutOfBoundsAccess(f"no tensor map has been written at address {pointer:#x}")
    if not found.acquired:
        bind.machine.reports.add(Kind.UNFENCED, op, "uses a tensor map that was not acquired", found.op)
    elif not _known(bind, found.acquired):
        bind.machine.reports.add(Kind.UNFENCED, op, "uses a tensor map of whose acquisition it does not know", found.op)
    held = found.descriptor
    return Descriptor(held.base, held.shape, held.strides, type_.shape, type_.element_type, held.pad_with_nan)


def used(bind: Program, op: Operation, given: Given, parts: list[int]) -> None:
    """Note that a copy, which has these parts in the blocks, reads a tensor map."""
    if isinstance(given, MapAddress):
        bind.machine.tensor_maps[given.pointer].users.append((op, parts))


def _agents(bind: Program, warp: int) -> list[int]:
    """The agent in each block that does what a warp does."""
    return [bind.group.agents[block, warp] for block in range(bind.machine.blocks)]


def _clocks(bind: Program, warp: int) -> dict[int, int]:
    """These agents with their clocks."""
    return {agent: int(bind.machine.clocks.seen[agent, agent]) for agent in _agents(bind, warp)}


def _known(bind: Program, events: dict[int, int], warp: int = 0) -> bool:
    """Whether the agents of a warp, that would use a map, know of what was done in their blocks (agent → clock)."""
    seen, pairs = bind.machine.clocks.seen, zip(_agents(bind, warp), events.items(), strict=True)
    return all(seen[own, agent] >= clock for own, (agent, clock) in pairs)


def _build(bind: Program, op: Operation, warp: int) -> None:
    """The warp writes the map to scratch memory, and copies it from there."""
    buffer = bind.machine.buffer(op, bind.group)
    if buffer is not None:
        alone = tuple(bytes_between(0, TENSOR_MAP_BYTES) if w == warp else 0 for w in range(bind.group.warps))
        touch(bind.group, op, buffer, [(Mode.WRITE, alone, True), (Mode.READ, alone, True)])


def _check_users(bind: Program, op: Operation, before: TensorMap, warp: int) -> None:
    for user, parts in before.users:
        agents = _agents(bind, warp)
        if not all(bind.machine.clocks.done[agent] >> part & 1 for agent, part in zip(agents, parts, strict=True)):
            bind.machine.reports.add(Kind.OVERWRITE, op, "makes a tensor map where a copy may still read one", user)


def _create(op: ttng.TensormapCreateOp, bind: Program) -> Function:
    rank = len(op.box_dim)
    size = element_size(type_of(op.global_address))
    pointee = cast(PointerType, type_of(op.global_address)).pointee
    nan = op.fill_mode.value.data == NAN_FILL

    def create(pointer: Array, base: Array, *numbers: Array) -> Coroutine:
        yield None
        values = [int(n) for n in numbers]
        box, shape = values[:rank], values[rank : 2 * rank]
        strides = values[2 * rank : 3 * rank - 1]
        steps = [1, *(stride // size for stride in strides)]
        made = Descriptor(int(base), tuple(shape[::-1]), tuple(steps[::-1]), tuple(box[::-1]), pointee, nan)
        warp = warp_of(op, bind.group.warps)
        _build(bind, op, warp)
        if (before := bind.machine.tensor_maps.get(int(pointer))) is not None:
            _check_users(bind, op, before, warp)
        bind.machine.tensor_maps[int(pointer)] = TensorMap(made, op, _clocks(bind, warp))
        return ()

    return create


def _acquire(op: ttng.TensormapFenceproxyAcquireOp, bind: Program) -> Function:
    def acquire(pointer: Array) -> Coroutine:
        yield None
        found, warp = bind.machine.tensor_maps.get(int(pointer)), warp_of(op, bind.group.warps)
        if found is not None:
            if not _known(bind, found.made, warp):
                bind.machine.reports.add(Kind.NOT_VISIBLE, op, "acquires a tensor map that others make", found.op)
            found.acquired = _clocks(bind, warp)
        bind.group.meet()
        return ()

    return acquire


def _reinterpret(op: ttng.ReinterpretTensorDescOp, bind: Program) -> Function:
    type_ = cast(TensorDescType, type_of(op.result))

    def at(pointer: Array) -> MapAddress:
        return MapAddress(int(pointer), type_)

    return at


def _at_launch(op: ttng.TensormapAtLaunchOp, bind: Program) -> Function:
    """Of the launch's making, so that it need not be acquired."""
    return descriptors_of(cast(TensorDescType, type_of(op.result)), op.padding.value.data)


TABLE: Table = {
    **case(ttng.TensormapAtLaunchOp, _at_launch),
    **case(ttng.TensormapCreateOp, _create),
    **case(ttng.TensormapFenceproxyAcquireOp, _acquire),
    **case(ttng.ReinterpretTensorDescOp, _reinterpret),
}
