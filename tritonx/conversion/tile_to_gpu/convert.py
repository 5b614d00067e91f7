"""From `tt` to `ttg`: every tile gets the layout that spreads it over the GPU."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr
from xdsl.passes import ModulePass

from tritonx.analysis.axis_info import analyze_axes
from tritonx.conversion.tile_to_gpu.solve import solve
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.conversion.tile_to_gpu.write import write
from tritonx.dialects import tile
from tritonx.ir.failure import PassError
from tritonx.ir.types import i32


@dataclass(frozen=True)
class AssignLayouts(ModulePass):
    """Chooses the layout of every tile (`solve`), writes them and the conversions between them (`write`), and
    records the launch shape in the module's attributes. Takes `tt`, leaves `ttg`; tiles that nobody uses are removed.

    The fields describe the target (`GpuTarget`); `matrix_types` is a list separated by spaces.
    """

    name = "assign-layouts"

    target: str
    warp_size: int = 32
    num_warps: int = 4
    num_ctas: int = 1
    matrix: str = ""
    matrix_version: int = 0
    matrix_types: str = ""
    matrix_f16_accumulator: bool = False
    matrix_side: int = 0
    operand_packing: int = 1

    @classmethod
    def of(cls, target: GpuTarget) -> AssignLayouts:
        """The pass for a target."""
        return cls(
            target.name,
            target.warp_size,
            target.num_warps,
            target.num_ctas,
            target.matrix,
            target.matrix_version,
            " ".join(sorted(target.matrix_types)),
            target.matrix_f16_accumulator,
            target.matrix_side,
            target.operand_packing,
        )

    def gpu_target(self) -> GpuTarget:
        """The description that the fields make."""
        if self.matrix not in ("", "mma", "mfma", "wmma"):
            raise ValueError(f"no family of matrix instructions is called '{self.matrix}': mma, mfma or wmma")
        return GpuTarget(
            self.target,
            self.warp_size,
            self.num_warps,
            self.num_ctas,
            self.matrix,
            self.matrix_version,
            frozenset(self.matrix_types.split()),
            self.matrix_f16_accumulator,
            matrix_side=self.matrix_side,
            operand_packing=self.operand_packing,
        )

    def _check_launch_shape(self, module: ModuleOp) -> None:
        """What a module says already about the launch is what it is compiled for."""
        for name, wanted in (("ttg.num-warps", self.num_warps), ("ttg.num-ctas", self.num_ctas)):
            found = module.attributes.get(name)
            if isinstance(found, IntegerAttr) and found.value.data != wanted:
                option = name.removeprefix("ttg.").replace("-", "_")
                raise PassError(
                    module,
                    f"the module says {name} = {found.value.data}, the compile options {option} = {wanted}",
                    f"compile with {option}={found.value.data}",
                )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = self.gpu_target()
        self._check_launch_shape(op)
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
