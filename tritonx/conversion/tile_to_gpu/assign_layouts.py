"""From `tt` to `ttg`: every tile gets the layout that spreads it over the GPU."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr

from tritonx.analysis.axis_info import analyze_axes
from tritonx.analysis.buffers import SHARED_MEMORY
from tritonx.conversion.launch_shape import check_launch_shape
from tritonx.conversion.tile_to_gpu.solve import solve
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.conversion.tile_to_gpu.write import write
from tritonx.dialects import tile
from tritonx.ir.contract import Contract
from tritonx.ir.target_pass import TargetModulePass
from tritonx.ir.types import i32


@dataclass(frozen=True)
class AssignLayouts(TargetModulePass[GpuTarget]):
    """Chooses the layout of every tile and writes it.

    `solve` chooses, `write` writes the layouts and the conversions between them, and records the launch shape in the
    module's attributes. Tiles without uses are removed.

    As text it names a target and compile options, those of the launch shape and those that the backend describes its
    target by: `assign-layouts{target="chip:v1" num_warps=8}`; `tritonx-opt` asks the backend (`from_target`).
    """

    name = "assign-layouts"
    contract = Contract(
        ("tt",),
        leaves="ttg",
        creates=("ttg.convert_layout", "ttg.local_alloc", "ttng.warp_group_dot", "arith"),
        reads=("tt.divisibility",),
        writes=("ttg.num-ctas", "ttg.num-warps", "ttg.target", "ttg.threads-per-warp", "tritonx.shared_memory"),
        needs=("decompose-scaled-dots",),
        after=("rewrite-descriptors", "decompose-dots", "split-dots", "transpose-dots"),
    )

    def chosen(self) -> dict[str, int]:
        return {"num_warps": self.target.num_warps, "num_ctas": self.target.num_ctas}

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = self.target
        check_launch_shape(op, num_warps=target.num_warps, num_ctas=target.num_ctas)
        facts = analyze_axes(op)
        functions = [
            function for function in op.ops if isinstance(function, tile.FuncOp) and function.body.blocks.first
        ]
        assignments = [solve(function, facts, target) for function in functions]
        for function, assignment in zip(functions, assignments, strict=True):
            write(function, assignment)
        op.attributes["ttg.num-ctas"] = IntegerAttr(target.num_ctas, i32)
        op.attributes["ttg.num-warps"] = IntegerAttr(target.num_warps, i32)
        op.attributes["ttg.target"] = StringAttr(target.name)
        op.attributes["ttg.threads-per-warp"] = IntegerAttr(target.warp_size, i32)
        op.attributes[SHARED_MEMORY] = IntegerAttr(target.shared_memory, i32)
