"""Python's builtins as kernels understand them.

``min``, ``max``, ``abs`` and ``print`` work on run-time values; the others run while the kernel is compiled.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping
from typing import Any

from tritonx.frontend.codegen.values import is_dynamic
from tritonx.language import core, math
from tritonx.language.builtins.extremes import builtin_max, builtin_min
from tritonx.language.values.constexpr import constexpr, unwrap
from tritonx.language.values.tensor import tensor


def absolute(x: Any, _semantic: Any = None) -> tensor | constexpr:
    """``abs`` of a number or a tensor."""
    return math.abs(x, _semantic=_semantic) if is_dynamic(x) else constexpr(builtins.abs(unwrap(x)))


absolute.__triton_builtin__ = True  # type: ignore[attr-defined]  # how the language marks its functions


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
    "min": builtin_min,
    "max": builtin_max,
    "abs": absolute,
    "zip": _zip,
    "enumerate": _enumerate,
    "reversed": _reversed,
}
"""What the names mean where a kernel, its module and the functions around it do not define them."""

INSTEAD: Mapping[str, str] = {
    "sum": "add the values with +, or sum the elements of a block with tl.sum(x, axis=0)",
    "any": "combine conditions with |, or reduce a block with tl.max(x.to(tl.int32), axis=0)",
    "all": "combine conditions with &, or reduce a block with tl.min(x.to(tl.int32), axis=0)",
    "pow": "multiply, or use tl.exp2(y * tl.log2(x))",
    "round": "use tl.floor(x + 0.5), or tl.extra.libdevice.rint",
    "divmod": "write x // y and x % y",
    "sorted": "use tl.sort for a block",
    "map": "call the function for each value of tl.static_range, or write the operator on the whole block",
    "filter": "select elements with tl.where",
    "dict": "kernels have no dictionaries: use a tuple, a named tuple or constexpr arguments",
    "set": "kernels have no sets: use a tuple",
    "input": "a kernel reads its arguments only",
    "open": "a kernel reads its arguments only",
    "super": "call the function of the base class by its name",
    "type": "use x.dtype, or isinstance",
}
"""What to write in place of Python's other functions."""
