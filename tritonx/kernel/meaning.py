"""What a value means, as a text that is the same in every process: its ``identity`` for keys on disk.

Classes and functions are in it by name and by code. Where no text says all that a value means, it has one that no other
process makes: what is compiled for it is found by its own process only.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable
from types import FunctionType, ModuleType
from typing import Protocol, cast

from tritonx.kernel.identity import Same
from tritonx.kernel.value_parts import Walk, code_text, has_a_name, is_lasting, version_of


def meaning(value: object) -> str:
    """What ``value`` means, as a text.

    >>> meaning((2, 2.0)) == meaning((2, 2)), meaning(max) == meaning(min), meaning([1]) == meaning([1])
    (False, False, True)
    """
    return repr(value if type(value) in _PLAIN else _Anywhere().of(value))


_PLAIN = frozenset({int, str, type(None)})
"""Classes of values that are their own parts."""


class _Kernel(Protocol):
    finding: bool
    __qualname__: str

    @property
    def cache_key(self) -> str: ...


class _LanguageType(Protocol):
    @property
    def cache_key_part(self) -> str: ...


_OF_CLASSES = frozenset(
    "__dict__ __weakref__ __doc__ __module__ __qualname__ __firstlineno__ __static_attributes__ __abstractmethods__ "
    "_abc_impl __annotate__ __annotate_func__ __annotations_cache__ __conditional_annotations__".split()
)
"""What a class holds that says nothing of its objects."""


class _Anywhere(Walk):
    """``classes`` are those that it is in the middle of."""

    def __init__(self) -> None:
        super().__init__()
        self.classes: list[type] = []

    def kind(self, kind: type) -> Hashable:
        name = f"{kind.__module__}.{kind.__qualname__}"
        if is_lasting(kind.__module__) or kind in self.classes:
            return name
        version = version_of(kind.__module__)
        if version is not None:
            return name, version
        self.classes.append(kind)
        try:
            return name, *(self._class(base) for base in kind.__mro__ if not is_lasting(base.__module__))
        finally:
            self.classes.pop()

    def _class(self, kind: type) -> Hashable:
        """What a class itself holds: its methods, and the values of its attributes."""
        held = {name: value for name, value in vars(kind).items() if name not in _OF_CLASSES}
        return f"{kind.__module__}.{kind.__qualname__}", *self.named(held)

    def only(self, value: object) -> Hashable:
        return f"{type(value).__qualname__} of one process: {_token(value)}"

    def itself(self, value: object) -> Hashable:
        return "an object"

    def kernel(self, value: object) -> Hashable:
        kernel = cast(_Kernel, value)
        return "kernel", f"recursive {kernel.__qualname__}" if kernel.finding else kernel.cache_key

    def language_type(self, value: object, kind: type) -> Hashable:
        return self.kind(kind), cast(_LanguageType, value).cache_key_part

    def function(self, fn: FunctionType) -> Hashable:
        name = f"function {fn.__module__}.{fn.__qualname__}"
        return (name, version_of(fn.__module__)) if has_a_name(fn) else (name, code_text(fn.__code__), *self.reads(fn))

    def module(self, value: ModuleType) -> Hashable:
        """By name, with the version of what was installed; one of a user's may hold anything, of which a function has
        what it reads."""
        version = version_of(value.__name__)
        if is_lasting(value.__name__) or version is not None or len(self.inside) > 1:
            return f"module {value.__name__} {version}"
        return self.only(value)

    def member(self, value: object) -> Hashable:
        return self.kind(type(value)), repr(value)

    def unordered(self, values: Iterable[object]) -> Hashable:
        return tuple(sorted(map(repr, self.all(values))))


_TOKENS: dict[Same, str] = {}


def _token(value: object) -> str:
    """A text that stands for one object, which is kept so that no other has its address."""
    return _TOKENS.setdefault(Same(value), os.urandom(16).hex())
