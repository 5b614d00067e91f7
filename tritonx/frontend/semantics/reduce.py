"""Reductions and scans with any combine function, elementwise maps of a scalar function, histograms."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import Attribute, Block, Operation, Region

from tritonx import level
from tritonx.dialects.effects import Kind, effects_of
from tritonx.dialects.scf import WhileOp
from tritonx.dialects.tile import (
    HistogramOp,
    MapElementwiseOp,
    MapElementwiseReturnOp,
    ReduceOp,
    ReduceReturnOp,
    ScanOp,
    ScanReturnOp,
)
from tritonx.frontend.semantics.arithmetic import ArithmeticSemantics
from tritonx.frontend.semantics.axes import JoinedAxes, is_several, wrap_axes, wrap_axis
from tritonx.frontend.semantics.base import enum_attribute, unwrapped_list
from tritonx.frontend.semantics.neutral import IfPresent, neutral_element
from tritonx.frontend.semantics.shape import ShapeSemantics
from tritonx.frontend.semantics.storage import UnsupportedExtents
from tritonx.frontend.semantics.types import ir_type
from tritonx.ir.location import block_at
from tritonx.language.types.dtypes import block_type, dtype, int32
from tritonx.language.values.base import base_value
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor
from tritonx.language.values.tuples import tuple as language_tuple


class ReduceSemantics(ArithmeticSemantics, ShapeSemantics):
    def reduce(self, inputs: Any, axis: Any, combine_fn: Any, keep_dims: Any = False) -> Any:
        """Reduce one block, or several of one shape at once, along ``axis`` (one, several, or None: all axes).

        ``combine_fn(*lefts, *rights)`` gets scalars and returns as many; it must be associative and commutative. The
        result is a tensor for a tensor, a tuple for a tuple; scalars where no axis remains and ``keep_dims`` is off.
        """
        if isinstance(inputs, tensor):
            return self.reduce(language_tuple([inputs]), axis, combine_fn, keep_dims)[0]
        axis, results = unwrap(axis), [self.to_tensor(v) for v in inputs]
        rank = len(results[0].type.shape)
        if axis is None:
            axes = [*range(rank)]
            results = self._reduce_all(results, combine_fn)
        else:
            axes = wrap_axes(axis, rank)
            for reduced in reversed(axes):  # those in front keep their numbers
                results = self._reduce_axis(results, reduced, combine_fn)
        return language_tuple([self.expand_axes(r, axes) for r in results] if unwrap(keep_dims) else results)

    def _reduce_all(self, values: list[tensor], combine_fn: object) -> list[tensor]:
        """Scalars: all elements of each block brought together, in any order."""
        if any(v.type.padded for v in values):
            _check_same_shape(values, "reduction")
        given, combine_fn = self._filled_in(values, range(len(values[0].type.shape)), combine_fn)
        flat = [self.reshape(v, (_numel(v),), True) for v in given]
        return self._reduce_axis(flat, 0, combine_fn)[: len(values)]

    def _reduce_axis(self, values: list[tensor], axis: int, combine_fn: object) -> list[tensor]:
        shape = values[0].type.shape
        _check_same_shape(values, "reduction")
        given, combine_fn = self._filled_in(values, (axis,), combine_fn)
        stored, remaining = given[0].type.shape, (*shape[:axis], *shape[axis + 1 :])
        left = (*stored[:axis], *stored[axis + 1 :])
        types = [block_type(v.dtype, left) if left else v.dtype for v in given]
        properties: dict[str, Attribute] = {"axis": enum_attribute(axis)}
        results = self._with_combine(ReduceOp, ReduceReturnOp, given, types, properties, combine_fn)
        return [self.cropped(r, remaining) for r in results[: len(values)]]

    def _filled_in(self, values: list[tensor], axes: Sequence[int], combine_fn: object) -> tuple[list[tensor], object]:
        """Storage to be combined along ``axes`` by the function that is returned with it: the padding of these axes
        changes nothing. A flag may follow the values."""
        shape = values[0].type.shape
        inside = self.inside(shape, axes)
        if inside is None:
            return [self.whole(v) for v in values], combine_fn
        neutral = neutral_element(combine_fn, values[0].dtype)
        if neutral is not None:
            return [self.filled(v, neutral, axes) for v in values], combine_fn
        return [*[self.whole(v) for v in values], inside], IfPresent(combine_fn)

    def reduce_with_indices(
        self, value: tensor, axis: Any, combine_fn: object, keep_dims: object = False
    ) -> language_tuple:
        """Reduce ``value`` together with the int32 index of each element along ``axis`` (flat for None): (value,
        index).
        """
        axis = unwrap(axis)
        rank = len(value.type.shape)
        if is_several(axis):
            raise _no_index_along(axis)
        if axis is None and value.type.padded:
            results = self._reduce_all([value, self._numbers(value.type.shape)], combine_fn)
            axes = [*range(rank)] if unwrap(keep_dims) else []
            return language_tuple([self.expand_axes(r, axes) for r in results])
        if axis is None:
            value, wrapped = self.reshape(value, (_numel(value),)), 0
        else:
            wrapped = wrap_axis(axis, rank)
        index = self.arange(0, value.type.shape[wrapped])
        for other in range(len(value.type.shape)):
            if other != wrapped:
                index = self.expand_dims(index, other)
        index = self.broadcast_to(index, value.type.shape)
        results = self._reduce_axis([value, index], wrapped, combine_fn)
        if unwrap(keep_dims):
            axes = [*range(rank)] if axis is None else [wrapped]
            results = [self.expand_axes(r, axes) for r in results]
        return language_tuple(results)

    def _numbers(self, shape: Sequence[int]) -> tensor:
        """int32: the number of each element of a block in row-major order."""
        numbers = self.constant(0, block_type(int32, shape))
        for axis, extent in enumerate(shape):
            row = self.along(self.arange(0, extent), axis, len(shape))
            numbers = self.add(numbers, self.mul(row, prod(shape[axis + 1 :]), False), False)
        return numbers

    def associative_scan(self, inputs: Any, axis: Any, combine_fn: Any, reverse: Any = False) -> Any:
        """Inclusive scan of one block, or of several at once, along ``axis``; ``combine_fn`` as in ``reduce``, but it
        need not be commutative.

        Along several axes elements follow each other in row-major order of these axes.
        """
        if isinstance(inputs, tensor):
            return self.associative_scan(language_tuple([inputs]), axis, combine_fn, reverse)[0]
        values = [self.to_tensor(v) for v in inputs]
        _check_same_shape(values, "scan")
        axis, reverse, shape = unwrap(axis), bool(unwrap(reverse)), values[0].type.shape
        if not is_several(axis):
            return language_tuple(self._scan_axis(values, wrap_axis(axis, len(shape)), combine_fn, reverse))
        axes = wrap_axes(axis, len(shape))
        if not axes:
            return language_tuple(values)
        given, combine_fn = self._filled_in(values, axes, combine_fn)
        joined = JoinedAxes.of(given[0].type.shape, axes)
        results = self._scan_axis([self._join_axes(v, joined) for v in given], joined.axis, combine_fn, reverse)
        parted = [self._part_axes(r, joined) for r in results[: len(values)]]
        return language_tuple([self.cropped(r, shape) for r in parted])

    def _join_axes(self, value: tensor, joined: JoinedAxes) -> tensor:
        """``value`` with several axes as one."""
        return self.reshape(self._ordered(value, joined.order), joined.shape)

    def _part_axes(self, value: tensor, joined: JoinedAxes) -> tensor:
        """What ``_join_axes`` did, undone."""
        return self._ordered(self.reshape(value, joined.parted), joined.inverse)

    def _ordered(self, value: tensor, order: Sequence[int]) -> tensor:
        return value if [*order] == sorted(order) else self.permute(value, order)

    def _scan_axis(self, values: list[tensor], axis: int, combine_fn: object, reverse: bool) -> list[tensor]:
        properties: dict[str, Attribute] = {"axis": enum_attribute(axis), "reverse": BoolAttr.from_bool(reverse)}
        # Forwards the padding lies behind all elements, which never see it.
        given, combine_fn = self._filled_in(values, (axis,) if reverse else (), combine_fn)
        types = [v.type for v in given]
        unknown = self.inside(values[0].type.shape, (axis,)) is not None
        results = self._with_combine(ScanOp, ScanReturnOp, given, types, properties, combine_fn, unknown)
        return [self.cropped(r, values[0].type.shape) for r in results[: len(values)]]

    def _with_combine(
        self,
        op: type[Operation],
        terminator: type[Operation],
        values: list[tensor],
        types: Sequence[dtype],
        properties: dict[str, Attribute],
        combine_fn: object,
        unknown: bool = False,
    ) -> list[tensor]:
        """``unknown``: the function is given elements of the padding as well, whose results are ignored."""
        scalars = [v.dtype for v in values]
        block = block_at(self.builder.location, [ir_type(t) for t in scalars * 2])
        results = self.inline_region(combine_fn, scalars * 2, block)
        self.check_returned(results, scalars, combine_fn)
        if unknown or isinstance(combine_fn, IfPresent):
            _check_harmless(block, combine_fn)
        with self.builder.at(block):
            self.builder.create(terminator, results)
        return self.create(op, values, types, properties, [Region(block)])

    def check_returned(self, results: Sequence[Any], expected: Sequence[dtype], combine_fn: Any) -> None:
        """``TypeError`` for handles that are not those of a combine function's results."""
        types = [r.type for r in results]
        wanted = [ir_type(t) for t in expected]
        if types != wanted:
            name = getattr(combine_fn, "__name__", "the combine function")
            raise TypeError(
                f"{name} must return {len(wanted)} scalars of the types {', '.join(str(t) for t in expected)}, "
                "as it was given"
            )

    def map_elementwise(self, scalar_fn: Any, inputs: Sequence[Any], pack: Any) -> tensor | language_tuple:
        """``scalar_fn`` applied to each element of the broadcast inputs, ``pack`` elements of each input at a call.

        It gets the ``pack`` elements of the first input, then those of the second, ...; it returns results grouped
        the same way.
        """
        pack = unwrap(pack)
        values, shape = self.map_operands(inputs, pack)
        arguments = [v.dtype for v in values for _ in range(pack)]
        block = block_at(self.builder.location, [ir_type(t) for t in arguments])
        returned = self._call_in(scalar_fn, arguments, block)
        single = isinstance(returned, tensor)
        outputs = [returned] if single else [*returned]
        groups = packed_results(outputs, pack)
        if shape != values[0].type.shape:
            _check_effects(block, scalar_fn)
        with self.builder.at(block):
            self.builder.create(MapElementwiseReturnOp, [o.handle for o in outputs])
        types = [values[0].type.with_element_ty(group[0].type) for group in groups]
        made = self.create(MapElementwiseOp, values, types, {"pack": enum_attribute(pack)}, [Region(block)])
        results = [self.cropped(value, shape) for value in made]
        return results[0] if single else language_tuple(results)

    def map_operands(self, inputs: Sequence[object], pack: int) -> tuple[list[tensor], tuple[int, ...]]:
        """The inputs of ``map_elementwise``, broadcast to one shape, which comes with them: storage, with nothing new
        in the padding."""
        values = [self.to_tensor(v) for v in inputs]
        if not values:
            raise ValueError("map_elementwise must have at least 1 input tensor")
        common = values[0]
        for value in values[1:]:
            _, common = self.binary_operands(value, common, lhs_pointer=True, rhs_pointer=True, promote=False)
        if common.type.padded and pack != 1:
            raise UnsupportedExtents(f"map_elementwise has no packs of elements of a block of {common.type.shape}")
        shape = common.type.shape
        return [self.copied(self.broadcast_to(v, shape)) if common.type.is_block() else v for v in values], shape

    def _call_in(self, fn: object, arg_types: Sequence[dtype], block: Block) -> tensor | language_tuple:
        """What ``fn`` returns when it is inlined into ``block``, as tensors of that block."""
        arguments = iter(block.args)
        with self.builder.at(block):
            returned = self.call(fn, [t.rebuild(arguments) for t in arg_types])
            if isinstance(returned, base_value) and not isinstance(returned, language_tuple):
                return self.to_tensor(returned)
            return language_tuple([self.to_tensor(v) for v in returned])

    def histogram(self, value: tensor, num_bins: object, mask: object) -> tensor:
        """int32 counts of the values 0 .. ``num_bins`` - 1 of a 1-D integer block; other values count nowhere."""
        if len(value.type.shape) != 1:
            raise AssertionError("histogram only supports 1D input")
        if not value.dtype.is_int():
            raise AssertionError("histogram only supports integer input")
        if value.dtype.int_bitwidth != 32 and level.active().counts_words_only:
            error = ValueError(f"histogram only supports 32-bit integer input, but got {value.dtype}")
            error.add_note("convert it with .to(tl.int32)")
            raise error
        num_bins, mask = unwrap(num_bins), unwrap(mask)
        value = self.told_from_bins(value, num_bins)
        if mask is not None:
            mask = self.to_tensor(mask)
            if not mask.dtype.is_bool():
                raise ValueError("Mask must have boolean scalar type")
            mask = self.broadcast_to(mask, value.type.shape)
        mask = self.masked(value.type.shape, mask)
        operands = [self.whole(value)] if mask is None else [self.whole(value), mask]
        counted = block_type(int32, (num_bins,))
        return self.cropped(self.emit(HistogramOp, operands, block_type(int32, counted.storage)), counted.shape)

    def told_from_bins(self, value: tensor, num_bins: Any) -> tensor:
        """Integers, of which the negative ones are the number of no bin: the op has no sign, and -1 of 8 bits would be
        in bin 255."""
        is_short = value.dtype.is_int_signed() and num_bins > 2 ** (value.dtype.primitive_bitwidth - 1)
        return self.cast(value, int32) if is_short else value


