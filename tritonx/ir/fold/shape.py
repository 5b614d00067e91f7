"""Folding of ops that only move values: a splat or a constant stays one through any of them, and pairs cancel."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from tritonx.dialects import arith, tile
from tritonx.ir.fold.constants import constant_of
from tritonx.ir.fold.result import Constant, Folded, Operands, Properties, Replacement, Rule


def splat_source(value: SSAValue) -> SSAValue | None:
    """The scalar that ``value`` repeats, where a ``tt.splat`` made it."""
    owner = value.owner
    return owner.operands[0] if isinstance(owner, tile.SplatOp) else None


def _uniform(source: SSAValue) -> Folded:
    """What moving the elements of ``source`` about amounts to when they are all the same."""
    value = constant_of(source)
    if value is not None:
        return Constant(value)
    scalar = splat_source(source)
    return None if scalar is None else Replacement(tile.SplatOp, (scalar,))


def _splat(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
    value = constant_of(operands[0])
    return None if value is None else Constant(value)


def _unsplat(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
    value = constant_of(operands[0])
    return Constant(value) if value is not None else splat_source(operands[0])


def _expand_dims(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
    return _uniform(operands[0])


def _broadcast(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
    source = operands[0]
    if source.type == result_type:
        return source
    owner = source.owner
    if isinstance(owner, tile.BroadcastOp):
        return Replacement(tile.BroadcastOp, (owner.operands[0],))
    return _uniform(source)


def _reshape(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
    source = operands[0]
    if "efficient_layout" in properties:
        return None  # the op pins a layout, which its replacement would not
    if source.type == result_type:
        return source
    owner = source.owner
    if isinstance(owner, tile.ReshapeOp) and "efficient_layout" not in owner.properties:
        merged = {**properties}
        if "allow_reorder" in owner.properties:
            merged["allow_reorder"] = owner.properties["allow_reorder"]
        return Replacement(tile.ReshapeOp, (owner.operands[0],), merged)
    return _uniform(source)


def permutation_of(properties: Properties) -> tuple[int, ...]:
    """The ``order`` of a ``tt.trans``: result dimension i is source dimension ``order[i]``."""
    return tuple(int(d) for d in cast("DenseArrayBase[IntegerType]", properties["order"]).get_values())


def _transpose(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
    source = operands[0]
    order = permutation_of(properties)
    if order == tuple(range(len(order))) and source.type == result_type:
        return source
    owner = source.owner
    if isinstance(owner, tile.TransOp):
        inner = permutation_of(owner.properties)
        composed = tuple(inner[d] for d in order)
        element = cast("DenseArrayBase[IntegerType]", properties["order"]).elt_type
        return Replacement(tile.TransOp, (owner.operands[0],), {"order": DenseArrayBase.from_list(element, composed)})
    return _uniform(source)


def _join(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
    lhs, rhs = operands
    value = constant_of(lhs)
    # Compared by repr: 0.0 and -0.0 are equal numbers and different constants.
    if value is not None and repr(value) == repr(constant_of(rhs)):
        return Constant(value)
    scalar = splat_source(lhs)
    return Replacement(tile.SplatOp, (scalar,)) if scalar is not None and scalar is splat_source(rhs) else None


def _make_range(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
    start, end = properties["start"], properties["end"]
    if isinstance(start, IntegerAttr) and isinstance(end, IntegerAttr) and end.value.data - start.value.data == 1:
        return Constant(start.value.data)
    return None


def _add_pointer(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
    pointer, offset = operands
    return pointer if constant_of(offset) == 0 and pointer.type == result_type else None


def _select(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
    condition, if_true, if_false = operands
    if if_true is if_false:
        return if_true
    chosen = constant_of(condition)
    if chosen is not None:
        return if_true if chosen else if_false
    if condition.type == result_type and constant_of(if_true) == -1 and constant_of(if_false) == 0:
        return condition
    return None


SHAPE_RULES: dict[type[Operation], Rule] = {
    tile.SplatOp: _splat,
    tile.UnsplatOp: _unsplat,
    tile.ExpandDimsOp: _expand_dims,
    tile.BroadcastOp: _broadcast,
    tile.ReshapeOp: _reshape,
    tile.TransOp: _transpose,
    tile.JoinOp: _join,
    tile.MakeRangeOp: _make_range,
    tile.AddPtrOp: _add_pointer,
    arith.SelectOp: _select,
}
