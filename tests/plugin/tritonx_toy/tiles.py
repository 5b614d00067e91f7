"""What the emitted programs do with tiles and numbers beyond NumPy's own functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes  # noqa: F401  # the names of the short floats
import numpy as np

Combine = Callable[..., tuple[Any, ...]]


def argument(value: Any, dtype: str) -> Any:
    """A kernel's argument as held: integers modulo their width."""
    kind = np.dtype(dtype)
    if kind.kind != "i":
        return kind.type(value)
    bits = 8 * kind.itemsize
    return np.array(int(value) & (1 << bits) - 1, f"u{kind.itemsize}").view(kind)[()]


def lane_by_lane(combine: Combine) -> Combine:
    """A function of scalars, whose control flow depends on them, as one of arrays."""

    def combined(*lanes: Any) -> tuple[Any, ...]:
        shape = lanes[0].shape
        rows = [combine(*(lane[index] for lane in lanes)) for index in np.ndindex(shape)]
        return tuple(np.array(column).reshape(shape) for column in zip(*rows, strict=True))

    return combined


def reduce(combine: Combine, axis: int, *sources: Any) -> tuple[Any, ...]:
    """The first half with the second, until one is left."""
    values = [np.moveaxis(source, axis, 0) for source in sources]
    while (count := len(values[0])) > 1:
        half = count // 2
        done = combine(*(v[:half] for v in values), *(v[half : 2 * half] for v in values))
        values = [np.concatenate((d, v[2 * half :])) for d, v in zip(done, values, strict=True)]
    return tuple(v[0] for v in values)


def scan(combine: Combine, axis: int, *sources: Any) -> tuple[Any, ...]:
    """One after the other."""
    values = [np.moveaxis(source, axis, 0) for source in sources]
    rows = [tuple(v[0] for v in values)]
    for index in range(1, len(values[0])):
        rows.append(combine(*rows[-1], *(v[index] for v in values)))
    return tuple(np.moveaxis(np.stack(column), 0, axis) for column in zip(*rows, strict=True))


def scan_back(combine: Combine, axis: int, *sources: Any) -> tuple[Any, ...]:
    return tuple(np.flip(v, axis) for v in scan(combine, axis, *(np.flip(s, axis) for s in sources)))
