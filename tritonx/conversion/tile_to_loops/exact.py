"""Integer tiles as linear polynomials that equal what the tile's own instructions compute.

The polynomials of `index.py` are for addresses, whose arithmetic is taken not to overflow. What decides a mask may
not rest on that: `offsets < n` holds of an offset that has wrapped to a negative number. So the polynomials here come
with conditions, under which no step of the computation leaves its type. They are stated in i64, whose arithmetic is
exact as long as factors are small (`MAX_FACTOR`) and scalars of 64 bits are (`MAX_SCALAR`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import BlockArgument, Operation, SSAValue

from tritonx.conversion.tile_to_loops.constants import splat_constant
from tritonx.conversion.tile_to_loops.index import (
    CarriedAtom,
    IndexAnalysis,
    IndexAtom,
    Polynomial,
    ScalarAtom,
)
from tritonx.dialects import arith, tile
from tritonx.dialects.control_flow import Carried, carried_argument, carried_result
from tritonx.ir.dispatch import case_in
from tritonx.ir.types import element_type, i32, i64, is_tensor, shape_of

MAX_FACTOR = 1 << 16
"""Factors of scalars and indices, and constants of i64, are not larger."""

MAX_TERMS = 8

MAX_SCALAR = 1 << 40
"""Scalars of 64 bits are smaller where a polynomial is exact. The emitter compares them at run time."""

I32_LIMIT = 1 << 31


@dataclass(frozen=True)
class Exact:
    """A tile's elements are those of ``value`` modulo their type, provided that those of ``in_i32`` lie in an i32."""

    value: Polynomial
    in_i32: tuple[Polynomial, ...] = ()


def linear(polynomial: Polynomial) -> bool:
    """Whether a polynomial is a short sum of atoms with small factors."""
    terms = polynomial.terms
    return len(terms) <= MAX_TERMS and all(
        len(monomial) <= 1 and abs(factor) <= (MAX_FACTOR if monomial else MAX_SCALAR) for monomial, factor in terms
    )


def factor_of(polynomial: Polynomial, dim: int) -> int:
    """The step along a dimension of a linear polynomial."""
    return dict(polynomial.terms).get((IndexAtom(dim),), 0)


def indices_of(polynomial: Polynomial) -> dict[int, int]:
    """The steps along the dimensions that a linear polynomial varies along."""
    return {m[0].dim: c for m, c in polynomial.terms if m and isinstance(m[0], IndexAtom)}


def exact(index: IndexAnalysis, value: SSAValue) -> Exact | None:
    """The polynomial of a scalar or tile of i32 or i64; None where there is none that is linear."""
    if element_type(value.type) not in (i32, i64):
        return None
    found = _exact(index, value)
    return found if found is not None and linear(found.value) else None


def _exact(index: IndexAnalysis, value: SSAValue) -> Exact | None:
    op = value.owner
    constant = splat_constant(op)
    if isinstance(constant, int):
        return Exact(Polynomial.constant(constant))
    if not is_tensor(value.type):
        return Exact(Polynomial.atom(ScalarAtom(value)))
    through = carried_argument(value) if isinstance(value, BlockArgument) else carried_result(value)
    if through is not None:
        return _carried(index, value, through)
    rule = _RULES.get(type(op)) if isinstance(op, Operation) else None
    return rule(index, op) if rule is not None and isinstance(op, Operation) else None


def _carried(index: IndexAnalysis, value: SSAValue, through: Carried) -> Exact | None:
    """A tile that a loop carries as a scalar: where it began, and its advance."""
    if index.carried(through.argument) is None:
        return None
    first = exact(index, through.initial.value)
    return None if first is None else Exact(first.value + Polynomial.atom(CarriedAtom(value)), first.in_i32)


def renamed(polynomial: Polynomial, dims: Mapping[int, int]) -> Polynomial:
    """With dimension d as ``dims[d]``."""
    return polynomial.rename(
        lambda atom: Polynomial.atom(IndexAtom(dims[atom.dim]) if isinstance(atom, IndexAtom) else atom)
    )


