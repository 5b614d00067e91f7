"""What Gluon has for NVIDIA GPUs alone."""

from __future__ import annotations

from tritonx.experimental.gluon.semantics.nvidia.blocks import BlockCopySemantics
from tritonx.experimental.gluon.semantics.nvidia.copies import CopySemantics
from tritonx.experimental.gluon.semantics.nvidia.launch_control import LaunchControlSemantics
from tritonx.experimental.gluon.semantics.nvidia.packed import PackedSemantics
from tritonx.experimental.gluon.semantics.nvidia.products import WarpGroupSemantics
from tritonx.experimental.gluon.semantics.nvidia.tensor_products import TensorProductSemantics

__all__ = ["NvidiaSemantics"]


class NvidiaSemantics(
    CopySemantics,
    BlockCopySemantics,
    WarpGroupSemantics,
    TensorProductSemantics,
    PackedSemantics,
    LaunchControlSemantics,
):
    """Every family together."""
