"""The passes on ``tt``, in order: all that the CPU runs, and what a backend starts with."""

from __future__ import annotations

from xdsl.passes import ModulePass

from tritonx.transforms.tile.combine import Combine
from tritonx.transforms.tile.cse import CommonSubexpressionElimination
from tritonx.transforms.tile.dce import DeadCodeElimination
from tritonx.transforms.tile.decompose_scaled_dots import DecomposeScaledDots
from tritonx.transforms.tile.fold import Fold
from tritonx.transforms.tile.inline import Inline
from tritonx.transforms.tile.licm import LoopInvariantCodeMotion
from tritonx.transforms.tile.lift_control_flow import LiftControlFlow
from tritonx.transforms.tile.reorder_broadcast import ReorderBroadcast
from tritonx.transforms.tile.rewrite_descriptors import RewriteDescriptors
from tritonx.transforms.tile.simplify_control_flow import SimplifyControlFlow
from tritonx.transforms.tile.unroll import Unroll

TILE_PIPELINE: tuple[ModulePass, ...] = (
    Inline(),
    LiftControlFlow(),
    RewriteDescriptors(),
    DecomposeScaledDots(),
    Fold(),
    SimplifyControlFlow(),
    Unroll(),
    Combine(),
    ReorderBroadcast(),
    Fold(),
    CommonSubexpressionElimination(),
    DeadCodeElimination(),
    LoopInvariantCodeMotion(),
    CommonSubexpressionElimination(),
    DeadCodeElimination(),
)
"""For targets that know pointers only."""
