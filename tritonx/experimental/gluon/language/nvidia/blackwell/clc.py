"""Cluster launch control: a block takes over the work of one that has not started."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tritonx.experimental.gluon.values import shared_memory_descriptor
from tritonx.language.builtins.builtin import INJECTED, builtin
from tritonx.language.values.base import base_type, base_value
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tritonx.experimental.gluon.semantics import GluonSemantics

__all__ = ["clc_result", "clc_result_type", "load_result", "try_cancel"]


class clc_result_type(base_type):
    """What the hardware answers, in registers.

    >>> clc_result_type().mangle()
    'CLC'
    """

    def leaves(self) -> Sequence[base_type]:
        return [self]

    def rebuild(self, handles: Iterator[SSAValue]) -> base_value:
        return clc_result(next(handles))

    def __str__(self) -> str:
        return "clc_result"

    def __eq__(self, other: object) -> bool:
        return isinstance(unwrap(other), clc_result_type)

    def __hash__(self) -> int:
        return hash(clc_result_type)

    def mangle(self) -> str:
        return "CLC"


class clc_result(base_value):
    """A value of `clc_result_type`.

    >>> issubclass(clc_result, base_value)
    True
    """

    def __init__(self, handle: SSAValue) -> None:
        self.handle = handle
        self.type = clc_result_type()

    def handles(self) -> list[SSAValue]:
        return [self.handle]

    @builtin
    def is_canceled(self, _semantic: GluonSemantics = INJECTED) -> tensor:
        """Whether a cluster will not begin, whose work is this block's."""
        return _semantic.launch_is_cancelled(self.handle)

    @builtin
    def program_id(self, dim: object, _semantic: GluonSemantics = INJECTED) -> tensor:
        """The number of that cluster along axis ``dim`` (0, 1 or 2) of the grid."""
        return _semantic.cancelled_program(self.handle, unwrap(dim))


@builtin
def try_cancel(
    result: shared_memory_descriptor, barrier: shared_memory_descriptor, _semantic: GluonSemantics = INJECTED
) -> None:
    """Try to keep a cluster from beginning. The answer, 16 bytes, comes to ``result`` (two int64), and its bytes arrive
    at ``barrier``."""
    _semantic.cancel_launch(result, barrier)


@builtin
def load_result(src: shared_memory_descriptor, _semantic: GluonSemantics = INJECTED) -> clc_result:
    """The answer in registers."""
    return clc_result(_semantic.load_cancelled(src))
