"""How shared passes have blocks copied by Hopper's unit: `BlockCopies` of this dialect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Attribute, SSAValue

from tritonx.dialects.interfaces import BlockCopies, NewOp
from tritonx.dialects.nvidia.barrier import BarrierExpectOp, InitBarrierOp, InvalBarrierOp, WaitBarrierOp
from tritonx.dialects.nvidia.copy import AsyncTMACopyGlobalToLocalOp


class TensorMapCopies(BlockCopies):
    """By `ttng.async_tma_copy_global_to_local`."""

    def begin(self, barrier: SSAValue) -> NewOp:
        return NewOp(InitBarrierOp, (barrier,), {"count": IntegerAttr(1, i32)})

    def end(self, barrier: SSAValue) -> NewOp:
        return NewOp(InvalBarrierOp, (barrier,))

    def expect(self, barrier: SSAValue, nbytes: int, holds: SSAValue) -> NewOp:
        return NewOp(BarrierExpectOp, (barrier, holds), {"size": IntegerAttr(nbytes, i32)})

    def copy(
        self,
        descriptor: SSAValue,
        indices: Sequence[SSAValue],
        barrier: SSAValue,
        memory: SSAValue,
        holds: SSAValue,
        caching: Mapping[str, Attribute],
    ) -> NewOp:
        return NewOp(AsyncTMACopyGlobalToLocalOp, (descriptor, *indices, barrier, memory, holds), caching)

    def wait(self, barrier: SSAValue, parity: SSAValue, holds: SSAValue) -> NewOp:
        return NewOp(WaitBarrierOp, (barrier, parity, holds))
