"""``tl.dot_scaled``: the matrix product of microscaled operands (OCP MX formats)."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase
from xdsl.dialects.builtin import i32 as i32_attr

from tritonx.dialects.tile import DotScaledOp, ScaleDotElemType
from tritonx.frontend.semantics.base import enum_attribute
from tritonx.frontend.semantics.casts import CastSemantics
from tritonx.frontend.semantics.dot import check_accumulator
from tritonx.language.types.dtypes import bfloat16, block_type, dtype, float8e4nv, float8e5, float16, uint8
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor

_FORMATS: dict[str, tuple[ScaleDotElemType, dtype]] = {
    # format: (its case, the element type it is held in); e2m1 is packed two to a byte
    "e2m1": (ScaleDotElemType.E2M1, uint8),
    "e4m3": (ScaleDotElemType.E4M3, float8e4nv),
    "e5m2": (ScaleDotElemType.E5M2, float8e5),
    "bf16": (ScaleDotElemType.BF16, bfloat16),
    "fp16": (ScaleDotElemType.FP16, float16),
}


class ScaledDotSemantics(CastSemantics):
    def dot_scaled(
        self,
        lhs: tensor,
        lhs_scale: Any,
        lhs_format: Any,
        rhs: tensor,
        rhs_scale: Any,
        rhs_format: Any,
        acc: Any,
        fast_math: Any,
        lhs_k_pack: Any,
        rhs_k_pack: Any,
        out_dtype: Any,
    ) -> tensor:
        """``(lhs * lhs_scale) @ (rhs * rhs_scale) + acc`` in fp32; a scale is e8m0 (uint8), one for 32 values along
        K, or e4m3, one for 16, or None.

        ``*_k_pack``: e2m1 operands hold two values of K in a byte (otherwise two of M or N).
        """
        if not (lhs.type.is_block() and rhs.type.is_block()):
            raise AssertionError("dot_scaled operands must be block tensors (not scalars)")
        left_format, right_format = unwrap(lhs_format), unwrap(rhs_format)
        left_packed, right_packed = bool(unwrap(lhs_k_pack)), bool(unwrap(rhs_k_pack))
        lhs, rhs = self._scaled_operand(lhs, left_format), self._scaled_operand(rhs, right_format)
        for format_, packed in ((left_format, left_packed), (right_format, right_packed)):
            if format_ != "e2m1" and not packed:
                raise AssertionError("only mxfp4 inputs can be packed along a dimension different than K")
        if unwrap(out_dtype).name != "fp32":
            raise AssertionError("dot_scaled only supports out_dtype=float32")
        left, right = lhs.type.shape, rhs.type.shape
        if not len(left) == len(right) or len(left) not in (2, 3):
            raise AssertionError(f"Both inputs must be either 2D or 3D; (lhs: {lhs.shape} vs rhs: {rhs.shape})")
        left_twice, right_twice = (2 if f == "e2m1" else 1 for f in (left_format, right_format))
        left_depth = left[-1] * (left_twice if left_packed else 1)
        right_depth = right[-2] * (right_twice if right_packed else 1)
        if left_depth != right_depth or left[:-2] != right[:-2]:
            raise AssertionError(
                f"Reduction dimension should pack the same number of elements; (lhs: {lhs.shape} vs rhs: {rhs.shape})"
            )
        rows = left[-2] * (1 if left_packed else left_twice)
        columns = right[-1] * (1 if right_packed else right_twice)
        result = block_type(dtype("fp32"), (*left[:-2], rows, columns))
        acc = unwrap(acc)
        if acc is None:
            acc = self.constant(0, result)
        else:
            check_accumulator(acc, result)
        scales = [unwrap(lhs_scale), unwrap(rhs_scale)]
        for side, scale, count in (("lhs", scales[0], rows), ("rhs", scales[1], columns)):
            if scale is not None and not (isinstance(scale, tensor) and scale.type.is_block()):
                raise AssertionError(f"a scale must be a block or None, got {scale}")
            if scale is not None:
                _check_scales(side, scale, (*left[:-2], count), left_depth)
        rank = len(left)
        filled = [self.filled(lhs, 0, (rank - 1,)), self.filled(rhs, 0, (rank - 2,)), self.whole(acc)]
        # A scale of 1: zero times a NaN is a NaN.
        operands = [*filled, *[self.filled(s, _one(s.dtype), (rank - 1,)) for s in scales if s is not None]]
        properties = {
            "a_elem_type": enum_attribute(_FORMATS[left_format][0]),
            "b_elem_type": enum_attribute(_FORMATS[right_format][0]),
            "fastMath": BoolAttr.from_bool(bool(unwrap(fast_math))),
            "lhs_k_pack": BoolAttr.from_bool(left_packed),
            "rhs_k_pack": BoolAttr.from_bool(right_packed),
            "operandSegmentSizes": DenseArrayBase.from_list(i32_attr, [1, 1, 1, *[int(s is not None) for s in scales]]),
        }
        return self.cropped(self.emit(DotScaledOp, operands, operands[2].type, properties), result.shape)

    def _scaled_operand(self, value: tensor, format_: Any) -> tensor:
        if format_ not in _FORMATS:
            raise AssertionError(f"NYI: unsupported format {format_}")
        held = _FORMATS[format_][1]
        if value.dtype == held or (format_ == "e2m1" and value.dtype.is_int() and value.dtype.int_bitwidth == 8):
            return value
        if value.dtype == uint8 and held.primitive_bitwidth == 8:
            return self.bitcast(value, held)
        raise AssertionError(f"Unexpected dtype for {format_}. Got {value.dtype}")


def _check_scales(side: str, scale: tensor, rows: tuple[int, ...], depth: int) -> None:
    """Each row of an operand (``rows``: the batch and M or N) has a scale for every 32 elements along K; of e4m3 scales
    for every 16, as NVFP4 has them. A last group may be smaller."""
    wanted = (*rows, -(-depth // (16 if scale.dtype == float8e4nv else 32)))
    given = scale.type.shape
    if given != wanted:
        shape = [str(extent) for extent in given]
        raise AssertionError(f"{side}_scale must be a tensor of shape {[*wanted]}. Got {shape}")


def _one(type_: dtype) -> float | int:
    """The scale of 1: of e8m0 an exponent."""
    return 1.0 if type_.is_floating() else 127