def moved_dims(op: Operation) -> dict[int, int]:
    """Where an ``expand_dims``, ``broadcast`` or ``trans`` has the dimensions of its operand."""
    rank = len(shape_of(op.operands[0].type))
    if isinstance(op, tile.ExpandDimsOp):
        axis = op.axis.value.data
        return {d: d + (d >= axis) for d in range(rank)}
    if isinstance(op, tile.TransOp):
        return {int(source): d for d, source in enumerate(op.order.get_values())}
    return {d: d for d in range(rank)}


def _make_range(index: IndexAnalysis, op: tile.MakeRangeOp) -> Exact | None:
    along = Polynomial.atom(IndexAtom(0)) if shape_of(op.result.type)[0] > 1 else Polynomial.constant(0)
    return Exact(along + Polynomial.constant(op.start.value.data))


def _splat(index: IndexAnalysis, op: tile.SplatOp) -> Exact | None:
    return exact(index, op.src)


def _moved(index: IndexAnalysis, op: Operation) -> Exact | None:
    source, dims = exact(index, op.operands[0]), moved_dims(op)
    if source is None:
        return None
    return Exact(renamed(source.value, dims), tuple(renamed(p, dims) for p in source.in_i32))


def _extend(index: IndexAnalysis, op: Operation) -> Exact | None:
    source = exact(index, op.operands[0])
    if source is None or certainly_in_i32(source.value, shape_of(op.operands[0].type)):
        return source
    return Exact(source.value, (*source.in_i32, source.value))


def _binary(
    combine: Callable[[Polynomial, Polynomial], Polynomial | None],
) -> Callable[[IndexAnalysis, Operation], Exact | None]:
    def rule(index: IndexAnalysis, op: Operation) -> Exact | None:
        a, b = exact(index, op.operands[0]), exact(index, op.operands[1])
        found = None if a is None or b is None else combine(a.value, b.value)
        return None if a is None or b is None or found is None else Exact(found, (*a.in_i32, *b.in_i32))

    return rule


def _product(a: Polynomial, b: Polynomial) -> Polynomial | None:
    """One factor is a number: a product of scalars is a scalar, and one of indices is not linear."""
    for one, other in ((a, b), (b, a)):
        number = other.constant_value()
        if number is not None:
            return one.scaled(number)
    return None


_RULES: Mapping[type[Operation], Callable[[IndexAnalysis, Operation], Exact | None]] = {
    **case_in(tile.MakeRangeOp, _make_range),
    **case_in(tile.SplatOp, _splat),
    tile.ExpandDimsOp: _moved,
    tile.BroadcastOp: _moved,
    tile.TransOp: _moved,
    arith.ExtSIOp: _extend,
    arith.AddiOp: _binary(lambda a, b: a + b),
    arith.SubiOp: _binary(lambda a, b: a - b),
    arith.MuliOp: _binary(_product),
}


def certainly_in_i32(polynomial: Polynomial, shape: Sequence[int]) -> bool:
    """Whether a polynomial of i32 scalars lies in an i32 whatever these are: it is one of them, or has none."""
    terms = dict(polynomial.terms)
    if len(terms) == 1:
        (((monomial, factor)),) = terms.items()
        if factor == 1 and monomial and isinstance(monomial[0], ScalarAtom):
            return monomial[0].value.type == i32
    if any(monomial and not isinstance(monomial[0], IndexAtom) for monomial in terms):
        return False
    low, high = reach(polynomial, shape)
    constant = terms.get((), 0)
    return -I32_LIMIT <= constant + low and constant + high < I32_LIMIT


def reach(polynomial: Polynomial, shape: Sequence[int]) -> tuple[int, int]:
    """The least and the greatest sum of a linear polynomial's indices over a tile."""
    steps = [factor * (shape[d] - 1) for d, factor in indices_of(polynomial).items()]
    return sum(s for s in steps if s < 0), sum(s for s in steps if s > 0)
