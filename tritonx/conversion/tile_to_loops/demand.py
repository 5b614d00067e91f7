"""Which part of a product is needed: a block of 96 × 96 is stored as 128 × 128 (`docs/beyond-extents.md`).

What lies in the padding is unknown, and nothing uses it: the front end masks stores by `index < 96`, and along K it
fills both operands with zeros. Both can be read off the IR. A row of a product is not needed if all that is computed
from it, element by element and around loops, ends in stores whose masks leave it out. A step of K adds nothing if both
operands are zeros there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import Operation, SSAValue, Use

from tritonx.conversion.tile_to_loops.constants import splat_constant
from tritonx.conversion.tile_to_loops.dot import UNROLL, compute_element, register_tile, splits
from tritonx.conversion.tile_to_loops.families import is_inline
from tritonx.conversion.tile_to_loops.groups import Group, Materialise
from tritonx.conversion.tile_to_loops.index import IndexAtom
from tritonx.conversion.tile_to_loops.prefixes import conditions_of
from tritonx.conversion.tile_to_loops.types import register_type
from tritonx.dialects import arith, tile
from tritonx.dialects.control_flow import becomes
from tritonx.dialects.layout_constraints import Elementwise, layouts_of
from tritonx.ir.types import element_type, is_tensor, shape_of

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_loops.emitter import Emitter

Extents = tuple[int, ...]

CHUNK = 16
"""Rows of operands are written in multiples of so many elements."""


@dataclass(frozen=True)
class Needed:
    """The first ``m`` rows and ``n`` columns of a product, by its first ``k`` steps; ``rest`` is the zero that each of
    the others adds, if there are any."""

    m: int
    n: int
    k: int
    rest: float | None = None


def needed_of(e: Emitter, op: tile.DotOp) -> Needed:
    """The needed part of a product. One that its own operands depend on is needed whole there."""
    if op not in e.needed:
        *_, m, n = shape_of(op.d.type)
        e.needed[op] = Needed(m, n, shape_of(op.a.type)[-1])
        e.needed[op] = _needed_of(e, op)
    return e.needed[op]


def _needed_of(e: Emitter, op: tile.DotOp) -> Needed:
    *_, rows, columns = shape_of(op.d.type)
    k = shape_of(op.a.type)[-1]
    in_registers = register_tile(e, rows, columns, register_type(compute_element(element_type(op.d.type))))
    *_, m, n = _read_extents(e, op.d)
    m, n = _rounded(m, in_registers.rows), _rounded(n, in_registers.columns)
    a, b = _filled(e, op.a, len(shape_of(op.a.type)) - 1), _filled(e, op.b, len(shape_of(op.b.type)) - 2)
    if a is not None and b is not None and max(a[0], b[0]) < k and a[1] * b[1] == 0:
        rest = math.copysign(0.0, a[1]) * math.copysign(1.0, b[1])
        return Needed(m, n, min(k, _rounded(max(a[0], b[0], 1), UNROLL)), rest)
    return Needed(m, n, k)


def needed_shape(e: Emitter, group: Group) -> Extents | None:
    """The part of its tiles that a group which only writes operands of products must write; None: all of them."""
    if group.axis is not None or not all(isinstance(a, Materialise) for a in group.anchors):
        return None
    found = (0,) * len(group.shape)
    for value in group.operands():
        found = tuple(map(max, found, _read_extents(e, value)))
    found = (*found[:-1], min(group.shape[-1], _rounded(found[-1], CHUNK)))
    return found if found != group.shape and all(found) else None


def _rounded(extent: int, unit: int) -> int:
    return -(-extent // unit) * unit


def _read_extents(e: Emitter, value: SSAValue) -> Extents:
    """Up to where, along each dimension, elements of a tile are needed."""
    full = shape_of(value.type)
    found, seen, work = (0,) * len(full), {value}, [value]
    while work and found != full:
        for use in work.pop().uses:
            following, here = _use(e, use, full)
            found = tuple(map(max, found, here))
            new = [v for v in following if v not in seen]
            seen.update(new)
            work.extend(new)
    return found


def _use(e: Emitter, use: Use, full: Extents) -> tuple[list[SSAValue], Extents]:
    """What a use makes of the elements in their places, and which it needs by itself."""
    op, nothing = use.operation, (0,) * len(full)
    if isinstance(op, tile.StoreOp):
        bounds = {} if op.mask is None else _bounds(e, op.mask)
        return [], full if op.mask is op.operands[use.index] else tuple(
            min(extent, bounds.get(d, extent)) for d, extent in enumerate(full)
        )
    if (isinstance(layouts_of(type(op)), Elementwise) and is_inline(op)) or (
        isinstance(op, tile.DotOp) and use.index == 2
    ):
        return [r for r in op.results if is_tensor(r.type)], nothing
    if isinstance(op, tile.DotOp) and not splits(op):
        needed = needed_of(e, op)
        part = (needed.m, needed.k) if use.index == 0 else (needed.k, needed.n)
        return [], (*full[:-2], *part)
    following = becomes(op, use.index)
    return (following, nothing) if following else ([], full)


def _bounds(e: Emitter, mask: SSAValue) -> dict[int, int]:
    """For dimensions the index from which on a mask is false, as far as that is a number."""
    op = mask.owner
    if isinstance(op, arith.AndIOp):
        a, b = (_bounds(e, operand) for operand in op.operands)
        return {d: min(bounds[d] for bounds in (a, b) if d in bounds) for d in (*a, *b)}
    found: dict[int, int] = {}
    conditions = conditions_of(e, mask)
    if conditions is None or conditions.in_i32 or conditions.may_wrap:
        return found
    for polynomial in conditions.positive:
        terms = dict(polynomial.terms)
        bound = terms.pop((), 0)
        if len(terms) == 1 and next(iter(terms.values())) == -1:
            ((atom,),) = terms
            if isinstance(atom, IndexAtom):
                found[atom.dim] = min(max(bound, 0), found.get(atom.dim, bound))
    return found


def _filled(e: Emitter, value: SSAValue, dim: int) -> tuple[int, float] | None:
    """(the index along `dim` from which on all elements are one number, the number)"""
    op = value.owner
    if isinstance(op, arith.SelectOp):
        mask, filling = op.cond, op.rhs
    elif isinstance(op, tile.LoadOp) and op.mask is not None:
        mask, filling = op.mask, op.other
    else:
        return None
    bound = _bounds(e, mask).get(dim) if is_tensor(mask.type) else None
    number = 0 if filling is None else _number(filling)
    return None if bound is None or number is None else (bound, number)


def _number(value: SSAValue) -> float | None:
    return splat_constant(value.owner) if isinstance(value.owner, Operation) else None
