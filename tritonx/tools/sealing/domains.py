"""Which values an argument may have, and what launches specialise on of them.

A domain gives, through the very handlers of the launch path, every `ArgSpec` that one of its values has, and draws
values. An integer's spec depends on the range of types that it is in, on whether it is 1, and on its lowest four bits
(`runtime/launch/specialize.py`). So one value for each residue mod 16 in each of these ranges stands for all values.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from dataclasses import dataclass

from tritonx.backends.api import Backend, Target
from tritonx.runtime.jit import KernelParam
from tritonx.runtime.launch.arg_spec import ArgSpec, intern
from tritonx.runtime.launch.binder import handlers_of
from tritonx.runtime.launch.specialize import INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, UINT64_MAX

REGIONS = (
    *((INT64_MIN, INT32_MIN - 1), (INT32_MIN, -1), (0, 0), (1, 1)),
    *((2, INT32_MAX), (INT32_MAX + 1, INT64_MAX), (INT64_MAX + 1, UINT64_MAX)),
)
"""Within each, an integer's spec depends on its lowest four bits alone."""


class Domain(ABC):
    """The values that one argument may have."""

    @abstractmethod
    def specs(self, param: KernelParam, target: Target, backend: Backend) -> list[ArgSpec]:
        """Every spec that a value has, each once."""

    def count(self, param: KernelParam, target: Target, backend: Backend) -> int:
        """How many specs there are."""
        return len(self.specs(param, target, backend))

    @abstractmethod
    def draw(self, rng: random.Random) -> object:
        """A value; a `StandIn` for an array."""


@dataclass(frozen=True)
class Values(Domain):
    """These values: of a compile-time parameter, or numbers, booleans and None of another one."""

    values: tuple[object, ...]

    def specs(self, param: KernelParam, target: Target, backend: Backend) -> list[ArgSpec]:
        if param.is_constexpr:
            return [intern("constexpr", None, value) for value in self.values]
        handlers = handlers_of(param)
        return list(dict.fromkeys(handlers(value)[0] for value in self.values))

    def draw(self, rng: random.Random) -> object:
        return rng.choice(self.values)


@dataclass(frozen=True)
class Integers(Domain):
    """The multiples of `multiple_of` from `low` to `high`."""

    low: int
    high: int
    multiple_of: int = 1

    def representatives(self) -> list[int]:
        """Of each region and residue mod 16 that the domain has values in, one value."""
        found: list[int] = []
        for first, last in REGIONS:
            low, high = max(self.low, first), min(self.high, last)
            start = -(-low // self.multiple_of) * self.multiple_of
            found += range(start, min(high, start + 15 * self.multiple_of) + 1, self.multiple_of)
        return found

    def specs(self, param: KernelParam, target: Target, backend: Backend) -> list[ArgSpec]:
        if param.is_constexpr:
            return [intern("constexpr", None, value) for value in range(*self._span())]
        handlers = handlers_of(param)
        return list(dict.fromkeys(handlers(value)[0] for value in self.representatives()))

    def count(self, param: KernelParam, target: Target, backend: Backend) -> int:
        return len(range(*self._span())) if param.is_constexpr else super().count(param, target, backend)

    def _span(self) -> tuple[int, int, int]:
        start = -(-self.low // self.multiple_of) * self.multiple_of
        return start, self.high + 1, self.multiple_of

    def draw(self, rng: random.Random) -> object:
        start, stop, step = self._span()
        count = (stop - 1 - start) // step + 1
        if rng.random() < 0.2:  # 1 and other small values are rare otherwise
            count = min(count, 32)
        return start + step * rng.randrange(count)


@dataclass(frozen=True)
class Arrays(Domain):
    """Arrays, or addresses, of the element types `types`; `aligned`: they begin at multiples of 16 bytes."""

    types: tuple[str, ...]
    aligned: bool = False

    def specs(self, param: KernelParam, target: Target, backend: Backend) -> list[ArgSpec]:
        handlers = handlers_of(param)
        sizes = sorted({"".join(backend.pointer_specialization(nbytes)) for nbytes in (1, 1 << 40)})
        found: list[ArgSpec] = []
        for type_ in self.types:
            for address in (0,) if self.aligned else (0, 8):
                spec = handlers(StandIn(type_, address))[0]
                found += [intern(spec.type, spec.attr if spec.attr is None else spec.attr + size) for size in sizes]
        return list(dict.fromkeys(found))

    def draw(self, rng: random.Random) -> object:
        return StandIn(rng.choice(self.types), rng.randrange(1 << 20) * (16 if self.aligned else 2))


class StandIn:
    """An array of a type, such as ``*fp32``, at an address where there is none."""

    def __init__(self, type_: str, address: int) -> None:
        self.dtype = type_.removeprefix("*")
        self._address = address

    def data_ptr(self) -> int:
        """Its address."""
        return self._address

    def __repr__(self) -> str:
        return f"*{self.dtype} at {self._address:#x}"


@dataclass(frozen=True)
class Union(Domain):
    """The values of several domains."""

    parts: tuple[Domain, ...]

    def specs(self, param: KernelParam, target: Target, backend: Backend) -> list[ArgSpec]:
        return list(dict.fromkeys(spec for part in self.parts for spec in part.specs(param, target, backend)))

    def draw(self, rng: random.Random) -> object:
        return rng.choice(self.parts).draw(rng)
