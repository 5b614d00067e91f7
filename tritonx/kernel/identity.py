"""What a value means, as a key: two values share an ``identity`` only where no kernel can tell them apart.

Python's equality is not that. ``2 == 2.0``, ``1 == True``, ``0.0 == -0.0`` and ``(2,) == (2.0,)`` hold, and kernels
compiled for them differ. An identity holds the type, a float's bits, an enumeration's member, and what an object is
made of, so that one which a program changed has another. It is of one process: ``meaning`` is the text of the same for
the disk.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable, Iterable
from enum import Enum
from types import FunctionType, ModuleType
from typing import cast

from tritonx.kernel.value_parts import Walk, has_a_name, is_lasting

_EQUAL_IS_SAME = frozenset({int, str, type(None)})
"""Values of these classes are equal only to what means the same."""

_bits = struct.Struct("<d").pack


class Same:
    """One object, whatever it is equal to."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)

    def __repr__(self) -> str:
        return repr(self.value)


class Exact:
    """A value as an element of a key: equal to values of its identity alone, under the hash that it has."""

    __slots__ = ("identity", "value")

    def __init__(self, value: object) -> None:
        self.value = value
        self.identity = identity(value)

    def __eq__(self, other: object) -> bool:
        return self.identity == (other.identity if isinstance(other, Exact) else loose(other))

    def __hash__(self) -> int:
        kind = type(self.value)
        is_number = kind is float or kind.__module__ == "numpy"
        return 0 if is_number and self.value != self.value else hash(self.value)  # a NaN's is of one object

    def __repr__(self) -> str:
        return repr(self.value)


def exact(value: object) -> Hashable:
    """``value`` itself where equality says all, else an ``Exact``. Raises TypeError for what cannot be hashed.

    >>> exact(2), exact(2.0) == 2.0, exact(2.0) == 2, {(exact(True),): "yes"}.get((1,))
    (2, True, False, None)
    """
    return cast(Hashable, value) if type(value) in _EQUAL_IS_SAME else Exact(value)


def exactly(values: Iterable[object]) -> tuple[Hashable, ...]:
    """``exact`` of each."""
    return tuple([cast(Hashable, v) if type(v) in _EQUAL_IS_SAME else Exact(v) for v in values])


def plainly(values: Iterable[object]) -> tuple[object, ...]:
    """The values that ``exactly`` was given."""
    return tuple([value.value if isinstance(value, Exact) else value for value in values])


def identity(value: object) -> Hashable:
    """What ``value`` means, in this process. Raises TypeError for what cannot be hashed.

    >>> identity(2) == identity(2.0), identity(0.0) == identity(-0.0), identity((1,)) == identity((True,))
    (False, False, False)
    >>> identity(float("nan")) == identity(float("nan"))
    True
    """
    kind = type(value)
    return (_KNOWN.get(kind) or _find(kind))(value)


def identities(values: Iterable[tuple[object, object]]) -> tuple[Hashable, ...]:
    """``identity`` of the second value of each pair, with the first one as it is. Raises TypeError for what cannot be
    hashed."""
    same = _EQUAL_IS_SAME
    return tuple([(first, value if type(value) in same else identity(value)) for first, value in values])


def keyed(value: object) -> object:
    """``identity``; what cannot be hashed as it is, so that who looks for the key hears of it."""
    try:
        return identity(value)
    except TypeError:
        return value


def loose(value: object) -> Hashable:
    """``identity``, also of lists and dictionaries as they are now."""
    return cast(Hashable, value) if type(value) in _EQUAL_IS_SAME else _Here().of(value)


def only(value: object) -> Hashable:
    """This object and no other."""
    return value if type(value).__eq__ is object.__eq__ else Same(value)


class _Here(Walk):
    """In this process: objects stand for themselves."""

    def kind(self, kind: type) -> Hashable:
        return only(kind)

    def only(self, value: object) -> Hashable:
        return only(value)

    itself = kernel = member = only

    def language_type(self, value: object, kind: type) -> Hashable:
        name: object = getattr(value, "name", None)
        return kind, name if kind.__name__ == "dtype" and isinstance(name, str) else cast(Hashable, value)

    def function(self, fn: FunctionType) -> Hashable:
        return fn if has_a_name(fn) else (fn, Same(fn.__code__), *self.reads(fn))

    def module(self, value: ModuleType) -> Hashable:
        """One of a user's is what it holds, which loading it again changes."""
        if is_lasting(value.__name__) or len(self.inside) > 1:
            return value
        return value, *((name, Same(held)) for name, held in vars(value).items())

    def unordered(self, values: Iterable[object]) -> Hashable:
        return frozenset(self.all(values))


# How the identity of a value is found, by its class -------------------------------------------------------------------


def _itself(value: object) -> Hashable:
    return cast(Hashable, value)


def _float(value: object) -> Hashable:
    return _bits(cast(float, value)), float


def _bool(value: object) -> Hashable:
    return cast(bool, value), bool


def _tuple(value: object) -> Hashable:
    is_plain = _EQUAL_IS_SAME.issuperset(map(type, cast("tuple[object, ...]", value)))
    return cast(Hashable, value) if is_plain else _walked(value)


def _language_type(value: object) -> Hashable:
    return _HERE.language_type(value, type(value))


def _walked(value: object) -> Hashable:
    hash(value)
    return _Here().of(value)


_KNOWN: dict[type, Callable[[object], Hashable]] = {
    **dict.fromkeys(_EQUAL_IS_SAME, _itself), float: _float, bool: _bool, tuple: _tuple,
}  # fmt: skip


def _find(kind: type[object]) -> Callable[[object], Hashable]:
    """Chosen once for each class."""
    if issubclass(kind, Enum):
        found = only
    elif hasattr(kind, "cache_key"):  # a function of kernels
        found = only
    elif hasattr(kind, "cache_key_part"):
        found = _language_type
    else:
        found = _walked
    _KNOWN[kind] = found
    return found


_HERE = _Here()
