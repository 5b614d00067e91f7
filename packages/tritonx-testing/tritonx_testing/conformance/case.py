"""What a conformance case is: a kernel, fresh arguments for it, and what it must leave in memory.

A case's ``make`` draws a ``Trial`` from a random generator: inputs, and for every buffer that the kernel writes the
expected contents, computed by NumPy in at least the kernel's precision. A ``Device`` turns the trial into arrays of its
own, launches, and hands the buffers back to ``check``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import ml_dtypes
import numpy as np

from tritonx.runtime.jit import JITFunction

GUARD = 64
"""Elements behind every output that the kernel must not touch."""

Array = np.ndarray[Any, Any]


class Mismatch(AssertionError):
    """A buffer does not hold what it should; says which part, where, what was expected and how far off it is.

    >>> issubclass(Mismatch, AssertionError)
    True
    """


@dataclass(frozen=True)
class Tolerance:
    """How far a floating-point result may be from the reference: ``|got - expected|`` is at most ``ulps`` spacings
    of the result's type at the expected value, plus ``absolute`` (a number or an array), plus ``flush`` smallest
    normal numbers (devices may flush subnormal results to zero).

    No tolerance at all compares bits, all NaNs being equal and zeros of either sign. A correctly rounded result is
    within 0.5 ulps of an exact reference; ``ROUNDED`` allows for the reference's own rounding.

    >>> from tritonx_testing.conformance import Tolerance
    >>> Tolerance().exact, Tolerance(ulps=2).exact
    (True, False)
    """

    ulps: float = 0.0
    absolute: Any = 0.0
    flush: float = 0.0

    @property
    def exact(self) -> bool:
        return self.ulps == 0 and self.flush == 0 and not np.any(self.absolute)


EXACT = Tolerance()
ROUNDED = Tolerance(ulps=0.51)


@dataclass(frozen=True)
class Part:
    """A named stretch of an output buffer and what it must contain, in row-major order.

    >>> Part("sum", np.arange(3)).tolerance.exact
    True
    """

    name: str
    expected: Array
    tolerance: Tolerance = EXACT


@dataclass(frozen=True)
class Output:
    """A buffer of ``dtype`` that the kernel fills: its parts one behind the other, then a guard.

    Before the launch it holds ``initial`` (one value for each element of the parts), else poison: NaN, or bytes 0xA5.

    >>> Output.of(np.arange(3, dtype=np.float32)).size
    3
    """

    dtype: Any
    parts: tuple[Part, ...]
    initial: Array | None = None

    @staticmethod
    def of(expected: Array, tolerance: Tolerance = EXACT, *, dtype: Any = None, initial: Array | None = None) -> Output:
        """One part, of the expected array's own dtype unless another is given."""
        return Output(np.dtype(dtype or expected.dtype), (Part("result", expected, tolerance),), initial)

    @property
    def size(self) -> int:
        return sum(part.expected.size for part in self.parts)

    def buffer(self) -> Array:
        """The contents before the launch."""
        made = poison(self.size + GUARD, self.dtype)
        if self.initial is not None:
            made[: self.size] = np.asarray(self.initial).astype(self.dtype).reshape(-1)
        return made

    def check(self, got: Array) -> None:
        """Raises ``Mismatch`` for the first part that is wrong, or where the guard was written to."""
        start = 0
        for part in self.parts:
            compare(part, got[start : start + part.expected.size], self.dtype)
            start += part.expected.size
        guard, clean = got[start:], poison(GUARD, self.dtype)
        if guard.tobytes() != clean.tobytes():
            place = int(np.flatnonzero((_bits(guard) != _bits(clean)).reshape(GUARD, -1).any(axis=1))[0])
            raise Mismatch(f"the kernel wrote behind its output, {place} elements past the end")


def poison(count: int, dtype: Any) -> Array:
    """An array that no kernel's result is likely to equal."""
    made = np.full(count * np.dtype(dtype).itemsize, 0xA5, np.uint8)
    if np.dtype(dtype) == np.bool_:
        return np.zeros(count, np.bool_)
    return np.full(count, np.nan, dtype) if is_float(dtype) else made.view(dtype)


def is_float(dtype: Any) -> bool:
    """Whether values of this NumPy dtype are floating-point numbers, those of ml_dtypes included."""
    return np.dtype(dtype).kind in "fV"


def _bits(array: Array) -> Array:
    return np.ascontiguousarray(array).view(np.uint8)


