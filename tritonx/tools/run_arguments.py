"""The arguments of `tritonx-run`: from arrays and numbers by name to what the kernel's types take.

As in a launch, an array has the element type of its pointer, in the machine's byte order. Integers are signless, so
that `i32` takes `int32` and `uint32`. A format that NumPy does not have (bf16, fp8) is given as integers of the same
size. A number is whole for an integer type, and in its range.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tritonx.runtime.errors import InterpreterError
from tritonx.tools.command import LITERAL_LIMIT
from tritonx.tools.opt_diagnostics import Diagnostic

if TYPE_CHECKING:
    import numpy as np
    from xdsl.ir import Attribute

    from tritonx.dialects.tile import FuncOp


def _wrong(message: str) -> Diagnostic:
    return Diagnostic("tritonx-run", 0, 0, message)


@dataclass(frozen=True)
class HostDescriptor:
    """A tensor descriptor over a whole array."""

    base: np.ndarray
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def argument_names(kernel: FuncOp) -> list[str]:
    """The names of a function's arguments: what the file calls them (`a`, `a_0`, `a_1` where several have one name), or
    `arg` and the number."""
    entry = kernel.body.blocks.first
    names: list[str] = []
    often: dict[str, int] = {}
    for number, argument in enumerate(() if entry is None else entry.args):
        name = argument.name_hint or f"arg{number}"
        names.append(f"{name}_{often[name]}" if name in often else name)
        often[name] = often.get(name, -1) + 1
    return names


def arguments_of(kernel: FuncOp, values: Mapping[str, np.ndarray], random: int | None) -> list[object]:
    """One value for each argument, from those that are named. Raises `Diagnostic`."""
    from tritonx.interpreter.compare import random_arguments

    names = argument_names(kernel)
    unknown = sorted(set(values) - set(names))
    if unknown:
        raise _wrong(f"no argument is called {unknown[0]}: they are {', '.join(names)}")
    drawn = None if random is None else random_arguments(kernel, random)
    made: list[object] = []
    following: list[int] = []  # what a descriptor says of itself
    for number, (name, type_) in enumerate(zip(names, kernel.function_type.inputs.data, strict=True)):
        if name in values:
            value = value_of(name, type_, values[name])
            made.append(value)
            if isinstance(value, HostDescriptor):
                following = [*value.shape, *value.strides]
        elif following:
            made.append(following.pop(0))
        elif drawn is not None:
            made.append(drawn[number])
        else:
            raise _wrong(f"nothing is given for the argument {name} of type {type_}")
    return made


def value_of(name: str, type_: Attribute, value: np.ndarray) -> object:
    """What an argument of that type is given: an array, a descriptor or a number. Raises `Diagnostic`."""
    import numpy as np

    from tritonx.dialects.tile import TensorDescType
    from tritonx.ir.types import PointerType, element_type

    if isinstance(type_, TensorDescType):
        block = type_.block_type
        if value.ndim != len(block.get_shape()):
            raise _wrong(f"argument {name} of type {type_} takes an array of rank {len(block.get_shape())}")
        array = np.ascontiguousarray(_stored(name, type_, element_type(block), value))
        return HostDescriptor(array, array.shape, tuple(step // array.itemsize for step in array.strides))
    if isinstance(type_, PointerType) and value.ndim:
        return _stored(name, type_, type_.pointee, value)
    if value.ndim:
        raise _wrong(f"an array is given for the argument {name} of type {type_}")
    if isinstance(type_, PointerType):
        return _whole(name, type_, value, 64)
    return _number(name, type_, value)


def _stored(name: str, type_: Attribute, element: Attribute, value: np.ndarray) -> np.ndarray:
    """The array as elements of a type lie in memory."""
    import numpy as np

    from tritonx.interpreter.values import is_float, storage_of

    try:
        held = storage_of(element)
    except InterpreterError as error:
        raise _wrong(f"argument {name}: {error}") from None
    given = value.dtype
    if given == held:
        return value
    plain = given.isnative and given.itemsize == held.itemsize
    foreign = is_float(held) and held.isbuiltin != 1  # not one of NumPy's own
    if plain and (given.kind in "iu" or (foreign and given.kind == "V" and given.names is None)):
        if foreign:
            return value.view(np.dtype(f"u{held.itemsize}"))
        if not is_float(held):
            return value
    if plain and given.kind == "b" and held.kind in "iub":
        return value
    wanted = f"{held} or integers of {held.itemsize} bytes" if foreign else str(held)
    order = "" if given.isnative else f" in the other byte order ({given.str})"
    raise _wrong(f"argument {name} of type {type_} takes an array of {wanted}, not of {given.name}{order}")


def _bits(type_: Attribute) -> int | None:
    """How many bits an integer type has; None for another type."""
    from xdsl.dialects.builtin import IndexType, IntegerType

    if isinstance(type_, IntegerType):
        return cast("IntegerType[int]", type_).width.data
    return 64 if isinstance(type_, IndexType) else None


def _number(name: str, type_: Attribute, value: np.ndarray) -> int | float:
    bits = _bits(type_)
    if bits is not None:
        return _whole(name, type_, value, bits)
    if value.dtype.kind not in "fiub" and not _is_big_number(value):
        raise _wrong(f"argument {name} of type {type_} takes a number, not {value.dtype.name}")
    try:
        return float(value.item())
    except OverflowError:
        raise _wrong(f"argument {name} of type {type_}: the number is too large") from None


def _is_big_number(value: np.ndarray) -> bool:
    """Whether it is one of Python's integers that no dtype holds."""
    return value.dtype.kind == "O" and type(value.item()) is int


