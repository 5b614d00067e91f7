"""Doing elementwise work on the small side of a splat or a broadcast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from tritonx.dialects import tile
from tritonx.dialects.layout_constraints import is_elementwise
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.edit import replace
from tritonx.ir.effects import has_effects
from tritonx.ir.fold.constants import constant_of
from tritonx.ir.types import element_type, encoding_of, is_tensor, shape_of, tensor


@dataclass(frozen=True)
class ReorderBroadcast(ModulePass):
    """Moves ``tt.splat`` and ``tt.broadcast`` behind elementwise ops.

    An elementwise op whose operands are all splats (or constants) is done once, on scalars. One whose operands are
    broadcasts from one shape, constants or splats is done in that shape. The work shrinks by the ratio of the sizes.
    """

    name = "reorder-broadcast"
    contract = Contract(("tt",), on=("tt.splat", "tt.broadcast"), creates=("tt.splat", "arith"))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            if len(inner.results) == 1 and is_tensor(inner.results[0].type) and _may_move(inner):
                _reorder(inner)


def _may_move(op: Operation) -> bool:
    """Elementwise, without effects; a library's function may be one that exists for tiles only."""
    return is_elementwise(op) and not has_effects(op) and not isinstance(op, tile.ExternElementwiseOp)


def _splat_source(value: SSAValue) -> SSAValue | None:
    owner = value.owner
    return owner.src if isinstance(owner, tile.SplatOp) else None


def _broadcast_source(value: SSAValue) -> SSAValue | None:
    owner = value.owner
    return owner.src if isinstance(owner, tile.BroadcastOp) else None


def _reorder(op: Operation) -> None:
    operands = tuple(op.operands)
    sources = [_broadcast_source(v) for v in operands]
    small = next((s for s in sources if s is not None), None)
    uniform = [is_tensor(v.type) and (constant_of(v) is not None or _splat_source(v) is not None) for v in operands]
    scalar = [not is_tensor(v.type) for v in operands]  # the condition of a select may be a scalar
    result = op.results[0].type
    if small is None:
        if all(u or s for u, s in zip(uniform, scalar, strict=True)) and any(
            _splat_source(v) is not None for v in operands
        ):
            _on_scalars(op, operands)
        return
    shape, encoding = shape_of(small.type), encoding_of(small.type)
    for source, same, one in zip(sources, uniform, scalar, strict=True):
        if source is not None:
            if shape_of(source.type) != shape or encoding_of(source.type) != encoding:
                return
        elif not (same or one):
            return
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


def _uniform(builder: Builder, value: SSAValue, type: Attribute) -> SSAValue:
    """The splat or constant tile ``value`` in another shape."""
    number = constant_of(value)
    if number is not None:
        return builder.constant(number, type)
    scalar = _splat_source(value)
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
        scalar = _splat_source(value)
        if scalar is None:
            assert number is not None, "the caller has looked"
            scalar = builder.constant(number, element_type(value.type))
        scalars.append(scalar)
    result = op.results[0].type
    done = builder.emit(op.__class__, scalars, (element_type(result),), op.properties)
    replace(op, (builder.emit(tile.SplatOp, (done,), (result,)),))
