"""Whether a part of a loaded tile is never asked for: rows behind the end of a matrix, which a kernel loads all the
same, from anywhere, because what it makes of them it does not store.

    a = tl.load(a + (rows % M)[:, None] * stride + …)
    acc = tl.dot(a, b, acc)
    tl.store(c_ptrs, acc, mask=rows[:, None] < M)

The tile is followed forwards: elementwise ops, products, of which a row of the first operand is a row of the result,
loop-carried values. Where all ways end in a store whose mask has the bound, what lies beyond it may be anything.
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue, Use

from tritonx.analysis.axis_rules import is_repeatable
from tritonx.analysis.polynomials import Polynomial
from tritonx.analysis.tile_indices import Indices, varies
from tritonx.dialects import scf, tile
from tritonx.dialects.control_flow import becomes, repeats
from tritonx.ir.types import shape_of, type_of

UNBOUNDED = "what stores it is not masked there"


def asked_for_beyond(value: SSAValue, dim: int, start: Polynomial, bound: Polynomial, indices: Indices) -> str | None:
    """What may depend on the elements of a tile at which `start` + the place along `dim` is not below `bound`; None
    where nothing does."""
    pending, seen = [(value, dim)], {(value, dim)}
    while pending:
        value, dim = pending.pop()
        for use in value.uses:
            following = _following(use, dim, start, bound, indices)
            if isinstance(following, str):
                return following
            new = [each for each in following if each not in seen]
            seen.update(new)
            pending += new
    return None


def _following(
    use: Use, dim: int, start: Polynomial, bound: Polynomial, indices: Indices
) -> list[tuple[SSAValue, int]] | str:
    """The values that have the same rows, and where; or the op that mixes them."""
    op = use.operation
    mixed = f"{op.name} has the elements beyond the bound"
    match op:
        case tile.DotOp():
            place = _through_product(op, use.index, dim)
            return mixed if place is None else [(op.d, place)]
        case tile.StoreOp() if use.index == 1:
            return [] if _is_bounded(op.mask, dim, start, bound, indices) else UNBOUNDED
        case tile.AtomicRMWOp() if use.index == 1 and op.result.first_use is None:
            return [] if _is_bounded(op.mask, dim, start, bound, indices) else UNBOUNDED
        case tile.ReduceOp() if op.axis.value.data != dim:
            return [(result, dim - (op.axis.value.data < dim)) for result in op.results]
        case tile.ExpandDimsOp():
            return [(op.result, dim + (dim >= op.axis.value.data))]
        case tile.BroadcastOp():
            return [(op.result, dim)]
        case tile.TransOp():
            return [(op.result, [int(each) for each in op.order.get_values()].index(dim))]
        case scf.ForOp() | scf.YieldOp():
            loop = op if isinstance(op, scf.ForOp) else op.parent_op()
            if not isinstance(loop, scf.ForOp | scf.IfOp):
                return mixed
            if repeats(loop) and (varies(start, loop) or varies(bound, loop)):
                return "it goes on to rounds with other bounds"
            return [(each, dim) for each in becomes(op, use.index)]
        case Operation() if is_repeatable(op):
            return [(result, dim) for result in op.results]
        case _:
            return mixed


def _through_product(op: tile.DotOp, operand: int, dim: int) -> int | None:
    """The dimension of the result that an operand's is; None for the one that is summed over."""
    rank = len(shape_of(type_of(op.d)))
    summed = {0: rank - 1, 1: rank - 2}.get(operand)
    return None if dim == summed else dim


def _is_bounded(mask: SSAValue | None, dim: int, start: Polynomial, bound: Polynomial, indices: Indices) -> bool:
    return any(
        each.dim == dim and not each.at_least and each.start - each.bound == start - bound
        for each in indices.mask(mask).bounds
    )
