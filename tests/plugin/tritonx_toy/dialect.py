"""The dialect of a plug-in: an op of its own, which `tritonx-opt` reads and prints because an entry point of
``tritonx.dialects`` names it."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, operand_def, result_def

from tritonx.backends.tile import ELEMENTWISE, PURE, Effects, LayoutConstraint, TypeRules, define, same


@define
class DoubleOp(IRDLOperation):
    """Twice a floating-point number, or twice each of a tile's."""

    name = "toy.double"
    operand = operand_def()
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ELEMENTWISE
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "$operand attr-dict `:` type($result)"
    TYPES: ClassVar[TypeRules] = {"operand": ("result", same)}


Toy = Dialect("toy", [DoubleOp])
