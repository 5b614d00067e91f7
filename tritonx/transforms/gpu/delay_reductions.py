"""Reducing once after a loop instead of in every iteration.

``total += tl.sum(tile, axis=0)`` in a loop sends every iteration's tile through shuffles, shared memory and a
barrier. The sum of the tiles, element by element, is the same number of additions without any of that, and needs one
reduction at the end. The order in which the elements are combined is not specified, so either may be done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass

from tritonx.dialects import arith, scf, tile
from tritonx.ir.builder import Builder
from tritonx.ir.edit import clone_region, erase, set_type
from tritonx.ir.types import bit_width, element_type, shape_of, tensor, type_of

_IDENTITY: dict[type[Operation], Callable[[int], int | float]] = {
    arith.AddfOp: lambda bits: 0.0,
    arith.AddiOp: lambda bits: 0,
    arith.MulfOp: lambda bits: 1.0,
    arith.MaxnumfOp: lambda bits: float("-inf"),
    arith.MaximumfOp: lambda bits: float("-inf"),
    arith.MinnumfOp: lambda bits: float("inf"),
    arith.MinimumfOp: lambda bits: float("inf"),
    arith.MaxSIOp: lambda bits: -(1 << (bits - 1)),
    arith.MinSIOp: lambda bits: (1 << (bits - 1)) - 1,
    arith.MaxUIOp: lambda bits: 0,
    arith.MinUIOp: lambda bits: (1 << bits) - 1,
    arith.OrIOp: lambda bits: 0,
    arith.XOrIOp: lambda bits: 0,
}
"""Associative and commutative ops with their neutral elements, by the element's bits."""


@dataclass(frozen=True)
class DelayReductions(ModulePass):
    """On ``tt``: a loop-carried value that only collects reductions of tiles becomes a carried tile, reduced after
    the loop.

    Done where the tile takes at most ``words`` 32-bit registers of each of ``threads`` threads.
    """

    name = "delay-reductions"

    threads: int = 128
    words: int = 32

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in [o for o in op.walk() if isinstance(o, scf.ForOp)]:
            for number in range(len(loop.iter_args)):
                found = match(loop, number)
                if found is not None and self._fits(found.tile):
                    rewrite(loop, number, found)

    def _fits(self, value: SSAValue) -> bool:
        elements = 1
        for n in shape_of(type_of(value)):
            elements *= n
        return elements * max(32, bit_width(type_of(value))) <= self.words * 32 * self.threads


@dataclass(frozen=True)
class Collected:
    """``combine``: carried ⊕ reduce(tile), with ``reduction`` by the same ⊕."""

    combine: Operation
    reduction: Any
    tile: SSAValue


def match(loop: Any, number: int) -> Collected | None:
    """The pattern for iteration argument ``number``."""
    block: Block = loop.body.block
    carried = block.args[number + 1]
    last = block.last_op
    assert last is not None
    after = last.operands[number]
    if not isinstance(after, OpResult) or not carried.has_one_use() or not after.has_one_use():
        return None
    combine = after.op
    if type(combine) not in _IDENTITY or combine.parent is not block or carried not in combine.operands:
        return None
    other = combine.operands[1 if combine.operands[0] is carried else 0]
    if not isinstance(other, OpResult) or not other.has_one_use():
        return None
    reduction = other.op
    if not isinstance(reduction, tile.ReduceOp) or reduction.parent is not block or len(reduction.srcs) != 1:
        return None
    body = list(reduction.combineOp.block.ops)
    if (
        len(body) != 2
        or type(body[0]) is not type(combine)
        or set(body[0].operands) != set(reduction.combineOp.block.args)
    ):
        return None
    return Collected(combine, reduction, reduction.srcs[0])


def rewrite(loop: Any, number: int, found: Collected) -> None:
    """Carry the tile instead of its reduction; the result is reduced and joined to the initial value behind the
    loop.
    """
    block: Block = loop.body.block
    type_ = type_of(found.tile)
    start = loop.iter_args[number]
    builder = Builder.before(loop)
    builder.location = found.reduction.location
    neutral = _IDENTITY[type(found.combine)](bit_width(type_))
    empty = builder.constant(neutral, tensor(element_type(type_), shape_of(type_)))
    carried, result = block.args[number + 1], loop.results[number]
    users = [(use.operation, use.index) for use in result.uses]
    last = block.last_op
    assert last is not None
    # The loop's argument, result and yield change their type together.
    loop.operands[3 + number] = empty
    set_type(carried, type_)
    set_type(result, type_)
    inside = Builder.before(found.combine)
    last.operands[number] = inside.create(type(found.combine), (carried, found.tile), (type_,)).results[0]
    erase(found.combine)
    following = loop.next_op
    assert following is not None
    behind = Builder.before(following)
    behind.location = found.reduction.location
    reduced = behind.create(
        tile.ReduceOp,
        (result,),
        found.reduction.result_types,
        dict(found.reduction.properties),
        regions=(clone_region(found.reduction.combineOp, {}),),
    ).results[0]
    erase(found.reduction)
    joined = behind.create(type(found.combine), (start, reduced), (type_of(start),)).results[0]
    for user, index in users:
        user.operands[index] = joined
