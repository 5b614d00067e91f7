"""Cluster launch control (compute capability 10.0): a block takes over the work of one that has not started.

PTX ISA, "clusterlaunchcontrol". No code is generated for these ops."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import IntegerType, i1, i32
from xdsl.irdl import IRDLOperation, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.effects import (
    PURE,
    Completion,
    Effects,
    arrives,
    asynchronous,
    effects,
    reads_memory,
    writes_memory,
)
from tritonx.dialects.gpu_layout.rules import MEMDESC, check_mutable, mem_desc
from tritonx.dialects.layout_constraints import ANY_LAYOUTS, NO_TENSORS, LayoutConstraint
from tritonx.dialects.nvidia.rules import check_barrier
from tritonx.dialects.tile.enums import ProgramIDDim
from tritonx.ir.declaration import enum_prop
from tritonx.ir.define import define
from tritonx.ir.spelling import Spellings, TextLevel
from tritonx.ir.types import i64

RESPONSE = IntegerType(128)
"""What the hardware answers."""


def _check_response(memory: object, what: str) -> None:
    descriptor = mem_desc(memory, what)  # pyright: ignore[reportArgumentType] -- checked there
    if descriptor.shape != (2,) or descriptor.element_type != i64:
        raise VerifyException(f"{what} must be memory of 2xi64, got {memory}")


@define
class CLCTryCancelOp(IRDLOperation):
    """Tries to cancel a cluster that has not started; the answer comes to `result` and counts for `mbarrier`."""

    name = "ttng.clc_try_cancel"
    result = operand_def(MEMDESC)
    mbarrier = operand_def(MEMDESC)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(
        asynchronous(writes_memory("result"), Completion.MBARRIER, "mbarrier"), arrives("mbarrier")
    )
    FORMAT: ClassVar[str] = "$result `,` $mbarrier attr-dict `:` type($result) `,` type($mbarrier)"
    SPELLINGS: ClassVar[Spellings] = Spellings(
        {
            TextLevel.V3_8: "ttng.clc_try_cancel %response, %mbarrier : !ttg.memdesc<2xi64, #shared, #smem, mutable>,"
            " !ttg.memdesc<1xi64, #shared, #smem, mutable>"
        }
    )

    def verify_(self) -> None:
        _check_response(self.result.type, "the response")
        check_mutable(self.result.type, "the response")
        check_barrier(self.mbarrier.type)


@define
class CLCTryCancelSyncOp(IRDLOperation):
    """As `clc_try_cancel`, waiting for the answer."""

    name = "ttng.clc_try_cancel_sync"
    response = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ANY_LAYOUTS
    EFFECTS: ClassVar[Effects] = effects()
    FORMAT: ClassVar[str] = "attr-dict `:` type($response)"
    SPELLINGS: ClassVar[Spellings] = Spellings(
        {TextLevel.V3_9: "%r = ttng.clc_try_cancel_sync : tensor<2xi64, #blocked>"}
    )


@define
class CLCLoadResultOp(IRDLOperation):
    """The answer in registers."""

    name = "ttng.clc_load_result"
    src = operand_def(MEMDESC)
    clcResult = result_def(RESPONSE)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(reads_memory("src"))
    FORMAT: ClassVar[str] = "$src attr-dict `:` type($src) `->` type($clcResult)"
    SPELLINGS: ClassVar[Spellings] = Spellings(
        {TextLevel.V3_8: "%r = ttng.clc_load_result %response : !ttg.memdesc<2xi64, #shared, #smem, mutable> -> i128"}
    )

    def verify_(self) -> None:
        _check_response(self.src.type, "the response")


@define
class CLCIsCanceledOp(IRDLOperation):
    """Whether the answer names a cluster that will not begin."""

    name = "ttng.clc_is_canceled"
    clcResult = operand_def(RESPONSE)
    is_canceled = result_def(i1)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "$clcResult attr-dict `:` type($clcResult) `->` type($is_canceled)"
    SPELLINGS: ClassVar[Spellings] = Spellings({TextLevel.V3_8: "%r = ttng.clc_is_canceled %answer : i128 -> i1"})


@define
class CLCGetProgramIdOp(IRDLOperation):
    """The place of that cluster in the grid, along an axis."""

    name = "ttng.clc_get_program_id"
    clcResult = operand_def(RESPONSE)
    dim = enum_prop(ProgramIDDim)
    result = result_def(i32)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "$clcResult `,` $dim attr-dict `:` type($clcResult) `->` type($result)"
    SPELLINGS: ClassVar[Spellings] = Spellings(
        {TextLevel.V3_8: "%r = ttng.clc_get_program_id %answer, x : i128 -> i32"}
    )
