"""Ops that the machine knows by what they declare: hints, barriers of some warps, and what a warp by itself stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from xdsl.ir import Operation

from tritonx.dialects import tile
from tritonx.dialects.effects import Kind, Resource, effects_of
from tritonx.dialects.interfaces import predicate_of
from tritonx.interpreter.errors import UnsupportedInInterpreter
from tritonx.interpreter.meanings.memory import write
from tritonx.ir.source import source_of
from tritonx.ir.types import is_tensor, type_of

if TYPE_CHECKING:
    from tritonx.interpreter.asynchronous.program import Coroutine, Meaning, Program
    from tritonx.interpreter.execution import Function
    from tritonx.interpreter.values import Array


def meaning_by_effects(op: Operation) -> Meaning | None:
    """Of an op without a meaning of its own."""
    effects = effects_of(op)
    if effects and not op.results and all(effect.kind is Kind.HINT for effect in effects):
        return _hint
    return _meet_where if is_barrier_of_some(op) else None


def is_barrier_of_some(op: Operation) -> bool:
    """Whether those warps meet there for which a predicate holds."""
    kinds = {effect.kind for effect in effects_of(op) or () if effect.resource is Resource.THREADS}
    return kinds == {Kind.ARRIVE, Kind.WAIT} and predicate_of(op) is not None


def _hint(op: Operation, bind: Program) -> Function:
    return lambda: None


def _meet_where(op: Operation, bind: Program) -> Function:
    meeting, group = bind.machine.meeting, bind.group
    if meeting is None:
        raise _refused(op, "is a barrier of some warps, which are executed together")

    def meet(predicate: Array) -> Coroutine:
        if predicate:
            yield from meeting.arrive(group, op)
        return ()

    return meet


def meaning_alone(op: Operation) -> Meaning | None:
    """What an op means for a warp by itself, if it is not what it means for all of them."""
    if isinstance(op, tile.StoreOp):
        return cast("Meaning", _store)
    writes = any(e.kind is Kind.WRITE and e.resource is Resource.GLOBAL for e in effects_of(op) or ())
    if writes and not op.regions:
        raise _refused(op, "changes memory, and would do so once for each warp")
    return None


def _store(op: tile.StoreOp, bind: Program) -> Function:
    """Each warp stores its elements, the first one scalars."""
    type_ = type_of(op.value)
    own = bind.group.own(type_)
    assert own is not None

    def store(pointers: Array, value: Array, mask: Array | None = None) -> None:
        shape = np.shape(pointers)
        mine = np.zeros(shape, np.bool_).reshape(-1)
        mine[own] = is_tensor(type_) or bind.group.only == 0
        mine = mine.reshape(shape)
        write(bind, pointers, value, mine if mask is None else mine & mask)

    return store


def _refused(op: Operation, why: str) -> UnsupportedInInterpreter:
    positions = source_of(op)
    at = f"{positions[0].file}:{positions[0].line}" if positions else None
    return UnsupportedInInterpreter(f"'{op.name}' {why}").at(at, None)
