"""Unrolling of loops that ask for it."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import ModulePass

from tritonx.dialects import arith, scf
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.define import append
from tritonx.ir.edit import ValueMap, clone, clone_region, erase, only_block, terminator_of
from tritonx.ir.fold.constants import constant_of, width_of
from tritonx.ir.types import i32
from tritonx.ir.walk import ops_in
from tritonx.transforms.tile.simplify_control_flow import trip_count

FACTOR = "tt.loop_unroll_factor"
STAGES = "tt.num_stages"


@dataclass(frozen=True)
class Unroll(ModulePass):
    """Unrolls every ``scf.for`` with the attribute ``tt.loop_unroll_factor``, innermost first.

    The remaining iterations run in a second loop, which is marked not to be pipelined, unless there are none for sure.
    A factor of 1 only removes the attribute.
    """

    name = "unroll"
    contract = Contract(
        ("tt",), on=("scf.for",), creates=("arith",), reads=("tt.loop_unroll_factor",), writes=("tt.num_stages",)
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        loops = [inner for inner in ops_in(op) if isinstance(inner, scf.ForOp) and FACTOR in inner.attributes]
        for loop in reversed(loops):
            factor = loop.attributes.pop(FACTOR)
            if isinstance(factor, IntegerAttr) and factor.value.data > 1:
                unroll(loop, factor.value.data)


def unroll(loop: scf.ForOp, factor: int) -> None:
    """Replace ``loop`` by one that does ``factor`` iterations at a time, and one for the rest."""
    body = only_block(loop.body)
    if body is None:
        return
    builder = Builder.before(loop)
    type = loop.lb.type
    count = trip_count(loop)
    known_step, width = constant_of(loop.step), width_of(type)
    if known_step is not None and width is not None and int(known_step) * factor >= 1 << (width - 1):
        return  # the wider step does not fit the counter
    step, wide = loop.step, _times(builder, loop.step, factor)
    if count is None:
        middle = _middle(builder, loop, wide)
    elif count % factor == 0:
        middle = loop.ub
    else:
        middle = builder.emit(arith.AddiOp, (loop.lb, _times(builder, wide, count // factor)), (type,))
    main = _loop(loop, (loop.lb, middle, wide), tuple(loop.iter_args), _repeated(loop, body, step, factor))
    builder.insert(main)
    results: tuple[SSAValue, ...] = tuple(main.results)
    if count is None or count % factor:
        rest = _loop(loop, (middle, loop.ub, step), results, clone_region(loop.body, {}))
        rest.attributes[STAGES] = IntegerAttr(1, i32)
        builder.insert(rest)
        results = tuple(rest.results)
    for old, new in zip(loop.results, results, strict=True):
        old.replace_all_uses_with(new)
    erase(loop)


def _times(builder: Builder, value: SSAValue, number: int) -> SSAValue:
    return builder.emit(arith.MuliOp, (value, builder.constant(number, value.type)), (value.type,))


def _middle(builder: Builder, loop: scf.ForOp, wide: SSAValue) -> SSAValue:
    """Where the unrolled loop ends: ``lb`` plus the largest multiple of ``wide`` that fits below ``ub``.

    ``ub - lb`` is not negative where the loop runs at all, so as an unsigned number it is exact even where a signed
    difference would overflow; a loop that does not run gets an empty range. What is left, the last and perhaps partial
    step included, is less than ``wide``.
    """
    type = loop.lb.type
    largest = arith.MaxUIOp if "unsignedCmp" in loop.properties else arith.MaxSIOp
    end = builder.emit(largest, (loop.ub, loop.lb), (type,))
    length = builder.emit(arith.SubiOp, (end, loop.lb), (type,))
    rest = builder.emit(arith.RemUIOp, (length, wide), (type,))
    return builder.emit(arith.SubiOp, (end, rest), (type,))


def _repeated(loop: scf.ForOp, body: Block, step: SSAValue, factor: int) -> Region:
    """The loop's body ``factor`` times, each with the counter of its iteration and what the one before yielded."""
    block = Block(arg_types=[argument.type for argument in body.args])
    builder = Builder(block, loop.location)
    counter, carried = block.args[0], list(block.args[1:])
    for old, new in zip(body.args, block.args, strict=True):
        new.name_hint = old.name_hint
    end = terminator_of(body)
    for repetition in range(factor):
        at = counter
        if repetition:
            at = builder.emit(arith.AddiOp, (counter, _times(builder, step, repetition)), (counter.type,))
        values: ValueMap = dict(zip(body.args, (at, *carried), strict=True))
        for op in body.ops:
            if op is not end:
                append(block, clone(op, values))
        carried = [values.get(v, v) for v in end.operands]
    append(block, scf.YieldOp.create(operands=carried, location=end.location))
    return Region(block)


def _loop(loop: scf.ForOp, bounds: tuple[SSAValue, ...], initial: tuple[SSAValue, ...], body: Region) -> scf.ForOp:
    return scf.ForOp.create(
        operands=(*bounds, *initial),
        result_types=[result.type for result in loop.results],
        properties=loop.properties,
        attributes=loop.attributes,
        regions=[body],
        location=loop.location,
    )
