"""Merging dimensions that a loop nest does not tell apart.

A sorting network sees 1024 elements as a cube of ten dimensions of two; each of its steps looks along one of them. Ten
nested loops of two iterations with two lanes would be slow to compile and to run. Two neighbouring dimensions d and d+1
can be one loop of `extent[d] · extent[d+1]` iterations if every access of the nest steps by the same amount through the
merged index: in each, the step along d is the step along d+1 times extent[d+1] (in a broadcast dimension both are 0).

The merged index stands in the place of the last merged dimension, beyond that one's extent, and the others are 0: since
every access is linear in it with the right step, nothing else in the emitter has to know. So the result is just another
shape for the nest, with the product of the extents at the last dimension of each run and 1 at the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Operation, SSAValue

from tritonx.conversion.tile_to_loops.constants import splat_constant
from tritonx.conversion.tile_to_loops.emitter import row_major
from tritonx.conversion.tile_to_loops.families import LOADS, VIEW_SOURCES, is_inline
from tritonx.conversion.tile_to_loops.groups import Effect, Group, Reduction, opaque
from tritonx.conversion.tile_to_loops.index import Polynomial
from tritonx.dialects import arith, tile, ub
from tritonx.ir.types import is_tensor, shape_of

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_loops.emitter import Emitter

Dims = tuple[int, ...]
"""For each dimension of a value the dimension of the nest that indexes it; -1 where its index is 0."""


def collapsed_shape(e: Emitter, group: Group) -> tuple[int, ...]:
    """The shape in which to walk a group."""
    shape = group.shape
    if len(shape) < 2:
        return shape
    check = _Check(e, shape)
    if group.axis is not None:
        check.separate(group.axis)
    identity = tuple(range(len(shape)))
    for anchor in group.anchors:
        if isinstance(anchor, Effect) and not isinstance(anchor.op, tile.StoreOp):
            return shape
        if isinstance(anchor, Effect):
            check.access(anchor.op, identity)
        elif isinstance(anchor, Reduction):
            for operand in anchor.op.operands:
                check.visit(operand, identity)
        else:
            check.visit(anchor.value, identity)
    return check.result()


class _Check:
    """Which neighbouring dimensions may still be merged, as accesses are looked at."""

    def __init__(self, e: Emitter, shape: tuple[int, ...]) -> None:
        self.e = e
        self.shape = shape
        self.mergeable = [shape[d] > 1 and shape[d + 1] > 1 for d in range(len(shape) - 1)]
        self.seen: set[tuple[SSAValue, Dims]] = set()

    def separate(self, dim: int) -> None:
        for d in (dim - 1, dim):
            if 0 <= d < len(self.mergeable):
                self.mergeable[d] = False

    def nothing(self) -> None:
        self.mergeable = [False] * len(self.mergeable)

    def result(self) -> tuple[int, ...]:
        merged = list(self.shape)
        for d, together in enumerate(self.mergeable):
            if together:
                merged[d + 1] *= merged[d]
                merged[d] = 1
        return tuple(merged)

    def steps(self, per_dim: dict[int, Polynomial | int | None]) -> None:
        """An access that moves by `per_dim[d]` along each dimension (0 where absent, None: not linear)."""
        for d, together in enumerate(self.mergeable):
            if not together:
                continue
            a, b = per_dim.get(d, 0), per_dim.get(d + 1, 0)
            a, b = (Polynomial.constant(x) if isinstance(x, int) else x for x in (a, b))
            if a is None or b is None or a != b.scaled(self.shape[d + 1]):
                self.mergeable[d] = False

    def row_major(self, shape: tuple[int, ...], dims: Dims) -> None:
        self.steps({d: stride for d, stride in zip(dims, row_major(shape), strict=True) if d >= 0})

    def formula(self, value: SSAValue, dims: Dims) -> bool:
        """A value that is computed by its index formula alone; False if it has none."""
        form = self.e.index.form(value)
        if form is None or opaque(form, value):
            return False
        self.steps({d: form.offset.stride(own) for own, d in enumerate(dims) if d >= 0})
        return True

    def visit(self, value: SSAValue, dims: Dims) -> None:
        if not is_tensor(value.type) or (value, dims) in self.seen or not any(self.mergeable):
            return
        self.seen.add((value, dims))
        if value in self.e.views and value not in self.e.writing:
            self.row_major(shape_of(value.type), dims)
            return
        op = value.owner
        if not is_inline(op):
            if not self.formula(value, dims):
                self.nothing()
        elif isinstance(op, tile.SplatOp | ub.PoisonOp):
            return
        elif isinstance(op, arith.ConstantOp):
            self.row_major_unless_splat(value, dims)
        elif type(op) in LOADS:
            self.access(op, dims)
        elif type(op) in VIEW_SOURCES:
            self._view(op, value, dims)
        elif isinstance(op, tile.MakeRangeOp):
            self.steps({dims[0]: 1} if dims[0] >= 0 else {})
        else:
            for operand in op.operands:
                self.visit(operand, dims)

    def row_major_unless_splat(self, value: SSAValue, dims: Dims) -> None:
        if splat_constant(value.owner) is None:
            self.row_major(shape_of(value.type), dims)

    def access(self, op: Operation, dims: Dims) -> None:
        """A load or store: through the addresses' formula, even where their tile lies in memory; through the tile
        where the formula has a part that is not linear (`memory.chunk_addresses`).
        """
        pointer = op.operands[0]
        form = self.e.index.form(pointer)
        linear = form is not None and all(form.offset.stride(own) is not None for own in range(len(dims)))
        if not self.formula(pointer, dims) or not linear:
            self.visit(pointer, dims)
        for operand in op.operands[1:]:
            self.visit(operand, dims)

    def _view(self, op: Operation, value: SSAValue, dims: Dims) -> None:
        if isinstance(op, tile.ExpandDimsOp):
            axis = op.axis.value.data
            self.visit(op.src, dims[:axis] + dims[axis + 1 :])
        elif isinstance(op, tile.BroadcastOp):
            extents = shape_of(op.src.type)
            self.visit(op.src, tuple(d if extent > 1 else -1 for d, extent in zip(dims, extents, strict=True)))
        elif isinstance(op, tile.TransOp):
            order = [int(d) for d in op.order.get_values()]
            self.visit(op.src, tuple(dims[order.index(source)] for source in range(len(order))))
        elif isinstance(op, tile.ReshapeOp):
            if op.src in self.e.views:
                self.row_major(shape_of(value.type), dims)
            elif not self.formula(value, dims):
                self.nothing()
        else:
            self.nothing()