def packed_results(outputs: Sequence[tensor], pack: int) -> list[Sequence[tensor]]:
    """What one call of the function of ``map_elementwise`` returned, ``pack`` values of one type for each result."""
    if len(outputs) % pack:
        raise ValueError(f"{len(outputs)} results are not a multiple of pack={pack}")
    groups = [outputs[i : i + pack] for i in range(0, len(outputs), pack)]
    if any(o.type != group[0].type for group in groups for o in group):
        raise ValueError("type mismatch in unpacked results")
    return groups


def _numel(value: tensor) -> int:
    return value.type.numel if isinstance(value.type, block_type) else 1


def _check_effects(block: Block, fn: object) -> None:
    """``UnsupportedExtents`` for a function with effects, which it would have on the padding too."""
    for op in block.walk():
        effects = effects_of(op)
        if effects is None or any(effect.kind is not Kind.TRAP for effect in effects):
            raise _unsupported(fn, "does more than compute")


def _check_harmless(block: Block, fn: object) -> None:
    """``UnsupportedExtents`` for a function that is not sure to end, or to do nothing else, on elements of the
    padding."""
    _check_effects(block, fn)
    if any(isinstance(op, WhileOp) for op in block.walk()):
        raise _unsupported(fn, "may not end")


def _unsupported(fn: object, why: str) -> UnsupportedExtents:
    name = getattr(fn, "__name__", "the function")
    return UnsupportedExtents(f"{name} is given blocks whose extents are no powers of two, but {why}")


def _no_index_along(axes: object) -> ValueError:
    listed = ", ".join(map(str, unwrapped_list(axes)))
    error = ValueError(f"the place of an extremum along the axes ({listed}) is not one index")
    error.add_note("reshape these axes into one, or use axis=None for the index in the whole block")
    return error


def _check_same_shape(values: Sequence[tensor], what: str) -> None:
    for value in values:
        if value.type.shape != values[0].type.shape:
            raise AssertionError(f"all {what} inputs must have the same shape")
