"""Undefined behaviour, `ub`: the value nobody may depend on. See `tritonx.ir.derive`."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects import ub as base
from xdsl.ir import Dialect

from tritonx.ir.derive import derive


@derive()
class PoisonOp(base.PoisonOp):
    """A value that may be anything."""

    FORMAT: ClassVar[str] = "attr-dict (`<` $value^ `>`)? `:` type($result)"


@derive()
class UnreachableOp(base.UnreachableOp):
    """A place that execution never reaches."""

    FORMAT: ClassVar[str] = "attr-dict"


Ub = Dialect("ub", [PoisonOp, UnreachableOp], list(base.UB.attributes))

__all__ = ["PoisonOp", "Ub", "UnreachableOp"]
