"""What Gluon has for NVIDIA GPUs alone."""

from __future__ import annotations

from tritonx.experimental.gluon.semantics.nvidia.blocks import BlockCopySemantics
from tritonx.experimental.gluon.semantics.nvidia.copies import CopySemantics
from tritonx.experimental.gluon.semantics.nvidia.products import WarpGroupSemantics

__all__ = ["NvidiaSemantics"]


class NvidiaSemantics(CopySemantics, BlockCopySemantics, WarpGroupSemantics):
    """Every family together."""
