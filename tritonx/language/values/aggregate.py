"""Structs of language values: ``triton.aggregate`` (``tl.core._aggregate``).

A class with annotated fields; instances are made in kernels by its ``__init__``, or by one that takes the fields in
order, and passed by value, flattened to the handles of their fields. They do not change: `aggregate_replace` makes
another one. Fields annotated ``tl.constexpr`` are compile-time values.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import get_annotations, getmembers, isfunction, signature
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_type_hints

from tritonx.kernel.declaration import KernelDeclaration
from tritonx.kernel.source import JITCallable
from tritonx.language.builtins.builtin import INJECTED, builtin_anywhere
from tritonx.language.values.base import base_type, base_value
from tritonx.language.values.constexpr import constexpr
from tritonx.language.values.tuples import tuple as language_tuple
from tritonx.language.values.tuples import tuple_type, type_of

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tritonx.frontend.semantics import Semantics

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
        object.__setattr__(value, _COMPLETE, True)
        return value

    def mangle(self) -> str:
        return f"{self.base_cls.__name__}_{'_'.join(ty.mangle() for _, ty in self.fields)}"


AGGREGATE = "__triton_aggregate__"
"""The attribute that marks a class of them; code generators look for it."""


_COMPLETE = "_aggregate_is_complete"
"""What an instance has from the end of its constructor on."""


def require_fields(value: Any) -> None:
    """Ends the construction of an aggregate: fields that were left out have their defaults. Raises AttributeError for
    one without."""
    for name in value.__fields__:
        if name not in vars(value):
            if name not in value.__defaults__:
                raise AttributeError(f"constructor for {type(value).__name__} did not initialize attribute '{name}'")
            setattr(value, name, value.__defaults__[name])
    object.__setattr__(value, _COMPLETE, True)


def is_aggregate(value: object) -> bool:
    """Whether ``value`` is an instance of such a class."""
    return hasattr(type(value), AGGREGATE)


def is_constant_field(value: object, name: str) -> bool:
    """Whether a field is declared to hold a compile-time value; false for what is no aggregate."""
    fields: dict[str, object] = getattr(value, "__fields__", {})
    return fields.get(name) is constexpr


def _fitting(value: object, hint: object) -> base_value:
    """``value`` as a value of the language: of Python's, a tuple of such where a tuple is declared, else a constant."""
    if isinstance(value, base_value):
        return value
    if not isinstance(value, tuple | list) or hint is constexpr:
        return constexpr(value)
    listed = cast("Sequence[object]", value)
    fitting = [_fitting(element, None) for element in listed]
    return language_tuple(fitting, tuple_type([*map(type_of, fitting)], getattr(listed, "_fields", None)))


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
        if type(self).__init__ is init:  # and not called by that of a derived class
            require_fields(self)

    return init


def _of_fields(name: str, fields: Sequence[str], defaults: Mapping[str, object]) -> Callable[..., None]:
    """A constructor that takes the fields by position or name."""

    def init(
        self: object, *args: object, _semantic: object = None, _generator: object = None, **kwargs: object
    ) -> None:
        if len(args) > len(fields):
            raise TypeError(f"{name}() takes {len(fields)} positional arguments but {len(args)} were given")
        given: dict[str, object] = dict(zip(fields, args, strict=False))
        for field in kwargs:
            if field in given or field not in fields:
                what = "multiple values for" if field in given else "an unexpected"
                raise TypeError(f"{name}() got {what} argument '{field}'")
        for field, value in {**given, **kwargs}.items():
            setattr(self, field, value)
        missing = [field for field in fields if field not in vars(self) and field not in defaults]
        if missing:
            raise TypeError(f"{name}() missing required argument: '{missing[0]}'")
        require_fields(self)

    init.__qualname__ = f"{name}.__init__"
    return init


def _fields(cls: type) -> dict[str, type]:
    """The annotations of a class and of those that it is derived from, theirs first."""
    hints = get_type_hints(cls)
    bases = [base for base in reversed(cls.__mro__) if base not in base_value.__mro__]
    return {name: hints[name] for base in bases for name in get_annotations(base)}


