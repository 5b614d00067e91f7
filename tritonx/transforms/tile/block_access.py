"""A block of a strided tensor in global memory, as pointers and a mask.

For a block of extents B at position x in a tensor of extents S and strides T, element i of the block lies at
``base + sum_d (x_d + i_d) * T_d`` and exists where ``0 <= x_d + i_d < S_d`` in every dimension d. Everything is
computed in 64 bits, each dimension on a vector of its own extent, and broadcast as late as possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import Float32Type, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue

from tritonx.dialects import arith, tile
from tritonx.dialects.tile.rules import signless
from tritonx.ir.builder import Builder
from tritonx.ir.fold.constants import constant_of
from tritonx.ir.types import element_type, i1, i32, i64, is_float, is_pointer, pointer, shape_of, tensor, with_element

NE, SGE, SLT = 1, 5, 2

_TF32_LACKS = 13
"""Low bits of f32's significand."""
_EXPONENT = 0x7F800000


@dataclass(frozen=True)
class View:
    """A strided tensor: base pointer, extents and strides (i64 scalars, strides in elements).

    ``offsets`` is where a block pointer's block begins (i64; empty for a descriptor, whose accesses say where).
    ``pad_with_nan`` is an i1: whether a float read outside the tensor is NaN rather than 0 (``None`` for a block
    pointer: its loads say so). ``rounded`` is an i1: whether f32 is rounded to tf32 as it is read (``None`` where no
    view of a module is).
    """

    base: SSAValue
    shape: tuple[SSAValue, ...]
    strides: tuple[SSAValue, ...]
    offsets: tuple[SSAValue, ...] = ()
    pad_with_nan: SSAValue | None = None
    rounded: SSAValue | None = None

    def parts(self) -> tuple[SSAValue, ...]:
        """The values that stand for the view where it is passed on, in order."""
        flags = [flag for flag in (self.pad_with_nan, self.rounded) if flag is not None]
        return (self.base, *self.shape, *self.strides, *self.offsets, *flags)

    @classmethod
    def of_parts(cls, type: Attribute, parts: Sequence[SSAValue]) -> View:
        """The inverse of ``parts``."""
        if isinstance(type, tile.TensorDescType):
            rank = len(type.shape)
            shape, strides = tuple(parts[1 : 1 + rank]), tuple(parts[1 + rank : 1 + 2 * rank])
            return cls(parts[0], shape, strides, (), *parts[1 + 2 * rank :])
        rank = (len(parts) - 1) // 3
        groups = [tuple(parts[1 + rank * n : 1 + rank * (n + 1)]) for n in range(3)]
        return cls(parts[0], groups[0], groups[1], groups[2])


def is_view(type: Attribute) -> bool:
    """Whether values of ``type`` are views: tensor descriptors and block pointers."""
    if isinstance(type, tile.TensorDescType):
        return True
    return isinstance(type, tile.PointerType) and bool(shape_of(type.pointee))


def may_round(type: Attribute) -> bool:
    """Whether it is a descriptor of f32."""
    return isinstance(type, tile.TensorDescType) and isinstance(type.element_type, Float32Type)


def part_types(type: Attribute, *, rounding: bool = False) -> tuple[Attribute, ...]:
    """The types of ``View.parts`` for a view of ``type``; with ``rounding`` those of f32 know whether it is rounded."""
    if isinstance(type, tile.TensorDescType):
        flags = [i1, i1] if rounding and may_round(type) else [i1]
        return (pointer(signless(type.element_type)), *[i64] * (2 * len(type.shape)), *flags)
    assert isinstance(type, tile.PointerType), "asked for views only"
    return (pointer(element_type(type.pointee), type.address_space), *[i64] * (3 * len(shape_of(type.pointee))))


def part_names(type: Attribute, *, rounding: bool = False) -> tuple[str, ...]:
    """A word for each of ``View.parts`` for a view of ``type``."""
    if isinstance(type, tile.TensorDescType):
        groups, last = ("shape", "stride"), ("pad_nan", "rounded") if rounding and may_round(type) else ("pad_nan",)
        rank = len(type.shape)
    else:
        groups, last = ("shape", "stride", "offset"), ()
        rank = (len(part_types(type)) - 1) // len(groups)
    return ("base", *(f"{group}{d}" for group in groups for d in range(rank)), *last)


def widen(builder: Builder, value: SSAValue) -> SSAValue:
    """``value``, an i32 or i64 scalar or tile of such, in 64 bits."""
    type = with_element(value.type, i64)
    return value if value.type == type else builder.emit(arith.ExtSIOp, (value,), (type,))


def positions(builder: Builder, start: SSAValue, extent: int) -> SSAValue:
    """``start + (0, 1, ..., extent - 1)`` in 64 bits."""
    bounds = {"start": IntegerAttr(0, i32), "end": IntegerAttr(extent, i32)}
    steps = widen(builder, builder.emit(tile.MakeRangeOp, (), (tensor(i32, (extent,)),), bounds))
    origin = builder.emit(tile.SplatOp, (widen(builder, start),), (steps.type,))
    return builder.emit(arith.AddiOp, (origin, steps), (steps.type,))


