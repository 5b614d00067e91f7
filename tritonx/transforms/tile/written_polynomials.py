"""Polynomials over a function's scalars (`analysis/tile_indices`) become ops again."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, SSAValue

from tritonx.analysis.polynomials import Monomial, Polynomial, atom
from tritonx.analysis.tile_indices import Indices, Round, Trips, scalar_of
from tritonx.dialects import arith, tile
from tritonx.ir.builder import Builder
from tritonx.ir.fold.constants import constant_of, width_of
from tritonx.ir.types import type_of


class Writer:
    """Writes polynomials in a function, in an order that does not change from run to run."""

    def __init__(self, function: tile.FuncOp, indices: Indices) -> None:
        self.indices = indices
        self._numbers: dict[object, int] = {}
        for argument in function.body.blocks[0].args:
            self._numbers[argument] = len(self._numbers)
        for op in function.walk():
            arguments = (value for region in op.regions for block in region.blocks for value in block.args)
            for each in (op, *op.results, *arguments):
                self._numbers.setdefault(each, len(self._numbers))

    def ordered(self, values: Iterable[Polynomial]) -> list[Polynomial]:
        """As they follow one another in the text."""
        return sorted(values, key=lambda value: sorted(map(self._order, value.terms)))

    def write(self, builder: Builder, value: Polynomial, type_: Attribute) -> SSAValue:
        """The number, as an integer of the type. A counter of a loop must be known where it is written."""
        value = self._counted(builder, value)
        total: SSAValue | None = None
        for monomial, factor in sorted(value.terms, key=self._order):
            term = self._term(builder, monomial, factor, type_)
            total = term if total is None else builder.emit(arith.AddiOp, (total, term), (type_,))
        return builder.constant(0, type_) if total is None else total

    def _order(self, term: tuple[Monomial, int]) -> tuple[int, list[tuple[int, int]], int]:
        monomial, factor = term
        return len(monomial), sorted((self._number(each), exponent) for each, exponent in monomial), factor

    def _number(self, each: Hashable) -> int:
        return self._numbers.get(each.loop if isinstance(each, Round | Trips) else each, len(self._numbers))

    def _term(self, builder: Builder, monomial: Monomial, factor: int, type_: Attribute) -> SSAValue:
        product: SSAValue | None = None
        for each, exponent in sorted(monomial, key=lambda power: self._number(power[0])):
            for _ in range(exponent):
                scalar = scalar_of(each)
                assert scalar is not None, "counted in scalars"
                value = cast_integer(builder, scalar, type_)
                product = value if product is None else builder.emit(arith.MuliOp, (product, value), (type_,))
        if product is None:
            return builder.constant(factor, type_)
        return product if factor == 1 else builder.emit(
            arith.MuliOp, (product, builder.constant(factor, type_)), (type_,)
        )  # fmt: skip

    def _counted(self, builder: Builder, value: Polynomial) -> Polynomial:
        """With the counters of loops in place of the iterations that these have done; the inner ones first, whose
        bounds may be counted in iterations of the outer ones."""
        while rounds_of := [each for each in value.atoms() if isinstance(each, Round | Trips)]:
            each = max(rounds_of, key=lambda each: (self._number(each), isinstance(each, Trips)))
            rounds, rest = value.over(atom(each))
            step, lower = self.indices.of(each.loop.step), self.indices.of(each.loop.lb)
            assert step is not None and lower is not None, "rounds are counted of loops with bounds that are known"
            if isinstance(each, Round) and len(step.terms) == 1:
                whole, left = rounds.over(step)
                counter = atom(each.loop.body.block.args[0])
                value = whole * (counter - lower) + rest
                rounds = left
            else:
                value = rest
            if rounds.terms:
                value = value + rounds * atom(_rounds(builder, each))
        return value


def _rounds(builder: Builder, each: Round | Trips) -> SSAValue:
    """The iterations that a loop has done, or does: by a division."""
    loop = each.loop
    type_, emit = type_of(loop.lb), builder.emit
    if isinstance(each, Round):
        length = emit(arith.SubiOp, (loop.body.block.args[0], loop.lb), (type_,))
    else:
        end = emit(arith.MaxSIOp, (loop.ub, loop.lb), (type_,))
        length = emit(arith.SubiOp, (end, loop.lb), (type_,))
        if constant_of(loop.step) != 1:
            more = emit(arith.SubiOp, (loop.step, builder.constant(1, type_)), (type_,))
            length = emit(arith.AddiOp, (length, more), (type_,))
    return length if constant_of(loop.step) == 1 else emit(arith.DivUIOp, (length, loop.step), (type_,))


def cast_integer(builder: Builder, value: SSAValue, type_: Attribute) -> SSAValue:
    """A signed number in another type."""
    given = type_of(value)
    if given == type_:
        return value
    if isinstance(given, IndexType) or isinstance(type_, IndexType):
        return builder.emit(arith.IndexCastOp, (value,), (type_,))
    wider = (width_of(type_) or 0) > (width_of(given) or 0)
    return builder.emit(arith.ExtSIOp if wider else arith.TruncIOp, (value,), (type_,))
