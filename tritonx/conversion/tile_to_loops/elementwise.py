"""Elementwise ops on scalars and on vectors alike; what each means is in `conversion.scalar`.

A rule gets its operands as `Lanes` of one width (0: the same value in every lane, computed once as a scalar).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, Operation

from tritonx.conversion.mathlib import emit_scalar_calls
from tritonx.conversion.scalar.floats import computed
from tritonx.conversion.scalar.ops import Ops, Rule, result_element
from tritonx.conversion.scalar.table import TABLE
from tritonx.conversion.tile_to_loops.tables import ElementwiseRule
from tritonx.conversion.tile_to_loops.vector_functions import emit_function
from tritonx.conversion.tile_to_loops.writer import Lanes
from tritonx.dialects import arith, math

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_loops.emitter import Emitter


def on_lanes(rule: Rule) -> ElementwiseRule:
    """A scalar rule as one of this path."""

    def written(e: Emitter, op: Operation, args: list[Lanes]) -> Lanes:
        return Lanes(rule(e.ops(args), op, [a.text for a in args]), args[0].width)

    return written


def _function(name: str) -> ElementwiseRule:
    """A vector function in f32 (and narrower types by way of it), libm's in f64."""

    def rule(e: Emitter, op: Operation, args: list[Lanes]) -> Lanes:
        return call_function(e, name, result_element(op), args)

    return rule


def call_function(e: Emitter, name: str, element: Attribute, args: list[Lanes]) -> Lanes:
    width = args[0].width

    def write(elem: str, x: Sequence[str]) -> str:
        if elem == "double":
            return emit_scalar_calls(e.writer, name, list(x), width, ["double"] * len(x), "double")
        return emit_function(e.writer, name, list(x), width, e.isa)

    return Lanes(computed(e.ops(args), element, [a.text for a in args], write), width)


def _remainder(ops: Ops, op: Operation, x: Sequence[str]) -> str:
    """The C library's function, which is exact."""

    def write(elem: str, v: Sequence[str]) -> str:
        symbol = "fmod" if elem == "double" else "fmodf"
        return emit_scalar_calls(ops.writer, symbol, list(v), ops.width, [elem] * 2, elem)

    return computed(ops, result_element(op), x, write)


ELEMENTWISE: dict[type[Operation], ElementwiseRule] = {
    **{op: on_lanes(rule) for op, rule in TABLE.items()},
    arith.RemFOp: on_lanes(_remainder),
    math.ExpOp: _function("exp"),
    math.Exp2Op: _function("exp2"),
    math.ExpM1Op: _function("expm1"),
    math.LogOp: _function("log"),
    math.Log2Op: _function("log2"),
    math.Log10Op: _function("log10"),
    math.Log1pOp: _function("log1p"),
    math.SinOp: _function("sin"),
    math.CosOp: _function("cos"),
    math.TanOp: _function("tan"),
    math.TanhOp: _function("tanh"),
    math.ErfOp: _function("erf"),
}
