"""Grids that begin early: PTX ISA 9.0, section 9.7.13.13 (griddepcontrol). Every thread runs the instruction."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from tritonx.backends.nvidia.emit.mbarrier import assembly
from tritonx.dialects import tile
from tritonx.ir.dispatch import case

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from tritonx.backends.nvidia.emit.machine import NvidiaMachine
    from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter

SINCE = 90
"""Chips before it have no such launches, so that there is nothing to wait for."""


def _dependency(f: FunctionEmitter, what: str) -> None:
    if cast("NvidiaMachine", f.machine).capability >= SINCE:
        assembly(f, f"griddepcontrol.{what};")


def wait(op: tile.GridDependencyWaitOp, f: FunctionEmitter) -> None:
    _dependency(f, "wait")


def launch_dependents(op: tile.GridDependencyLaunchDependentsOp, f: FunctionEmitter) -> None:
    _dependency(f, "launch_dependents")


TABLE: dict[type[Operation], Emit] = {
    **case(tile.GridDependencyWaitOp, wait),
    **case(tile.GridDependencyLaunchDependentsOp, launch_dependents),
}