def format_of(dtype: object) -> Any:
    """The limits of a floating-point format (``ml_dtypes.finfo``)."""
    return cast(Any, ml_dtypes).finfo(dtype)


def spacing(values: Array, dtype: object) -> Array:
    """The distance of neighbouring numbers of ``dtype`` around each value, as float64."""
    info = format_of(dtype)
    size = np.maximum(np.abs(values), float(info.smallest_normal))
    with np.errstate(all="ignore"):
        return np.exp2(np.floor(np.log2(np.where(np.isfinite(size), size, 1.0))) - info.nmant)


def compare(part: Part, got: Array, dtype: Any) -> None:
    """Raises ``Mismatch`` unless ``got`` is what the part expects."""
    with np.errstate(all="ignore"):
        target = part.expected.reshape(-1).astype(dtype)
    if not is_float(dtype):
        wrong, errors = got != target, None
    elif part.tolerance.exact:
        with np.errstate(all="ignore"):
            x, y = got.astype(np.float64), target.astype(np.float64)
        wrong, errors = ~((x == y) | (np.isnan(x) & np.isnan(y))), None
    else:
        with np.errstate(all="ignore"):
            wrong, errors = _outside(part, got.astype(np.float64), target.astype(np.float64), dtype)
    if not wrong.any():
        return
    place = int(np.flatnonzero(wrong)[0])
    index = tuple(int(i) for i in np.unravel_index(place, part.expected.shape or (1,)))
    far = "" if errors is None else f"; the largest error is {float(np.nanmax(errors)):.3g} ulps"
    raise Mismatch(
        f"{part.name}{list(index)} is {got[place]}, expected {part.expected.reshape(-1)[place]}; "
        f"{int(np.count_nonzero(wrong))} of {len(got)} elements are wrong{far}"
    )


def _outside(part: Part, got: Array, rounded: Array, dtype: Any) -> tuple[Array, Array]:
    """Which elements are outside the tolerance, and every error in ulps."""
    expected = part.expected.reshape(-1).astype(np.longdouble)
    absolute = np.broadcast_to(np.asarray(part.tolerance.absolute, np.float64), part.expected.shape).reshape(-1)
    unit = spacing(rounded, dtype)
    flush = part.tolerance.flush * _smallest_normal(dtype)
    error = np.abs(got - expected).astype(np.float64)
    near = error <= part.tolerance.ulps * unit + absolute + flush
    same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
    return ~(near & np.isfinite(rounded) | same), np.where(same, 0.0, error / unit)


def _smallest_normal(dtype: object) -> float:
    return float(format_of(dtype).smallest_normal)


@dataclass(frozen=True)
class Trial:
    """One launch: ``args`` by position, arrays that are only read, ``Output``s and numbers; ``constants`` are the
    compile-time arguments by name.

    >>> from tritonx_testing.conformance import Output
    >>> Trial((np.arange(4), Output.of(np.arange(4) * 2)), {"BLOCK": 4}).grid
    (1,)
    """

    args: tuple[object, ...]
    constants: Mapping[str, Any] = field(default_factory=dict[str, Any])
    grid: tuple[int, ...] = (1,)


MakeTrial = Callable[[np.random.Generator], Trial]
"""Draws what one run of a case needs."""


@dataclass(frozen=True)
class Case:
    """A named case. ``name`` is ``family/what-dtype-shape-warps``; ``options`` are compile options that every backend
    has. ``needs`` names the fp8 types without which a target skips it. A target may refuse an ``optional`` case with a
    typed error: libraries of fp64 functions, tf32, printing from a device, 32 warps. ``max_warps`` is for a kernel that
    takes more than a target has in larger blocks.

    >>> from tritonx_testing.conformance import Output, Trial, check, find
    >>> def make(rng):
    ...     x = rng.integers(0, 9, 8)
    ...     return Trial((Output.of(x * 2, initial=x),), {"BLOCK": 8})
    >>> check(Case("mine/double", double, make), find("cpu"), seed=1)
    """

    name: str
    kernel: JITFunction
    make: MakeTrial
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    needs: frozenset[str] = frozenset()
    optional: bool = False
    max_warps: int = 32

    @property
    def family(self) -> str:
        return self.name.partition("/")[0]

    def trial(self, seed: int) -> Trial:
        """Fresh arguments, the same for the same seed."""
        with np.errstate(all="ignore"):
            return self.make(np.random.default_rng([seed, *self.name.encode()]))


def ceil_div(a: int, b: int) -> int:
    return math.ceil(a / b)
