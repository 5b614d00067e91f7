"""What passes decided, for who asks: ``TRITONX_EXPLAIN=pipeline`` prints a line for each loop, with its position,
``products`` one for each `tt.dot`, ``accesses`` one for each load and store that goes element by element.

Several topics are separated by commas. Triton's ``MLIR_ENABLE_DIAGNOSTICS=remarks`` asks for all of them, as MLIR's
remarks; with ``operations`` each is followed by the op, with ``stacktraces`` by where in the compiler it was said. Who
asks has kernels compiled that are in the cache on disk.
"""

from __future__ import annotations

import sys
import traceback

from xdsl.ir import Operation

from tritonx.ir.source import source_of
from tritonx.runtime import knobs


def is_anything_asked() -> bool:
    return bool(knobs.getenv("TRITON_EXPLAIN")) or "remarks" in _listed("MLIR_ENABLE_DIAGNOSTICS")


def is_asked(topic: str) -> bool:
    """Whether it is asked for."""
    return topic in _listed("TRITON_EXPLAIN") or "remarks" in _listed("MLIR_ENABLE_DIAGNOSTICS")


def explain(topic: str, op: Operation, text: str) -> None:
    """Print what was decided about an op, to standard error, if the topic is asked for."""
    if not is_asked(topic):
        return
    positions = source_of(op)
    place, diagnostics = f"{positions[0]}: " if positions else "", _listed("MLIR_ENABLE_DIAGNOSTICS")
    lines = [f"{place}{'remark' if 'remarks' in diagnostics else topic}: {text}"]
    if "operations" in diagnostics:
        lines.append(f"{place}note: see current operation: {op}")
    if "stacktraces" in diagnostics:
        lines.append(f"{place}note: diagnostic emitted with trace:\n{''.join(traceback.format_stack()[:-1])}")
    print(*lines, sep="\n", file=sys.stderr)


def _listed(variable: str) -> list[str]:
    return (knobs.getenv(variable) or "").replace(" ", "").split(",")
