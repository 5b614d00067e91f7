"""What Gluon has for AMD GPUs alone."""

from __future__ import annotations

from tritonx.experimental.gluon.semantics.amd.buffers import BufferSemantics
from tritonx.experimental.gluon.semantics.amd.copies import DirectCopySemantics
from tritonx.experimental.gluon.semantics.amd.products import MatrixSemantics

__all__ = ["AmdSemantics"]


class AmdSemantics(DirectCopySemantics, BufferSemantics, MatrixSemantics):
    """Every family together."""
