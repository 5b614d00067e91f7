"""The part of MLIR's `llvm` dialect that occurs in tile IR: assumptions and loop annotations."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import i1
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, operand_def, traits_def
from xdsl.traits import MemoryWriteEffect

from tritonx.ir.define import define


@define
class AssumeOp(IRDLOperation):
    """Promises that a condition holds. It counts as a write, so that nothing removes it."""

    name = "llvm.intr.assume"
    cond = operand_def(i1)
    traits = traits_def(MemoryWriteEffect())
    FORMAT: ClassVar[str] = "$cond attr-dict `:` type($cond)"


Llvm = Dialect("llvm", [AssumeOp], [])

__all__ = ["AssumeOp", "Llvm"]
