"""Values taken apart: a tuple of hashable parts that stands for what a value is, whatever it is equal to.

``Walk.of`` goes through containers, objects by their attributes, functions by what they close over and read, and leaves
open how classes, functions and lone objects are named: an identity has them as they are, a text has their names and
code.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Hashable, Iterable, Mapping
from enum import Enum
from functools import cached_property, partial
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Protocol, cast

_OWN_PACKAGE = __name__.split(".", 1)[0]
_DEEP = 60
"""A value nested deeper than this counts as itself only."""
_MANY = 4000
"""So many objects are taken apart; what comes after them counts as itself only."""

_bits = struct.Struct("<d").pack

Parts = Callable[["Walk", object, type], Hashable]


class Walk:
    """The parts of a value; ``inside`` are the values that it is in the middle of, by number."""

    def __init__(self) -> None:
        self.inside: dict[int, int] = {}
        self.left = _MANY

    def of(self, value: object) -> Hashable:
        kind = type(value)
        if kind is int or kind is str or value is None:
            return cast(Hashable, value)
        if kind in _LEAVES:
            return _LEAVES[kind](value), kind if kind is bool or kind is float else kind.__name__
        outer = self.inside.get(id(value))
        if outer is not None:
            return ..., outer
        self.left -= 1
        if self.left < 0 or len(self.inside) >= _DEEP:
            return self.only(value)
        self.inside[id(value)] = len(self.inside)
        try:
            return (_KNOWN.get(kind) or _find_parts(kind))(self, value, kind)
        finally:
            del self.inside[id(value)]

    def all(self, values: Iterable[object]) -> tuple[Hashable, ...]:
        return tuple([self.of(value) for value in values])

    def named(self, values: Mapping[str, object]) -> tuple[Hashable, ...]:
        return tuple([(name, self.of(values[name])) for name in sorted(values)])

    def reads(self, fn: FunctionType) -> tuple[Hashable, ...]:
        """The values that a plain Python function may read, beside its arguments."""
        defaults = self.of(fn.__defaults__), self.of(fn.__kwdefaults__)
        return *defaults, *self.named(_closure(fn)), *self.named(_globals_read(fn))

    def kind(self, kind: type) -> Hashable:
        """A class."""
        raise NotImplementedError

    def only(self, value: object) -> Hashable:
        """An object that is not taken apart."""
        raise NotImplementedError

    def itself(self, value: object) -> Hashable:
        """An object that is equal to itself only, beside its parts."""
        raise NotImplementedError

    def kernel(self, value: object) -> Hashable:
        """A function of kernels."""
        raise NotImplementedError

    def language_type(self, value: object, kind: type) -> Hashable:
        raise NotImplementedError

    def function(self, fn: FunctionType) -> Hashable:
        raise NotImplementedError

    def module(self, value: ModuleType) -> Hashable:
        raise NotImplementedError

    def member(self, value: object) -> Hashable:
        """A member of an enumeration."""
        raise NotImplementedError

    def unordered(self, values: Iterable[object]) -> Hashable:
        raise NotImplementedError


# What kinds of values consist of -------------------------------------------------------------------------------------


class _Called(Protocol):
    __func__: object


class _Holder(Protocol):
    value: object


class _NumpyType(Protocol):
    @property
    def str(self) -> str: ...


class _NumpyScalar(Protocol):
    @property
    def dtype(self) -> _NumpyType: ...

    def tobytes(self) -> bytes: ...


def _complex_bits(value: object) -> Hashable:
    number = cast(complex, value)
    return _bits(number.real), _bits(number.imag)


_LEAVES: dict[type, Callable[[object], Hashable]] = {
    bool: lambda value: cast(bool, value),
    float: lambda value: _bits(cast(float, value)),
    complex: _complex_bits,
    bytes: lambda value: cast(bytes, value),
    bytearray: lambda value: bytes(cast(bytearray, value)),
    type(...): lambda value: "...",
}


def _items(walk: Walk, value: object, kind: type) -> Hashable:
    held = cast("dict[object, object]", value)
    return walk.kind(kind), *((walk.of(key), walk.of(item)) for key, item in held.items())


def _sequence(walk: Walk, value: object, kind: type) -> Hashable:
    elements = walk.all(cast("Iterable[object]", value))
    own = {} if kind is tuple or kind is list else _state(value, kind)
    return walk.kind(kind), elements, *walk.named(own)


def _set(walk: Walk, value: object, kind: type) -> Hashable:
    return walk.kind(kind), walk.unordered(cast("Iterable[object]", value))


def _ends(walk: Walk, value: object, kind: type) -> Hashable:
    ends = cast(slice, value)
    return walk.kind(kind), walk.of(ends.start), walk.of(ends.stop), walk.of(ends.step)


def _partial(walk: Walk, value: object, kind: type) -> Hashable:
    call = cast("partial[object]", value)
    return walk.kind(kind), walk.of(call.func), walk.all(call.args), *walk.named(call.keywords)


def _builtin(walk: Walk, value: object, kind: type) -> Hashable:
    fn = cast(BuiltinFunctionType, value)
    owner: object = fn.__self__
    of = None if owner is None or isinstance(owner, ModuleType) else walk.of(owner)
    return walk.kind(kind), f"{fn.__module__}.{fn.__qualname__}", of


def _method(walk: Walk, value: object, kind: type) -> Hashable:
    method = cast(MethodType, value)
    return walk.kind(kind), walk.of(method.__func__), walk.of(method.__self__)


def _wrapped(walk: Walk, value: object, kind: type) -> Hashable:
    return walk.kind(kind), walk.of(cast(_Called, value).__func__)


def _property(walk: Walk, value: object, kind: type) -> Hashable:
    found = cast(property, value)
    return walk.kind(kind), walk.of(found.fget), walk.of(found.fset)


def _cached_property(walk: Walk, value: object, kind: type) -> Hashable:
    return walk.kind(kind), walk.of(cast("cached_property[object]", value).func)


def _by_name(walk: Walk, value: object, kind: type) -> Hashable:
    return walk.kind(kind), cast(MethodDescriptorType, value).__qualname__


def _constexpr(walk: Walk, value: object, kind: type) -> Hashable:
    return walk.kind(kind), walk.of(cast(_Holder, value).value)


def _numpy(walk: Walk, value: object, kind: type) -> Hashable:
    scalar = cast(_NumpyScalar, value)
    return walk.kind(kind), scalar.dtype.str, scalar.tobytes()


_PARTS: dict[type, Parts] = {
    type: lambda walk, value, _: walk.kind(cast(type, value)),
    Enum: lambda walk, value, _: walk.member(value),
    tuple: _sequence,
    list: _sequence,
    dict: _items,
    MappingProxyType: _items,
    set: _set,
    frozenset: _set,
    range: _ends,
    slice: _ends,
    FunctionType: lambda walk, value, _: walk.function(cast(FunctionType, value)),
    MethodType: _method,
    BuiltinFunctionType: _builtin,
    CodeType: lambda walk, value, _: code_text(cast(CodeType, value)),
    staticmethod: _wrapped,
    classmethod: _wrapped,
    property: _property,
    cached_property: _cached_property,
    partial: _partial,
    ModuleType: lambda walk, value, _: walk.module(cast(ModuleType, value)),
    **dict.fromkeys((MemberDescriptorType, GetSetDescriptorType, WrapperDescriptorType), _by_name),
    **dict.fromkeys((MethodDescriptorType, MethodWrapperType, ClassMethodDescriptorType), _by_name),
}
_CONTENTS: dict[type, Callable[[object], object]] = {
    int: lambda value: int.__int__(cast(int, value)),
    float: lambda value: float.__float__(cast(float, value)),
    str: lambda value: str.__str__(cast(str, value)),
    bytes: lambda value: bytes(memoryview(cast(bytes, value))),
}
"""Of an object of a class that derives from one of Python's numbers or texts: that number or text."""

