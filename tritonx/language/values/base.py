"""What every type and every value of the kernel language can do.

A value is made of *handles*: the SSA values that stand for it in the IR. A scalar or a block has one, a constexpr
none, a tuple those of its elements in order, a descriptor or a block pointer several. Whoever moves values across a
region boundary or a call takes ``value.handles()``, and puts the value together again with
``value.type.rebuild(iter(handles))``. Handles are opaque here: nothing in ``tritonx.language`` looks inside one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xdsl.ir import SSAValue


class base_type:
    """A type of the kernel language. Equal types have equal ``mangle()`` text, up to the const flag of pointers.

    >>> isinstance(tl.float32, base_type), tl.float32.mangle()
    (True, 'fp32')
    """

    def leaves(self) -> Sequence[base_type]:
        """The types of the handles of a value of this type, in order."""
        raise NotImplementedError

    def rebuild(self, handles: Iterator[SSAValue]) -> base_value:
        """The value whose handles come next in ``handles``."""
        raise NotImplementedError

    def mangle(self) -> str:
        """A short name for symbol names."""
        raise NotImplementedError


class base_value:
    """A value of the kernel language.

    >>> isinstance(tl.constexpr(1), base_value)
    True
    """

    type: Any

    def handles(self) -> list[SSAValue]:
        """The SSA values of this value, in the order of ``type.leaves()``."""
        raise NotImplementedError
