"""What all layouts of Gluon share: how arguments become fields, equality, and a name for each value.

A layout is a value. The annotation of a field says how its argument is read: `int`, `bool`, `list[int]`,
`list[list[int]]` (bases) or another layout, each of them possibly inside a `constexpr`. Sequences of any kind become
lists, so that layouts that say the same are equal.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import Field, fields
from typing import ClassVar, NoReturn, cast

from tritonx.experimental.gluon.layouts.linear import linear_of
from tritonx.experimental.gluon.layouts.views import hardware_view, tensor_view
from tritonx.language.values.constexpr import constexpr_type, unwrap
from tritonx.layouts.encodings import Bases, DistributedEncoding, Ints, SharedEncoding
from tritonx.layouts.errors import LayoutError
from tritonx.layouts.linear import LinearLayout


class GluonLayoutError(LayoutError, AssertionError):
    """The arguments of a layout contradict each other. Triton raises `AssertionError`, which this is as well.

    >>> from tritonx.experimental.gluon.layouts import BlockedLayout
    >>> BlockedLayout([1, 4], [32], [4], [0])
    Traceback (most recent call last):
        ...
    tritonx.experimental.gluon.layouts.base.GluonLayoutError: order of a BlockedLayout has 1 entries, not 2: [0]
    """


def require(condition: bool, message: str) -> None:
    """Raises GluonLayoutError unless the condition holds."""
    if not condition:
        raise GluonLayoutError(message)


def _integer(value: object, what: str) -> int:
    try:
        return int(operator.index(cast("int", unwrap(value))))
    except TypeError:
        raise TypeError(f"{what} must be an integer, got {unwrap(value)!r}") from None


def _truth(value: object, what: str) -> bool:
    value = unwrap(value)
    if value not in (False, True):
        raise TypeError(f"{what} must be True or False, got {value!r}")
    return bool(value)


def _entries(value: object, what: str) -> list[object]:
    value = unwrap(value)
    if not isinstance(value, Iterable) or isinstance(value, str | bytes):
        raise TypeError(f"{what} must be a list, got {value!r}")
    return [*cast("Iterable[object]", value)]


def _ints(value: object, what: str) -> list[int]:
    return [_integer(entry, f"an entry of {what}") for entry in _entries(value, what)]


def _bases(value: object, what: str) -> list[list[int]]:
    return [] if unwrap(value) is None else [_ints(basis, f"a basis of {what}") for basis in _entries(value, what)]


def _layout(value: object, what: str) -> DistributedLayout:
    value = unwrap(value)
    if not isinstance(value, DistributedLayout):
        raise TypeError(f"{what} must be a distributed layout, got {value!r}")
    return value


_READ: dict[str, Callable[[object, str], object]] = {
    "int": _integer,
    "bool": _truth,
    "list[int]": _ints,
    "tuple[int, ...]": lambda value, what: (*_ints(value, what),),
    "list[list[int]]": _bases,
    "DistributedLayout": _layout,
}
"""Annotation of a field → how its argument is read."""


def _name(value: object) -> str:
    """A value in letters, digits and underscores; different values of one annotation have different names."""
    match value:
        case LayoutValue():
            return value.mangle()
        case bool() | None:
            return {True: "T", False: "F", None: "N"}[value]
        case list() | tuple():
            entries = cast("list[object]", value)
            if entries and isinstance(entries[0], list):
                return "".join(f"{_name(basis)}y" for basis in entries)
            return "x".join(map(_name, entries))
        case _:
            return str(value).replace("-", "m")


class LayoutValue:
    """A frozen value of the fields that its class declares: equal to a value of the same class and fields.

    >>> from tritonx.experimental.gluon.layouts import SwizzledSharedLayout
    >>> SwizzledSharedLayout(1, 1, 1, [0]) == SwizzledSharedLayout(1, 1, 1, (tl.constexpr(0),))
    True
    """

    TAG: ClassVar[str]
    """First and last letters of `mangle`, another for each class."""

    def __post_init__(self) -> None:
        for field in self._fields():
            value = unwrap(getattr(self, field.name))
            annotation = str(field.type)
            if value is not None or not annotation.endswith(" | None"):
                read = _READ[annotation.removesuffix(" | None")]
                value = read(value, f"{field.name} of a {type(self).__name__}")
            self._set(field.name, value)

    def _fields(self) -> tuple[Field[object], ...]:
        return fields(self)  # pyright: ignore[reportArgumentType] -- subclasses are dataclasses

    def _set(self, field: str, value: object) -> None:
        """What a constructor may: frozen values have no other writer."""
        object.__setattr__(self, field, value)

    def _values(self) -> list[object]:
        return [getattr(self, field.name) for field in self._fields()]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LayoutValue):
            return NotImplemented
        return type(self) is type(other) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash((type(self), *map(_hashable, self._values())))

    @property
    def type(self) -> constexpr_type:
        """The type of a compile-time value, which a layout is in a kernel."""
        return constexpr_type(self)

    def mangle(self) -> str:
        """A name for the value in letters, digits and underscores; no two values have the same.

        >>> from tritonx.experimental.gluon.layouts import BlockedLayout
        >>> BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0], [[1, 0]]).mangle()
        'B1x4_4x8_4x1_1x0_1x0yB'
        """
        return f"{self.TAG}{'_'.join(map(_name, self._values()))}{self.TAG}"

    def _require_entries(self, count: int, *names: str) -> None:
        """Raises GluonLayoutError unless each of these lists, or each basis in them, has `count` entries."""
        for name in names:
            value = cast("list[int] | list[list[int]]", getattr(self, name))
            bases = [entry for entry in value if isinstance(entry, list)]
            what = f"{name} of a {type(self).__name__}"
            if bases:
                for basis in bases:
                    require(len(basis) == count, f"a basis in {what} has {len(basis)} entries, not {count}: {basis}")
            elif str({f.name: f.type for f in self._fields()}[name]) == "list[int]":
                require(len(value) == count, f"{what} has {len(value)} entries, not {count}: {value}")


def _hashable(value: object) -> object:
    return tuple(map(_hashable, cast("list[object]", value))) if isinstance(value, list) else value


def frozen(values: list[int]) -> Ints:
    """As encodings have it."""
    return tuple(values)


def frozen_bases(bases: list[list[int]]) -> Bases:
    """As encodings have them."""
    return tuple(tuple(basis) for basis in bases)


def is_power_of_two(value: int) -> bool:
    """1, 2, 4, ..."""
    return value > 0 and value & (value - 1) == 0


def sizes_of(shape: Sequence[int]) -> list[int]:
    """A shape whose sizes may be compile-time values."""
    return _ints(shape, "shape")


class ViewedLayout(LayoutValue):
    """A layout that can be written as text for a shape."""

    VIEWED: ClassVar[bool] = True

    def encoding(self) -> DistributedEncoding | SharedEncoding:
        """What a type says of it."""
        raise NotImplementedError(f"{type(self).__name__} does not define its encoding")

    def _linear(self, shape: Sequence[int]) -> LinearLayout:
        if not self.VIEWED:
            raise ValueError(f"{type(self).__name__} cannot be visualized")
        return linear_of(self.encoding(), sizes_of(shape))

    def format_tensor_view(self, shape: Sequence[int]) -> str:
        r"""Who holds each element of a tensor of this shape, in elements; ``T5:2`` is register 2 of thread 5. Of shared
        memory, which element is at each offset. Raises ValueError for what has no text, or cannot lay out the shape.

        >>> from tritonx.experimental.gluon.layouts import BlockedLayout
        >>> print(BlockedLayout([1, 2], [2, 2], [1, 1], [1, 0]).format_tensor_view([2, 4]), end="")
        [[T0:0, T0:1, T1:0, T1:1]
        [ T2:0, T2:1, T3:0, T3:1]]
        """
        return tensor_view(self._linear(shape))

    def format_hardware_view(self, shape: Sequence[int]) -> str:
        """Which element each register of each lane holds, a line for each register of a warp; of shared memory, which
        element is at each offset. Raises ValueError as `format_tensor_view` does.

        >>> from tritonx.experimental.gluon.layouts import BlockedLayout
        >>> print(BlockedLayout([2], [4], [1], [0]).format_hardware_view([8]), end="")
        Warp0:
        (0), (2), (4), (6)
        (1), (3), (5), (7)
        """
        return hardware_view(self._linear(shape))


class DistributedLayout(ViewedLayout):
    """A layout that spreads a tensor over the registers, lanes, warps and blocks of a launch.

    >>> from tritonx.experimental.gluon.layouts import DistributedLayout, SliceLayout
    >>> issubclass(SliceLayout, DistributedLayout)
    True
    """

    @property
    def rank(self) -> int:
        """Dims of the tensors that it lays out."""
        raise NotImplementedError(f"{type(self).__name__} does not define its rank")

    def encoding(self) -> DistributedEncoding:
        """What a tensor's type says of it. Raises TypeError where the compiler chooses the layout, LayoutError where
        there can be no such layout."""
        raise NotImplementedError(f"{type(self).__name__} does not define its encoding")


class SharedLayout(ViewedLayout):
    """A layout that places a tensor in shared memory.

    >>> from tritonx.experimental.gluon.layouts import SharedLayout, SwizzledSharedLayout
    >>> issubclass(SwizzledSharedLayout, SharedLayout)
    True
    """

    def encoding(self) -> SharedEncoding:
        """What a buffer's type says of it. Raises LayoutError where there can be no such layout."""
        raise NotImplementedError(f"{type(self).__name__} does not define its encoding")


def chosen_later(layout: LayoutValue) -> NoReturn:
    """Raises TypeError: the layout stands for one that the compiler chooses."""
    raise TypeError(f"{type(layout).__name__} has no encoding: the compiler has yet to choose the layout")
