"""``tl.tuple`` and ``tl.slice``: heterogeneous, immutable sequences of values, flattened where they cross a region
or a call.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tritonx.language.values.base import base_type, base_value
from tritonx.language.values.constexpr import constexpr, constexpr_type, unwrap

if TYPE_CHECKING:
    from xdsl.ir import SSAValue


def type_of(value: object) -> Any:
    """The language type of an element of a tuple; anything that is not a value counts as a compile-time constant."""
    return value.type if isinstance(value, base_value) else constexpr_type(value)


class tuple_type(base_type):
    """The types of the elements, and the field names of a named tuple.

    >>> tl.tuple_type([tl.int32, tl.float32]).types
    (triton.language.int32, triton.language.float32)
    """

    def __init__(self, types: Sequence[Any], fields: Sequence[str] | None = None):
        self.types = builtins.tuple(types)
        self.fields = None if fields is None else builtins.tuple(fields)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, constexpr_type):  # what a parameter makes of such a tuple
            constants = self._constants()
            return constants is not None and constexpr_type(constants) == other
        return isinstance(other, tuple_type) and self.types == other.types and self.fields == other.fields

    def __hash__(self) -> int:
        constants = self._constants()
        return hash((self.types, self.fields) if constants is None else constexpr_type(constants))

    def _constants(self) -> builtins.tuple[object, ...] | None:
        """The elements of a plain tuple of compile-time values, else None."""
        if self.fields is not None:
            return None
        found: list[object] = []
        for element in self.types:
            value = element._constants() if isinstance(element, tuple_type) else getattr(element, "value", None)
            if not isinstance(element, tuple_type | constexpr_type) or value is None:
                return None
            found.append(value)
        return builtins.tuple(found)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.types)

    def __len__(self) -> int:
        return len(self.types)

    def __getitem__(self, index: int) -> Any:
        return self.types[index]

    def __str__(self) -> str:
        names = self.fields or [""] * len(self.types)
        return "[" + ",".join(f"{name}:{ty}" for name, ty in zip(names, self.types, strict=True)) + "]"

    def leaves(self) -> list[base_type]:
        return [leaf for ty in self.types for leaf in ty.leaves()]

    def rebuild(self, handles: Iterator[SSAValue]) -> tuple:
        return tuple([ty.rebuild(handles) for ty in self.types], self)

    def mangle(self) -> str:
        return "T" + "_".join(ty.mangle() for ty in self.types) + "T"

    @property
    def cache_key_part(self) -> str:
        return str(self)


class tuple(base_value):
    """A sequence of values. ``+``, ``*``, ``==``, ``len``, iteration, constexpr indices and slices; fields by name
    when named.

    >>> pair = tl.tuple((tl.arange(0, 2), 5))
    >>> pair[0] + pair[1]
    [5, 6]
    """

    values: list[Any]

    def __init__(self, args: Any = (), type: tuple_type | None = None):
        self.values = [*args]
        if type is None:
            fields = getattr(args, "_fields", None) or (args.fields if isinstance(args, tuple) else None)
            type = tuple_type([type_of(v) for v in self.values], fields)
        self.type = type

    @property
    def fields(self) -> builtins.tuple[str, ...] | None:
        """The names of a named tuple's elements, else None."""
        return self.type.fields

    @property
    def _fields(self) -> builtins.tuple[str, ...]:
        if self.type.fields is None:
            raise AttributeError("a plain tuple has no fields")
        return self.type.fields

    def handles(self) -> list[SSAValue]:
        return [h for v in self.values if isinstance(v, base_value) for h in v.handles()]

    def __getattr__(self, name: str) -> Any:
        fields = None if name.startswith("__") else self.__dict__["type"].fields
        if fields is None or name not in fields:
            raise AttributeError(f"'tuple' object has no attribute '{name}'")
        return self.values[fields.index(name)]

    def __getitem__(self, index: Any) -> Any:
        at: Any = unwrap(index)
        if type(at) in (slice, builtins.slice):
            return tuple(self.values[builtins.slice(unwrap(at.start), unwrap(at.stop), unwrap(at.step))])
        if not isinstance(at, int):
            raise TypeError(f"a tuple is indexed with a compile-time integer or slice, not with {at}")
        return self.values[at]

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError("'tuple' object does not support item assignment")

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __add__(self, other: object) -> tuple:
        return tuple([*self.values, *unwrap(other)])

    def __radd__(self, other: object) -> tuple:
        return tuple([*unwrap(other), *self.values])

    def __mul__(self, other: object) -> tuple:
        return tuple(self.values * int(unwrap(other)))

    __rmul__ = __mul__

    def __eq__(self, other: object) -> constexpr:  # type: ignore[override]  # compile-time comparison
        listed: Any = unwrap(other)
        if not isinstance(listed, tuple | builtins.tuple | list):
            return constexpr(False)
        mine, theirs = [unwrap(v) for v in self.values], [unwrap(v) for v in listed]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  # of anything
        return constexpr(len(mine) == len(theirs) and all(bool(a == b) for a, b in zip(mine, theirs, strict=True)))

    def __ne__(self, other: object) -> constexpr:  # type: ignore[override]  # compile-time comparison
        return constexpr(not self == other)

    def __hash__(self) -> int:
        return hash(builtins.tuple(self.values))

    def __contains__(self, item: object) -> bool:
        return any(unwrap(v) == unwrap(item) for v in self.values)

    def __str__(self) -> str:
        return str([str(v) for v in self.values])

    def __repr__(self) -> str:
        return f"({', '.join(repr(v) for v in self.values)})"


class slice_type(base_type):
    """The type of a slice; slices exist at compile time only.

    >>> from tritonx.language.core import slice_type
    >>> slice_type().mangle()
    'slice'
    """

    def leaves(self) -> list[base_type]:
        return []

    def rebuild(self, handles: Iterator[SSAValue]) -> Any:
        raise TypeError("a slice cannot cross a region or a call")

    def mangle(self) -> str:
        return "slice"

    def __str__(self) -> str:
        return "slice_type"


class slice(base_value):
    """``start:stop:step`` of compile-time values.

    >>> tl.arange(0, 8)[2:6]
    [2, 3, 4, 5]
    """

    def __init__(self, start: Any, stop: Any, step: Any):
        self.start: Any = start
        self.stop: Any = stop
        self.step: Any = step
        self.type = slice_type()

    def handles(self) -> list[SSAValue]:
        return []
