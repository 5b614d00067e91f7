"""The meaning of the kernel language: type rules, and which ops each builtin becomes.

``Semantics(builder, options, target)`` is what every builtin receives as ``_semantic``. One mixin a family. A method
takes and
returns language values (``tritonx.language.values``) and creates ops through ``self.builder`` alone: with the
compiler's builder they become IR, with the interpreter's they run at once. Handles are passed on, never looked into,
except for their ``type``.

Who drives a compile fills in ``generator`` (``tritonx.frontend.semantics.base.Generator``): it inlines calls of jit
functions, which reductions, scans and ``map_elementwise`` need for their combine functions.
"""

from __future__ import annotations

from tritonx.frontend.semantics.atomic import AtomicSemantics
from tritonx.frontend.semantics.base import Generator, IncompatibleTypeErrorImpl
from tritonx.frontend.semantics.control import ControlSemantics
from tritonx.frontend.semantics.debug import DebugSemantics
from tritonx.frontend.semantics.descriptor import DescriptorSemantics
from tritonx.frontend.semantics.dot import DotSemantics
from tritonx.frontend.semantics.dot_scaled import ScaledDotSemantics
from tritonx.frontend.semantics.elementwise import ElementwiseSemantics
from tritonx.frontend.semantics.extern import ExternSemantics
from tritonx.frontend.semantics.indexing import IndexingSemantics
from tritonx.frontend.semantics.types import ir_type, ir_types

__all__ = ["Generator", "IncompatibleTypeErrorImpl", "Semantics", "ir_type", "ir_types"]


class Semantics(
    ElementwiseSemantics,
    AtomicSemantics,
    DotSemantics,
    ScaledDotSemantics,
    IndexingSemantics,
    DescriptorSemantics,
    ExternSemantics,
    ControlSemantics,
    DebugSemantics,
):
    """Every family together; see the module's docstring."""
