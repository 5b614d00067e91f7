"""Floating-point arithmetic, comparisons and extrema.

A type that the target does not compute with is widened to f32, and the result rounded: for +, -, *, / and the root of
f16 and bf16 that is the correctly rounded result, since f32 has more than 2p + 2 of their digits."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Attribute, Operation

from tritonx.conversion.llvm_text import FCMP_PREDICATES
from tritonx.conversion.scalar.conversions import convert
from tritonx.conversion.scalar.ops import Ops, Rule, operand_element, result_element
from tritonx.dialects import arith, tile
from tritonx.ir.properties import stated_number


def computed(ops: Ops, element: Attribute, x: Sequence[str], write: Callable[[str, Sequence[str]], str]) -> str:
    """``write(elem, names)`` in the type in which floats of ``element`` are computed with."""
    if ops.target.computes(element):
        return write(ops.target.held(element), x)
    wide = write("float", [convert(ops, v, element.name, "f32") for v in x])
    return convert(ops, wide, "f32", element.name)


def arithmetic(opcode: str, *, contracts: bool = False) -> Rule:
    """One instruction on floats of the result's type; ``contracts`` where a product and a sum may be one operation."""

    def rule(ops: Ops, op: Operation, x: Sequence[str]) -> str:
        element = result_element(op)
        fused = contracts and ops.target.fuse and ops.target.computes(element)
        word = f"{opcode} contract" if fused else opcode
        return computed(ops, element, x, lambda elem, v: ops.inst(f"{word} {ops.of(elem)} {', '.join(v)}"))

    return rule


def intrinsic(name: str) -> Rule:
    """One of LLVM's functions of the result's type."""
    return lambda ops, op, x: computed(ops, result_element(op), x, lambda elem, v: ops.intrinsic(name, elem, *v))


def compare(ops: Ops, op: arith.CmpfOp, x: Sequence[str]) -> str:
    element, predicate = operand_element(op), FCMP_PREDICATES[op.predicate.value.data]
    if not ops.target.computes(element):
        return ops.binary(f"fcmp {predicate}", "float", *(convert(ops, v, element.name, "f32") for v in x))
    return ops.binary(f"fcmp {predicate}", ops.target.held(element), x[0], x[1])


Extremum = Callable[[Ops, str, str, str], str]
"""(ops, LLVM's type, two values) → one of them."""


def of_all(name: str) -> Extremum:
    """``maximum`` or ``minimum``: NaN where either is."""
    return lambda ops, elem, a, b: ops.intrinsic(name, elem, a, b)


def of_numbers(name: str) -> Extremum:
    """``maximum`` or ``minimum`` of two values of which one may be NaN, which loses; zeros are ordered by their
    signs."""

    def write(ops: Ops, elem: str, a: str, b: str) -> str:
        return ops.intrinsic(f"{name[:3]}num" if ops.target.orders_zeros else f"{name}num", elem, a, b)

    return write


EXTREMA: dict[type[Operation], Extremum] = {
    arith.MaximumfOp: of_all("maximum"),
    arith.MinimumfOp: of_all("minimum"),
    arith.MaxnumfOp: of_numbers("maximum"),
    arith.MinnumfOp: of_numbers("minimum"),
}


def extremum(ops: Ops, op: Operation, x: Sequence[str]) -> str:
    write = EXTREMA[type(op)]
    return computed(ops, result_element(op), x, lambda elem, v: write(ops, elem, v[0], v[1]))


def clamp(ops: Ops, op: tile.ClampFOp, x: Sequence[str]) -> str:
    """min(max(x, low), high): a number wins over NaN, unless ``propagateNan`` is set."""
    of = of_all if op.propagateNan.value.data else of_numbers
    largest, least = of("maximum"), of("minimum")

    def write(elem: str, v: Sequence[str]) -> str:
        return least(ops, elem, largest(ops, elem, v[0], v[1]), v[2])

    return computed(ops, result_element(op), x, write)


def fma(ops: Ops, op: Operation, x: Sequence[str]) -> str:
    """Of narrow floats in f64, where the product and the sum are exact and rounding to odd keeps the single
    rounding."""
    element = result_element(op)
    if ops.target.computes(element):
        return ops.intrinsic("fma", ops.target.held(element), *x)
    exact = ops.intrinsic("fma", "double", *(convert(ops, v, element.name, "f64") for v in x))
    return convert(ops, exact, "f64", element.name)


def reciprocal_root(ops: Ops, elem: str, x: str) -> str:
    return ops.binary("fdiv", elem, ops.splat(elem, "1.0"), ops.intrinsic("sqrt", elem, x))


def rsqrt(ops: Ops, op: Operation, x: Sequence[str]) -> str:
    return computed(ops, result_element(op), x, lambda elem, v: reciprocal_root(ops, elem, v[0]))


def cast(ops: Ops, op: Operation, x: Sequence[str]) -> str:
    """extf, truncf and fp_to_fp."""
    toward_zero = stated_number(op.properties, "rounding") == tile.RoundingMode.RTZ
    return convert(ops, x[0], operand_element(op).name, result_element(op).name, toward_zero=toward_zero)
