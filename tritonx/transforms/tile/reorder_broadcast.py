"""Doing elementwise work on the small side of a splat or a broadcast.

`((rows + columns) + more_rows)` are two additions of whole tiles, `((rows + more_rows) + columns)` is one, and one of
rows. Kernels that write an access's mask or pointers as one long expression have many: of a convolution's with 32
elements a thread, whose pointers are a sum of four terms and whose mask is of eight, an iteration had 4 × 32 64-bit
additions and 8 × 32 comparisons; it has 32 of each, and those of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from tritonx.dialects import arith, tile
from tritonx.dialects.layout_constraints import is_elementwise
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.edit import replace
from tritonx.ir.effects import has_effects
from tritonx.ir.fold.constants import constant_of
from tritonx.ir.fold.shape import splat_source
from tritonx.ir.types import element_type, encoding_of, is_tensor, shape_of, tensor
from tritonx.ir.walk import ops_in


@dataclass(frozen=True)
class ReorderBroadcast(ModulePass):
    """Moves ``tt.splat`` and ``tt.broadcast`` behind elementwise ops.

    An elementwise op whose operands are all splats (or constants) is done once, on scalars. One whose operands are
    broadcasts from one shape, constants or splats is done in that shape. The work shrinks by the ratio of the sizes.
    The terms of a sum, product or connective of integers are taken in another order where that puts broadcasts from one
    shape together, and the offsets of a pointer where the pointer is a broadcast from the shape of theirs.
    """

    name = "reorder-broadcast"
    contract = Contract(("tt",), on=("tt.splat", "tt.broadcast"), creates=("tt.splat", "tt.addptr", "arith"))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in ops_in(op):
            if len(inner.results) == 1 and is_tensor(inner.results[0].type) and _may_move(inner):
                if not _reorder(inner) and isinstance(inner, _REGROUPED):
                    _regroup(inner)


_REGROUPED = (arith.AddiOp, arith.MuliOp, arith.AndIOp, arith.OrIOp, arith.XOrIOp, tile.AddPtrOp)
"""Ops whose terms may be taken in any order: pointers are added to modulo 2^64, each offset by itself."""

MOST_TERMS = 32
"""That are looked at, of one sum."""


def _may_move(op: Operation) -> bool:
    """Elementwise, without effects; a library's function may be one that exists for tiles only."""
    return is_elementwise(op) and not has_effects(op) and not isinstance(op, tile.ExternElementwiseOp)


def _broadcast_source(value: SSAValue) -> SSAValue | None:
    owner = value.owner
    return owner.src if isinstance(owner, tile.BroadcastOp) else None


def _reorder(op: Operation) -> bool:
    """Whether the op is done on the small side now."""
    operands = tuple(op.operands)
    sources = [_broadcast_source(v) for v in operands]
    small = next((s for s in sources if s is not None), None)
    uniform = [is_tensor(v.type) and (constant_of(v) is not None or splat_source(v) is not None) for v in operands]
    scalar = [not is_tensor(v.type) for v in operands]  # the condition of a select may be a scalar
    result = op.results[0].type
    if small is None:
        if all(u or s for u, s in zip(uniform, scalar, strict=True)) and any(
            splat_source(v) is not None for v in operands
        ):
            _on_scalars(op, operands)
            return True
        return False
    shape, encoding = shape_of(small.type), encoding_of(small.type)
    for source, same, one in zip(sources, uniform, scalar, strict=True):
        if source is not None:
            if not _is_of(source, small):
                return False
        elif not (same or one):
            return False
    builder = Builder.before(op)
    moved: list[SSAValue] = []
    for value, source in zip(operands, sources, strict=True):
        if source is not None:
            moved.append(source)
        elif not is_tensor(value.type):
            moved.append(value)
        else:
            moved.append(_uniform(builder, value, tensor(element_type(value.type), shape, encoding)))
    done = builder.emit(op.__class__, moved, (tensor(element_type(result), shape, encoding),), op.properties)
    replace(op, (builder.emit(tile.BroadcastOp, (done,), (result,)),))
    return True


