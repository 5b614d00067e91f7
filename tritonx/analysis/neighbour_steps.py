"""How far neighbouring elements of a tile of indices or pointers are apart, for the most part.

Axis analysis (`axis_info`) says what is certain, so that an access may be wide. Where it finds nothing, something may
still be likely: of `p + r // w % h * stride + r % w`, with any `w`, most neighbours along r lie next to each other in
memory, but for those at the end of a row. Neighbouring threads had better take these, whether or not an access of one
thread can be wide. So this is for choices among layouts, never for what an access may do.

A step is by how much an element exceeds the one before it along a dim; of pointers in elements. A quotient by what is
not known has none mostly, a remainder that of its dividend; what loops carry has that of its first value.

Of a step that is a multiple of something that is not known, such as a stride that is an argument, is told what can be
compared: of `p + i * s0 + j * s1` with s0 divisible by 16 and s1 not, neighbours along j are likelier to be close. Of
two arguments of which no more is known, the later one is taken for the smaller one: kernels get the strides of an array
as the array has them, that of the innermost dim last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from xdsl.ir import BlockArgument, Operation, SSAValue

from tritonx.analysis.axis_info import AxisFacts
from tritonx.dialects import arith, tile
from tritonx.dialects.control_flow import carried_argument
from tritonx.ir.fold.constants import constant_of, integer_of
from tritonx.ir.types import is_tensor, shape_of, type_of


@dataclass(frozen=True, order=True)
class Multiple:
    """`times` a number that is not known. By size, as far as that can be guessed."""

    factors: int
    """How many numbers that are not known it is the product of."""
    times: int
    """What divides it for certain; more than 0."""
    place: int = 0
    """Of an argument of a function: -1 for the first one, and so on; of anything else 0."""


Step = int | Multiple | None
"""None: not known, or not the same mostly."""

DEPTH = 200
"""Ops on the way back that are followed."""

_UNIFORM = (tile.SplatOp, tile.BroadcastOp, tile.ExpandDimsOp)
_AS_THE_OTHER = (arith.MinSIOp, arith.MinUIOp, arith.MaxSIOp, arith.MaxUIOp)
_SUMS = (arith.AddiOp, tile.AddPtrOp)
_QUOTIENTS = (arith.DivSIOp, arith.DivUIOp, arith.FloorDivSIOp)
_REMAINDERS = (arith.RemSIOp, arith.RemUIOp)
_SAME = (arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp, arith.IndexCastOp, tile.BroadcastOp)


class NeighbourSteps:
    """The steps of values, each found once, with the facts of their axis analysis."""

    def __init__(self, facts: AxisFacts) -> None:
        self._facts = facts
        self._known: dict[SSAValue, tuple[Step, ...]] = {}

    def of(self, value: SSAValue) -> tuple[Step, ...]:
        """A step for each dim."""
        return self._of(value, DEPTH)

    def _of(self, value: SSAValue, depth: int) -> tuple[Step, ...]:
        shape = shape_of(type_of(value)) if is_tensor(type_of(value)) else ()
        if not shape or not depth:
            return (None,) * len(shape)
        if value not in self._known:
            self._known[value] = self._find(value, len(shape), depth - 1)
        return self._known[value]

    def _find(self, value: SSAValue, rank: int, depth: int) -> tuple[Step, ...]:
        if isinstance(value, BlockArgument):
            carried = carried_argument(value)
            return (None,) * rank if carried is None else self._of(carried.initial.value, depth)
        op = value.owner
        assert isinstance(op, Operation)
        match op:
            case tile.MakeRangeOp():
                return (1,)
            case tile.SplatOp() | arith.ConstantOp() if isinstance(op, tile.SplatOp) or constant_of(value) is not None:
                return (0,) * rank
            case tile.ExpandDimsOp():
                steps = list(self._of(op.src, depth))
                steps.insert(int(op.axis.value.data), 0)
                return tuple(steps)
            case tile.TransOp():
                steps = self._of(op.src, depth)
                return tuple(steps[int(axis)] for axis in op.order.get_values())
            case _ if isinstance(op, _SAME):
                return self._of(op.operands[0], depth)
            case arith.MuliOp():
                by = [self._factor(operand, depth) for operand in op.operands]
                return self._each(op, depth, lambda a, b: _product(a, b, by[0], by[1]))
            case _ if isinstance(op, _QUOTIENTS):
                divisor = _number(op.operands[1])
                return self._each(op, depth, lambda a, b: _quotient(a, divisor) if b == 0 else None)
            case _ if (combine := _COMBINED.get(type(op))) is not None:
                return self._each(op, depth, combine)
            case _:
                return (None,) * rank

    def _each(self, op: Operation, depth: int, combine: Callable[[Step, Step], Step]) -> tuple[Step, ...]:
        """Of the last two operands, dim by dim."""
        a, b = (self._of(operand, depth) for operand in op.operands[-2:])
        return tuple(map(combine, a, b))

    def _factor(self, value: SSAValue, depth: int) -> int | Multiple:
        """What steps are multiplied by, by a value that does not change along them."""
        value = _uniform(value)
        found = constant_of(value)
        if isinstance(found, int):
            return found
        if isinstance(value.owner, arith.MuliOp) and not is_tensor(type_of(value)) and depth:
            a, b = (self._factor(operand, depth - 1) for operand in value.owner.operands)
            return _scaled(a, b)
        return Multiple(1, self._facts.of(value).every, -1 - _argument(value))


def _argument(value: SSAValue) -> int:
    """The number of an argument of a function; of anything else -1."""
    return value.index if isinstance(value, BlockArgument) and isinstance(value.block.parent_op(), tile.FuncOp) else -1


def _uniform(value: SSAValue) -> SSAValue:
    """What every element is, or what they are in fewer dims."""
    while isinstance(value.owner, _UNIFORM):
        value = value.owner.operands[0]
    return value


def _number(value: SSAValue) -> int | None:
    """The whole number that every element is."""
    return integer_of(_uniform(value))


def _sum(a: Step, b: Step) -> Step:
    if a is None or b is None:
        return None
    if isinstance(a, Multiple):
        return max(a, b) if isinstance(b, Multiple) else a
    return b if isinstance(b, Multiple) else a + b


def _difference(a: Step, b: Step) -> Step:
    return _sum(a, -b if isinstance(b, int) else b)


def _product(a: Step, b: Step, first: int | Multiple, second: int | Multiple) -> Step:
    """Of two factors, one of which does not change."""
    if a is None or b is None:
        return None
    return _scaled(a, second) if b == 0 else _scaled(b, first) if a == 0 else None


def _scaled(a: int | Multiple, b: int | Multiple) -> int | Multiple:
    """The product of two numbers."""
    if isinstance(b, Multiple):
        if isinstance(a, Multiple):
            return Multiple(a.factors + b.factors, a.times * b.times)
        a, b = b, a
    if isinstance(a, Multiple):
        return replace(a, times=a.times * abs(b)) if b else 0
    return a * b


def _quotient(a: Step, divisor: int | None) -> Step:
    if a is None or divisor == 0:
        return None
    if isinstance(a, Multiple):
        return a if divisor in (1, -1) else None
    return 0 if divisor is None else int(a / divisor)


def _remainder(a: Step, b: Step) -> Step:
    return a if b == 0 else None


def _either(a: Step, b: Step) -> Step:
    """Of what is one of the two: where one is the same everywhere, mostly the other."""
    return a if b == 0 or a == b else b if a == 0 else None


_COMBINED: dict[type[Operation], Callable[[Step, Step], Step]] = {
    **dict.fromkeys(_SUMS, _sum),
    arith.SubiOp: _difference,
    **dict.fromkeys(_REMAINDERS, _remainder),
    **dict.fromkeys((*_AS_THE_OTHER, arith.SelectOp), _either),
}
