"""Reductions and scans with any combine function, elementwise maps of a scalar function, histograms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import Attribute, Block, Operation, Region

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
from tritonx.frontend.semantics.shape import ShapeSemantics
from tritonx.frontend.semantics.types import ir_type
from tritonx.language.base import base_value
from tritonx.language.constexpr import unwrap
from tritonx.language.dtypes import block_type, dtype, int32
from tritonx.language.values import tensor
from tritonx.language.values import tuple as language_tuple


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
            results = [self.reshape(v, (_numel(v),), True) for v in results]
            results = self._reduce_axis(results, 0, combine_fn)
        else:
            axes = wrap_axes(axis, rank)
            for reduced in reversed(axes):  # those in front keep their numbers
                results = self._reduce_axis(results, reduced, combine_fn)
        return language_tuple([self.expand_axes(r, axes) for r in results] if unwrap(keep_dims) else results)

    def _reduce_axis(self, values: list[tensor], axis: int, combine_fn: object) -> list[tensor]:
        shape = values[0].type.shape
        _check_same_shape(values, "reduction")
        remaining = (*shape[:axis], *shape[axis + 1 :])
        types = [block_type(v.dtype, remaining) if remaining else v.dtype for v in values]
        return self._with_combine(ReduceOp, ReduceReturnOp, values, types, {"axis": enum_attribute(axis)}, combine_fn)

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
        joined = JoinedAxes.of(shape, axes)
        results = self._scan_axis([self._join_axes(v, joined) for v in values], joined.axis, combine_fn, reverse)
        return language_tuple([self._part_axes(r, joined) for r in results])

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
        types = [v.type for v in values]
        return self._with_combine(ScanOp, ScanReturnOp, values, types, properties, combine_fn)

    def _with_combine(
        self,
        op: type[Operation],
        terminator: type[Operation],
        values: list[tensor],
        types: Sequence[dtype],
        properties: dict[str, Attribute],
        combine_fn: object,
    ) -> list[tensor]:
        scalars = [v.dtype for v in values]
        block = Block(arg_types=[ir_type(t) for t in scalars * 2])
        results = self.inline_region(combine_fn, scalars * 2, block)
        self._check_returned(results, scalars, combine_fn)
        with self.builder.at(block):
            self.builder.create(terminator, results)
        made = self.builder.create(
            op, [v.handle for v in values], [ir_type(t) for t in types], properties, regions=[Region(block)]
        )
        return [tensor(handle, type_) for handle, type_ in zip(made.results, types, strict=True)]

    def _check_returned(self, results: Sequence[Any], expected: Sequence[dtype], combine_fn: Any) -> None:
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
        values, pack = self.map_operands(inputs), unwrap(pack)
        arguments = [v.dtype for v in values for _ in range(pack)]
        block = Block(arg_types=[ir_type(t) for t in arguments])
        returned = self._call_in(scalar_fn, arguments, block)
        single = isinstance(returned, tensor)
        outputs = [returned] if single else [*returned]
        groups = packed_results(outputs, pack)
        with self.builder.at(block):
            self.builder.create(MapElementwiseReturnOp, [o.handle for o in outputs])
        types = [values[0].type.with_element_ty(group[0].type) for group in groups]
        op = self.builder.create(
            MapElementwiseOp,
            [v.handle for v in values],
            [ir_type(t) for t in types],
            {"pack": enum_attribute(pack)},
            regions=[Region(block)],
        )
        results = [tensor(handle, type_) for handle, type_ in zip(op.results, types, strict=True)]
        return results[0] if single else language_tuple(results)

    def map_operands(self, inputs: Sequence[object]) -> list[tensor]:
        """The inputs of ``map_elementwise``, broadcast to one shape."""
        values = [self.to_tensor(v) for v in inputs]
        if not values:
            raise ValueError("map_elementwise must have at least 1 input tensor")
        common = values[0]
        for value in values[1:]:
            _, common = self.binary_operands(value, common, lhs_pointer=True, rhs_pointer=True, promote=False)
        return [self.broadcast_to(v, common.type.shape) if common.type.is_block() else v for v in values]

    def _call_in(self, fn: object, arg_types: Sequence[dtype], block: Block) -> tensor | language_tuple:
        """What ``fn`` returns when it is inlined into ``block``, as tensors of that block."""
        if self.generator is None:
            raise RuntimeError("these semantics cannot run functions: they have no generator")
        arguments = iter(block.args)
        with self.builder.at(block):
            returned = self.generator.call_function(fn, [t.rebuild(arguments) for t in arg_types], {})
            if isinstance(returned, base_value) and not isinstance(returned, language_tuple):
                return self.to_tensor(returned)
            return language_tuple([self.to_tensor(v) for v in returned])

    def histogram(self, value: tensor, num_bins: object, mask: object) -> tensor:
        """int32 counts of the values 0 .. ``num_bins`` - 1 of a 1-D integer block; other values count nowhere."""
        if len(value.type.shape) != 1:
            raise AssertionError("histogram only supports 1D input")
        if not value.dtype.is_int():
            raise AssertionError("histogram only supports integer input")
        num_bins, mask = unwrap(num_bins), unwrap(mask)
        if value.dtype.is_int_signed() and num_bins > 2 ** (value.dtype.primitive_bitwidth - 1):
            value = self.cast(value, int32)  # the op has no sign: -1 would be the last bin
        operands = [value]
        if mask is not None:
            mask = self.to_tensor(mask)
            if not mask.dtype.is_bool():
                raise ValueError("Mask must have boolean scalar type")
            operands.append(self.broadcast_to(mask, value.type.shape))
        return self.emit(HistogramOp, operands, block_type(int32, (num_bins,)))


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


def _no_index_along(axes: object) -> ValueError:
    listed = ", ".join(map(str, unwrapped_list(axes)))
    error = ValueError(f"the place of an extremum along the axes ({listed}) is not one index")
    error.add_note("reshape these axes into one, or use axis=None for the index in the whole block")
    return error


def _check_same_shape(values: Sequence[tensor], what: str) -> None:
    for value in values:
        if value.type.shape != values[0].type.shape:
            raise AssertionError(f"all {what} inputs must have the same shape")
