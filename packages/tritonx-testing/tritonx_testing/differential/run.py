"""Executing groups in the interpreter and on a device, and what differs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tritonx.interpreter.ir_launch import launch
from tritonx_testing.conformance.case import Array, Mismatch, Part, compare, is_float
from tritonx_testing.conformance.isolated import is_refusal
from tritonx_testing.differential.differences import ignored
from tritonx_testing.differential.kernels import NAMES, Arguments, arguments, function
from tritonx_testing.differential.table import Group, Operation

PYTHON = "python"
"""The device that executes the kernel's Python lines one by one."""

Launch = Callable[[Any, list[Array]], list[Array]]
"""Run a kernel on arrays as one program, without fusing multiplications and additions, and give back what they hold."""


@dataclass(frozen=True)
class Failure:
    """An op whose result is not the interpreter's, or that a device refuses: by a typed error where ``refused``."""

    group: str
    operation: str
    device: str
    what: str
    refused: bool = False

    def __str__(self) -> str:
        return f"{self.operation} of {self.group} on {self.device}: {self.what}"


def reference(kernel: Any, given: Arguments) -> list[Array]:
    """What the interpreter leaves in the outputs."""
    arrays = given.fresh()
    launch(kernel, (1,), *arrays)
    return arrays[len(given.operands) :]


def compare_group(group: Group, device: str, launch: Launch, seed: int) -> list[Failure]:
    """What is wrong with the group on the device. Where the kernel of all its ops does not even run, each has one of
    its own.
    """
    given = arguments(group, np.random.default_rng([seed, *group.name.encode()]))
    kernel = function(group)
    expected = reference(kernel, given)
    try:
        got = launch(kernel, given.fresh())[len(given.operands) :]
    except Exception as problem:
        if len(group.operations) == 1:
            words = str(problem).strip().splitlines() or [""]
            what = f"{type(problem).__name__}: {words[0]}"
            return [Failure(group.name, group.operations[0].name, device, what, is_refusal(problem))]
        return [f for op in group.operations for f in compare_group(group.only([op]), device, launch, seed)]
    found = [
        difference(operation, device, given.operands, want, have)
        for operation, want, have in zip(group.operations, expected, got, strict=True)
    ]
    return [
        Failure(group.name, operation.name, device, what)
        for operation, what in zip(group.operations, found, strict=True)
        if what is not None
    ]


def difference(operation: Operation, device: str, operands: Sequence[Array], expected: Array, got: Array) -> str | None:
    """The first element that differs, with its operands. All NaNs are one value; the sign of zero counts."""
    covered = None if device == PYTHON else ignored(operation, operands)
    if not operation.bound.exact:
        return _outside(operation, operands, expected, got, covered)
    wrong = bits(expected) != bits(got)
    if is_float(expected.dtype):
        with np.errstate(all="ignore"):
            wrong &= ~(np.isnan(expected.astype(np.float64)) & np.isnan(got.astype(np.float64)))
    if covered is not None and covered.shape == wrong.shape:
        wrong &= ~covered
    if not wrong.any():
        return None
    at = int(np.flatnonzero(wrong)[0])
    count = f"{int(np.count_nonzero(wrong))} of {wrong.size} differ"
    return f"{_given(operands, at, operation)} gives {got[at]}, the interpreter {expected[at]}; {count}"


def _outside(
    operation: Operation, operands: Sequence[Array], expected: Array, got: Array, covered: Array | None
) -> str | None:
    kept = np.ones(expected.shape, np.bool_) if covered is None else ~covered
    part = Part(operation.name, expected[kept].astype(np.float64), operation.bound)
    try:
        compare(part, got[kept], expected.dtype)
    except Mismatch as problem:
        at = int(np.flatnonzero(kept)[int(str(problem).partition("[")[2].partition("]")[0])])
        return f"{_given(operands, at, operation)}: {problem}"
    return None


def _given(operands: Sequence[Array], at: int, operation: Operation) -> str:
    if operation.count % len(operands[0]):
        return f"element {at}"
    return ", ".join(f"{n} = {x[at % len(x)]}" for n, x in zip(NAMES, operands, strict=False))


def bits(array: Array) -> Array:
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")
