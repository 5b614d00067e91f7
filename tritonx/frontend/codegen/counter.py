"""The counter of a loop over a range: bounds and step of one integer type, and how they compare.

A loop runs for the values of Python's ``range`` of the same numbers. Bounds of signed types compare as signed numbers,
and bounds of unsigned types as unsigned ones: ``scf.for unsigned``. A loop that has a signed and an unsigned bound, of
which neither type holds all values of the other, counts how far it is from its begin::

    for i in range(a, b, step)     a: int32, b: uint32
    →  for count in range(0, b - a if a < b else 0, step): i = a + count        (unsigned; a < b as numbers)

A loop with a negative step counts up from its end, and its variable goes the other way.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import IntegerAttr, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue

from tritonx.dialects.arith import AddiOp, AndIOp, CmpiOp, CmpiPredicate, OrIOp, RemUIOp, SelectOp, SubiOp
from tritonx.frontend import errors
from tritonx.frontend.codegen.values import is_many
from tritonx.frontend.semantics.promotion import promote_integers
from tritonx.frontend.semantics.types import ir_type
from tritonx.ir.fold.constants import constant_of
from tritonx.ir.types import i1, i64
from tritonx.language.types.dtypes import dtype
from tritonx.language.values.base import base_value
from tritonx.language.values.constexpr import constexpr, unwrap
from tritonx.language.values.tensor import tensor

if TYPE_CHECKING:
    from tritonx.frontend.codegen.function import FunctionGenerator


@dataclass(frozen=True, slots=True)
class Counter:
    """A loop that counts from ``lower`` up to ``upper`` (excluded) by ``step``, handles of the type ``type``.

    ``unsigned`` says how these compare. The loop variable is the count, or ``origin`` + count where there is an
    ``origin``; under ``down`` it is ``upper - count + lower``, or ``origin`` - count.
    """

    lower: SSAValue
    upper: SSAValue
    step: SSAValue
    type: dtype
    unsigned: bool
    origin: SSAValue | None
    down: bool

    @property
    def properties(self) -> dict[str, Attribute]:
        """Those of the ``scf.for``."""
        return {"unsignedCmp": UnitAttr()} if self.unsigned else {}

    def value(self, gen: FunctionGenerator, count: SSAValue) -> SSAValue:
        """The loop variable in the iteration that counts ``count``."""
        if self.origin is not None:
            return _emit(gen, SubiOp if self.down else AddiOp, self.origin, count)
        return _emit(gen, AddiOp, _emit(gen, SubiOp, self.upper, count), self.lower) if self.down else count

    def is_below(self, gen: FunctionGenerator, a: SSAValue, b: SSAValue) -> SSAValue:
        return _compare(gen, CmpiPredicate.ULT if self.unsigned else CmpiPredicate.SLT, a, b)

    def following(self, gen: FunctionGenerator, count: SSAValue) -> SSAValue:
        """The count of the next iteration; ``upper`` where it is above all numbers of the type."""
        after = _emit(gen, AddiOp, count, self.step)
        if constant_of(self.step) == 1:
            return after  # at most `upper`
        return gen.builder.emit(SelectOp, (self.is_below(gen, count, after), after, self.upper), (after.type,))

    def last_value(self, gen: FunctionGenerator, previous: object) -> tensor:
        """The loop variable after the loop: its value in the last iteration; without one, what it was before, if
        anything."""
        before_end = _emit(gen, SubiOp, self.upper, gen.builder.constant(1, self.upper.type))
        distance = _emit(gen, SubiOp, before_end, self.lower)
        rest = _emit(gen, RemUIOp, distance, self.step)
        last = self.value(gen, _emit(gen, SubiOp, before_end, rest))
        if isinstance(previous, tensor) and previous.type == self.type:
            runs = self.is_below(gen, self.lower, self.upper)
            last = gen.builder.emit(SelectOp, (runs, last, previous.handle), (last.type,))
        return tensor(last, self.type)


def counter_of(gen: FunctionGenerator, node: ast.For, iterable: Any) -> Counter:
    """The counter of the loop over a range."""
    start, end, step = iterable.start, iterable.end, iterable.step
    down = not isinstance(unwrap(step), base_value) and isinstance(unwrap(step), int) and unwrap(step) < 0
    if down:
        start, end, step = end, start, constexpr(-unwrap(step))
    bounds = [gen.semantic.to_tensor(value) for value in (start, end, step)]
    _check(gen, node, bounds)
    type_ = reduce(promote_integers, [bound.dtype for bound in bounds])
    lower, upper, step = (gen.semantic.cast(bound, type_).handle for bound in bounds)
    counter = Counter(lower, upper, step, type_, not type_.is_int_signed(), None, down)
    mixed = counter.unsigned and any(map(_may_be_negative, bounds[:2]))
    return _from_zero(gen, bounds, counter) if mixed else counter


def _check(gen: FunctionGenerator, node: ast.For, bounds: list[tensor]) -> None:
    if not all(bound.dtype.is_int() for bound in bounds):
        types = ", ".join(str(bound.dtype) for bound in bounds)
        raise gen.error(errors.LoopBoundsError, node.iter, f"For loop bounds and step must all be ints, are ({types})")
    for what, bound in zip(("lower bound", "upper bound", "step"), bounds, strict=True):
        if is_many(bound):
            raise gen.error(errors.LoopBoundsError, node.iter, f"For {what} must be a scalar, got {bound.type}")


def _may_be_negative(bound: tensor) -> bool:
    constant = constant_of(bound.handle)
    return bound.dtype.is_int_signed() and (constant is None or int(constant) < 0)


def _from_zero(gen: FunctionGenerator, bounds: list[tensor], counter: Counter) -> Counter:
    """The loop of as many iterations that counts from 0."""
    zero = gen.builder.constant(0, ir_type(counter.type))
    runs = _compare(gen, CmpiPredicate.ULT, counter.lower, counter.upper)
    if _may_be_negative(bounds[0]):
        negative = _compare(gen, CmpiPredicate.SLT, counter.lower, zero)
        if _may_be_negative(bounds[1]):
            runs = _compare(gen, CmpiPredicate.SLT, counter.lower, counter.upper)
        else:
            runs = gen.builder.emit(OrIOp, (negative, runs), (i1,))
    else:
        there_is = _compare(gen, CmpiPredicate.SGE, counter.upper, zero)
        runs = gen.builder.emit(AndIOp, (there_is, runs), (i1,))
    distance = _emit(gen, SubiOp, counter.upper, counter.lower)
    upper = gen.builder.emit(SelectOp, (runs, distance, zero), (zero.type,))
    origin = counter.upper if counter.down else counter.lower
    return Counter(zero, upper, counter.step, counter.type, True, origin, counter.down)


def _emit(gen: FunctionGenerator, op: type[Operation], a: SSAValue, b: SSAValue) -> SSAValue:
    return gen.builder.emit(op, (a, b), (a.type,))


def _compare(gen: FunctionGenerator, how: CmpiPredicate, a: SSAValue, b: SSAValue) -> SSAValue:
    return gen.builder.emit(CmpiOp, (a, b), (i1,), {"predicate": IntegerAttr(how, i64)})
