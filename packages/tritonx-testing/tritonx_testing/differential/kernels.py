"""A group of ops as a kernel, and its arguments."""

from __future__ import annotations

import hashlib
import linecache
from dataclasses import dataclass
from typing import Any

import numpy as np

from tritonx.runtime.jit import JITFunction
from tritonx_testing.conformance.case import Array, poison
from tritonx_testing.differential.operands import COUNT, numpy_dtype, operands, within
from tritonx_testing.differential.table import COLUMNS, ROWS, Group

NAMES = ("x", "y", "z")


@dataclass(frozen=True)
class Arguments:
    """What a kernel is launched with: the operands, and an output for every op."""

    operands: tuple[Array, ...]
    outputs: tuple[Array, ...]

    def fresh(self) -> list[Array]:
        """Copies, in the order of the parameters."""
        return [array.copy() for array in (*self.operands, *self.outputs)]


def source(group: Group) -> str:
    """The kernel's text."""
    inputs = NAMES[: len(group.operands)]
    outputs = [f"out{k}" for k in range(len(group.operations))]
    lines = ["import tritonx", "import tritonx.language as tl", "", "", "@tritonx.jit"]
    lines.append(f"def kernel({', '.join([f'{x}_ptr' for x in inputs] + outputs)}):")
    if group.rows:
        lines.append(f"    row = tl.arange(0, {ROWS})")
        lines.append(f"    lane = tl.arange(0, {COLUMNS})[None, :]")
        lines.append(f"    i = row[:, None] * {COLUMNS} + lane")
    else:
        lines.append(f"    i = tl.arange(0, {COUNT})")
    lines += [f"    {x} = tl.load({x}_ptr + i)" for x in inputs]
    for out, operation in zip(outputs, group.operations, strict=True):
        lines += [f"    out = {out}", f"    {operation.text}"]
    return "\n".join(lines) + "\n"


def function(group: Group) -> JITFunction:
    """The kernel, its source known to ``inspect`` and to tracebacks."""
    text = source(group)
    name = f"<differential {hashlib.sha256(text.encode()).hexdigest()[:12]}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {"__name__": "tritonx_differential"}
    exec(compile(text, name, "exec"), namespace)
    return namespace["kernel"]


def arguments(group: Group, rng: np.random.Generator) -> Arguments:
    """Fresh operands; outputs hold poison, or the operand that an op changes in memory."""
    if group.interval is None:
        values = operands(rng, group.operands)
    else:
        values = [within(rng, name, *group.interval) for name in group.operands]
    outputs: list[Array] = []
    for operation in group.operations:
        output = poison(operation.count, numpy_dtype(operation.result))
        if operation.initial is not None:
            output[:COUNT] = values[operation.initial]
        outputs.append(output)
    return Arguments(tuple(values), tuple(outputs))
