"""What changes nothing where elements are combined: numbers for the language's own functions, a flag for any other."""

# pyright: reportPrivateUsage=false
# The functions are private to whom writes kernels.

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonx.language import standard
from tritonx.language.types.dtypes import dtype
from tritonx.language.values.tensor import tensor
from tritonx.language.values.tuples import tuple as language_tuple

if TYPE_CHECKING:
    from tritonx.frontend.semantics import Semantics


def _none_to_add(type_: dtype) -> float | int:
    """-0.0: the sum of it and 0.0 is 0.0, and of two it is -0.0."""
    return -0.0 if type_.is_floating() else 0


def _lowest(type_: dtype) -> float | int:
    """Any number is larger than a NaN."""
    return float("nan") if type_.is_floating() else type_.get_int_min_value()


def _highest(type_: dtype) -> float | int:
    return float("nan") if type_.is_floating() else type_.get_int_max_value()


_NEUTRAL: Mapping[object, Callable[[dtype], float | int]] = {
    standard._sum_combine: _none_to_add,
    standard._prod_combine: lambda type_: 1,
    standard._xor_combine: lambda type_: 0,
    standard._or_combine: lambda type_: 0,
    standard._elementwise_max: _lowest,
    standard._elementwise_min: _highest,
}


def neutral_element(combine_fn: object, type_: dtype) -> float | int | None:
    """The number that a function of the language's library leaves the other operand alone with; None for any other
    function, and for types that may have no such number."""
    of = _NEUTRAL.get(combine_fn)
    return None if of is None or type_.is_fp8() else of(type_)


@dataclass(frozen=True)
class IfPresent:
    """A combine function of values with a flag behind them, which says whether they are there: where only one side
    is, it is the result."""

    function: object

    @property
    def __name__(self) -> str:
        return getattr(self.function, "__name__", "the combine function")

    def combined(self, semantic: Semantics, values: Sequence[tensor]) -> language_tuple:
        """What it gives for the left values and their flag and the right ones and theirs."""
        half = len(values) // 2
        left, right, here, there = values[: half - 1], values[half:-1], values[half - 1], values[-1]
        result = semantic.call(self.function, [*left, *right])
        results = [semantic.to_tensor(v) for v in (result if isinstance(result, language_tuple) else [result])]
        semantic.check_returned([v.handle for v in results], [v.dtype for v in left], self.function)
        both = semantic.and_(here, there)
        chosen = [
            semantic.where(both, value, semantic.where(here, one, other))
            for value, one, other in zip(results, left, right, strict=True)
        ]
        return language_tuple([*chosen, semantic.or_(here, there)])
