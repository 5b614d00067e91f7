"""The meaning of Gluon: `tritonx.frontend.semantics` for blocks that say how they lie in the threads' registers, and
what Gluon has beside the tile language. One mixin a family."""

from __future__ import annotations

from tritonx.experimental.gluon.semantics.amd import AmdSemantics
from tritonx.experimental.gluon.semantics.memory import SharedMemorySemantics
from tritonx.experimental.gluon.semantics.nvidia import NvidiaSemantics
from tritonx.experimental.gluon.semantics.specialise import SpecialiseSemantics

__all__ = ["GluonSemantics"]


class GluonSemantics(SharedMemorySemantics, NvidiaSemantics, AmdSemantics, SpecialiseSemantics):
    """Every family together."""
