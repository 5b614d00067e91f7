"""Structs of language values: ``tl.core._aggregate`` (``triton.aggregate``).

A class with annotated fields; instances are made in kernels by its ``__init__`` and passed by value, flattened to the
handles of their fields. Fields annotated ``tl.constexpr`` are compile-time values.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from inspect import getmembers, isfunction, signature
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_type_hints

from tritonx.kernel.declaration import KernelDeclaration
from tritonx.kernel.source import JITCallable
from tritonx.language.base import base_type, base_value
from tritonx.language.constexpr import constexpr
from tritonx.language.tuples import tuple as language_tuple
from tritonx.language.tuples import type_of

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

C = TypeVar("C")


class _aggregate_type(base_type):
    """The type of a struct: its class, and the type of each field in order."""

    def __init__(self, cls: Any, fields: list[tuple[str, Any]]):
        self.base_cls = cls
        self.fields = fields

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _aggregate_type) and self.base_cls is other.base_cls and self.fields == other.fields

    def __hash__(self) -> int:
        return hash((self.base_cls, *self.fields))

    def __str__(self) -> str:
        return f"{self.base_cls.__name__}({', '.join(f'{n}: {t}' for n, t in self.fields)})"

    def leaves(self) -> list[base_type]:
        return [leaf for _, ty in self.fields for leaf in ty.leaves()]

    def rebuild(self, handles: Iterator[SSAValue]) -> Any:
        value: Any = object.__new__(self.base_cls)
        for name, ty in self.fields:
            object.__setattr__(value, name, ty.rebuild(handles))
        return value

    def mangle(self) -> str:
        return f"{self.base_cls.__name__}_{'_'.join(ty.mangle() for _, ty in self.fields)}"


AGGREGATE = "__triton_aggregate__"
"""The attribute that marks a class of them; code generators look for it."""


def require_fields(value: Any) -> None:
    """Raises AttributeError where the constructor of an aggregate left a field out."""
    for name in value.__fields__:
        if not hasattr(value, name):
            raise AttributeError(f"constructor for {type(value).__name__} did not initialize attribute '{name}'")


def is_constant_field(value: object, name: str) -> bool:
    """Whether a field is declared to hold a compile-time value; false for what is no aggregate."""
    fields: dict[str, object] = getattr(value, "__fields__", {})
    return fields.get(name) is constexpr


def _fitting(value: object, hint: object) -> base_value:
    """``value`` as a value of the language: of Python's, a tuple where a tuple is declared, else a constant."""
    if isinstance(value, base_value):
        return value
    listed = isinstance(value, tuple | list)
    return language_tuple(value) if listed and hint is language_tuple else constexpr(value)  # pyright: ignore[reportUnknownArgumentType]  # a tuple of anything


def _is_declared(value: object, hint: type) -> bool:
    """Whether a value is what its field is annotated with; true for an annotation that is no class, nor several."""
    try:
        return isinstance(value, hint)
    except TypeError:
        return True


def _constructor(cls: type) -> Callable[..., None]:
    """``cls.__init__``, with the semantics and the generator that it asks for, as a builtin does."""
    written: Any = cls.__init__

    def init(
        self: object, *args: object, _semantic: object = None, _generator: object = None, **kwargs: object
    ) -> None:
        wanted = signature(getattr(written, "fn", written)).parameters
        injected = {"_semantic": _semantic, "_generator": _generator}
        written(self, *args, **{name: value for name, value in injected.items() if name in wanted}, **kwargs)
        require_fields(self)

    return init


def _methods(cls: type) -> list[object]:
    """What decides what an aggregate does: its constructor and methods."""
    return [m for _, m in getmembers(cls, lambda member: isfunction(member) or isinstance(member, JITCallable))]


def _aggregate(cls: type[C]) -> type[C]:  # pyright: ignore[reportUnusedFunction]  # its name in Triton
    """Class decorator: the class's annotated fields become a struct that kernels can make and pass.

    ``__init__`` is a jit function, or a Python function that gets the arguments as values of the language, and
    ``_semantic`` where it has a parameter of that name. A field holds what it is annotated with: TypeError for another
    value, AttributeError for a field that there is none of, or that ``__init__`` leaves out.

    >>> @tl.core._aggregate
    ... class Pair:
    ...     low: tl.tensor
    ...     high: tl.tensor
    ...     @tritonx.jit
    ...     def __init__(self, low, high):
    ...         self.low = low
    ...         self.high = high
    ...     @tritonx.jit
    ...     def width(self):
    ...         return self.high - self.low
    >>> @tritonx.jit
    ... def kernel(out):
    ...     pair = Pair(tl.full((), 3, tl.int32), tl.full((), 10, tl.int32))
    ...     tl.store(out, pair.width())
    >>> out = np.zeros(1, np.int32)
    >>> compiled = kernel[(1,)](out)
    >>> out.tolist()
    [7]
    """
    hints = get_type_hints(cls)
    names = list(hints)
    base: Any = cls

    class Struct(base, base_value):
        __doc__ = cls.__doc__
        __triton_aggregate__ = True
        __fields__ = hints
        hash_attrs = _methods(cls)

        if not isinstance(cls.__init__, KernelDeclaration):
            __init__ = _constructor(cls)

        def __setattr__(self, name: str, value: object) -> None:
            if name not in hints:
                raise AttributeError(f"{cls.__name__} has no attribute '{name}'; its fields are {', '.join(names)}")
            fitting = _fitting(value, hints[name])
            if not _is_declared(fitting, hints[name]):
                raise TypeError(f"Expected {hints[name]} for attribute '{name}', got {builtins.type(fitting)}")
            object.__setattr__(self, name, fitting)

        @property
        def type(self) -> _aggregate_type:
            return _aggregate_type(Struct, [(n, type_of(getattr(self, n))) for n in names])

        def handles(self) -> list[SSAValue]:
            return [h for n in names for h in getattr(self, n).handles()]

    Struct.__name__, Struct.__qualname__, Struct.__module__ = cls.__name__, cls.__qualname__, cls.__module__
    return cast(type[C], Struct)
