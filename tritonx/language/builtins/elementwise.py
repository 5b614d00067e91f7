"""Elementwise functions beside ``tl.math``: arithmetic with a switch, selection, extrema, functions from outside."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, overload

from tritonx.language.builtins.builtin import INJECTED, builtin
from tritonx.language.values.constexpr import unwrap

if TYPE_CHECKING:
    from tritonx.frontend.semantics import Semantics
    from tritonx.language.types.dtypes import dtype
    from tritonx.language.values.tensor import tensor

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
    """``x + y`` of blocks or scalars of numbers in their common dtype, of shapes that broadcast; a pointer and integers
    give a pointer. ``sanitize_overflow`` False leaves out the check of debug compiles. Raises ValueError for shapes
    that do not broadcast and TypeError for dtypes without a common one.

    >>> tl.add(tl.arange(0, 4), 10)
    [10, 11, 12, 13]
    """
    return _semantic.add(x, y, unwrap(sanitize_overflow))


@builtin
def sub(x: object, y: object, sanitize_overflow: object = True, _semantic: Semantics = INJECTED) -> tensor:
    """``x - y``; see ``add``. The pointer comes first.

    >>> tl.sub(tl.arange(0, 4), 10)
    [-10, -9, -8, -7]
    """
    return _semantic.sub(x, y, unwrap(sanitize_overflow))


@builtin
def mul(x: object, y: object, sanitize_overflow: object = True, _semantic: Semantics = INJECTED) -> tensor:
    """``x * y``; see ``add``. Pointers are refused.

    >>> tl.mul(tl.arange(0, 4), 10)
    [0, 10, 20, 30]
    """
    return _semantic.mul(x, y, unwrap(sanitize_overflow))


@builtin
def where(condition: Any, x: Any, y: Any, _semantic: Semantics = INJECTED) -> tensor:
    """Elementwise ``x if condition else y``, in the common dtype of ``x`` and ``y``; blocks or scalars of shapes that
    broadcast. Both sides are evaluated. A condition that is not int1 gives a warning, as in Triton. Raises
    ValueError for shapes that do not broadcast.

    >>> x = tl.arange(0, 4)
    >>> tl.where(x > 1, x, -x)
    [0, -1, 2, 3]
    """
    return _semantic.where(condition, x, y)


@builtin
def minimum(x: object, y: object, propagate_nan: object = PropagateNan.NONE, _semantic: Semantics = INJECTED) -> tensor:
    """The smaller of two numbers; see ``maximum``.

    >>> tl.minimum(tl.arange(0, 4), 2)
    [0, 1, 2, 2]
    """
    return _semantic.minimum(x, y, propagate_nan)


@builtin
def maximum(x: object, y: object, propagate_nan: object = PropagateNan.NONE, _semantic: Semantics = INJECTED) -> tensor:
    """The larger of two numbers in their common dtype, blocks or scalars of shapes that broadcast; bf16 gives fp32
    below the level 3.9. ``propagate_nan`` says what a NaN gives. Raises ValueError for shapes that do not broadcast,
    and TypeError for a ``propagate_nan`` that is no ``tl.PropagateNan``.

    >>> tl.maximum(tl.arange(0, 4), 2)
    [2, 2, 2, 3]
    """
    return _semantic.maximum(x, y, propagate_nan)


@builtin
def clamp(
    x: object, min: object, max: object, propagate_nan: object = PropagateNan.NONE, _semantic: Semantics = INJECTED
) -> tensor:
    """``min(max(x, min), max)`` of floats, blocks or scalars of shapes that broadcast; bf16 gives fp32.
    ``propagate_nan`` says what a NaN in ``x`` gives. Raises TypeError for integers, and for a ``propagate_nan`` that
    is no ``tl.PropagateNan``.

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
    """Inline assembly of the target with LLVM ``constraints``, elementwise over ``args``, blocks or scalars of shapes
    that broadcast; ``pack`` elements a time, those of fewer than 32 bits together in a register. The result has
    ``dtype``; a tuple of dtypes gives a tuple. Without ``is_pure`` it is neither dropped nor merged.

    >>> @tritonx.jit
    ... def kernel(x):
    ...     at = x + tl.arange(0, 64)
    ...     asm = "shl.b32 $0, $1, 3;"
    ...     tl.store(at, tl.inline_asm_elementwise(asm, "=r,r", [tl.load(at)], tl.int32, is_pure=True, pack=1))
    >>> source = tritonx.compiler.ASTSource(kernel, {"x": "*i32"})
    >>> "shl.b32" in tritonx.compile(source, "cuda:80").asm["ptx"]
    True
    """
    return _semantic.inline_asm_elementwise(asm, constraints, args, dtype, is_pure, pack)


@builtin
def extern_elementwise(
    lib_name: Any, lib_path: Any, args: Any, arg_type_symbol_dict: Any, is_pure: Any, _semantic: Semantics = INJECTED
) -> tensor:
    """A function of a device library, elementwise: ``arg_type_symbol_dict`` is ``{(argument dtypes): (symbol, result
    dtype)}``, and ``args`` are blocks or scalars of shapes that broadcast. ``lib_name`` and ``lib_path`` name a file
    with LLVM bitcode; empty for the target's own library. Without ``is_pure`` calls are neither dropped nor merged.
    Raises ValueError for argument dtypes that the table has not.

    >>> @tl.core.extern
    ... def cubes(x, _semantic=None):
    ...     table = {(tl.float32,): ("__nv_cbrtf", tl.float32)}
    ...     return tl.core.extern_elementwise("", "", [x], table, is_pure=True, _semantic=_semantic)
    >>> @tritonx.jit
    ... def kernel(x):
    ...     tl.store(x, cubes(tl.load(x)))
    >>> source = tritonx.compiler.ASTSource(kernel, {"x": "*fp32"})
    >>> "__nv_cbrtf" in tritonx.compile(source, "cuda:80").asm["ttir"]
    True
    """
    return _semantic.extern_elementwise(lib_name, lib_path, args, arg_type_symbol_dict, is_pure)


@builtin
def map_elementwise(scalar_fn: object, *args: object, pack: object = 1, _semantic: Semantics = INJECTED) -> Any:
    """A scalar jit function, with real control flow, applied to each element of ``args``, blocks or scalars of shapes
    that broadcast; what it returns, in that shape. With ``pack`` = n, which divides the elements, it gets n elements
    of the first input, then n of the second, ..., and returns n of each result. Raises TypeError for what is no such
    function.

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
