"""Atomics. Each returns the old value (undefined for masked-off lanes).

``sem``: "relaxed", "acquire", "release" or "acq_rel" (default); ``scope``: "gpu" (default), "cta" or "sys".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tritonx.language.builtin import INJECTED, builtin, tensor_method

if TYPE_CHECKING:
    from tritonx.frontend.semantics import Semantics
    from tritonx.language.tensor import tensor

__all__ = [
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_xchg",
    "atomic_xor",
]


@tensor_method
@builtin
def atomic_cas(
    pointer: Any, cmp: Any, val: Any, sem: Any = None, scope: Any = None, _semantic: Semantics = INJECTED
) -> tensor:
    """Compare and swap: store ``val`` where memory equals ``cmp``; elements of 16, 32 or 64 bits."""
    return _semantic.atomic_cas(pointer, cmp, val, sem, scope)


@tensor_method
@builtin
def atomic_add(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None, _semantic: Semantics = INJECTED
) -> tensor:
    """Atomic add."""
    return _semantic.atomic("add", pointer, val, mask, sem, scope)


@tensor_method
@builtin
def atomic_max(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None, _semantic: Semantics = INJECTED
) -> tensor:
    """Atomic maximum (fp32 and fp64, ordering -0.0 below +0.0, and integers)."""
    return _semantic.atomic("max", pointer, val, mask, sem, scope)


@tensor_method
@builtin
def atomic_min(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None, _semantic: Semantics = INJECTED
) -> tensor:
    """Atomic minimum."""
    return _semantic.atomic("min", pointer, val, mask, sem, scope)


@tensor_method
@builtin
def atomic_and(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None, _semantic: Semantics = INJECTED
) -> tensor:
    """Atomic bitwise and."""
    return _semantic.atomic("and", pointer, val, mask, sem, scope)


@tensor_method
@builtin
def atomic_or(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None, _semantic: Semantics = INJECTED
) -> tensor:
    """Atomic bitwise or."""
    return _semantic.atomic("or", pointer, val, mask, sem, scope)


@tensor_method
@builtin
def atomic_xor(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None, _semantic: Semantics = INJECTED
) -> tensor:
    """Atomic bitwise xor."""
    return _semantic.atomic("xor", pointer, val, mask, sem, scope)


@tensor_method
@builtin
def atomic_xchg(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None, _semantic: Semantics = INJECTED
) -> tensor:
    """Atomic exchange."""
    return _semantic.atomic("xchg", pointer, val, mask, sem, scope)
