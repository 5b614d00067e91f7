"""``min`` and ``max`` of several values, as kernels understand them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tritonx.language.builtins.builtin import INJECTED, builtin
from tritonx.language.builtins.elementwise import maximum, minimum
from tritonx.language.values.base import base_value
from tritonx.language.values.constexpr import constexpr, unwrap
from tritonx.language.values.tuples import tuple as language_tuple

if TYPE_CHECKING:
    from tritonx.frontend.semantics import Semantics

_NOT_GIVEN = object()


def is_negative_zero(x: float) -> bool:
    """Whether ``x`` is the zero below zero.

    >>> is_negative_zero(-0.0), is_negative_zero(0.0)
    (True, False)
    """
    return x == 0.0 and math.copysign(1.0, x) < 0


def _comparable(values: list[object]) -> list[object]:
    """``values``, of which Python's ``min`` and ``max`` do not depend on the order. Raises AssertionError, as Triton
    does, for a NaN or a zero below zero among them: a device would choose otherwise."""
    for value in values:
        if isinstance(value, float) and (math.isnan(value) or is_negative_zero(value)):
            raise AssertionError(f"min and max of compile-time values take no {value}")
    return values


def _extremum(
    python: Callable[..., object],
    pairwise: Callable[..., object],
    args: Sequence[object],
    propagate_nan: object,
    semantic: object,
) -> object:
    """Of several arguments, or of the elements of one tuple."""
    only = unwrap(args[0]) if len(args) == 1 else None
    values: list[object] = list(only if isinstance(only, language_tuple | tuple | list) else args)  # pyright: ignore[reportUnknownArgumentType]  # a tuple of anything
    if not any(isinstance(value, base_value) and not isinstance(value, constexpr) for value in values):
        if propagate_nan is not _NOT_GIVEN:
            raise TypeError(f"propagate_nan is not supported on builtin {python.__name__} of compile-time values")
        return constexpr(python(_comparable([unwrap(value) for value in values])))
    if len(values) < 2:
        raise TypeError("min/max must be called with at least two arguments")
    options = {} if propagate_nan in (None, _NOT_GIVEN) else {"propagate_nan": propagate_nan}
    result = values[0]
    for value in values[1:]:
        result = pairwise(result, value, **options, _semantic=semantic)
    return result


@builtin
def builtin_max(*args: object, propagate_nan: object = _NOT_GIVEN, _semantic: Semantics = INJECTED) -> object:
    """The largest argument; ``max`` in a kernel is this function.

    >>> @tritonx.jit
    ... def kernel(x):
    ...     tl.store(x, max(tl.load(x), 3, 2))
    >>> x = np.zeros(1, np.float32)
    >>> compiled = kernel[(1,)](x)
    >>> x.tolist()
    [3.0]
    """
    return _extremum(max, maximum, args, propagate_nan, _semantic)


@builtin
def builtin_min(*args: object, propagate_nan: object = _NOT_GIVEN, _semantic: Semantics = INJECTED) -> object:
    """The smallest argument; ``min`` in a kernel is this function.

    >>> @tritonx.jit
    ... def kernel(x):
    ...     tl.store(x, min(tl.load(x), -3, 2))
    >>> x = np.zeros(1, np.float32)
    >>> compiled = kernel[(1,)](x)
    >>> x.tolist()
    [-3.0]
    """
    return _extremum(min, minimum, args, propagate_nan, _semantic)
