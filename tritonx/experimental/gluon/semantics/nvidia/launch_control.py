"""Cluster launch control."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, SSAValue

from tritonx.dialects.nvidia import CLCGetProgramIdOp, CLCIsCanceledOp, CLCLoadResultOp, CLCTryCancelOp
from tritonx.dialects.nvidia.launch_control import RESPONSE
from tritonx.dialects.tile.enums import ProgramIDDim
from tritonx.experimental.gluon.language.nvidia.blackwell.clc import clc_result_type
from tritonx.experimental.gluon.semantics.access import AccessSemantics
from tritonx.experimental.gluon.values import shared_memory_descriptor
from tritonx.frontend.semantics.base import enum_attribute
from tritonx.frontend.semantics.types import OTHER_TYPES, ir_type
from tritonx.language.types.dtypes import int1, int32
from tritonx.language.values.tensor import tensor


def _response(type_: object) -> Attribute:
    assert isinstance(type_, clc_result_type)
    return IntegerType(RESPONSE.width.data)


OTHER_TYPES[clc_result_type] = _response


class LaunchControlSemantics(AccessSemantics):
    def cancel_launch(self, result: shared_memory_descriptor, barrier: shared_memory_descriptor) -> None:
        self.builder.create(CLCTryCancelOp, [result.handle, barrier.handle])

    def load_cancelled(self, memory: shared_memory_descriptor) -> SSAValue:
        return self.builder.create(CLCLoadResultOp, [memory.handle], [RESPONSE]).results[0]

    def launch_is_cancelled(self, answer: SSAValue) -> tensor:
        return tensor(self.builder.create(CLCIsCanceledOp, [answer], [ir_type(int1)]).results[0], int1)

    def cancelled_program(self, answer: SSAValue, dim: object) -> tensor:
        if not isinstance(dim, int) or not 0 <= dim < len(ProgramIDDim):
            raise ValueError(f"program_id axis must be 0, 1, or 2 but got {dim}")
        properties = {"dim": enum_attribute(ProgramIDDim(dim))}
        return tensor(self.builder.create(CLCGetProgramIdOp, [answer], [ir_type(int32)], properties).results[0], int32)
