"""The dialect of what AMD GPUs add to `ttg`, `amdg`: buffer access, slices, microscaling, scheduling; and the two ops
of `rocdl`.
"""

from xdsl.ir import Dialect

from tritonx.dialects.amd.buffer import (
    BufferAtomicCASOp,
    BufferAtomicRMWOp,
    BufferLoadOp,
    BufferLoadToLocalOp,
    BufferStoreOp,
)
from tritonx.dialects.amd.schedule import (
    ArriveBarrierOp,
    AsyncCopyMbarrierArriveOp,
    AsyncWaitOp,
    CondBarrierOp,
    InitBarrierOp,
    InstructionSchedHintOp,
    MemoryCounterWaitOp,
    SchedBarrierOp,
    SchedHint,
    SchedHintVariantAttr,
    SetPrioOp,
    WaitBarrierOp,
)
from tritonx.dialects.amd.shape import (
    ConcatOp,
    ExtractSliceOp,
    InThreadTransposeOp,
    LocalLoadPackedTransposedOp,
    ScaledUpcastFp4Op,
    ScaledUpcastFp8Op,
    UpcastMXFPOp,
)
from tritonx.dialects.amd.tensor_copy import (
    AsyncTDMCopyGlobalToLocalOp,
    AsyncTDMCopyLocalToGlobalOp,
    AsyncTDMWaitOp,
)

Amd = Dialect(
    "amdg",
    [
        BufferLoadOp,
        BufferStoreOp,
        BufferLoadToLocalOp,
        BufferAtomicRMWOp,
        BufferAtomicCASOp,
        CondBarrierOp,
        InstructionSchedHintOp,
        AsyncWaitOp,
        MemoryCounterWaitOp,
        InitBarrierOp,
        WaitBarrierOp,
        ArriveBarrierOp,
        AsyncCopyMbarrierArriveOp,
        ExtractSliceOp,
        ConcatOp,
        InThreadTransposeOp,
        UpcastMXFPOp,
        ScaledUpcastFp4Op,
        ScaledUpcastFp8Op,
        LocalLoadPackedTransposedOp,
        AsyncTDMCopyGlobalToLocalOp,
        AsyncTDMCopyLocalToGlobalOp,
        AsyncTDMWaitOp,
    ],
    [SchedHintVariantAttr],
)

Rocdl = Dialect("rocdl", [SchedBarrierOp, SetPrioOp], [])

__all__ = [
    "Amd",
    "ArriveBarrierOp",
    "AsyncCopyMbarrierArriveOp",
    "AsyncTDMCopyGlobalToLocalOp",
    "AsyncTDMCopyLocalToGlobalOp",
    "AsyncTDMWaitOp",
    "AsyncWaitOp",
    "BufferAtomicCASOp",
    "BufferAtomicRMWOp",
    "BufferLoadOp",
    "BufferLoadToLocalOp",
    "BufferStoreOp",
    "ConcatOp",
    "CondBarrierOp",
    "ExtractSliceOp",
    "InThreadTransposeOp",
    "InitBarrierOp",
    "InstructionSchedHintOp",
    "LocalLoadPackedTransposedOp",
    "MemoryCounterWaitOp",
    "Rocdl",
    "ScaledUpcastFp4Op",
    "ScaledUpcastFp8Op",
    "SchedBarrierOp",
    "SchedHint",
    "SchedHintVariantAttr",
    "SetPrioOp",
    "UpcastMXFPOp",
    "WaitBarrierOp",
]
