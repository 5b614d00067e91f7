"""Values across region boundaries, and the small conversions between Python's values and the language's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from xdsl.ir import SSAValue

from tritonx.ir.value_names import is_numbers
from tritonx.kernel.identity import loose
from tritonx.language.values.base import base_value
from tritonx.language.values.constexpr import constexpr, unwrap
from tritonx.language.values.tensor import tensor
from tritonx.language.values.tuples import tuple as tl_tuple
from tritonx.language.values.tuples import tuple_type

NUMBERS = (bool, int, float)
"""The Python values that become tensors where they are assigned, returned or carried."""


def is_dynamic(value: object) -> bool:
    """Whether ``value`` exists at run time: a value of the language that is no constexpr."""
    return isinstance(value, base_value) and not isinstance(value, constexpr)


def is_known(value: object) -> bool:
    """Whether nothing of ``value`` exists at run time. A named tuple of constants is not known: it stays a value of the
    language, which has no class to make a Python value of."""
    if isinstance(value, tl_tuple):
        return value.fields is None and all(is_known(part) for part in value.values)
    return not is_dynamic(value)


def python_value(value: object) -> Any:
    """What is known as Python has it: ``(5, 6)`` of a tuple of these constants."""
    if isinstance(value, tl_tuple):
        return tuple([python_value(part) for part in value.values])
    return unwrap(value)


def handles_of(values: Iterable[base_value]) -> list[SSAValue]:
    """The SSA values of ``values``, in order."""
    handles: list[SSAValue] = []
    for value in values:
        handles += value.handles()
    return handles


def same_constant(left: object, right: object) -> bool:
    """Whether two compile-time values are the same one."""
    a, b = unwrap(left), unwrap(right)
    return a is b or loose(a) == loose(b)


def same_handles(left: Any, right: Any) -> bool:
    """Whether two run-time values of one type are the same SSA values."""
    a, b = left.handles(), right.handles()
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))


def suggest_name(handle: SSAValue, name: str) -> None:
    """Let ``handle`` be printed as ``name`` if it has no name yet. The IR's names are ASCII; Python's need not be, and
    those of a loop's flags are none."""
    if handle.name_hint is None and name.isascii() and name.isidentifier() and not is_numbers(name):
        handle.name_hint = name


def is_many(value: object) -> bool:
    """Whether ``value`` is a block of more than one element."""
    return isinstance(value, tensor) and value.type.is_block() and cast(Any, value.type).numel != 1


def is_named_tuple(value: object) -> bool:
    """Whether ``value`` is a named tuple, or a class of such."""
    cls: Any = value if isinstance(value, type) else type(value)
    return hasattr(cls, "_fields") and issubclass(cls, tuple)


def map_tuple(value: Any, function: Callable[[Any], Any]) -> tl_tuple:
    """A language tuple of ``function`` of each element, with the fields of ``value`` (a tuple of Python or of the
    language)."""
    elements: list[Any] = [wrap(function(element)) for element in value]
    fields = value.type.fields if isinstance(value, tl_tuple) else getattr(value, "_fields", None)
    return tl_tuple(elements, tuple_type([element.type for element in elements], fields))


def wrap(value: Any) -> base_value:
    """A Python result as a value of the language: containers become tuples, anything else unknown to it a constexpr."""
    if isinstance(value, base_value):
        return value
    if isinstance(value, tuple | list):
        return map_tuple(cast(Any, value), wrap)
    return constexpr(value)


def wrap_plain(value: Any) -> Any:
    """``wrap`` for what an attribute or an index gives: numbers, strings and tuples; types, functions and modules
    stay."""
    if isinstance(value, (*NUMBERS, str)) or value is None:
        return constexpr(value)
    if type(value) is tuple or (is_named_tuple(value) and not isinstance(value, type)):
        return map_tuple(value, wrap)
    return value


def materialize(value: Any, to_tensor: Callable[[Any], Any]) -> Any:
    """``value`` as an assignment or a ``return`` keeps it: numbers become tensors, elements of tuples too."""
    if isinstance(value, tl_tuple):
        return map_tuple(value, lambda element: materialize(element, to_tensor))
    plain = unwrap(value)
    if isinstance(plain, NUMBERS):
        return to_tensor(plain)
    if isinstance(plain, base_value):
        return plain
    if type(plain) is tuple:
        return map_tuple(plain, lambda element: materialize(element, to_tensor))
    return value


Pattern = bool | tuple["Pattern", ...]
"""What an assignment declares of what it assigns: whether it is a compile-time value, for several names one by one."""


def kept(value: object, declared: Pattern, to_tensor: Callable[[object], object]) -> object:
    """``value`` as an assignment keeps it: numbers become tensors, but for names that are ``declared`` constants."""
    if declared is True:
        return constexpr(python_value(value)) if is_known(value) else value
    values = unwrap(value)
    parts = cast(Sequence[object], values) if declared and isinstance(values, tl_tuple | tuple) else ()
    if not declared or len(parts) != len(declared):
        return value if isinstance(value, tensor) else materialize(value, to_tensor)
    return tl_tuple([wrap(kept(wrap(part), kind, to_tensor)) for part, kind in zip(parts, declared, strict=True)])


def is_static(value: object) -> bool:
    """Whether ``value`` is known at compile time: no value of the running kernel, nor a tuple with one."""
    if isinstance(value, tl_tuple):
        return all(map(is_static, value))
    return not is_dynamic(value)


def in_text(value: object) -> object:
    """What an f-string formats for ``value``: what Python would hold, of a run-time value its type as ``static_print``
    prints it."""
    if not isinstance(value, tl_tuple):
        return str(value) if is_dynamic(value) else unwrap(value)
    if is_static(value):
        return tuple(map(in_text, value))
    return f"({', '.join(str(in_text(element)) for element in value)})"


def describe(value: Any) -> str:
    """The type of ``value`` as messages name it."""
    if is_dynamic(value):
        return str(value.type)
    if isinstance(value, constexpr):
        return f"constexpr {unwrap(value)!r}"
    return type(value).__name__
