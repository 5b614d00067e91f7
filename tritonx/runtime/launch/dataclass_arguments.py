"""Frozen dataclasses as arguments of a launch.

A kernel gets one as the tuple of its fields, by name: each field is an argument like others, and one that is annotated
``tl.constexpr`` a compile-time value. What else the class has, a kernel does not see.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING

from tritonx.runtime.errors import UnsupportedArgument

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True, slots=True)
class Field:
    """``static``: annotated ``tl.constexpr``."""

    name: str
    static: bool


@dataclass(frozen=True, slots=True)
class Record:
    """The fields of a dataclass in order, and the class of the tuple that a kernel gets."""

    fields: tuple[Field, ...]
    kind: type[tuple[object, ...]]

    def values(self, value: object) -> tuple[object, ...]:
        return tuple([getattr(value, field.name) for field in self.fields])


@cache
def record_of(kind: type) -> Record | None:
    """The record that values of a class are; None unless it is a dataclass. One that may change is refused."""
    if not is_dataclass(kind):
        return None
    if not is_frozen(kind):
        raise UnsupportedArgument(
            f"{kind.__name__} is a dataclass that is not frozen (declare it with @dataclass(frozen=True): a kernel "
            "gets the values that its fields have at the launch)"
        )
    found = tuple(Field(field.name, _is_constexpr(field.type)) for field in fields(kind))
    hidden = [field.name for field in found if field.name.startswith("_")]
    if hidden:
        raise UnsupportedArgument(f"a kernel cannot name the field {hidden[0]} of {kind.__name__}: it begins with _")
    names: list[str] = [field.name for field in found]
    kernels = namedtuple(kind.__name__, names)  # pyright: ignore[reportUntypedNamedTuple]  # of fields that are known only here
    return Record(found, kernels)


def record_in(value: object) -> Record | None:
    """The record that ``value`` is, None unless it is one."""
    return record_of(type(value))


def is_frozen(kind: type[DataclassInstance]) -> bool:
    parameters: object = getattr(kind, "__dataclass_params__", None)
    return bool(getattr(parameters, "frozen", False))


def _is_constexpr(annotation: object) -> bool:
    name = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return name.rpartition(".")[2] == "constexpr"


def parts_of(value: object) -> list[tuple[str, object]]:
    """What an argument consists of: the elements of a tuple, the fields of a record, each behind how it is written
    (``[0]``, ``.x``); nothing for others."""
    if isinstance(value, tuple):
        return [(f"[{i}]", element) for i, element in enumerate(value)]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  # a tuple of anything
    record = record_in(value)
    if record is None:
        return []
    return [(f".{field.name}", element) for field, element in zip(record.fields, record.values(value), strict=True)]


def part_at(name: str, value: object, path: Iterable[int]) -> tuple[str, object]:
    """The part of ``value`` that ``path`` leads to, by numbers of parts, and how it is written: ``pair[1].x``."""
    for number in path:
        own_name, value = parts_of(value)[number]
        name += own_name
    return name, value
