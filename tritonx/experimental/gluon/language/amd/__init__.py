"""Gluon for AMD GPUs: layouts of matrix instructions, and what all generations have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tritonx.experimental.gluon.language.amd import cdna3, cdna4, hint, rdna3, rdna4
from tritonx.experimental.gluon.language.amd.warp_pipeline import warp_pipeline_stage
from tritonx.experimental.gluon.language.guard import amd_builtin
from tritonx.experimental.gluon.layouts import AMDMFMALayout, AMDWMMALayout
from tritonx.language.builtins.builtin import INJECTED
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor

if TYPE_CHECKING:
    from tritonx.experimental.gluon.semantics import GluonSemantics

__all__ = ["AMDMFMALayout", "AMDWMMALayout", "cdna3", "cdna4", "hint", "rdna3", "rdna4", "slice", "warp_pipeline_stage"]


@amd_builtin
def slice(
    source: tensor, shape: Sequence[object], offsets: Sequence[object], _semantic: GluonSemantics = INJECTED
) -> tensor:
    """The box of ``shape`` elements of ``source`` from ``offsets`` on, in the same layout: registers that the threads
    hold already. Raises ValueError for a box that is not inside, whose offset is no multiple of its extent, or whose
    elements other threads would have to hold."""
    return _semantic.box_of(source, [unwrap(extent) for extent in shape], [unwrap(offset) for offset in offsets])
