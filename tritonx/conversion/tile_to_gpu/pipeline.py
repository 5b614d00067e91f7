"""The passes from `tt` to a `ttg` that can be emitted, in order, for every GPU."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tritonx.backends.api import PassStage
from tritonx.conversion.tile_to_gpu.convert import AssignLayouts
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.ir.types import encoding_of, is_tensor, type_of
from tritonx.transforms.gpu.accumulate_in_threads import AccumulateInThreads
from tritonx.transforms.gpu.allocate_global_scratch import AllocateGlobalScratch
from tritonx.transforms.gpu.allocate_shared_memory import AllocateSharedMemory
from tritonx.transforms.gpu.decompose_dots import DecomposeDots
from tritonx.transforms.gpu.exchange_by_matrices import ExchangeByMatrices
from tritonx.transforms.gpu.insert_barriers import InsertBarriers
from tritonx.transforms.gpu.insert_fences import InsertFences
from tritonx.transforms.gpu.make_room import MakeRoom
from tritonx.transforms.gpu.share_barriers import ShareBarriers
from tritonx.transforms.gpu.split_dots import SplitDots
from tritonx.transforms.gpu.stage_dot_operands import StageDotOperands
from tritonx.transforms.gpu.unroll_loads import UnrollLoads
from tritonx.transforms.gpu.widen_float8 import WidenFloat8
from tritonx.transforms.tile.cse import CommonSubexpressionElimination
from tritonx.transforms.tile.dce import DeadCodeElimination


def layout_pipeline(target: GpuTarget) -> tuple[ModulePass, ...]:
    """`tt` → `ttg`: layouts and what they allow."""
    return (
        DecomposeDots(matrix_types=" ".join(sorted(target.matrix_types))),
        SplitDots(target.shared_memory),
        AssignLayouts(target),
        AccumulateInThreads(),
        UnrollLoads(),
        StageDotOperands(target.shared_memory),
        CommonSubexpressionElimination(),
        DeadCodeElimination(),
    )


def tile_stage(passes: tuple[ModulePass, ...]) -> PassStage:
    """The stage `ttir`; a file that is `ttg` already is beyond it."""
    return PassStage("ttir", passes, lambda module: () if has_layouts(module) else passes)


AFTER_PLACING = (WidenFloat8, AllocateGlobalScratch, InsertFences, InsertBarriers)
"""What a module still needs of `memory_pipeline` whose shared memory is placed."""


def gpu_stage(layouts: tuple[ModulePass, ...], memory: tuple[ModulePass, ...]) -> PassStage:
    """The stage `ttgir`. A file that is `ttg` already needs the `memory` passes only, and where they have placed its
    memory already, or somebody else has, at most barriers; and 8-bit floats that are computed with.
    """

    def pending(module: ModuleOp) -> tuple[ModulePass, ...]:
        if "ttg.shared" in module.attributes:
            return tuple(one for one in memory if isinstance(one, AFTER_PLACING))
        return memory if has_layouts(module) else (*layouts, *memory)

    return PassStage("ttgir", (*layouts, *memory), pending)


def has_layouts(module: ModuleOp) -> bool:
    """Whether a module is `ttg`: its tiles have layouts, or it has no tiles and a launch shape is recorded."""
    tiles = [t for op in module.walk() for t in map(type_of, (*op.results, *op.operands)) if is_tensor(t)]
    if not tiles:
        return "ttg.num-warps" in module.attributes
    return any(encoding_of(type_) is not None for type_ in tiles)


def memory_pipeline(
    target: GpuTarget, *, matrix_loads: bool = False, matrix_stores: bool = False, proxies: bool = False
) -> tuple[ModulePass, ...]:
    """What any `ttg`, ours or a file's, needs before emission: ops that a machine has, offsets in shared memory and
    barriers. The target may have matrix loads and stores (`ExchangeByMatrices`), and units that access shared memory by
    a proxy of their own (`InsertFences`)."""
    return (
        WidenFloat8(),
        ShareBarriers(matrix_loads=matrix_loads, matrix_stores=matrix_stores),
        ExchangeByMatrices(matrix_loads, matrix_stores),
        MakeRoom(target.shared_memory),
        AllocateSharedMemory(target.shared_memory),
        AllocateGlobalScratch(),
        *((InsertFences(),) if proxies else ()),
        InsertBarriers(),
    )
