"""Tensor maps that a launch makes for a kernel, in the kernel: a parameter each, behind those of its function.

What a launch must know of them (``tensormaps_at_launch`` of the metadata) is how a block lies in shared memory, as for
a descriptor that it is given, and how base, extents and strides are computed of the arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from tritonx.analysis.launch_bounds import questions_of
from tritonx.analysis.launch_values import launch_values, steps
from tritonx.backends.nvidia.tensor_maps.launch_maps import AtLaunch, MadeRecipe
from tritonx.backends.nvidia.tensor_maps.tensor_map import recipe
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.dialects import tile
from tritonx.dialects.nvidia import (
    AsyncTMACopyGlobalToLocalOp,
    AsyncTMACopyLocalToGlobalOp,
    AsyncTMAReduceOp,
    TensormapAtLaunchOp,
)
from tritonx.dialects.tile import TensorDescType
from tritonx.dialects.tile.descriptor import OF_POINTERS
from tritonx.dialects.tile.enums import PaddingOption
from tritonx.ir.dispatch import case
from tritonx.ir.failure import PassError
from tritonx.ir.types import type_as
from tritonx.ir.walk import ops_in

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter


def maps_of(function: tile.FuncOp) -> list[TensormapAtLaunchOp]:
    """In the order of the parameters."""
    return [op for op in ops_in(function) if isinstance(op, TensormapAtLaunchOp)]


def parameter(number: int) -> str:
    return f"%launch_map{number}"


def at_launch(op: TensormapAtLaunchOp, f: FunctionEmitter) -> None:
    function: Operation | None = op
    while function is not None and not isinstance(function, tile.FuncOp):
        function = function.parent_op()
    if function is None or not f.is_kernel:
        raise PassError(op, "a launch makes tensor maps for its kernel only, not for functions that this calls")
    f.set(op.result, Tile.of("ptr", [parameter(maps_of(function).index(op))]))


def maps_at_launch(module: ModuleOp) -> AtLaunch | None:
    """What the launch must know of the kernel's maps: ``steps`` that compute integers of the arguments
    (`tritonx.analysis.launch_values`), and ``maps``, which name the steps of base, extents, and strides but the last;
    and what it is asked of its programs (`tritonx.analysis.launch_bounds`). None where there are no maps."""
    for function in module.ops:
        if isinstance(function, tile.FuncOp) and (ops := maps_of(function)):
            formulas = launch_values(function)
            for op in ops:
                if not all(operand in formulas for operand in op.operands):
                    raise PassError(op, "a launch computes integers of the kernel's arguments and constants only")
            wanted = [value for op in ops for value in (op.base, *op.shape, *op.strides[:-1])]
            computed, places = steps(formulas, wanted)
            rest = iter(places)
            return {
                "steps": [list(step) for step in computed],
                "maps": [_map(op, rest) for op in ops],
                "asked": [
                    {"steps": [list(step) for step in each.steps], "from_zero": list(each.from_zero)}
                    for each in questions_of(function)
                ],
            }
    return None


def _map(op: TensormapAtLaunchOp, places: Iterator[int]) -> MadeRecipe:
    type_ = type_as(op.result, TensorDescType)
    try:
        known = recipe(type_)
    except ValueError as error:
        raise PassError(op, str(error)) from None
    users = [use.operation for use in op.result.uses]
    return {
        **known,
        "padding": "nan" if op.padding.value.data == PaddingOption.PAD_NAN else "zero",
        "read": not all(isinstance(user, AsyncTMACopyLocalToGlobalOp | AsyncTMAReduceOp) for user in users),
        "written": not all(isinstance(user, AsyncTMACopyGlobalToLocalOp) for user in users),
        "conditional": not isinstance(function := op.parent_op(), tile.FuncOp)
        or op.parent is not function.body.blocks.first,
        "of_pointers": OF_POINTERS in op.attributes,
        "base": next(places),
        "shape": [next(places) for _ in op.shape],
        "strides": [next(places) for _ in op.strides[:-1]],
    }


TABLE: dict[type[Operation], Emit] = {**case(TensormapAtLaunchOp, at_launch)}
