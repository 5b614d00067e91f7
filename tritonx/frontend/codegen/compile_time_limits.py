"""How large values may become at compile time.

The operators of a kernel's constants are Python's, whose integers and sequences grow until memory ends: ``10**10**8``
takes hours and ``'a' * 10**12`` a terabyte. An operation is refused before it is done, by the size of its operands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Sized
from typing import cast

from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tuples import tuple as tl_tuple

LARGEST_INTEGER = 4096
"""Bits of an integer: 64 times what a tensor's element holds. Python refuses to print integers of 4300 digits."""

LONGEST_SEQUENCE = 1 << 20
"""Items of a tuple or list, or characters of a string."""

_SEQUENCES = (str, bytes, bytearray, list, tuple, tl_tuple)
_NOT_ITERATING = (len, isinstance, getattr, hasattr, range, str)
_PADDING = ("ljust", "rjust", "center", "zfill", "expandtabs")
_WIDTH = re.compile(r"\d{6,}|\*")


def excess(method: str, left: object, right: object) -> str | None:
    """Why ``left.method(right)``, on compile-time values, is not computed; None where it may be.

    >>> excess("__pow__", 10, 10**8)
    'the result has up to 400000000 bits; an integer at compile time has at most 4096'
    >>> excess("__mul__", "a", 3) is None
    True
    """
    a, b = unwrap(left), unwrap(right)
    if isinstance(a, int) and isinstance(b, int):
        bits = _bits(method, a, b)
        if bits > LARGEST_INTEGER:
            return f"the result has up to {bits} bits; an integer at compile time has at most {LARGEST_INTEGER}"
        return None
    items = _items(method, a, b)
    if items > LONGEST_SEQUENCE:
        return f"the result has {items} items; a sequence at compile time has at most {LONGEST_SEQUENCE}"
    if method == "__mod__" and isinstance(a, str) and _WIDTH.search(a) is not None:
        return "the format asks for a width that is not supported"
    return None


def excess_of_format(spec: str) -> str | None:
    """Why nothing is formatted as ``spec`` says; None where it may be.

    >>> excess_of_format(">1000000000")
    'the format asks for a width that is not supported'
    """
    return None if _WIDTH.search(spec) is None else "the format asks for a width that is not supported"


def excess_of_call(function: object, args: Sequence[object]) -> str | None:
    """Why a function of Python is not called with compile-time values; None where it may be.

    >>> excess_of_call(list, [range(10**12)])
    'it goes through 1000000000000 items; a sequence at compile time has at most 1048576'
    """
    values = [unwrap(argument) for argument in args]
    for value in values:
        if isinstance(value, range) and function not in _NOT_ITERATING:
            items = _length(value)
            if items > LONGEST_SEQUENCE:
                return f"it goes through {items} items; a sequence at compile time has at most {LONGEST_SEQUENCE}"
    method = getattr(function, "__name__", "")
    if isinstance(getattr(function, "__self__", None), str | bytes) and method in _PADDING:
        wide = max((value for value in values if isinstance(value, int)), default=0)
        if wide > LONGEST_SEQUENCE:
            return f"the result has {wide} characters; a sequence at compile time has at most {LONGEST_SEQUENCE}"
    if function is pow and len(values) == 2:
        return excess("__pow__", *values)
    return None


def _length(values: range) -> int:
    """``len``, which is refused beyond 2^63."""
    return max(0, (values.stop - values.start + values.step - (1 if values.step > 0 else -1)) // values.step)


def _bits(method: str, a: int, b: int) -> int:
    if method == "__pow__":
        return a.bit_length() * b if b > 0 and abs(a) > 1 else 0
    if method == "__lshift__":
        return a.bit_length() + b if a and b > 0 else 0
    return a.bit_length() + b.bit_length() if method == "__mul__" else 0


def _items(method: str, a: object, b: object) -> int:
    if method == "__mul__":
        for sequence, count in ((a, b), (b, a)):
            if isinstance(sequence, _SEQUENCES) and isinstance(count, int):
                return len(cast(Sized, sequence)) * max(count, 0)
    if method == "__add__" and isinstance(a, _SEQUENCES) and isinstance(b, _SEQUENCES):
        return len(cast(Sized, a)) + len(cast(Sized, b))
    return 0
