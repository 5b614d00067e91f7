"""A launch of a program of `kernels_hopper.py` on arrays of the host, and what must come out: for the GPU and for the
machine of `interpreter/asynchronous`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.peer.pipeline_cases import DTYPES, Array, HostDescriptor


@dataclass(frozen=True)
class Described:
    """What a kernel was compiled with, as `hopper_oracle.py` writes it down."""

    kernel: str
    signature: dict[str, str]
    constants: dict[str, Any]

    def element(self, name: str) -> str:
        """The type of a parameter, or of what it points to or describes."""
        return self.signature[name].removeprefix("tensordesc<").removeprefix("*").split("[")[0]

    def block(self, name: str) -> list[int]:
        """The block of a parameter that is a descriptor."""
        return [int(n) for n in self.signature[name].split("[")[1].rstrip("]>").split(",")]


@dataclass(frozen=True)
class Output:
    """An array among the arguments, and what it must hold then: bit by bit, unless there is a tolerance."""

    array: Array
    expected: Array
    rtol: float = 0.0
    atol: float = 0.0

    def check(self, got: Array, where: str) -> None:
        if self.rtol or self.atol:
            values = got.astype(np.float64)
            np.testing.assert_allclose(values, self.expected, rtol=self.rtol, atol=self.atol, err_msg=where)
        else:
            held = np.ascontiguousarray(self.expected.astype(got.dtype))
            np.testing.assert_array_equal(got.view(np.uint8), held.view(np.uint8), err_msg=where)


@dataclass(frozen=True)
class Launch:
    """The arguments of the IR function in their order."""

    args: tuple[Any, ...]
    outputs: tuple[Output, ...]
    grid: tuple[int, ...]

    def over(self, convert: Callable[[Any], Any]) -> list[Any]:
        """The arguments, the arrays and descriptors among them converted."""
        return [convert(each) if isinstance(each, np.ndarray | HostDescriptor) else each for each in self.args]


def launch(case: Described, given: dict[str, Any], outputs: tuple[Output, ...], grid: tuple[int, ...]) -> Launch:
    """With the parameters of ``case`` by their names; arrays become descriptors where these are asked for."""
    args: list[Any] = []
    for name, type_ in case.signature.items():
        if type_.startswith("tensordesc"):
            args += HostDescriptor(given[name], case.block(name)).flat()
        else:
            args.append(given[name])
    return Launch(tuple(args), outputs, grid)


def drawn(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    """Any values that a type has."""
    kind = np.dtype(DTYPES[dtype])
    if kind.kind in "iu":
        return rng.integers(0 if kind.kind == "u" else -100, 100, shape).astype(kind)
    return rng.standard_normal(shape, dtype=np.float32).astype(kind)


def poisoned(shape: tuple[int, ...], dtype: str) -> Array:
    return np.full(shape, 77 if dtype == "i32" else np.nan, np.dtype(DTYPES[dtype]))


def combined(kind: str, old: Array, new: Array) -> Array:
    match kind:
        case "add":
            return old + new
        case "min":
            return np.minimum(old, new)
        case "max":
            return np.maximum(old, new)
        case "and":
            return old & new
        case "or":
            return old | new
        case "xor":
            return old ^ new
        case _:
            return new
