"""Structs of language values: ``tl.core._aggregate`` (``triton.aggregate``).

A class with annotated fields; instances are made in kernels by its ``__init__`` (a jit function) and passed by value,
flattened to the handles of their fields. Fields annotated ``tl.constexpr`` are compile-time values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, get_type_hints

from tritonx.language.base import base_type, base_value
from tritonx.language.constexpr import constexpr
from tritonx.language.tuples import type_of

if TYPE_CHECKING:
    from xdsl.ir import SSAValue


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


def _aggregate(cls: Any) -> Any:  # pyright: ignore[reportUnusedFunction]  # its name in Triton
    """Class decorator: the class's annotated fields become a struct that kernels can make and pass."""
    names = list(get_type_hints(cls))

    class Struct(cls, base_value):
        __doc__ = cls.__doc__

        def __setattr__(self, name: str, value: Any) -> None:
            if name not in names:
                raise AttributeError(f"{cls.__name__} has no field '{name}'; its fields are {', '.join(names)}")
            object.__setattr__(self, name, value if isinstance(value, base_value) else constexpr(value))

        @property
        def type(self) -> _aggregate_type:
            return _aggregate_type(Struct, [(n, type_of(getattr(self, n))) for n in names])

        def handles(self) -> list[SSAValue]:
            return [h for n in names for h in getattr(self, n).handles()]

    Struct.__name__, Struct.__qualname__, Struct.__module__ = cls.__name__, cls.__qualname__, cls.__module__
    return Struct
