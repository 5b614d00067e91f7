"""Elementwise functions beside ``tl.math``: arithmetic with a switch, selection, extrema, functions from outside."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, overload

from tritonx.language.builtin import INJECTED, builtin
from tritonx.language.constexpr import unwrap

if TYPE_CHECKING:
    from tritonx.frontend.semantics import Semantics
    from tritonx.language.dtypes import dtype
    from tritonx.language.tensor import tensor

__all__ = [
    "PropagateNan",
    "add",
    "clamp",
    "inline_asm_elementwise",
    "map_elementwise",
    "maximum",
    "minimum",
    "mul",
    "sub",
    "where",
]


class PropagateNan(Enum):
    """What minimum, maximum and clamp give for a NaN: NONE the other operand, ALL a NaN.

    >>> x = tl.full((2,), float('nan'), tl.float32)
    >>> tl.minimum(x, 1.0, propagate_nan=tl.PropagateNan.NONE)
    [1.0, 1.0]
    """

    NONE = 0
    ALL = 0xFFFF


@builtin
def add(x: object, y: object, sanitize_overflow: object = True, _semantic: Semantics = INJECTED) -> tensor:
    """``x + y``, with the overflow check of debug compiles as a choice.

    >>> tl.add(tl.arange(0, 4), 10)
    [10, 11, 12, 13]
    """
    return _semantic.add(x, y, unwrap(sanitize_overflow))


@builtin
def sub(x: object, y: object, sanitize_overflow: object = True, _semantic: Semantics = INJECTED) -> tensor:
    """``x - y``; see ``add``.

    >>> tl.sub(tl.arange(0, 4), 10)
    [-10, -9, -8, -7]
    """
    return _semantic.sub(x, y, unwrap(sanitize_overflow))


@builtin
def mul(x: object, y: object, sanitize_overflow: object = True, _semantic: Semantics = INJECTED) -> tensor:
    """``x * y``; see ``add``.

    >>> tl.mul(tl.arange(0, 4), 10)
    [0, 10, 20, 30]
    """
    return _semantic.mul(x, y, unwrap(sanitize_overflow))


@builtin
def where(condition: Any, x: Any, y: Any, _semantic: Semantics = INJECTED) -> tensor:
    """Elementwise ``x if condition else y``; both sides are evaluated.

    >>> x = tl.arange(0, 4)
    >>> tl.where(x > 1, x, -x)
    [0, -1, 2, 3]
    """
    return _semantic.where(condition, x, y)


@builtin
def minimum(x: object, y: object, propagate_nan: object = PropagateNan.NONE, _semantic: Semantics = INJECTED) -> tensor:
    """Elementwise minimum; bf16 gives fp32.

    >>> tl.minimum(tl.arange(0, 4), 2)
    [0, 1, 2, 2]
    """
    return _semantic.minimum(x, y, propagate_nan)


@builtin
def maximum(x: object, y: object, propagate_nan: object = PropagateNan.NONE, _semantic: Semantics = INJECTED) -> tensor:
    """Elementwise maximum; bf16 gives fp32.

    >>> tl.maximum(tl.arange(0, 4), 2)
    [2, 2, 2, 3]
    """
    return _semantic.maximum(x, y, propagate_nan)


@builtin
def clamp(
    x: object, min: object, max: object, propagate_nan: object = PropagateNan.NONE, _semantic: Semantics = INJECTED
) -> tensor:
    """``min(max(x, min), max)`` of floats; bf16 gives fp32.

    >>> tl.clamp(tl.arange(0, 4).to(tl.float32), 0.5, 2.5)
    [0.5, 1.0, 2.0, 2.5]
    """
    return _semantic.clamp(x, min, max, propagate_nan)


@overload
def inline_asm_elementwise(
    asm: Any, constraints: Any, args: Any, dtype: dtype, is_pure: Any, pack: Any, _semantic: Semantics = INJECTED
) -> tensor: ...
@overload
def inline_asm_elementwise(
    asm: Any, constraints: Any, args: Any, dtype: Sequence[dtype], is_pure: Any, pack: Any, _semantic: Semantics = ...
) -> tuple[tensor, ...]: ...
@builtin
def inline_asm_elementwise(
    asm: Any, constraints: Any, args: Any, dtype: Any, is_pure: Any, pack: Any, _semantic: Semantics = INJECTED
) -> Any:
    """Inline assembly of the target with LLVM constraints, ``pack`` elements a time; a tuple of dtypes gives a
    tuple.
    """
    return _semantic.inline_asm_elementwise(asm, constraints, args, dtype, is_pure, pack)


@builtin
def extern_elementwise(
    lib_name: Any, lib_path: Any, args: Any, arg_type_symbol_dict: Any, is_pure: Any, _semantic: Semantics = INJECTED
) -> tensor:
    """A function of a device library: ``{(argument dtypes): (symbol, result dtype)}``."""
    return _semantic.extern_elementwise(lib_name, lib_path, args, arg_type_symbol_dict, is_pure)


@builtin
def map_elementwise(scalar_fn: object, *args: object, pack: object = 1, _semantic: Semantics = INJECTED) -> Any:
    """A scalar jit function, with real control flow, applied to each element of the broadcast ``args``.

    With ``pack`` = n it gets n elements of the first input, then n of the second, ..., and returns n of each result.

    >>> @tritonx.jit
    ... def collatz(n):
    ...     count = 0
    ...     while n != 1:
    ...         n = n // 2 if n % 2 == 0 else 3 * n + 1
    ...         count += 1
    ...     return count
    >>> tl.map_elementwise(collatz, tl.arange(0, 4) + 1)
    [0, 1, 7, 2]
    """
    return _semantic.map_elementwise(unwrap(scalar_fn), args, pack)
