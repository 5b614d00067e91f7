"""Products onto the matrix unit."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, f16
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from tritonx.backends.tile import Contract, dtype_of, insert_before, replace, shape_of, tile
from tritonx_toy.dialect import MmaOp
from tritonx_toy.matrix_shapes import WIDENED, misfit


@dataclass(frozen=True)
class UseMatrixUnit(ModulePass):
    """`tt.dot` becomes `toy.mma` where the matrix unit takes its tiles. Those of fp8 become float16 first, which holds
    the same numbers. Other products stay what they are, for the vector unit."""

    name = "toy-use-matrix-unit"
    contract = Contract(("tt",), on=("tt.dot",), creates=("toy.mma", "tt.fp_to_fp"))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for dot in [d for d in op.walk() if isinstance(d, tile.DotOp)]:
            widened = [TensorType(f16, shape_of(v.type)) if _is_fp8(v) else v.type for v in (dot.a, dot.b)]
            if misfit(*widened, dot.d.type):
                continue
            operands = [_converted(v, type_, dot) for v, type_ in zip((dot.a, dot.b), widened, strict=True)]
            mma = MmaOp.create(operands=[*operands, dot.c], result_types=[dot.d.type], location=dot.location)
            insert_before(mma, dot)
            replace(dot, mma.results)


def _is_fp8(value: SSAValue) -> bool:
    return dtype_of(value.type).name in WIDENED


def _converted(value: SSAValue, type_: TensorType, before: Operation) -> SSAValue:
    if value.type == type_:
        return value
    conversion = tile.FpToFpOp.create(operands=[value], result_types=[type_], location=before.location)
    insert_before(conversion, before)
    return conversion.results[0]
