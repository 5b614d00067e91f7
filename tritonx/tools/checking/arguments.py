"""The arrays of a launch's arguments: those in tuples and behind tensor descriptors too, named as the interpreter names
them (`x`, `xs[0]`)."""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator, Mapping
from typing import Protocol, cast

import ml_dtypes
import numpy as np

from tritonx.interpreter.host import UninitialisedArray
from tritonx.interpreter.values import is_float

Contents = dict[str, np.ndarray]
"""The elements of each array, by its name."""

_NARROW_FLOATS = ("bfloat16", "float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz")


def host_array(value: object) -> np.ndarray | None:
    """The memory of an argument as a NumPy array. None for anything else, and for a format that NumPy does not have."""
    if isinstance(value, UninitialisedArray):
        return value.numpy()
    if isinstance(value, np.ndarray):
        return cast(np.ndarray, value)
    if hasattr(value, "untyped_storage"):
        return _of_tensor(cast(_Tensor, value))
    return np.asarray(value) if hasattr(value, "__array_interface__") else None


class _Tensor(Protocol):
    """Of PyTorch's."""

    @property
    def dtype(self) -> object: ...
    def detach(self) -> _Tensor: ...
    def view(self, dtype: object, /) -> _Tensor: ...
    def numpy(self) -> np.ndarray: ...


def _of_tensor(tensor: _Tensor) -> np.ndarray | None:
    """A tensor of the host. The formats that NumPy lacks are those of ml_dtypes."""
    name = str(tensor.dtype).removeprefix("torch.")
    try:
        if name not in _NARROW_FLOATS:
            return tensor.detach().numpy()
        kind = np.dtype(getattr(ml_dtypes, name))
        bits = getattr(sys.modules["torch"], "int16" if kind.itemsize == 2 else "uint8")
        return tensor.detach().view(bits).numpy().view(kind)
    except (TypeError, RuntimeError):
        return None


def arrays_of(arguments: Mapping[str, object]) -> Contents:
    """The arrays of all arguments, in order."""
    return {name: array for parameter, value in arguments.items() for name, array in _arrays(parameter, value)}


def _arrays(name: str, value: object) -> Iterator[tuple[str, np.ndarray]]:
    if isinstance(value, tuple):
        for number, each in enumerate(cast("tuple[object, ...]", value)):
            yield from _arrays(f"{name}[{number}]", each)
        return
    array = host_array(_base(value) if is_descriptor(value) else value)
    if array is not None:
        yield name, array


def is_descriptor(value: object) -> bool:
    """Whether an argument is a tensor descriptor, of whatever package."""
    return hasattr(value, "block_shape") and hasattr(value, "base")


def _base(descriptor: object) -> object:
    return getattr(descriptor, "base", None)


def widened_arguments(arguments: Mapping[str, object]) -> dict[str, object]:
    """The arguments with copies of the arrays, floats as float64."""
    return {name: _widened(value) for name, value in arguments.items()}


def _widened(value: object) -> object:
    if isinstance(value, tuple):
        parts = tuple(_widened(each) for each in cast("tuple[object, ...]", value))
        make: object = getattr(cast(object, value), "_make", None)
        return make(parts) if callable(make) else parts
    if is_descriptor(value):
        found = copy.copy(value)
        setattr(found, "base", _widened(_base(value)))  # noqa: B010  # what class it is, is not known
        return found
    array = host_array(value)
    if array is None:
        return value
    with np.errstate(all="ignore"):  # the bytes of an array that was never written are any
        return array.astype(np.float64) if is_float(array.dtype) else array.copy()
