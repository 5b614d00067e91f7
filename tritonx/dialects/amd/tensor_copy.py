"""Copies of blocks between global and shared memory by the tensor data mover (gfx1250)."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, i1, i32
from xdsl.ir import Attribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.effects import (
    Completion,
    Effect,
    EffectList,
    Effects,
    arrives,
    asynchronous,
    by_op,
    effects,
    reads,
    reads_memory,
    waits,
    writes,
    writes_memory,
)
from tritonx.dialects.gpu_layout.rules import MEMDESC, check_mutable, mem_desc
from tritonx.dialects.gpu_layout.types import ASYNC_TOKEN
from tritonx.dialects.layout_constraints import NO_TENSORS, LayoutConstraint
from tritonx.dialects.tile.types import TensorDescType
from tritonx.ir.define import define


def _check_block(descriptor: Attribute, memory: Attribute, indices: int) -> None:
    assert isinstance(descriptor, TensorDescType)
    if mem_desc(memory).shape != descriptor.shape:
        raise VerifyException(f"descriptor and memory differ in shape: {descriptor} and {memory}")
    if indices != len(descriptor.shape):
        raise VerifyException(f"{descriptor} needs {len(descriptor.shape)} indices, got {indices}")


def _counted(effect: Effect) -> Effect:
    return asynchronous(effect, Completion.TENSOR_COUNTER)


def _block_in(op: AsyncTDMCopyGlobalToLocalOp) -> EffectList:
    told = () if op.barrier is None else (arrives("barrier", Completion.TENSOR_COUNTER),)
    return (_counted(reads("desc")), _counted(writes_memory("result")), *told)


@define
class AsyncTDMCopyGlobalToLocalOp(IRDLOperation):
    """Copies the block at `indices` to shared memory; the barrier, if there is one, is told."""

    name = "amdg.async_tdm_copy_global_to_local"
    desc = operand_def(TensorDescType)
    indices = var_operand_def(i32)
    result = operand_def(MEMDESC)
    pred = operand_def(i1)
    barrier = opt_operand_def(MEMDESC)
    retToken = result_def(ASYNC_TOKEN)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = by_op(_block_in)
    FORMAT: ClassVar[str] = (
        "$desc `[` $indices `]` `into` $result `,` $pred (`,` `barrier` `=` $barrier^)? attr-dict"
        " `:` type($desc) (`,` type($barrier)^)? `->` type($result)"
    )

    def verify_(self) -> None:
        check_mutable(self.result.type)
        _check_block(self.desc.type, self.result.type, len(self.indices))


@define
class AsyncTDMCopyLocalToGlobalOp(IRDLOperation):
    """Copies shared memory to the block at `indices`."""

    name = "amdg.async_tdm_copy_local_to_global"
    desc = operand_def(TensorDescType)
    indices = var_operand_def(i32)
    src = operand_def(MEMDESC)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(_counted(reads_memory("src")), _counted(writes("desc")))
    FORMAT: ClassVar[str] = "$desc `[` $indices `]` `from` $src attr-dict `:` type($src) `->` type($desc)"

    def verify_(self) -> None:
        _check_block(self.desc.type, self.src.type, len(self.indices))


@define
class AsyncTDMWaitOp(IRDLOperation):
    """Waits until at most `num` copies are under way."""

    name = "amdg.async_tdm_wait"
    asyncToken = var_operand_def(ASYNC_TOKEN)
    num = prop_def(IntegerAttr.constr(i32))
    retToken = result_def(ASYNC_TOKEN)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(waits(Completion.TENSOR_COUNTER, "num"))
    FORMAT: ClassVar[str] = "$asyncToken attr-dict"
