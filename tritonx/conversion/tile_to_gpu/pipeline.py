"""The stages from `tt` to a `ttg` that can be emitted, of every GPU: which of a backend's passes a module still needs.
The passes themselves, in order, stand in the backend's `passes.py`."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tritonx.backends.api import PassStage
from tritonx.ir.types import encoding_of, is_tensor, type_of
from tritonx.ir.walk import ops_in
from tritonx.transforms.gpu.allocate_global_scratch import AllocateGlobalScratch
from tritonx.transforms.gpu.branch_selects import BranchSelects
from tritonx.transforms.gpu.fuse_operand_loads import FuseOperandLoads
from tritonx.transforms.gpu.insert_barriers import InsertBarriers
from tritonx.transforms.gpu.insert_fences import InsertFences
from tritonx.transforms.gpu.widen_float8 import WidenFloat8


def tile_stage(passes: tuple[ModulePass, ...]) -> PassStage:
    """The stage `ttir`; a file that is `ttg` already is beyond it.

    >>> from tritonx.backends.gpu import tile_passes
    >>> tile_stage(tile_passes()).name
    'ttir'
    """
    return PassStage("ttir", passes, lambda module: () if has_layouts(module) else passes)


AFTER_PLACING = (BranchSelects, WidenFloat8, FuseOperandLoads, AllocateGlobalScratch, InsertFences, InsertBarriers)
"""What a module still needs of the `memory` passes whose shared memory is placed."""


def gpu_stage(layouts: tuple[ModulePass, ...], memory: tuple[ModulePass, ...]) -> PassStage:
    """The stage `ttgir`. A file that is `ttg` already needs the `memory` passes only, and where they have placed its
    memory already, or somebody else has, at most barriers; and what is done about tiles that are selected and 8-bit
    floats that are computed with.
    """

    def pending(module: ModuleOp) -> tuple[ModulePass, ...]:
        if "ttg.shared" in module.attributes:
            return tuple(one for one in memory if isinstance(one, AFTER_PLACING))
        return memory if has_layouts(module) else (*layouts, *memory)

    return PassStage("ttgir", (*layouts, *memory), pending)


def has_layouts(module: ModuleOp) -> bool:
    """Whether a module is `ttg`: its tiles have layouts, or it has no tiles and a launch shape is recorded."""
    tiles = [t for op in ops_in(module) for t in map(type_of, (*op.results, *op.operands)) if is_tensor(t)]
    if not tiles:
        return "ttg.num-warps" in module.attributes
    return any(encoding_of(type_) is not None for type_ in tiles)
