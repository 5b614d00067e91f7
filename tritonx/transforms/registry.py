"""Every pass by name, and where it lives.

A literal table, so that naming a pass imports nothing and running one imports that one. Backends, those here and those
in packages of their own, add the passes that only they have through the entry-point group ``tritonx.passes``, whose
entries name a ``ModulePass`` subclass under the pass's name.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

ENTRY_POINTS = "tritonx.passes"

PASSES: dict[str, str] = {
    # any level
    "inline": "tritonx.transforms.tile.inline:Inline",
    "fold": "tritonx.transforms.tile.fold:Fold",
    "simplify-control-flow": "tritonx.transforms.tile.control_flow:SimplifyControlFlow",
    "cse": "tritonx.transforms.tile.cse:CommonSubexpressionElimination",
    "licm": "tritonx.transforms.tile.licm:LoopInvariantCodeMotion",
    "dce": "tritonx.transforms.tile.dce:DeadCodeElimination",
    # tt
    "combine": "tritonx.transforms.tile.combine:Combine",
    "reorder-broadcast": "tritonx.transforms.tile.reorder_broadcast:ReorderBroadcast",
    "lift-control-flow": "tritonx.transforms.tile.lift_control_flow:LiftControlFlow",
    "unroll": "tritonx.transforms.tile.unroll:Unroll",
    "rewrite-descriptors": "tritonx.transforms.tile.rewrite_descriptors:RewriteDescriptors",
    "decompose-dots": "tritonx.transforms.gpu.decompose_dots:DecomposeDots",
    "split-dots": "tritonx.transforms.gpu.split_dots:SplitDots",
    # tt -> ttg
    "assign-layouts": "tritonx.conversion.tile_to_gpu.convert:AssignLayouts",
    # ttg
    "recompute-narrow": "tritonx.transforms.gpu.recompute_narrow:RecomputeNarrow",
    "accumulate-in-threads": "tritonx.transforms.gpu.accumulate_in_threads:AccumulateInThreads",
    "buffer-values": "tritonx.transforms.gpu.buffer_values:BufferValues",
    "expand-pipeline": "tritonx.transforms.gpu.expand_pipeline:ExpandPipeline",
    "wait-for-products": "tritonx.transforms.gpu.wait_for_products:WaitForProducts",
    "unroll-loads": "tritonx.transforms.gpu.unroll_loads:UnrollLoads",
    "schedule-loops": "tritonx.transforms.gpu.schedule_loops:ScheduleLoops",
    "stage-dot-operands": "tritonx.transforms.gpu.stage_dot_operands:StageDotOperands",
    "allocate-warp-groups": "tritonx.transforms.gpu.allocate_warp_groups:AllocateWarpGroups",
    "branch-selects": "tritonx.transforms.gpu.branch_selects:BranchSelects",
    "widen-float8": "tritonx.transforms.gpu.widen_float8:WidenFloat8",
    "share-barriers": "tritonx.transforms.gpu.share_barriers:ShareBarriers",
    "exchange-by-matrices": "tritonx.transforms.gpu.exchange_by_matrices:ExchangeByMatrices",
    "make-room": "tritonx.transforms.gpu.make_room:MakeRoom",
    "fuse-operand-loads": "tritonx.transforms.gpu.fuse_operand_loads:FuseOperandLoads",
    "allocate-shared-memory": "tritonx.transforms.gpu.allocate_shared_memory:AllocateSharedMemory",
    "allocate-global-scratch": "tritonx.transforms.gpu.allocate_global_scratch:AllocateGlobalScratch",
    "insert-fences": "tritonx.transforms.gpu.insert_fences:InsertFences",
    "insert-barriers": "tritonx.transforms.gpu.insert_barriers:InsertBarriers",
}


class UnknownPass(Exception):
    """No pass has this name; the message names the closest ones."""

    def __init__(self, name: str) -> None:
        from difflib import get_close_matches

        close = get_close_matches(name, pass_names(), 3)
        meant = f"; did you mean {' or '.join(repr(c) for c in close)}?" if close else ""
        super().__init__(f"unknown pass '{name}'{meant}")
        self.pass_name = name


@cache
def _plugins() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=ENTRY_POINTS)}


def pass_names() -> tuple[str, ...]:
    """The names of all passes, the table's and those of backends and plug-ins, sorted."""
    return tuple(sorted({*PASSES, *_plugins()}))


def find_pass(name: str) -> type[ModulePass]:
    """The class of the pass called ``name``. ``UnknownPass`` where there is none."""
    where = PASSES.get(name)
    if where is not None:
        module, _, attribute = where.partition(":")
        return cast("type[ModulePass]", getattr(import_module(module), attribute))
    entry = _plugins().get(name)
    if entry is None:
        raise UnknownPass(name)
    return cast("type[ModulePass]", entry.load())
