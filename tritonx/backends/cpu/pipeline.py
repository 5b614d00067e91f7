"""The stages from `tt` to an object file, top to bottom."""

from __future__ import annotations

from dataclasses import asdict, astuple
from typing import TYPE_CHECKING, cast

from tritonx.backends.api import Compilation, EmitStage, PassStage, Stage, Target
from tritonx.backends.cpu.options import CpuOptions

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass


def stages(target: Target, options: CpuOptions) -> tuple[Stage, ...]:
    from tritonx.transforms.tile.drop_records import DropRecords
    from tritonx.transforms.tile.guard_null_pointers import GuardNullPointers
    from tritonx.transforms.tile.pipeline import TILE_PIPELINE

    passes = checked(TILE_PIPELINE) if options.check_bounds else TILE_PIPELINE
    passes = passes if options.instrumentation_mode else (passes[0], DropRecords(), *passes[1:])
    guards = (GuardNullPointers(),) if options.irregular else ()
    return (
        PassStage("ttir", (*passes, *guards)),
        EmitStage("llir", emit_llvm),
        EmitStage("obj", emit_object, "binary"),
    )


def checked(passes: tuple[ModulePass, ...]) -> tuple[ModulePass, ...]:
    """The passes with one that checks each access, as soon as all of them are through pointers."""
    from tritonx.transforms.tile.check_bounds import CheckBounds
    from tritonx.transforms.tile.rewrite_descriptors import RewriteDescriptors

    after = next(at for at, one in enumerate(passes) if isinstance(one, RewriteDescriptors)) + 1
    return (*passes[:after], CheckBounds(end_program=True), *passes[after:])


def emit_llvm(module: ModuleOp, compilation: Compilation) -> str:
    """Loop nests as LLVM text; fills in the metadata that the driver needs."""
    from tritonx.analysis.checked_accesses import checks_of
    from tritonx.backends.cpu.codegen import data_layout
    from tritonx.backends.cpu.host import isa_of
    from tritonx.conversion.line_info import LineInfo
    from tritonx.conversion.tile_to_loops.lower import lower_module
    from tritonx.dialects import tile
    from tritonx.ir.failure import PassError, failure_of
    from tritonx.ir.origin import Origin
    from tritonx.runtime.errors import TritonError

    isa, options = isa_of(compilation.target), cast(CpuOptions, compilation.options)
    functions = [op for op in module.ops if isinstance(op, tile.FuncOp)]
    compilation.origin = Origin(functions[0] if functions else None)
    try:
        given = {"fuse": options.enable_fp_fusion, "irregular": options.irregular}
        recorded = options.instrumentation_mode
        lines = LineInfo("LineTablesOnly") if options.line_info else None
        lowered = lower_module(module, isa, data_layout=data_layout(isa), recorded=recorded, lines=lines, **given)
    except TritonError:
        raise
    except Exception as error:
        raise failure_of(error, "tile-to-loops", "") from (None if isinstance(error, PassError) else error)
    compilation.metadata.update(
        name=lowered.name,
        num_warps=options.num_warps,
        num_ctas=1,
        shared=0,
        warp_size=1,
        global_scratch_size=0,
        global_scratch_align=1,
        num_threads=options.num_threads,
        otherwise=None if options.irregular else {"irregular": True},
        apart=tuple(map(astuple, lowered.pairs)),
        compared=sorted({place for pair in lowered.pairs for place in (pair.stored, pair.other)}),
        assertions=lowered.assertions,
        **lowered.regions,
        **checks_of(module),
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