_KNOWN: dict[type, Parts] = {}


def _find_parts(kind: type) -> Parts:
    """How values of a class are taken apart: chosen once for each class."""
    is_numpy = any(base.__module__ == "numpy" and base.__name__ == "generic" for base in kind.__mro__)
    found = next((_PARTS[base] for base in _PARTS if issubclass(kind, base)), None)
    if found is None:
        if is_numpy:
            found = _numpy
        elif hasattr(kind, "cache_key"):
            found = _kernel
        elif kind.__name__ == "constexpr":
            found = _constexpr
        else:
            found = _language_type if hasattr(kind, "cache_key_part") else _instance
    _KNOWN[kind] = found
    return found


def _kernel(walk: Walk, value: object, kind: type) -> Hashable:
    return walk.kernel(value)


def _language_type(walk: Walk, value: object, kind: type) -> Hashable:
    return walk.language_type(value, kind)


def _instance(walk: Walk, value: object, kind: type) -> Hashable:
    """An object by its class and its attributes, and by itself where objects of its class are equal to no other."""
    base = next((b for b in _CONTENTS if issubclass(kind, b)), None)
    content = () if base is None else (walk.of(_CONTENTS[base](value)),)
    state = _state(value, kind)
    is_equal_to_others = base is not None or kind.__eq__ is not object.__eq__
    if not state and base is None:
        return _without_state(walk, value, kind, is_equal_to_others)
    itself = () if is_equal_to_others else (walk.itself(value),)
    return walk.kind(kind), *content, *itself, *walk.named(state)


