"""Which pointers lead to different arguments of a kernel, whose memory its code takes to be apart."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.ir import BlockArgument, SSAValue

from tritonx.analysis.pointer_sources import roots_of
from tritonx.dialects import tile


@dataclass(frozen=True)
class Separation:
    """Whether different arguments are taken to be apart is ``assumed``."""

    assumed: bool = True
    relied: dict[tuple[SSAValue, SSAValue], None] = field(default_factory=dict[tuple[SSAValue, SSAValue], None])
    """The pointers of accesses, that of a store first, of which the plan takes that they are apart (`distances.py`)."""

    def holds(self, a: SSAValue, b: SSAValue) -> bool:
        """Whether two pointers come from different arguments of the kernel, and these are taken to be apart."""
        first, second = roots_of((a,)), roots_of((b,))
        if not self.assumed or first is None or second is None:
            return False
        return not first & second and all(map(_is_argument, first | second))


def _is_argument(value: SSAValue) -> bool:
    """Of the kernel itself, not of a function that it calls."""
    function = value.block.parent_op() if isinstance(value, BlockArgument) else None
    return isinstance(function, tile.FuncOp) and function.is_kernel
