"""Python's builtins as kernels understand them.

``min``, ``max``, ``abs`` and ``print`` work on run-time values; the others run while the kernel is compiled.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from tritonx.frontend.codegen.values import is_dynamic
from tritonx.language import core, math
from tritonx.language.constexpr import constexpr, unwrap
from tritonx.language.values import tensor
from tritonx.language.values import tuple as tl_tuple


def _extremum(python: Callable[..., Any], pairwise: Callable[..., Any]) -> Callable[..., Any]:
    """``min`` or ``max`` of several arguments, or of the elements of one tuple."""

    def function(*args: Any, propagate_nan: Any = None, _semantic: Any = None) -> Any:
        values: list[Any] = list(args)
        if len(args) == 1 and isinstance(unwrap(args[0]), tl_tuple | tuple | list):
            values = list(cast(Iterable[Any], unwrap(args[0])))
        if not any(is_dynamic(value) for value in values):
            return constexpr(python([unwrap(value) for value in values]))
        if len(values) < 2:
            raise TypeError("min/max must be called with at least two arguments")
        options = {} if propagate_nan is None else {"propagate_nan": propagate_nan}
        result = values[0]
        for value in values[1:]:
            result = pairwise(result, value, **options, _semantic=_semantic)
        return result

    function.__name__ = python.__name__
    function.__triton_builtin__ = True  # type: ignore[attr-defined]  # how the language marks its functions
    return function


def absolute(x: Any, _semantic: Any = None) -> tensor | constexpr:
    """``abs`` of a number or a tensor."""
    return math.abs(x, _semantic=_semantic) if is_dynamic(x) else constexpr(builtins.abs(unwrap(x)))


absolute.__triton_builtin__ = True  # type: ignore[attr-defined]  # as above


def _zip(*tuples: object) -> tuple[Any, ...]:
    return tuple(zip(*tuples, strict=False))


def _enumerate(values: Iterable[object], start: int = 0) -> tuple[Any, ...]:
    return tuple(enumerate(values, start))


def _reversed(values: Iterable[object]) -> tuple[Any, ...]:
    return tuple(reversed(list(values)))


CONVERSIONS = (int, float, bool)
"""Which a tensor is not an argument of: its type is changed with ``.to``."""

BUILTINS: Mapping[str, Any] = {
    **{f.__name__: f for f in (len, list, tuple, range, str, isinstance, getattr, hasattr, slice, *CONVERSIONS)},
    "print": core.device_print,
    "min": _extremum(min, core.minimum),
    "max": _extremum(max, core.maximum),
    "abs": absolute,
    "zip": _zip,
    "enumerate": _enumerate,
    "reversed": _reversed,
}
"""What the names mean where a kernel, its module and the functions around it do not define them."""