def _defaults(cls: type, fields: Sequence[str]) -> dict[str, object]:
    """The values that fields have in a class, and in the aggregates that it is derived from."""
    found: dict[str, object] = {}
    for base in reversed(cls.__mro__):
        own = {name: value for name, value in vars(base).items() if name in fields}
        found |= {n: v for n, v in own.items() if isinstance(v, base_value) or not callable(v)}
    return found


def _writes_constructor(cls: type) -> bool:
    """Whether a class has an ``__init__`` that is not one of an aggregate that it is derived from."""
    home = next(base for base in cls.__mro__ if "__init__" in vars(base))
    return home is not object and AGGREGATE not in vars(home)


def _methods(cls: type) -> list[object]:
    """What decides what an aggregate does: its constructor and methods."""
    return [m for _, m in getmembers(cls, lambda member: isfunction(member) or isinstance(member, JITCallable))]


def aggregate(cls: type[C]) -> type[C]:
    """Class decorator: the class's annotated fields become a struct that kernels can make and pass.

    Without an ``__init__`` the fields are given by position or name; those with a value in the class have it as their
    default. An ``__init__`` is a jit function, or a Python function that gets the arguments as values of the language,
    and ``_semantic`` where it has a parameter of that name. A field holds what it is annotated with: TypeError for
    another value, AttributeError for a field that there is none of, that ``__init__`` leaves out, or that is assigned
    behind it. An aggregate that is derived from others has their fields first. Operators are methods, also with a
    tensor on the other side (``__radd__``); `tl.aggregate_replace` gives an instance with other values of some fields.

    >>> @tritonx.aggregate
    ... class Pair:
    ...     low: tl.tensor
    ...     high: tl.tensor
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
    hints = _fields(cls)
    names = list(hints)
    defaults = _defaults(cls, names)
    base: Any = cls

    class Struct(base, base_value):
        __doc__ = cls.__doc__
        __triton_aggregate__ = True
        __fields__ = hints
        __defaults__ = defaults
        hash_attrs = _methods(cls)

        if not _writes_constructor(cls):
            __init__ = _of_fields(cls.__name__, names, defaults)
        elif not isinstance(cls.__init__, KernelDeclaration):
            __init__ = _constructor(cls)

        def __setattr__(self, name: str, value: object) -> None:
            if name not in hints:
                raise AttributeError(f"{cls.__name__} has no attribute '{name}'; its fields are {', '.join(names)}")
            if _COMPLETE in vars(self):
                raise AttributeError(
                    f"cannot assign to field '{name}' on immutable aggregate {cls.__name__}; "
                    "use aggregate_replace() to construct a modified copy"
                )
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


_aggregate = aggregate
"""Its name in Triton up to 3.7."""


@builtin_anywhere
def aggregate_replace(instance: C, *, _semantic: Semantics = INJECTED, **changes: object) -> C:
    """An instance of the class of ``instance``, an aggregate, with other values of the fields that are named. It is
    made by the class's constructor, which has to take the fields by name. Raises TypeError for what is no aggregate,
    for a field that it does not have, and for a class whose constructor is a jit function. It may be called outside
    kernels as well.

    >>> @tritonx.aggregate
    ... class Pair:
    ...     low: tl.tensor
    ...     high: tl.tensor
    >>> pair = tl.aggregate_replace(Pair(tl.load(ints + 3), tl.load(ints + 10)), low=tl.load(ints + 1))
    >>> pair.low + pair.high
    11
    """
    kind = type(instance)
    if not is_aggregate(instance):
        raise TypeError(f"aggregate_replace() expects an aggregate instance, got {kind}")
    fields: dict[str, object] = getattr(kind, "__fields__", {})
    unknown = [name for name in changes if name not in fields]
    if unknown:
        raise TypeError(f"{kind.__name__} has no field '{unknown[0]}'")
    if isinstance(kind.__init__, KernelDeclaration):
        raise TypeError(f"the constructor of {kind.__name__} is a jit function: call {kind.__name__}(...)")
    given = {name: changes.get(name, getattr(instance, name)) for name in fields}
    return cast("Callable[..., C]", kind)(**given, _semantic=_semantic)
