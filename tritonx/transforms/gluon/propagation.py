"""Through an op, from the layout of one of its tensors to those of the others.

The constraint that the op declares (`tritonx.dialects.layout_constraints`) decides which function says it. An op with
more than one answer, such as a reshape whose result several layouts fit, gives one of them and says so: `Reached.free`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue

from tritonx.dialects import layout_constraints as constraints
from tritonx.dialects.control_flow import becomes, comes_from
from tritonx.dialects.layout_constraints import LayoutConstraint, LookedUp, constraint_of, values_of
from tritonx.ir.properties import integer_property, integers_property
from tritonx.ir.types import is_tensor, shape_of, type_of
from tritonx.layouts import infer, named
from tritonx.layouts.encodings import DistributedEncoding, SliceEncoding

Forward = Callable[[Operation, DistributedEncoding], "DistributedEncoding | None"]


@dataclass(frozen=True)
class Reached:
    """A value, the encoding that it has if a neighbour has a given one, and whether another one would do as well."""

    value: SSAValue
    encoding: DistributedEncoding
    free: bool = False


def reached_from(value: SSAValue, encoding: DistributedEncoding, done: set[Operation]) -> Iterator[Reached]:
    """The tensors whose layouts follow from a value's.

    `done` are the ops through which nothing else can follow, since all of their tensors have one encoding and have been
    reached; those that this is said of are added."""
    for use in tuple(value.uses):
        op = use.operation
        if op not in done:
            for other in becomes(op, use.index):
                yield Reached(other, encoding)
            yield from _through(op, value, encoding, done)
    for other in comes_from(value):
        yield Reached(other, encoding)
    if not isinstance(value.owner, Block) and value.owner not in done:
        yield from _through(value.owner, value, encoding, done)


def _through(op: Operation, value: SSAValue, encoding: DistributedEncoding, done: set[Operation]) -> Iterator[Reached]:
    constraint = constraint_of(op)
    if isinstance(constraint, constraints.SameLayout | constraints.Broadcast):
        names: tuple[str, ...] = getattr(constraint, "besides", ())
        if not names:
            done.add(op)
            yield from (Reached(other, encoding) for other in _tensors(op))
            return
        apart = {each for name in names for each in values_of(op, name)}
        is_table = isinstance(constraint, LookedUp)
        for other in _tensors(op):
            if is_table:
                yield Reached(other, encoding, (other in apart) != (value in apart))
            elif value not in apart and other not in apart:
                yield Reached(other, encoding)
        return
    rule = RULES.get(type(constraint)) if constraint is not None else None
    if rule is None:
        return
    is_operand = value in op.operands
    beside, across = (op.operands, op.results) if is_operand else (op.results, op.operands)
    yield from (Reached(other, encoding) for other in beside if is_tensor(type_of(other)))
    found = (rule.result if is_operand else rule.operand)(op, encoding)
    if found is not None:
        yield from (Reached(other, found, rule.free) for other in across if is_tensor(type_of(other)))


def _tensors(op: Operation) -> list[SSAValue]:
    return [value for value in (*op.operands, *op.results) if is_tensor(type_of(value))]


@dataclass(frozen=True)
class Rule:
    """The layout of an op's results given that of its operands, and the reverse; None where none follows."""

    result: Forward
    operand: Forward
    free: bool = False
    """Whether other layouts would do as well."""


def _operand_shape(op: Operation) -> tuple[int, ...]:
    return shape_of(type_of(op.operands[0]))


def _result_shape(op: Operation) -> tuple[int, ...]:
    return shape_of(type_of(op.results[0]))


def _slice(op: Operation, encoding: DistributedEncoding) -> DistributedEncoding:
    return SliceEncoding(integer_property(op, "axis"), encoding)


def _parent(op: Operation, encoding: DistributedEncoding) -> DistributedEncoding | None:
    """Only a slice says how the larger tile lies."""
    axis = integer_property(op, "axis")
    return encoding.parent if isinstance(encoding, SliceEncoding) and encoding.dim == axis else None


def _transposed(op: Operation, encoding: DistributedEncoding) -> DistributedEncoding:
    return infer.transposed(encoding, integers_property(op, "order"), _operand_shape(op))


def _transposed_back(op: Operation, encoding: DistributedEncoding) -> DistributedEncoding:
    return infer.transposed_source(encoding, integers_property(op, "order"), _result_shape(op))


def _reshaped(op: Operation, encoding: DistributedEncoding) -> DistributedEncoding:
    return named.reshaped(encoding, _operand_shape(op), _result_shape(op))


def _reshaped_back(op: Operation, encoding: DistributedEncoding) -> DistributedEncoding:
    return named.reshaped(encoding, _result_shape(op), _operand_shape(op))


def _joined(op: Operation, encoding: DistributedEncoding) -> DistributedEncoding:
    return named.joined(encoding, _operand_shape(op))


def _joined_back(op: Operation, encoding: DistributedEncoding) -> DistributedEncoding | None:
    return named.split_from(encoding, _result_shape(op))


def _split(op: Operation, encoding: DistributedEncoding) -> DistributedEncoding | None:
    return named.split_from(encoding, _operand_shape(op))


def _split_back(op: Operation, encoding: DistributedEncoding) -> DistributedEncoding:
    return named.joined(encoding, _result_shape(op))


def _unpacked(op: Operation, encoding: DistributedEncoding) -> DistributedEncoding | None:
    """Not through ops with scales, of which it is unknown."""
    is_alone = len(op.operands) == 1
    return infer.unpacked(encoding, integer_property(op, "axis"), _operand_shape(op)) if is_alone else None


def _unpacked_back(op: Operation, encoding: DistributedEncoding) -> DistributedEncoding | None:
    is_alone = len(op.operands) == 1
    return infer.unpacked_source(encoding, integer_property(op, "axis"), _result_shape(op)) if is_alone else None


RULES: dict[type[LayoutConstraint], Rule] = {
    constraints.Reduced: Rule(_slice, _parent),
    constraints.ExpandDims: Rule(_parent, _slice),
    constraints.PairsUnpacked: Rule(_unpacked, _unpacked_back),
    constraints.Transposed: Rule(_transposed, _transposed_back, free=True),
    constraints.Reshaped: Rule(_reshaped, _reshaped_back, free=True),
    constraints.Joined: Rule(_joined, _joined_back, free=True),
    constraints.SplitApart: Rule(_split, _split_back, free=True),
}
"""Of ops whose tensors have several layouts. Through others nothing follows, as in Triton: `tt.cat`, and ops of vendors
that name parts of tiles."""
