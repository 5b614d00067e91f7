"""Kernels are copied and pickled as Python's functions are.

``copy.copy`` makes another kernel of the same function, ``copy.deepcopy`` gives the kernel itself. ``pickle`` writes
module and qualified name, and refuses what is not found there, with the reason. ``cloudpickle`` writes the kernel with
its source where it would write a function so: one of ``__main__``, of a notebook, or defined in another function.

Both decide by a function, as they know it. It stands for the kernel: it can be found under the kernel's name, and makes
the kernel where it was written with all that it holds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import SupportsIndex, TypeVar, cast
from weakref import WeakKeyDictionary, ref

T = TypeVar("T", bound="Named")


class Named:
    """What is pickled under the name of the function that it was made of."""

    def _function(self) -> FunctionType:
        """The Python function of a kernel or of what wraps one."""
        found: object = self
        while not isinstance(found, FunctionType):
            found = getattr(found, "fn", None)
            if found is None:
                raise TypeError(f"{type(self).__name__} has no function that it could be pickled by")
        return found

    def _lasting(self) -> dict[str, object]:
        """The attributes that a kernel in another process has too."""
        return {name: value for name, value in vars(self).items() if name != "_stand_in"}

    def _made_again(self, state: Mapping[str, object]) -> None:
        """Fill an object without attributes by those of another process, or of another such object."""
        vars(self).update(state)

    @property
    def pickled_as(self) -> FunctionType:
        """What stands for it."""
        made = vars(self).get("_stand_in")
        if made is None:
            function = self._function()
            made = FunctionType(_make.__code__, {}, function.__name__)
            made.__module__ = function.__module__
            made.__qualname__ = _where(self, function)
            vars(self)["_stand_in"] = made
            _STANDING[made] = ref(self)
        made.__defaults__ = _rebuilt, type(self), self._lasting()
        return made

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[object, ...] | str:
        return _found, (self.pickled_as,)

    def __copy__(self: T) -> T:
        return _rebuilt(type(self), self._lasting())

    def __deepcopy__(self: T, memo: object) -> T:
        return self


_STANDING: WeakKeyDictionary[FunctionType, ref[Named]] = WeakKeyDictionary()
"""What each stands for, in this process."""


def _make(rebuilt: Callable[..., object], kind: type, state: object) -> object:
    return rebuilt(kind, state)


def _rebuilt(kind: type[T], state: Mapping[str, object]) -> T:
    made = object.__new__(kind)
    made._made_again(state)  # pyright: ignore[reportPrivateUsage]  # of the class above
    return made


def _found(stand_in: FunctionType) -> object:
    """What it stands for: where a name led to it the object, else a new one."""
    known = _STANDING.get(stand_in)
    found = None if known is None else known()
    return stand_in() if found is None else found


def _where(value: Named, function: FunctionType) -> str:
    """The qualified name under which a module has the stand-in of ``value``; that of the function where it has not."""
    found: object = sys.modules.get(function.__module__)
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    path = function.__qualname__
    while isinstance(found, Named):
        if found is value:
            return f"{path}.pickled_as"
        found, path = cast(object, getattr(found, "fn", None)), f"{path}.fn"
    return function.__qualname__
