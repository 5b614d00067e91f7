"""The OpenCL stages, top to bottom: ttir → ttgir → llir → spv."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.backends.api import Compilation, EmitStage, Options, Stage, Target
from tritonx_opencl import SHARED_BYTES, SUB_GROUP, OpenCLOptions

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tritonx.conversion.tile_to_gpu.target import GpuTarget


def gpu_target(target: Target, options: Options) -> GpuTarget:
    """The target as the layout stages see it."""
    from tritonx.conversion.tile_to_gpu.target import GpuTarget
    from tritonx_opencl.matrix_unit import MadeUp

    asked = options.num_warps * target.warp_size // SUB_GROUP
    return GpuTarget(
        str(target),
        target.warp_size,
        options.num_warps,
        units=(MadeUp(),) if target.arch == "matrix" else (),
        shared_memory=SHARED_BYTES,
        options=(("num_warps", asked),),
    )


def stages(target: Target, options: Options) -> tuple[Stage, ...]:
    from tritonx.conversion.tile_to_gpu.pipeline import gpu_stage, tile_stage
    from tritonx_opencl.passes import layout_passes, memory_passes, tile_passes

    gpu = gpu_target(target, options)
    return (
        tile_stage(tile_passes()),
        gpu_stage(layout_passes(gpu), memory_passes(gpu)),
        EmitStage("llir", emit_llvm),
        EmitStage("spv", emit_spirv, kind="binary"),
    )


def emit_llvm(module: ModuleOp, compilation: Compilation) -> str:
    """One work item's program as LLVM text; fills in what a launch must know."""
    from tritonx.conversion.gpu_to_llvm.module import ModuleEmitter
    from tritonx.conversion.gpu_to_llvm.table import TABLE
    from tritonx_opencl import arithmetic, spirv
    from tritonx_opencl.machine import OpenCLMachine

    target, options = compilation.target, compilation.options
    machine = OpenCLMachine(target.warp_size, options.num_warps * target.warp_size, spirv.data_layout())
    emitter = ModuleEmitter(module, machine, options, {**TABLE, **arithmetic.TABLE})
    text = emitter.emit()
    compilation.origin = emitter.origin()
    if emitter.shared_bytes > SHARED_BYTES:
        from tritonx.analysis.shared_budget import largest_buffers
        from tritonx.runtime.errors import OutOfResources

        raise OutOfResources(emitter.shared_bytes, SHARED_BYTES, "shared memory", largest_buffers(module))
    compilation.metadata.update(emitter.launch_metadata())
    return text


def emit_spirv(text: str, compilation: Compilation) -> bytes:
    from tritonx.runtime.isolation.translate import translate
    from tritonx_opencl import spirv

    assert isinstance(compilation.options, OpenCLOptions)
    compilation.metadata["name"] = spirv.kernel_name(text)
    compilation.metadata["build_options"] = compilation.options.build_options
    made = translate("spv", "tritonx_opencl.spirv:module_of", text, compilation, apart=True)
    if cannot := made.get("cannot"):
        raise spirv.CannotTranslate(cannot)
    binary = made["spv"]
    assert isinstance(binary, bytes)
    return binary
