"""Reductions in loops: each thread sums up its own elements, and threads are combined once, after the loop.

    for ...:                                   for ...:
      x = load ...          : [32, 128]          x = load ...
      s = reduce(x, axis 0) : [128]              own = reduce(reshape(x), own elements) : [4, 128]
      acc = acc + s                              acc = acc + own
                                               acc = init + reduce(acc, axis 0)

What stays in the loop touches only a thread's registers; the shuffles and barriers of a reduction over lanes and
warps are done once. The tile is reshaped so that the bits of the axis that a thread holds itself are dims of their
own; no element moves. In an unrolled loop several reductions are added one after another; each becomes a thread's own.

A sum may be multiplied on its way, as the running sum of a softmax is: `acc = acc * f + reduce(x)`. Each thread's part
is multiplied by the same factor then, where that is known to be from 0 to 1 (with an infinite one a part of 0 would
become NaN), and the initial value, a constant then, is carried with the parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from tritonx.analysis.combiner import combiner
from tritonx.analysis.factors import is_at_most_one
from tritonx.dialects import arith, scf, tile
from tritonx.dialects.control_flow import Carried, carried_by
from tritonx.dialects.gpu_layout import ConvertLayoutOp, attribute_of, distributed_encoding
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.edit import clone_region, erase, set_type
from tritonx.ir.fold.constants import constant_of
from tritonx.ir.types import bit_width, element_type, i32, is_tensor, shape_of, tensor, type_of
from tritonx.ir.walk import ops_in
from tritonx.layouts import axis_bits, infer, linear_layout
from tritonx.layouts.encodings import Ints

Number = int | float


NEUTRAL: dict[type[Operation], Callable[[int], Number]] = {
    arith.AddfOp: lambda bits: 0.0,
    arith.AddiOp: lambda bits: 0,
    arith.MulfOp: lambda bits: 1.0,
    arith.MuliOp: lambda bits: 1,
    arith.MaximumfOp: lambda bits: -math.inf,
    arith.MinimumfOp: lambda bits: math.inf,
    arith.MaxnumfOp: lambda bits: -math.inf,
    arith.MinnumfOp: lambda bits: math.inf,
    arith.MaxSIOp: lambda bits: -(1 << (bits - 1)),
    arith.MinSIOp: lambda bits: (1 << (bits - 1)) - 1,
    arith.MaxUIOp: lambda bits: 0,
    arith.MinUIOp: lambda bits: -1,
    arith.AndIOp: lambda bits: -1,
    arith.OrIOp: lambda bits: 0,
    arith.XOrIOp: lambda bits: 0,
}
"""Ops that may be regrouped, each with the number that changes nothing, given the width of an element."""


@dataclass(frozen=True)
class AccumulateInThreads(ModulePass):
    """Combines threads behind a loop that only adds up a reduction's results, not in it.

    The part of the reduction that crosses threads moves out of a loop that accumulates its result with the op that it
    reduces by. Floating-point sums are regrouped, as any reduction regroups them."""

    name = "accumulate-in-threads"
    contract = Contract(
        ("ttg",),
        on=("scf.for",),
        creates=("tt.expand_dims", "tt.reshape", "tt.broadcast", "tt.splat", "ttg.convert_layout", "arith"),
        needs=("assign-layouts",),
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in ops_in(op):
            if isinstance(inner, scf.ForOp):
                for carried in carried_by(inner):
                    found = _find(inner, carried)
                    if found is not None:
                        _rewrite(inner, carried, found)


@dataclass(frozen=True)
class _Step:
    """An op that adds a reduction to what the loop carries, or multiplies it by a factor."""

    update: Operation
    part: SSAValue
    """The other operand: the result of the reduction, or the factor."""
    reduce: tile.ReduceOp | None

    @property
    def source(self) -> SSAValue:
        """The carried value, in front of this step."""
        return next(operand for operand in self.update.operands if operand is not self.part)


@dataclass(frozen=True)
class _Accumulation:
    """`acc = combine(… combine(combine(acc, reduce), reduce) …)` in a loop, where nothing else uses any of them."""

    steps: tuple[_Step, ...]
    """In the order in which they are done: several in an unrolled loop."""
    split: tuple[tuple[int, bool], ...]
    """The axis as (extent, whether a thread holds all of it) of its parts, slowest first."""
    initial: Number | None
    """Of each part, where these are multiplied as well; None for what changes nothing."""

    @property
    def reductions(self) -> list[tuple[tile.ReduceOp, Operation]]:
        return [(step.reduce, step.update) for step in self.steps if step.reduce is not None]


def _find(loop: scf.ForOp, through: Carried) -> _Accumulation | None:
    argument = through.argument
    if not _used_once(argument):
        return None
    value = through.yielded.value
    steps: list[_Step] = []
    while value is not argument:
        step = _step(loop, value)
        if step is None:
            return None
        steps.insert(0, step)
        value = step.source
    reductions = [(step.reduce, step.update) for step in steps if step.reduce is not None]
    if not reductions:
        return None
    first, combine = reductions[0][0], reductions[0][1].__class__
    if any(u.__class__ is not combine or not _alike(r, first) for r, u in reductions):
        return None
    split = _own_parts(first)
    if split is None:
        return None
    if len(reductions) == len(steps):
        return _Accumulation(tuple(steps), split, None)
    initial = _share(constant_of(through.initial.value), math.prod(extent for extent, own in split if not own))
    return None if initial is None or combine is not arith.AddfOp else _Accumulation(tuple(steps), split, initial)


def _share(initial: object, parts: int) -> Number | None:
    """What so many parts of a sum (a power of two) begin with, if that is the same number in every format."""
    if not isinstance(initial, float):
        return None
    return initial / parts if not initial or SMALLEST <= abs(initial / parts) < math.inf else None


SMALLEST = 2.0**-14
"""The smallest normal number of f16, and no smaller than that of a wider format."""


def _step(loop: scf.ForOp, value: SSAValue) -> _Step | None:
    """The op that makes `value` by adding a reduction, and that reduction; or by multiplying."""
    update = value.owner
    if not isinstance(update, Operation) or update.__class__ not in NEUTRAL or update.parent is not loop.body.block:
        return None
    if not _used_once(value) or update.operands[0] is update.operands[1]:
        return None
    for reduced in update.operands:
        reduce = reduced.owner
        if (
            isinstance(reduce, tile.ReduceOp)
            and reduce.parent is loop.body.block
            and len(reduce.operands) == 1
            and _used_once(reduced)
            and combiner(reduce) is update.__class__
        ):
            return _Step(update, reduced, reduce)
    if isinstance(update, arith.MulfOp):
        return next((_Step(update, factor, None) for factor in update.operands if is_at_most_one(factor)), None)
    return None


def _alike(one: tile.ReduceOp, other: tile.ReduceOp) -> bool:
    """Whether two reductions take tiles of one type along one axis."""
    return one.operands[0].type == other.operands[0].type and one.axis == other.axis


def _used_once(value: SSAValue) -> bool:
    first = value.first_use
    return first is not None and len(list(value.uses)) == 1


def _own_parts(op: tile.ReduceOp) -> tuple[tuple[int, bool], ...] | None:
    """The axis cut where its bits change between registers and threads; None where threads have no part, or all is
    mixed.
    """
    type_ = type_of(op.operands[0])
    axis = op.axis.value.data
    bits = axis_bits(linear_layout(distributed_encoding(type_), shape_of(type_)), axis)
    if bits is None or bits.blocks or not (bits.lanes or bits.warps):
        return None
    own = {step for _, step in bits.registers}
    parts: list[tuple[int, bool]] = []
    step = 1
    while step < shape_of(type_)[axis]:
        mine = step in own
        if parts and parts[0][1] == mine:
            parts[0] = (parts[0][0] * 2, mine)
        else:
            parts.insert(0, (2, mine))
        step *= 2
    return tuple(parts)


def _rewrite(loop: scf.ForOp, through: Carried, found: _Accumulation) -> None:
    argument, initial, result = through.argument, through.initial.value, through.result
    old_type = type_of(result)
    own = {reduce: _own_part(reduce, found.split) for reduce, _ in found.reductions}
    like, last = found.reductions[-1]
    combine, properties = last.__class__, dict(last.properties)
    axis, kept = like.axis.value.data, own[like][1]
    type_ = type_of(own[like][0])
    carried: SSAValue = argument
    for step in found.steps:
        builder = builder_after(step.update)
        part = own[step.reduce][0] if step.reduce is not None else _spread(builder, step.part, type_, axis, kept)
        operands = [part if v is step.part else carried for v in step.update.operands]
        carried = builder.create(step.update.__class__, operands, (type_,), dict(step.update.properties)).results[0]
    through.yielded.set(carried)
    begun = NEUTRAL[combine](bit_width(type_)) if found.initial is None else found.initial
    through.initial.set(Builder.before(loop).constant(begun, type_))
    for step in reversed(found.steps):
        erase(step.update)
        if step.reduce is not None and step.reduce is not like:
            erase(step.reduce)
    set_type(argument, type_)
    set_type(result, type_)
    uses = list(result.uses)
    builder = builder_after(loop)
    # Behind the loop: threads combined, the layout the old one, the initial value added.
    value: SSAValue = result
    for _ in range(kept):
        value = _reduced(builder, like, value, axis)
    erase(like)
    if is_tensor(old_type) and type_of(value) != old_type:
        value = builder.create(ConvertLayoutOp, (value,), (old_type,)).results[0]
    if found.initial is None:
        value = builder.create(combine, (initial, value), (old_type,), properties).results[0]
    for use in uses:
        use.operation.operands[use.index] = value


def _spread(builder: Builder, factor: SSAValue, type_: Attribute, axis: int, kept: int) -> SSAValue:
    """A result's factor for each of the parts, dims from `axis` on, that threads keep of it."""
    if not is_tensor(type_of(factor)):
        return builder.create(tile.SplatOp, (factor,), (type_,)).results[0]
    shape, element = shape_of(type_), element_type(type_)
    encodings = [distributed_encoding(type_)]
    for _ in range(kept):
        encodings.append(infer.reduced(encodings[-1], axis))
    narrow = tensor(element, (*shape[:axis], *shape[axis + kept :]), attribute_of(encodings[-1]))
    value = factor
    if type_of(value) != narrow:
        value = builder.create(ConvertLayoutOp, (value,), (narrow,)).results[0]
    for level in reversed(range(kept)):
        wide, encoding = (*shape[:axis], *shape[axis + level :]), attribute_of(encodings[level])
        one = tensor(element, (*wide[:axis], 1, *wide[axis + 1 :]), encoding)
        value = builder.create(tile.ExpandDimsOp, (value,), (one,), {"axis": IntegerAttr(axis, i32)}).results[0]
        value = builder.create(tile.BroadcastOp, (value,), (tensor(element, wide, encoding),)).results[0]
    return value


