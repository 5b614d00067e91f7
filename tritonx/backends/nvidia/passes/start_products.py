"""Sums that begin anew within a loop are not set to zero: the first product of each does not read them.

In a loop over several tiles (`flatten-loops`) the accumulator is zero again behind the last product of a tile. As a
select of the whole tile in each iteration it would be read while asynchronous products still add to it. A warp group's
product can be told to leave what it would add to alone (`useC`), so that the accumulator is not touched:

    for … iter_args(%acc = zeros)                 for … iter_args(%acc = zeros, %more = false)
      %d = warp_group_dot %a, %b, %acc              %d = warp_group_dot %a, %b, %acc, %more
      yield select %last, zeros, %d                 yield %d, not %last
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from tritonx.dialects import arith, scf
from tritonx.dialects.control_flow import Carried, carried_by
from tritonx.dialects.nvidia import WarpGroupDotOp
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.edit import erase
from tritonx.ir.fold.constants import constant_of
from tritonx.ir.types import i1
from tritonx.ir.walk import ops_in
from tritonx.transforms.gpu.iter_args import with_carried


@dataclass(frozen=True)
class StartProducts(ModulePass):
    """Turns resets of accumulators into the predicates of warp-group products.

    That is where an `scf.for` carries a tile that is zero at first, that one `ttng.warp_group_dot` of its body adds to
    and nothing else reads, and that goes on as an `arith.select`, by one i1, between zero and the product's result;
    behind the loop it is not read."""

    name = "start-products"
    contract = Contract(
        ("ttg",), on=("ttng.warp_group_dot",), creates=("arith",), needs=("assign-layouts",), after=("flatten-loops",)
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in [inner for inner in ops_in(op) if isinstance(inner, scf.ForOp)]:
            while (found := _begun_anew(loop)) is not None:
                loop = _start(loop, *found)


def _begun_anew(loop: scf.ForOp) -> tuple[Carried, WarpGroupDotOp] | None:
    """A sum that a loop begins anew, and the product that adds to it."""
    found = ((carried, _product(loop, carried)) for carried in carried_by(loop))
    return next(((carried, product) for carried, product in found if product is not None), None)


def _product(loop: scf.ForOp, carried: Carried) -> WarpGroupDotOp | None:
    """What alone reads a sum that begins anew where a condition says so."""
    uses = list(carried.argument.uses)
    product = uses[0].operation if len(uses) == 1 else None
    if not isinstance(product, WarpGroupDotOp) or product.parent is not loop.body.block or product.useC is not None:
        return None
    reset = _reset(carried.yielded.value)
    begins_at_zero = constant_of(carried.initial.value) == 0 and carried.result.first_use is None
    if product.c is not carried.argument or not begins_at_zero or reset is None or reset[0] is not product.d:
        return None
    return product


def _reset(value: SSAValue) -> tuple[SSAValue, arith.SelectOp, bool] | None:
    """Of a select between zero and a sum: the sum, the select, and for which condition it is kept."""
    select = value.owner
    if not isinstance(select, arith.SelectOp) or select.operands[0].type != i1:
        return None
    _, taken, otherwise = select.operands
    if constant_of(taken) == 0:
        return otherwise, select, False
    return (taken, select, True) if constant_of(otherwise) == 0 else None


def _start(loop: scf.ForOp, carried: Carried, product: WarpGroupDotOp) -> scf.ForOp:
    reset = _reset(carried.yielded.value)
    assert reset is not None
    total, select, kept = reset
    builder = Builder.before(select)
    more = select.operands[0]
    if not kept:
        more = builder.emit(arith.XOrIOp, (more, builder.constant(1, i1)), (i1,))
    carried.yielded.set(total)
    if select.results[0].first_use is None:
        erase(select)
    body = loop.body.block
    product.operands = [*product.operands, body.insert_arg(i1, len(body.args))]
    return with_carried(loop, [Builder.before(loop).constant(0, i1)], [more])
