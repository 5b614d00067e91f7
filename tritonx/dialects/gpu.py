"""The few ops of MLIR's `gpu` dialect that Triton's IR uses."""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, result_def

from tritonx.dialects.barriers import GpuBarrierOp as BarrierOp
from tritonx.dialects.effects import PURE, Effects
from tritonx.dialects.layout_constraints import NO_TENSORS, LayoutConstraint
from tritonx.ir.declaration import enum_prop
from tritonx.ir.define import define


class Dimension(IntEnum):
    """An axis of the block or grid."""

    X = 0
    Y = 1
    Z = 2


@define
class ThreadIdOp(IRDLOperation):
    """The thread's index within its block."""

    name = "gpu.thread_id"
    dimension = enum_prop(Dimension)
    result = result_def(IndexType())
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "$dimension attr-dict"


@define
class BlockIdOp(IRDLOperation):
    """The block's index within the grid."""

    name = "gpu.block_id"
    dimension = enum_prop(Dimension)
    result = result_def(IndexType())
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "$dimension attr-dict"


Gpu = Dialect("gpu", [BarrierOp, ThreadIdOp, BlockIdOp], [])

__all__ = ["BarrierOp", "BlockIdOp", "Dimension", "Gpu", "ThreadIdOp"]