def _whole(name: str, type_: Attribute, value: np.ndarray, bits: int) -> int:
    if value.dtype.kind not in "iub" and not _is_big_number(value):
        given = repr(value.item())[:40] if value.dtype.kind == "f" else value.dtype.name
        raise _wrong(f"argument {name} of type {type_} takes a whole number, not {given}")
    number = int(value.item())
    if not -(1 << max(bits - 1, 0)) <= number < 1 << bits:
        shown = str(number) if abs(number) < 10**40 else f"a number of {number.bit_length()} bits"
        raise _wrong(f"argument {name} of type {type_} does not hold {shown}")
    return number


def values_of(path: Path | None, settings: Iterable[str]) -> dict[str, np.ndarray]:
    """Arrays of a file, and numbers `name=value`. Raises `Diagnostic`."""
    import numpy as np

    found: dict[str, np.ndarray] = {} if path is None else _archive(path)
    for text in settings:
        name, _, number = text.partition("=")
        found[name] = np.array(_given_number(text, number if name else ""))
    return found


def _given_number(text: str, number: str) -> bool | int | float:
    try:
        value: object = ast.literal_eval(number[:LITERAL_LIMIT])
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        value = None
    if not isinstance(value, bool | int | float) or not (isinstance(value, int) or math.isfinite(value)):
        shown = text if len(text) < 80 else f"{text[:80]}..."
        raise Diagnostic("--set", 1, 1, f"expected NAME=NUMBER, got '{shown}'", shown)
    return value


def _archive(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a `.npz`. Raises `Diagnostic`, which names the array that cannot be read."""
    import numpy as np

    at = ""
    try:
        held: Any = np.load(path)
        if not hasattr(held, "files"):
            raise ValueError("it holds one array without a name")
        found: dict[str, np.ndarray] = {}
        with held:
            for name in held.files:
                at = f" in {name}"
                found[name] = _array(held[name])
        return found
    except MemoryError:
        words = "an array is larger than memory"
    except Exception as error:  # whatever NumPy, zipfile and the decompressors raise for bytes that are no archive
        words = " ".join(str(error).split()) or type(error).__name__
    raise Diagnostic(str(path), 0, 0, f"no .npz that can be read{at}: {words}")


def _array(value: object) -> np.ndarray:
    if not hasattr(value, "dtype"):  # a member of the archive that is no `.npy` comes as bytes
        raise ValueError("it is no array")
    return cast("np.ndarray", value)
