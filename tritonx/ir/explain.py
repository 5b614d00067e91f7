"""What passes decided, for who asks: ``TRITONX_EXPLAIN=pipeline`` prints a line for each loop, with its position,
``products`` one for each `tt.dot`, ``accesses`` one for each load and store that goes element by element.

Several topics are separated by commas. Triton's ``MLIR_ENABLE_DIAGNOSTICS=remarks`` asks for all of them, as MLIR's
remarks; with ``operations`` each is followed by the op, with ``stacktraces`` by where in the compiler it was said. Who
asks has kernels compiled that are in the cache on disk.

A tool that shows all of it collects `Remark`s instead (`collected`); a remark may carry its facts as a value.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from xdsl.ir import Operation

from tritonx.ir.location import SourcePoint
from tritonx.ir.source import source_of
from tritonx.runtime import knobs


@dataclass(frozen=True)
class Remark:
    """What was decided about an op of this name: `positions` as of `source_of`, `text`, and its facts where it has a
    value for them (`detail`)."""

    topic: str
    op: str
    positions: tuple[SourcePoint, ...]
    text: str
    detail: object = None


_COLLECTED: ContextVar[list[Remark] | None] = ContextVar("collected", default=None)


@contextmanager
def collected() -> Generator[list[Remark]]:
    """The remarks of all topics that are made in the block, which are not printed for it."""
    found: list[Remark] = []
    token = _COLLECTED.set(found)
    try:
        yield found
    finally:
        _COLLECTED.reset(token)


def is_collected() -> bool:
    """Whether remarks are collected, with their facts."""
    return _COLLECTED.get() is not None


def is_anything_asked() -> bool:
    return bool(knobs.getenv("TRITON_EXPLAIN")) or "remarks" in _listed("MLIR_ENABLE_DIAGNOSTICS")


def is_asked(topic: str) -> bool:
    """Whether it is asked for."""
    return is_collected() or _is_printed(topic)


def _is_printed(topic: str) -> bool:
    return topic in _listed("TRITON_EXPLAIN") or "remarks" in _listed("MLIR_ENABLE_DIAGNOSTICS")


def explain(topic: str, op: Operation, text: str, detail: object = None) -> None:
    """Print what was decided about an op, to standard error, if the topic is asked for; collect it where that is
    asked for."""
    positions = source_of(op)
    if (found := _COLLECTED.get()) is not None:
        found.append(Remark(topic, op.name, positions, text, detail))
    if not _is_printed(topic):
        return
    place, diagnostics = f"{positions[0]}: " if positions else "", _listed("MLIR_ENABLE_DIAGNOSTICS")
    lines = [f"{place}{'remark' if 'remarks' in diagnostics else topic}: {text}"]
    if "operations" in diagnostics:
        lines.append(f"{place}note: see current operation: {op}")
    if "stacktraces" in diagnostics:
        lines.append(f"{place}note: diagnostic emitted with trace:\n{''.join(traceback.format_stack()[:-1])}")
    print(*lines, sep="\n", file=sys.stderr)


def _listed(variable: str) -> list[str]:
    return (knobs.getenv(variable) or "").replace(" ", "").split(",")
