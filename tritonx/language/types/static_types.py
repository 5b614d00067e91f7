"""What a type checker takes for what Python has no type for: compile-time values, and operands.

A parameter that is annotated ``tl.constexpr`` is given ints, dtypes, functions and tuples, and used as what it was
given. So for a type checker, which reads this file where a kernel names ``tl.constexpr``, the class is ``Any``, in
annotations and in calls. (An alias of ``Any`` could not be called.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

if TYPE_CHECKING:
    from tritonx.language.values.tensor import tensor

Operand: TypeAlias = "tensor | float"
"""What an operator takes beside a tensor: a tensor, or a Python number (an int is a float for a type checker)."""

Number = TypeVar("Number")
"""What a function gives that gives a number for numbers and a tensor for tensors."""


Values = TypeVar("Values")
"""A block, or blocks in a tuple: what is reduced or scanned, and what that gives."""


def _anything(cls: type) -> type[Any]:
    return cls


@_anything
class constexpr:
    """A value known when the kernel is compiled."""

    def __init__(self, value: object) -> None: ...