def _without_state(walk: Walk, value: object, kind: type, is_equal_to_others: bool) -> Hashable:
    """An object whose attributes say nothing: what ``pickle`` would make it from."""
    if is_equal_to_others and _hash_of(value) in (id(value), object.__hash__(value)):
        return walk.only(value)
    try:
        reduced: object = value.__reduce_ex__(4)
    except Exception:  # what is inside says how it is pickled, and may refuse
        return walk.only(value)
    if kind is object:
        return walk.only(value)
    return walk.kind(kind), walk.of(reduced), *(() if is_equal_to_others else (walk.itself(value),))


def _hash_of(value: object) -> int | None:
    try:
        return hash(value)
    except TypeError:
        return None


def _slots(kind: type) -> list[str]:
    """The attributes of objects of a class that are in no dictionary."""
    names: list[str] = []
    for base in kind.__mro__:
        slots: object = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else cast("Iterable[str]", slots):
            is_private = name.startswith("__") and not name.endswith("__")
            names.append(f"_{base.__name__.lstrip('_')}{name}" if is_private else name)
    return [name for name in names if name not in ("__dict__", "__weakref__")]


def _state(value: object, kind: type) -> dict[str, object]:
    """The attributes that an object has of its own, by name."""
    state: dict[str, object] = {name: getattr(value, name) for name in _slots(kind) if hasattr(value, name)}
    held: object = getattr(value, "__dict__", None)
    return state | cast("dict[str, object]", held) if isinstance(held, dict) else state


# Functions ------------------------------------------------------------------------------------------------------------


def code_text(code: CodeType) -> str:
    """All that a plain Python function does, the functions inside it too, but not its location."""

    def constant(value: object) -> str:
        if isinstance(value, frozenset):  # in no order that another process would have
            return str(sorted(map(constant, cast("frozenset[object]", value))))
        return code_text(value) if isinstance(value, CodeType) else repr(value)

    return f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {[constant(c) for c in code.co_consts]}"


def _closure(fn: FunctionType) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return found


def _globals_read(fn: FunctionType) -> dict[str, object]:
    scope, names, work = fn.__globals__, dict[str, None](), [fn.__code__]
    while work:
        code = work.pop()
        names |= dict.fromkeys(code.co_names)
        work += [c for c in code.co_consts if isinstance(c, CodeType)]
    found = {name: scope[name] for name in names if name in scope}
    for module in [value for value in found.values() if isinstance(value, ModuleType)]:
        if not is_lasting(module.__name__) and version_of(module.__name__) is None:
            held = {name: vars(module)[name] for name in names if name in vars(module)}
            found |= {f"{module.__name__}.{name}": value for name, value in held.items()}
    return found


def version_of(module: str) -> str | None:
    """The version of the package that a module is of, where it was installed and is not being worked on."""
    package = sys.modules.get(module.split(".", 1)[0])
    file, version = getattr(package, "__file__", None) or "", getattr(package, "__version__", None)
    return version if isinstance(version, str) and "-packages" in file else None


def is_lasting(module: object) -> bool:
    """Whether a module's name says all: it is tritonx's own, which every key holds, or Python's."""
    top = module.split(".", 1)[0] if isinstance(module, str) else ""
    return top == _OWN_PACKAGE or (top in sys.stdlib_module_names and top != "__main__")


def has_a_name(fn: FunctionType) -> bool:
    """Whether a module that is lasting, or was installed with a version, has the function under its name."""
    if not is_lasting(fn.__module__) and version_of(fn.__module__ or "") is None:
        return False
    found: object = sys.modules.get(fn.__module__)
    for name in fn.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is fn or getattr(found, "__func__", None) is fn