def _along(builder: Builder, vector: SSAValue, dimension: int, rank: int) -> SSAValue:
    """A vector as a tile of ``rank`` dimensions, all but ``dimension`` of extent 1."""
    value = vector
    for axis in range(rank):
        if axis != dimension:
            shape = list(shape_of(value.type))
            shape.insert(axis, 1)
            type = tensor(element_type(value.type), shape)
            value = builder.emit(tile.ExpandDimsOp, (value,), (type,), {"axis": IntegerAttr(axis, i32)})
    return value


def _broadcast(builder: Builder, value: SSAValue, shape: Sequence[int]) -> SSAValue:
    return builder.emit(tile.BroadcastOp, (value,), (tensor(element_type(value.type), shape),))


def addresses(
    builder: Builder, view: View, at: Sequence[SSAValue], checked: Sequence[int] | None = None
) -> tuple[SSAValue, SSAValue | None]:
    """(pointers, mask) of the block whose elements are at ``at[d]``, a vector of i64 for each dimension d.

    Only the dimensions in ``checked`` (by default all) are compared with the extents; the mask is ``None`` without any.
    """
    rank = len(at)
    shape = [shape_of(vector.type)[0] for vector in at]
    offset: SSAValue | None = None
    mask: SSAValue | None = None
    for dimension, vector in enumerate(at):
        column = _along(builder, vector, dimension, rank)
        type = column.type
        stride = builder.emit(tile.SplatOp, (view.strides[dimension],), (type,))
        part = _broadcast(builder, builder.emit(arith.MuliOp, (column, stride), (type,)), shape)
        offset = part if offset is None else builder.emit(arith.AddiOp, (offset, part), (part.type,))
        if checked is not None and dimension not in checked:
            continue
        bit = with_element(type, i1)
        extent = builder.emit(tile.SplatOp, (view.shape[dimension],), (type,))
        low = builder.emit(
            arith.CmpiOp, (column, builder.constant(0, type)), (bit,), {"predicate": IntegerAttr(SGE, i64)}
        )
        high = builder.emit(arith.CmpiOp, (column, extent), (bit,), {"predicate": IntegerAttr(SLT, i64)})
        inside = _broadcast(builder, builder.emit(arith.AndIOp, (low, high), (bit,)), shape)
        mask = inside if mask is None else builder.emit(arith.AndIOp, (mask, inside), (inside.type,))
    assert offset is not None, "a block has at least one dimension"
    pointers = builder.emit(tile.SplatOp, (view.base,), (tensor(view.base.type, shape),))
    return builder.emit(tile.AddPtrOp, (pointers, offset), (pointers.type,)), mask


def padding(builder: Builder, type: Attribute, with_nan: SSAValue | bool) -> SSAValue:
    """The tile of ``type`` that is read outside a tensor: zeros, or NaNs for floats where ``with_nan``."""
    if is_pointer(type):
        return builder.emit(tile.IntToPtrOp, (builder.constant(0, with_element(type, i64)),), (type,))
    zeros = builder.constant(0, type)
    if not is_float(type):
        return zeros
    known = constant_of(with_nan) if isinstance(with_nan, SSAValue) else int(with_nan)
    if known == 0:
        return zeros
    nans = builder.constant(float("nan"), type)
    if known is not None or isinstance(with_nan, bool):
        return nans
    return builder.emit(arith.SelectOp, (with_nan, nans, zeros), (type,))


def rounded(builder: Builder, value: SSAValue, view: View) -> SSAValue:
    """``value``, as it was read through ``view``: with the low 13 bits of f32 rounded off, to even of two, where that
    says so. Infinities and NaNs stay."""
    if view.rounded is None or (known := constant_of(view.rounded)) == 0:
        return value
    floats, whole, bit = value.type, with_element(value.type, i32), with_element(value.type, i1)

    def of_bits(kind: type[Operation], a: SSAValue, b: SSAValue | int) -> SSAValue:
        return builder.emit(kind, (a, builder.constant(b, whole) if isinstance(b, int) else b), (whole,))

    bits = builder.emit(tile.BitcastOp, (value,), (whole,))
    is_odd = of_bits(arith.AndIOp, of_bits(arith.ShRUIOp, bits, _TF32_LACKS), 1)
    above = of_bits(arith.AddiOp, bits, of_bits(arith.AddiOp, is_odd, (1 << _TF32_LACKS - 1) - 1))
    near = builder.emit(tile.BitcastOp, (of_bits(arith.AndIOp, above, -1 << _TF32_LACKS),), (floats,))
    exponent = of_bits(arith.AndIOp, bits, _EXPONENT)
    largest = builder.constant(_EXPONENT, whole)
    is_finite = builder.emit(arith.CmpiOp, (exponent, largest), (bit,), {"predicate": IntegerAttr(NE, i64)})
    near = builder.emit(arith.SelectOp, (is_finite, near, value), (floats,))
    return near if known is not None else builder.emit(arith.SelectOp, (view.rounded, near, value), (floats,))


def reshaped(builder: Builder, value: SSAValue, type: Attribute) -> SSAValue:
    """``value`` in the shape of ``type``, which differs from its own by extents of 1 only."""
    return builder.emit(tile.ReshapeOp, (value,), (type,))
