"""The passes that every backend runs on ``tt`` first, in order."""

from __future__ import annotations

from xdsl.passes import ModulePass

from tritonx.transforms.tile.combine import Combine
from tritonx.transforms.tile.control_flow import SimplifyControlFlow
from tritonx.transforms.tile.cse import CommonSubexpressionElimination
from tritonx.transforms.tile.dce import DeadCodeElimination
from tritonx.transforms.tile.fold import Fold
from tritonx.transforms.tile.inline import Inline
from tritonx.transforms.tile.licm import LoopInvariantCodeMotion
from tritonx.transforms.tile.lift_control_flow import LiftControlFlow
from tritonx.transforms.tile.reorder_broadcast import ReorderBroadcast
from tritonx.transforms.tile.rewrite_descriptors import RewriteDescriptors
from tritonx.transforms.tile.unroll import Unroll

CLEANUP: tuple[ModulePass, ...] = (
    Fold(),
    CommonSubexpressionElimination(),
    DeadCodeElimination(),
)
"""What to run after a pass that leaves constants, equal ops or dead ops behind."""


def tile_pipeline(*, descriptors_to_pointers: bool) -> tuple[ModulePass, ...]:
    """The passes on ``tt``. ``descriptors_to_pointers``: the target cannot read blocks through descriptors itself."""
    return (
        Inline(),
        LiftControlFlow(),
        RewriteDescriptors(block_pointers_only=not descriptors_to_pointers),
        Fold(),
        SimplifyControlFlow(),
        Unroll(),
        Combine(),
        ReorderBroadcast(),
        *CLEANUP,
        LoopInvariantCodeMotion(),
        CommonSubexpressionElimination(),
        DeadCodeElimination(),
    )


TILE_PIPELINE = tile_pipeline(descriptors_to_pointers=True)
"""For targets that know pointers only, such as hosts."""
