"""Whether two modules do the same: run both on equal random inputs and compare what is in memory afterwards.

This is how passes are tested: the module before and the module after. It proves nothing, but a rewrite that is wrong
seldom survives a few seeds.
"""

# Operands are arrays of any dtype: to pyright, what NumPy makes of them is partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import IntegerType, ModuleOp
from xdsl.ir import Attribute

from tritonx.dialects.tile import FuncOp, TensorDescType
from tritonx.interpreter.errors import InvalidLaunch, KernelFault
from tritonx.interpreter.execution import Execution
from tritonx.interpreter.machine import Machine, interpret
from tritonx.interpreter.memory import Memory
from tritonx.interpreter.rounding import round_to
from tritonx.interpreter.values import Descriptor, is_float, storage_of
from tritonx.ir.text import parse_module
from tritonx.ir.types import PointerType


class BehaviourDiffers(AssertionError):
    """Two modules that should do the same do not; the message says where and with which inputs."""


@dataclass(frozen=True)
class Inputs:
    """How random arguments are made: elements of each array, and the range of integer arguments (the end is left
    out)."""

    elements: int = 1 << 14
    integers: tuple[int, int] = (0, 100)


def random_array(rng: np.random.Generator, pointee: Attribute, count: int) -> np.ndarray:
    """`count` random elements as they lie in memory: normal floats, small integers of either sign, bits 0 and 1 for
    i1."""
    dtype = storage_of(pointee)
    if isinstance(pointee, IntegerType) and pointee.width.data == 1:
        return rng.integers(0, 2, count).astype(dtype)
    if is_float(dtype):
        return round_to(rng.standard_normal(count), dtype)
    return rng.integers(-100, 100, count).astype(dtype)


def random_arguments(kernel: FuncOp, seed: int, inputs: Inputs | None = None) -> list[object]:
    """Random arguments for the parameters of a kernel, the same for the same seed."""
    inputs = inputs or Inputs()
    rng = np.random.default_rng(seed)
    arguments: list[object] = []
    for type_ in kernel.function_type.inputs.data:
        if isinstance(type_, PointerType):
            if isinstance(type_.pointee, PointerType | TensorDescType):
                raise InvalidLaunch(f"random inputs cannot be made for {type_}: pass `args`")
            arguments.append(random_array(rng, type_.pointee, inputs.elements))
        elif isinstance(type_, IntegerType):
            low, high = inputs.integers
            arguments.append(int(rng.integers(0, 2) if type_.width.data == 1 else rng.integers(low, high)))
        elif isinstance(type_, TensorDescType):
            raise InvalidLaunch(f"random inputs cannot be made for {type_}: pass `args`")
        else:
            arguments.append(float(rng.standard_normal()))
    return arguments


def same_behaviour(
    before: ModuleOp,
    after: ModuleOp,
    grid: int | Sequence[int] = 1,
    seed: int = 0,
    *,
    args: Sequence[object] | None = None,
    function: str | None = None,
    inputs: Inputs | None = None,
    rtol: float = 0.0,
) -> None:
    """Run both modules over `grid` and compare every array and everything printed.

    Without `rtol` floats must agree bit for bit (any NaN is equal to any other). `args` takes the place of the random
    arguments. Raises `BehaviourDiffers`; a fault in both modules counts as a mistake of the test and is raised as it
    is.

    >>> module = tritonx.interpreter.launch(double, (1,), np.arange(4.0), BLOCK=4)
    >>> tritonx.interpreter.same_behaviour(module, module.clone())
    """
    given = random_arguments(kernel_of(before, function), seed, inputs) if args is None else list(args)
    first, first_fault = _run(before, grid, given, function)
    second, second_fault = _run(after, grid, given, function)
    if first_fault is not None:
        raise first_fault
    if second_fault is not None:
        raise BehaviourDiffers(f"only the second module fails (seed {seed}): {second_fault}") from second_fault
    for index, (a, b) in enumerate(zip(first.arrays, second.arrays, strict=True)):
        difference = first_difference(a, b, rtol)
        if difference is not None:
            raise BehaviourDiffers(f"argument {index} differs (seed {seed}): {difference}")
    if first.printed != second.printed:
        raise BehaviourDiffers(f"they print different lines (seed {seed}):\n{first.printed}\n--\n{second.printed}")


@dataclass(frozen=True)
class Outcome:
    """What a run left behind."""

    arrays: list[np.ndarray]
    printed: str


def first_difference(a: np.ndarray, b: np.ndarray, rtol: float = 0.0) -> str | None:
    """Where two arrays of one dtype differ first, as text; None where they do not."""
    wide_a, wide_b = (x.astype(np.float64) if is_float(x.dtype) else x for x in (a, b))
    if rtol and is_float(a.dtype):
        equal = np.isclose(wide_a, wide_b, rtol=rtol, atol=rtol, equal_nan=True)
    else:
        equal = a.view(f"u{a.dtype.itemsize}") == b.view(f"u{b.dtype.itemsize}")
        if is_float(a.dtype):
            equal = equal | (np.isnan(wide_a) & np.isnan(wide_b))
    if equal.all():
        return None
    index = tuple(int(i) for i in np.argwhere(~equal)[0])
    return f"element {index} is {a[index]} and {b[index]}, {np.count_nonzero(~equal)} of {a.size} elements differ"


def run_file(path: str | Path, grid: int | Sequence[int] = 1, seed: int = 0, **options: Any) -> list[object]:
    """Interpret the kernel of an IR file on random arguments (or `args`); returns the arguments as the run left
    them."""
    module = parse_module(Path(path).read_text(), str(path))
    args = options.pop("args", None)
    inputs = options.pop("inputs", None)
    given = random_arguments(kernel_of(module, options.get("function")), seed, inputs) if args is None else list(args)
    interpret(module, grid, given, **options)
    return given


def kernel_of(module: ModuleOp, function: str | None = None) -> FuncOp:
    """The kernel of a module: the function called `function`, or the only public one. Raises `InvalidLaunch`."""
    return Machine(module, Execution((1, 1, 1), Memory())).entry(function)


def _run(
    module: ModuleOp, grid: int | Sequence[int], given: Sequence[object], function: str | None
) -> tuple[Outcome, KernelFault | None]:
    originals = [a for a in given if isinstance(a, np.ndarray)]
    copies = {id(a): a.copy() for a in originals}
    arguments = [copies[id(a)] if isinstance(a, np.ndarray) else a for a in given]
    if any(isinstance(a, Descriptor) for a in arguments):
        raise InvalidLaunch("descriptors hold addresses: compare modules that make theirs on the device")
    output = io.StringIO()
    fault: KernelFault | None = None
    try:
        interpret(module, grid, arguments, function=function, output=output)
    except KernelFault as error:
        fault = error
    return Outcome([copies[id(a)] for a in originals], output.getvalue()), fault
