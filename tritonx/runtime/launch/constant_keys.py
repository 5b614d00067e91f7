"""What stands for compile-time arguments and options in the key of a launch: what they mean, at the price of a test.

For the argument at position 4 the generated launch says

    BLOCK if $type(BLOCK) is $t4 else $m[1] if ($m := $m4)[0] is BLOCK else $c4(BLOCK)

``$t4`` is the class that the first argument there had, where values of that class are equal only if they mean the same.
An argument of any other class is represented by an object that ``$c4`` finds by its identity. ``$m4`` has the last such
argument, where it cannot change, and that object. So an integer, a string or a flag costs a test, and what a program
hands in again one more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from enum import Enum
from typing import cast

from tritonx.kernel.identity import identity, keyed
from tritonx.runtime.launch.dataclass_arguments import is_frozen

_AS_THEY_ARE = frozenset({int, str, bool, type(None)})
_LASTING = _AS_THEY_ARE | {float, bytes}


class Nothing:
    """The class of no argument."""


_NOTHING = (Nothing, Nothing)


class ConstantKeys:
    """For the arguments at ``numbers``, in the names of a generated function, which begin with ``prefix``."""

    def __init__(self, prefix: str, numbers: Sequence[int]) -> None:
        self._prefix = prefix
        self._numbers = numbers

    def added(self, scope: Mapping[str, object]) -> dict[str, object]:
        """A copy of ``scope`` that has ``$t``, ``$m`` and ``$c`` of each."""
        made = dict(scope)
        for number in self._numbers:
            kind, last = f"{self._prefix}t{number}", f"{self._prefix}m{number}"
            made |= {kind: Nothing, last: _NOTHING, f"{self._prefix}c{number}": _Key(made, kind, last)}
        return made


class _Key:
    """(argument) → what stands for it, remembered in ``scope`` under ``kind`` or ``last``."""

    __slots__ = ("found", "kind", "last", "scope")

    def __init__(self, scope: dict[str, object], kind: str, last: str) -> None:
        self.scope = scope
        self.kind = kind
        self.last = last
        self.found: dict[object, object] = {}

    def __call__(self, value: object) -> object:
        kind = type(value)
        if self.scope[self.kind] is Nothing and kind in _AS_THEY_ARE:
            self.scope[self.kind] = kind
            return value
        try:
            made = self.found.setdefault(identity(value), object())
        except TypeError:  # who looks for the key hears that it cannot be hashed
            return value
        if _cannot_change(value):
            self.scope[self.last] = value, made
        return made


def _cannot_change(value: object) -> bool:
    """Whether an object means the same as long as it is there."""
    kind = type(value)
    if kind in _LASTING or isinstance(value, Enum):
        return True
    if kind is tuple:
        return all(map(_cannot_change, cast("tuple[object, ...]", value)))
    if hasattr(kind, "cache_key") or hasattr(kind, "cache_key_part"):  # a function of kernels, a type of the language
        return True
    if is_dataclass(kind) and is_frozen(kind):
        return all(map(_cannot_change, vars(value).values())) if hasattr(value, "__dict__") else False
    return False


def with_options(key: object, options: Mapping[str, object]) -> tuple[object, ...]:
    """The key of a launch with options that are not all integers."""
    if _AS_THEY_ARE.issuperset(map(type, options.values())):
        return key, *options, *options.values(), *map(type, options.values())
    return key, *options, *map(keyed, options.values())
