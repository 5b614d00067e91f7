"""Compile-time values: ``tl.constexpr``.

Arithmetic on two constexprs (or a constexpr and a plain Python value) is Python's own and gives a constexpr; with a
tensor on the other side the operator is left to the tensor.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, cast

from tritonx.kernel.identity import loose
from tritonx.kernel.meaning import meaning
from tritonx.language.values.base import base_type, base_value

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

_operators: Any = operator
"""As a name of any type, since some of its functions are declared without types."""


class constexpr_type(base_type):
    """The type of a constexpr: its value. It has no handles.

    >>> tl.constexpr(3).type
    constexpr_type[3]
    """

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value: Any = unwrap(value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, constexpr_type):
            return NotImplemented
        return loose(_plain(self.value)) == loose(_plain(other.value))

    def __hash__(self) -> int:
        return hash(loose(_plain(self.value)))

    def __repr__(self) -> str:
        return f"constexpr_type[{self.value}]"

    def leaves(self) -> list[base_type]:
        return []

    def rebuild(self, handles: Iterator[SSAValue]) -> constexpr:
        return constexpr(self.value)

    def mangle(self) -> str:
        return f"constexpr_type[{self.value!r}]"

    @property
    def cache_key_part(self) -> str:
        return f"constexpr_type[{meaning(self.value)}]"


def _plain(value: Any) -> Any:
    """A tuple of the language, whose elements are constexprs, as Python's: an argument is one, a literal the other."""
    if type(value).__name__ == "tuple" and getattr(getattr(value, "type", None), "fields", None) is None:
        return tuple([_plain(unwrap(element)) for element in value])
    return value


def _binary(function: Callable[[Any, Any], Any]) -> Callable[[constexpr, Any], Any]:
    def method(self: constexpr, other: object) -> Any:
        if isinstance(other, base_value) and not isinstance(other, constexpr):
            return NotImplemented
        return constexpr(function(self.value, unwrap(other)))

    return method


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[constexpr, Any], Any]:
    def method(self: constexpr, other: object) -> Any:
        if isinstance(other, base_value) and not isinstance(other, constexpr):
            return NotImplemented
        return constexpr(function(unwrap(other), self.value))

    return method


def _unary(function: Callable[[Any], Any]) -> Callable[[constexpr], constexpr]:
    return lambda self: constexpr(function(self.value))


class constexpr(base_value):
    """A value known when the kernel is compiled. ``tl.constexpr(tl.constexpr(5))`` is ``tl.constexpr(5)``.

    >>> half: tl.constexpr = 8 // 2
    >>> tl.arange(0, half)
    [0, 1, 2, 3]
    """

    def __init__(self, value: Any):
        while isinstance(value, constexpr):
            value = value.value
        self.value: Any = value

    @property
    def type(self) -> constexpr_type:
        return constexpr_type(self.value)

    def handles(self) -> list[SSAValue]:
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

    def __contains__(self, item: object) -> bool:
        return unwrap(item) in self.value

    def logical_and(self, other: object) -> constexpr:
        """Python's ``and``."""
        return constexpr(self.value and unwrap(other))

    def logical_or(self, other: object) -> constexpr:
        """Python's ``or``."""
        return constexpr(self.value or unwrap(other))

    __add__ = _binary(_operators.add)
    __radd__ = _reflected(_operators.add)
    __sub__ = _binary(_operators.sub)
    __rsub__ = _reflected(_operators.sub)
    __mul__ = _binary(_operators.mul)
    __rmul__ = _reflected(_operators.mul)
    __truediv__ = _binary(_operators.truediv)
    __rtruediv__ = _reflected(_operators.truediv)
    __floordiv__ = _binary(_operators.floordiv)
    __rfloordiv__ = _reflected(_operators.floordiv)
    __mod__ = _binary(_operators.mod)
    __rmod__ = _reflected(_operators.mod)
    __pow__ = _binary(_operators.pow)
    __rpow__ = _reflected(_operators.pow)
    __and__ = _binary(_operators.and_)
    __rand__ = _reflected(_operators.and_)
    __or__ = _binary(_operators.or_)
    __ror__ = _reflected(_operators.or_)
    __xor__ = _binary(_operators.xor)
    __rxor__ = _reflected(_operators.xor)
    __lshift__ = _binary(_operators.lshift)
    __rlshift__ = _reflected(_operators.lshift)
    __rshift__ = _binary(_operators.rshift)
    __rrshift__ = _reflected(_operators.rshift)
    __lt__ = _binary(_operators.lt)
    __rlt__ = _reflected(_operators.lt)
    __le__ = _binary(_operators.le)
    __rle__ = _reflected(_operators.le)
    __gt__ = _binary(_operators.gt)
    __rgt__ = _reflected(_operators.gt)
    __ge__ = _binary(_operators.ge)
    __rge__ = _reflected(_operators.ge)
    # Comparisons give a constexpr, not a bool, which is what the checker ignores here.
    __eq__ = _binary(_operators.eq)  # pyright: ignore[reportAssignmentType]  # comparing makes a constexpr, not a bool
    __req__ = _reflected(_operators.eq)
    __ne__ = _binary(_operators.ne)  # pyright: ignore[reportAssignmentType]  # comparing makes a constexpr, not a bool
    __rne__ = _reflected(_operators.ne)
    __neg__ = _unary(_operators.neg)
    __pos__ = _unary(_operators.pos)
    __invert__ = _unary(_operators.invert)
    __not__ = _unary(_operators.not_)


def unwrap(o: object) -> Any:
    """The Python value of a constexpr; anything else as it is.

    >>> tl.core._unwrap_if_constexpr(tl.constexpr(3)), tl.core._unwrap_if_constexpr(4)
    (3, 4)
    """
    return o.value if isinstance(o, constexpr) else o


def unwrap_deep(value: object) -> Any:
    """``unwrap`` applied inside lists and tuples too; sequences come back as Python tuples or lists of the same
    kind.
    """
    value = unwrap(value)
    if type(value) is list:
        return [unwrap_deep(v) for v in cast("list[Any]", value)]
    if type(value) is tuple:
        return tuple([unwrap_deep(v) for v in cast("tuple[Any, ...]", value)])
    return value
