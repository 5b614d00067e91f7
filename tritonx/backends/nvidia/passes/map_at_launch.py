"""Descriptors that a kernel makes of its arguments alone are left to the launch."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tritonx.analysis.launch_values import launch_values
from tritonx.dialects import tile
from tritonx.dialects.nvidia import TensormapAtLaunchOp
from tritonx.dialects.tile import TensorDescType
from tritonx.dialects.tile.descriptor import OF_POINTERS
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.edit import replace
from tritonx.ir.failure import PassError
from tritonx.ir.types import encoding_of, type_as, type_of
from tritonx.ir.walk import ops_in


@dataclass(frozen=True)
class MapAtLaunch(ModulePass):
    """Leaves the tensor maps of descriptors that are made of arguments to the launch.

    In kernels, a `tt.make_tensor_descriptor` of blocks with an encoding, whose operands are computed of the kernel's
    arguments and constants by integer arithmetic, becomes a `ttng.tensormap_at_launch`. Others stay, and have their
    tensor maps made by the kernel (`copy-blocks`), which may not be of those that stand for pointers."""

    name = "map-at-launch"
    contract = Contract(
        ("ttg",),
        on=("tt.make_tensor_descriptor",),
        creates=("ttng.tensormap_at_launch",),
        after=("encode-descriptors",),
        written=True,
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.ops:
            if not isinstance(function, tile.FuncOp) or not function.is_kernel:
                continue
            made = [inner for inner in ops_in(function) if isinstance(inner, tile.MakeTensorDescOp)]
            if made:
                formulas = launch_values(function)
                for inner in made:
                    if _is_copied(inner) and all(operand in formulas for operand in inner.operands):
                        _leave(inner)
                    elif OF_POINTERS in inner.attributes:
                        raise PassError(inner, "a launch computes integers of arguments and constants only")


def _is_copied(op: tile.MakeTensorDescOp) -> bool:
    return encoding_of(type_as(op.result, TensorDescType).block_type) is not None


def _leave(op: tile.MakeTensorDescOp) -> None:
    builder = Builder.before(op)
    operands, properties = list(op.operands), dict(op.properties)
    made: Operation = builder.create(TensormapAtLaunchOp, operands, (type_of(op.result),), properties)
    if OF_POINTERS in op.attributes:
        made.attributes[OF_POINTERS] = op.attributes[OF_POINTERS]
    replace(op, made.results)
