"""Compile-time values: ``tl.constexpr``.

Arithmetic on two constexprs (or a constexpr and a plain Python value) is Python's own and gives a constexpr; with a tensor on
the other side the operator is left to the tensor.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

from tritonx.language.base import base_type, base_value


class constexpr_type(base_type):
    """The type of a constexpr: its value. It has no handles."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = unwrap(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, constexpr_type) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return f"constexpr_type[{self.value}]"

    def leaves(self) -> list[Any]:
        return []

    def rebuild(self, handles: Iterator[Any]) -> constexpr:
        return constexpr(self.value)

    def mangle(self) -> str:
        return repr(self)

    @property
    def cache_key_part(self) -> str:
        return repr(self)


def _binary(function: Callable[[Any, Any], Any]) -> Callable[[constexpr, Any], Any]:
    def method(self: constexpr, other: Any) -> Any:
        if isinstance(other, base_value) and not isinstance(other, constexpr):
            return NotImplemented
        return constexpr(function(self.value, unwrap(other)))

    return method


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[constexpr, Any], Any]:
    def method(self: constexpr, other: Any) -> Any:
        if isinstance(other, base_value) and not isinstance(other, constexpr):
            return NotImplemented
        return constexpr(function(unwrap(other), self.value))

    return method


def _unary(function: Callable[[Any], Any]) -> Callable[[constexpr], constexpr]:
    return lambda self: constexpr(function(self.value))


class constexpr(base_value):
    """A value known when the kernel is compiled. ``tl.constexpr(tl.constexpr(5))`` is ``tl.constexpr(5)``."""

    def __init__(self, value: Any):
        while isinstance(value, constexpr):
            value = value.value
        self.value = value

    @property
    def type(self) -> constexpr_type:
        return constexpr_type(self.value)

    def handles(self) -> list[Any]:
        return []

    def __repr__(self) -> str:
        return f"constexpr[{self.value}]"

    def __hash__(self) -> int:
        return hash((self.value, constexpr))

    def __index__(self) -> int:
        return operator.index(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.value)

    def __len__(self) -> int:
        return len(self.value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.value(*args, **kwargs)

    def __getitem__(self, *args: Any) -> Any:
        return self.value.__getitem__(*[unwrap(a) for a in args])

    def __contains__(self, item: Any) -> bool:
        return unwrap(item) in self.value

    def logical_and(self, other: Any) -> constexpr:
        """Python's ``and``."""
        return constexpr(self.value and unwrap(other))

    def logical_or(self, other: Any) -> constexpr:
        """Python's ``or``."""
        return constexpr(self.value or unwrap(other))

    __add__, __radd__ = _binary(operator.add), _reflected(operator.add)
    __sub__, __rsub__ = _binary(operator.sub), _reflected(operator.sub)
    __mul__, __rmul__ = _binary(operator.mul), _reflected(operator.mul)
    __truediv__, __rtruediv__ = _binary(operator.truediv), _reflected(operator.truediv)
    __floordiv__, __rfloordiv__ = _binary(operator.floordiv), _reflected(operator.floordiv)
    __mod__, __rmod__ = _binary(operator.mod), _reflected(operator.mod)
    __pow__, __rpow__ = _binary(operator.pow), _reflected(operator.pow)
    __and__, __rand__ = _binary(operator.and_), _reflected(operator.and_)
    __or__, __ror__ = _binary(operator.or_), _reflected(operator.or_)
    __xor__, __rxor__ = _binary(operator.xor), _reflected(operator.xor)
    __lshift__, __rlshift__ = _binary(operator.lshift), _reflected(operator.lshift)
    __rshift__, __rrshift__ = _binary(operator.rshift), _reflected(operator.rshift)
    __lt__, __rlt__ = _binary(operator.lt), _reflected(operator.lt)
    __le__, __rle__ = _binary(operator.le), _reflected(operator.le)
    __gt__, __rgt__ = _binary(operator.gt), _reflected(operator.gt)
    __ge__, __rge__ = _binary(operator.ge), _reflected(operator.ge)
    __eq__, __req__ = _binary(operator.eq), _reflected(operator.eq)  # pyright: ignore[reportAssignmentType]  # constexpr, not bool
    __ne__, __rne__ = _binary(operator.ne), _reflected(operator.ne)  # pyright: ignore[reportAssignmentType]  # constexpr, not bool
    __neg__ = _unary(operator.neg)
    __pos__ = _unary(operator.pos)
    __invert__ = _unary(operator.invert)
    __not__ = _unary(operator.not_)


def unwrap(value: Any) -> Any:
    """The Python value of a constexpr; anything else as it is."""
    return value.value if isinstance(value, constexpr) else value


def unwrap_deep(value: Any) -> Any:
    """``unwrap`` applied inside lists and tuples too; sequences come back as Python tuples or lists of the same kind."""
    value = unwrap(value)
    if isinstance(value, list):
        return [unwrap_deep(v) for v in value]
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(unwrap_deep(v) for v in value)
    return value
