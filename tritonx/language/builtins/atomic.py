"""Atomics. A read-modify-write returns the old value (undefined for masked-off lanes).

``sem``: "relaxed", "acquire", "release" or "acq_rel" (default of read-modify-writes); loads and polls acquire or are
relaxed, stores release or are relaxed. ``scope``: "gpu" (default), "cta" or "sys".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tritonx.language.builtins.builtin import INJECTED, builtin, tensor_method

if TYPE_CHECKING:
    from tritonx.frontend.semantics import Semantics
    from tritonx.language.values.tensor import tensor

__all__ = [
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_load",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_poll",
    "atomic_store",
    "atomic_xchg",
    "atomic_xor",
]


@tensor_method
@builtin
def atomic_load(
    pointer: object, mask: object = None, sem: object = None, scope: object = None, _semantic: Semantics = INJECTED
) -> tensor:
    """Read memory where ``mask`` holds, each element as one step; other elements may have any value. The result has the
    shape of ``pointer`` and ``mask`` together, and the dtype that is pointed to: an integer or a float of 8 to 64 bits.

    ``sem`` is "acquire" (the default), behind which the program sees all that a release before the value it reads made
    visible, in all of its threads, or "relaxed"; ``scope`` as of ``atomic_add``. It is never merged with another load,
    nor moved. Raises ValueError for other words and for other pointers.

    >>> tl.atomic_load(ints + tl.arange(0, 4), mask=tl.arange(0, 4) < 4)
    [0, 1, 2, 3]
    """
    return _semantic.atomic_load(pointer, mask, sem, scope)


@tensor_method
@builtin
def atomic_store(
    pointer: object,
    val: object,
    mask: object = None,
    sem: object = None,
    scope: object = None,
    _semantic: Semantics = INJECTED,
) -> None:
    """Write ``val``, cast to the dtype that is pointed to and broadcast to the shape of ``pointer``, where ``mask``
    holds, each element as one step; see ``atomic_load``. ``sem`` is "release" (the default), by which who acquires what
    was written sees all accesses that the program made before, in all of its threads, or "relaxed".

    >>> tl.atomic_store(ints + tl.arange(0, 4), 7, sem="relaxed")
    >>> tl.load(ints + tl.arange(0, 6))
    [7, 7, 7, 7, 4, 5]
    """
    return _semantic.atomic_store(pointer, val, mask, sem, scope)


@tensor_method
@builtin
def atomic_poll(
    pointer: object,
    expected_value: object,
    sem: object = None,
    scope: object = None,
    timeout_ns: object = None,
    _semantic: Semantics = INJECTED,
) -> tensor:
    """Wait until memory equals ``expected_value``: int1 of the shape of ``pointer``, true where it did. Pointers to
    integers of 16, 32 or 64 bits. ``sem`` ("acquire" or "relaxed") and ``scope`` as of ``atomic_load``.

    ``timeout_ns`` nanoseconds of the device's clock (a number or a scalar integer) are for all elements together; each
    is read once at least. Elements whose time is over are false, and acquire nothing. Without it the program waits for
    as long as it takes: who writes must be running, or able to start, beside it. Programs on a host begin in the order
    of their numbers, and may run one after another. Raises ValueError for other pointers and words, and for a negative
    number.

    >>> tl.atomic_poll(ints + tl.arange(0, 4), tl.arange(0, 4))
    [1, 1, 1, 1]
    >>> tl.atomic_poll(ints, 5, timeout_ns=1000)
    0
    """
    return _semantic.atomic_poll(pointer, expected_value, sem, scope, timeout_ns)


@tensor_method
@builtin
def atomic_cas(
    pointer: Any, cmp: Any, val: Any, sem: Any = None, scope: Any = None, _semantic: Semantics = INJECTED
) -> tensor:
    """Compare and swap: store ``val`` where memory equals ``cmp``, bit for bit, and give what was there before; see
    ``atomic_add``. Pointers to elements of 16, 32 or 64 bits; there is no mask. Raises ValueError for other widths.

    >>> tl.atomic_cas(ints + 3, 3, 30)
    >>> tl.load(ints + 3)
    30
    """
    return _semantic.atomic_cas(pointer, cmp, val, sem, scope)


@tensor_method
@builtin
def atomic_add(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None, _semantic: Semantics = INJECTED
) -> tensor:
    """Add ``val`` to memory where ``mask`` holds, as one step; what was there before, in the shape of ``pointer``.
    ``pointer`` is one, or a block, of pointers to 32- or 64-bit integers, fp16, bf16, fp32 or fp64; ``val`` and
    ``mask`` broadcast to its shape, and ``val`` is converted to that dtype. ``sem`` is "acquire", "release",
    "acq_rel" (the default) or "relaxed", ``scope`` "gpu" (the default), "cta" or "sys". Raises ValueError for other
    dtypes and words, and for what is no pointer.

    >>> at = tl.arange(0, 4)
    >>> tl.atomic_add(ints + at * 0, at)
    >>> tl.load(ints)
    6
    """
    return _semantic.atomic("add", pointer, val, mask, sem, scope)


@tensor_method
@builtin
def atomic_max(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None, _semantic: Semantics = INJECTED
) -> tensor:
    """The larger of memory and ``val``; see ``atomic_add``. Pointers to integers of 32 or 64 bits, signed or not, and
    to fp32 and fp64, of which -0.0 is below +0.0.

    >>> tl.atomic_max(ints + tl.arange(0, 4), 2)
    >>> tl.load(ints + tl.arange(0, 4))
    [2, 2, 2, 3]
    """
    return _semantic.atomic("max", pointer, val, mask, sem, scope)


@tensor_method
@builtin
def atomic_min(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None, _semantic: Semantics = INJECTED
) -> tensor:
    """The smaller of memory and ``val``; see ``atomic_max``.

    >>> tl.atomic_min(ints + tl.arange(0, 4), 2)
    >>> tl.load(ints + tl.arange(0, 4))
    [0, 1, 2, 2]
    """
    return _semantic.atomic("min", pointer, val, mask, sem, scope)


@tensor_method
@builtin
def atomic_and(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None, _semantic: Semantics = INJECTED
) -> tensor:
    """As ``atomic_add``, with a bitwise operation: pointers to integers of 32 or 64 bits.

    >>> tl.atomic_and(ints + tl.arange(0, 4), 2)
    >>> tl.load(ints + tl.arange(0, 4))
    [0, 0, 2, 2]
    """
    return _semantic.atomic("and", pointer, val, mask, sem, scope)


@tensor_method
@builtin
def atomic_or(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None, _semantic: Semantics = INJECTED
) -> tensor:
    """As ``atomic_add``, with a bitwise operation: pointers to integers of 32 or 64 bits.

    >>> tl.atomic_or(ints + tl.arange(0, 4), 2)
    >>> tl.load(ints + tl.arange(0, 4))
    [2, 3, 2, 3]
    """
    return _semantic.atomic("or", pointer, val, mask, sem, scope)


@tensor_method
@builtin
def atomic_xor(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None, _semantic: Semantics = INJECTED
) -> tensor:
    """As ``atomic_add``, with a bitwise operation: pointers to integers of 32 or 64 bits.

    >>> tl.atomic_xor(ints + tl.arange(0, 4), 2)
    >>> tl.load(ints + tl.arange(0, 4))
    [2, 3, 0, 1]
    """
    return _semantic.atomic("xor", pointer, val, mask, sem, scope)


@tensor_method
@builtin
def atomic_xchg(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None, _semantic: Semantics = INJECTED
) -> tensor:
    """Write ``val``, and give what was there before; see ``atomic_add``. Pointers to numbers of 32 or 64 bits.

    >>> tl.atomic_xchg(ints + tl.arange(0, 4), 9)
    >>> tl.load(ints + tl.arange(0, 6))
    [9, 9, 9, 9, 4, 5]
    """
    return _semantic.atomic("xchg", pointer, val, mask, sem, scope)