def _is_of(source: SSAValue, small: SSAValue) -> bool:
    """Whether two values are tiles of one shape and encoding."""
    return shape_of(source.type) == shape_of(small.type) and encoding_of(source.type) == encoding_of(small.type)


def _regroup(op: Operation) -> None:
    """Takes what is broadcast from one shape together."""
    if op.attributes or not any(_broadcast_source(value) is not None for value in op.operands):
        return
    terms = _terms(op)
    if len(terms) <= 2 or len(terms) > MOST_TERMS:
        return
    groups: list[list[SSAValue]] = []
    for term in terms:
        source = _broadcast_source(term)
        near = [g for g in (groups[:1] if isinstance(op, tile.AddPtrOp) else groups) if _is_near(source, g[0])]
        if near:
            near[0].append(term)
        else:
            groups.append([term])
    if len(groups) == len(terms):
        return
    builder = Builder.before(op)
    total: SSAValue | None = None
    for group in groups:
        term = _together(builder, op, group)
        total = term if total is None else builder.emit(op.__class__, (total, term), (op.results[0].type,))
    assert total is not None, "an op has operands"
    replace(op, (total,))


def _terms(op: Operation) -> list[SSAValue]:
    """What a nest of one op in a block is made of, in order; a value with other uses is one term. Of more than
    ``MOST_TERMS`` so many that there are more."""
    found: list[SSAValue] = []
    pending = [*reversed(op.operands)]
    while pending and len(found) + len(pending) <= MOST_TERMS:
        value = pending.pop()
        inner = value.owner
        if isinstance(inner, Operation) and inner.__class__ is op.__class__ and _is_nested(inner, op):
            pending += reversed(inner.operands)
        else:
            found.append(value)
    return found + pending


def _is_nested(inner: Operation, op: Operation) -> bool:
    """Whether an op is there for another one alone, in its block; what has attributes tells something of its sum."""
    return inner.parent is op.parent and inner.results[0].has_one_use() and not inner.attributes


def _is_near(source: SSAValue | None, term: SSAValue) -> bool:
    """Whether a term is a broadcast from the same shape as `source`, which another one is a broadcast of."""
    other = _broadcast_source(term)
    return source is not None and other is not None and _is_of(source, other)


def _together(builder: Builder, op: Operation, group: Sequence[SSAValue]) -> SSAValue:
    """Terms of `op` that are broadcast from one shape as one that is; a single one as it is."""
    if len(group) == 1:
        return group[0]
    sources = [source for term in group if (source := _broadcast_source(term)) is not None]
    total = sources[0]
    for source in sources[1:]:
        total = builder.emit(op.__class__, (total, source), (total.type,))
    return builder.emit(tile.BroadcastOp, (total,), (op.results[0].type,))


def _uniform(builder: Builder, value: SSAValue, type: Attribute) -> SSAValue:
    """The splat or constant tile ``value`` in another shape."""
    number = constant_of(value)
    if number is not None:
        return builder.constant(number, type)
    scalar = splat_source(value)
    assert scalar is not None, "only splats and constants are asked for"
    return builder.emit(tile.SplatOp, (scalar,), (type,))


def _on_scalars(op: Operation, operands: Sequence[SSAValue]) -> None:
    builder = Builder.before(op)
    scalars: list[SSAValue] = []
    for value in operands:
        if not is_tensor(value.type):
            scalars.append(value)
            continue
        number = constant_of(value)
        scalar = splat_source(value)
        if scalar is None:
            assert number is not None, "the caller has looked"
            scalar = builder.constant(number, element_type(value.type))
        scalars.append(scalar)
    result = op.results[0].type
    done = builder.emit(op.__class__, scalars, (element_type(result),), op.properties)
    replace(op, (builder.emit(tile.SplatOp, (done,), (result,)),))
