"""Undefined behaviour, `ub`: a value that must not be used."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Dialect, ParametrizedAttribute
from xdsl.irdl import IRDLOperation, irdl_attr_definition, prop_def, result_def, traits_def
from xdsl.traits import ConstantLike, IsTerminator

from tritonx.dialects.control_flow import ControlFlow, Nowhere
from tritonx.dialects.effects import HINT, PURE, Effects
from tritonx.dialects.layout_constraints import FROM_SCALARS, NO_TENSORS, LayoutConstraint
from tritonx.ir.define import define


@irdl_attr_definition
class PoisonAttr(ParametrizedAttribute):
    """All of the value is poison."""

    name = "ub.poison"


@define
class PoisonOp(IRDLOperation):
    """A value that may be anything."""

    name = "ub.poison"
    value = prop_def(default_value=PoisonAttr())
    result = result_def()
    traits = traits_def(ConstantLike())
    LAYOUTS: ClassVar[LayoutConstraint] = FROM_SCALARS
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "attr-dict (`<` $value^ `>`)? `:` type($result)"


@define
class UnreachableOp(IRDLOperation):
    """A place that execution never reaches."""

    name = "ub.unreachable"
    traits = traits_def(IsTerminator())
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = HINT
    CONTROL_FLOW: ClassVar[ControlFlow] = Nowhere()
    FORMAT: ClassVar[str] = "attr-dict"


Ub = Dialect("ub", [PoisonOp, UnreachableOp], [PoisonAttr])

__all__ = ["PoisonAttr", "PoisonOp", "Ub", "UnreachableOp"]
