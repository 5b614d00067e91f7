"""The stages from `tt` to an object file, top to bottom."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, cast

from tritonx.backends.api import Compilation, EmitStage, PassStage, Stage, Target
from tritonx.backends.cpu.options import CpuOptions

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


def stages(target: Target, options: CpuOptions) -> tuple[Stage, ...]:
    from tritonx.transforms.tile.pipeline import TILE_PIPELINE

    return (
        PassStage("ttir", TILE_PIPELINE),
        EmitStage("llir", emit_llvm),
        EmitStage("obj", emit_object, "binary"),
    )


def emit_llvm(module: ModuleOp, compilation: Compilation) -> str:
    """Loop nests as LLVM text; fills in the metadata that the driver needs."""
    from tritonx.analysis.written import written_arguments
    from tritonx.backends.cpu.codegen import data_layout
    from tritonx.backends.cpu.host import isa_of
    from tritonx.conversion.tile_to_loops.lower import lower_module
    from tritonx.dialects import tile
    from tritonx.ir.failure import PassError, failure_of
    from tritonx.ir.origin import Origin
    from tritonx.runtime.errors import TritonError

    isa = isa_of(compilation.target)
    functions = [op for op in module.ops if isinstance(op, tile.FuncOp)]
    names = [op.sym_name.data for op in functions]
    compilation.origin = Origin(functions[0] if functions else None)
    written = {name: written_arguments(module, name) for name in names}
    try:
        lowered = lower_module(module, isa, data_layout=data_layout(isa), fuse=compilation.options.enable_fp_fusion)
    except TritonError:
        raise
    except Exception as error:
        raise failure_of(error, "tile-to-loops", "") from (None if isinstance(error, PassError) else error)
    compilation.metadata.update(
        name=lowered.name,
        num_warps=compilation.options.num_warps,
        num_ctas=1,
        shared=0,
        warp_size=1,
        global_scratch_size=0,
        global_scratch_align=1,
        num_threads=cast(CpuOptions, compilation.options).num_threads,
        assertions=lowered.assertions,
        written=written.get(lowered.name, ()),
    )
    return lowered.text


def emit_object(text: str, compilation: Compilation) -> bytes:
    from tritonx.backends.cpu.host import isa_of
    from tritonx.runtime.isolation.translate import isolated, translate

    compilation.metadata["foreign"] = isolated(compilation.origin)
    isa = asdict(isa_of(compilation.target))
    made = translate("obj", "tritonx.backends.cpu.codegen:object_of", text, compilation, isa=isa)["obj"]
    assert isinstance(made, bytes)
    return made
