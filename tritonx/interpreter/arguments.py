"""Turns what the host passes into the values a kernel's arguments have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.ir import Attribute

from tritonx.dialects.tile import FuncOp, TensorDescType
from tritonx.interpreter.errors import InvalidLaunch
from tritonx.interpreter.memory import Memory
from tritonx.interpreter.rounding import round_to
from tritonx.interpreter.values import UNSIGNED, Descriptor, Value, dtype_of, is_float, reads_as
from tritonx.ir.types import PointerType


def normalise_grid(grid: int | Sequence[int]) -> tuple[int, int, int]:
    """Three extents from one to three. Raises `InvalidLaunch` for anything else."""
    extents = [grid] if isinstance(grid, int | np.integer) else list(grid)
    if not 1 <= len(extents) <= 3 or any(int(e) < 0 for e in extents):
        raise InvalidLaunch(f"a grid has one to three extents, none of them negative, got {grid}")
    x, y, z = (int(e) for e in [*extents, 1, 1][:3])
    return x, y, z


def bind_arguments(
    kernel: FuncOp, args: Sequence[object], memory: Memory, names: Sequence[str] | None = None
) -> list[Value]:
    """The values of the kernel's arguments; registers arrays in `memory` under `names`, or the names in the
    locations."""
    types = kernel.function_type.inputs.data
    if len(args) != len(types):
        raise InvalidLaunch(f"@{kernel.sym_name.data} takes {len(types)} arguments, got {len(args)}")
    given = list(names) if names is not None else _argument_names(kernel)
    return [argument_value(arg, type_, name, memory) for arg, type_, name in zip(args, types, given, strict=True)]


def _argument_names(kernel: FuncOp) -> list[str]:
    names: list[str] = []
    entry = kernel.body.blocks.first
    for index, argument in enumerate(() if entry is None else entry.args):
        hint = argument.name_hint
        names.append(hint or f"argument {index}")
    return names


def argument_value(arg: object, type_: Attribute, name: str, memory: Memory) -> Value:
    """One argument as the kernel sees it."""
    if isinstance(type_, PointerType):
        return _address(arg, name, memory)
    if isinstance(type_, TensorDescType):
        return _descriptor(arg, type_, name, memory)
    if not isinstance(arg, int | float) and not hasattr(arg, "item"):
        raise InvalidLaunch(f"{name} is a number of type {type_}, got {type(arg).__name__}")
    dtype = dtype_of(type_)
    if is_float(dtype):
        return round_to(np.array(cast(float, arg), dtype=np.float64), dtype)[()]
    if dtype == np.bool_:
        return np.bool_(bool(arg))
    bits = dtype.itemsize * 8
    number = int(cast(int, arg))
    if not -(1 << (bits - 1)) <= number < 1 << bits:
        raise InvalidLaunch(f"{name} = {number} does not fit {type_}")
    return np.array(number & ((1 << bits) - 1), dtype=UNSIGNED[dtype]).view(dtype)[()]


def _address(arg: object, name: str, memory: Memory) -> Value:
    if arg is None:
        return np.int64(0)
    if isinstance(arg, int):
        return np.array(arg & ((1 << 64) - 1), dtype=np.uint64).view(np.int64)[()]
    if isinstance(arg, np.ndarray):
        return np.int64(memory.register(cast(np.ndarray, arg), name))
    raise InvalidLaunch(f"{name} is a pointer: pass a NumPy array, or an address as an int, got {type(arg).__name__}")


def _descriptor(arg: Any, type_: TensorDescType, name: str, memory: Memory) -> Descriptor:
    if isinstance(arg, Descriptor):
        return arg
    base = getattr(arg, "base", None)
    if not isinstance(base, np.ndarray):
        raise InvalidLaunch(f"{name} is a tensor descriptor over a NumPy array, got {type(arg).__name__}")
    nan, rounds = reads_as(arg)
    return Descriptor(
        base=memory.register(cast(np.ndarray, base), name),
        shape=tuple(int(n) for n in arg.shape),
        strides=tuple(int(n) for n in arg.strides),
        block=type_.shape,
        element=type_.element_type,
        pad_with_nan=nan,
        rounds=rounds,
    )
