"""A matrix product as emitters see it: tiles to multiply, each in registers or to be read from shared memory."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter
from tritonx.conversion.gpu_to_llvm.shared import registers_of
from tritonx.conversion.gpu_to_llvm.transfer import SharedRegisters
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.dialects import tile
from tritonx.dialects.gpu_layout import LocalDotOp
from tritonx.ir.types import is_tensor, type_of


@dataclass(frozen=True)
class Factor:
    """An operand: the tile's type, and a thread's part of it, which is in registers or loaded where it is first asked
    for."""

    type: TensorType[Attribute]
    held: Tile | SharedRegisters

    @staticmethod
    def of(f: FunctionEmitter, value: SSAValue) -> Factor:
        """Of a tile in registers."""
        type_ = type_of(value)
        assert is_tensor(type_)
        return Factor(type_, f.get(value))


@dataclass(frozen=True)
class DotProduct:
    """`d = a · b + c` of `op`, which is what errors and results are about."""

    op: tile.DotOp | LocalDotOp
    a: Factor
    b: Factor

    @property
    def c(self) -> SSAValue:
        return self.op.c

    @property
    def d(self) -> SSAValue:
        return self.op.d

    @staticmethod
    def of(op: tile.DotOp | LocalDotOp, f: FunctionEmitter) -> DotProduct:
        if isinstance(op, tile.DotOp):
            return DotProduct(op, Factor.of(f, op.a), Factor.of(f, op.b))
        a, b = (
            Factor.of(f, value) if is_tensor(type_of(value)) else Factor(type_, registers_of(f, type_, value))
            for value, type_ in zip((op.a, op.b), op.operand_types, strict=True)
        )
        return DotProduct(op, a, b)