def _own_part(reduce: tile.ReduceOp, split: tuple[tuple[int, bool], ...]) -> tuple[SSAValue, int]:
    """What one thread's elements give, in front of `reduce`; and how many dims stand for its axis then."""
    axis = reduce.axis.value.data
    shape = shape_of(type_of(reduce.operands[0]))
    builder = Builder.before(reduce)
    new_shape = (*shape[:axis], *(extent for extent, _ in split), *shape[axis + 1 :])
    value = _reshaped(builder, reduce.operands[0], new_shape)
    position = axis
    # A thread's own parts, the slowest first: what is left are neighbours, which are added in pairs.
    for _, own in split:
        if own:
            value = _reduced(builder, reduce, value, position)
        else:
            position += 1
    return value, position - axis


def builder_after(op: Operation) -> Builder:
    """A builder that inserts behind an op."""
    following = op.next_op
    assert following is not None, "a terminator ends the block"
    builder = Builder.before(following)
    builder.location = op.location
    return builder


def _reshaped(builder: Builder, value: SSAValue, shape: Ints) -> SSAValue:
    type_ = type_of(value)
    if shape == shape_of(type_):
        return value
    encoding = infer.reshaped(distributed_encoding(type_), shape_of(type_), shape)
    result = tensor(element_type(type_), shape, attribute_of(encoding))
    return builder.create(tile.ReshapeOp, (value,), (result,)).results[0]


def _reduced(builder: Builder, like: tile.ReduceOp, value: SSAValue, axis: int) -> SSAValue:
    """A reduction along one dim with the region of `like`."""
    type_ = type_of(value)
    shape = shape_of(type_)
    rest = (*shape[:axis], *shape[axis + 1 :])
    result: Attribute = element_type(type_)
    if rest:
        result = tensor(result, rest, attribute_of(infer.reduced(distributed_encoding(type_), axis)))
    region = clone_region(like.combineOp, {})
    made = builder.create(tile.ReduceOp, (value,), (result,), {"axis": IntegerAttr(axis, i32)}, regions=(region,))
    return made.results[0]
