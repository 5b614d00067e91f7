"""``tl.dot``: the matrix product with an accumulator."""

from __future__ import annotations

from math import prod
from typing import Any, cast

from tritonx import level
from tritonx.dialects.tile import DotOp, InputPrecision
from tritonx.frontend.semantics.base import enum_attribute
from tritonx.frontend.semantics.casts import CastSemantics
from tritonx.frontend.semantics.shape import ShapeSemantics
from tritonx.language.types.dtypes import bfloat16, block_type, dtype, float16, float32, float64, int8, int32, uint8
from tritonx.language.types.type_names import element_type
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor
from tritonx.runtime import knobs

_OPERANDS = (int8, uint8, float16, bfloat16, float32, float64)
PRECISIONS = {
    "tf32": InputPrecision.TF32,
    "tf32x3": InputPrecision.TF32x3,
    "ieee": InputPrecision.IEEE,
    "bf16x3": InputPrecision.BF16x3,
    "bf16x6": InputPrecision.BF16x6,
}


class DotSemantics(CastSemantics, ShapeSemantics):
    def dot(
        self,
        lhs: tensor,
        rhs: tensor,
        acc: Any,
        input_precision: Any,
        allow_tf32: Any,
        max_num_imprecise_acc: Any,
        out_dtype: Any,
    ) -> tensor:
        """``lhs @ rhs + acc`` of 2-D blocks, or of those in the last two axes of a batch.

        Operands of one dtype (two fp8 may differ). int8 gives int32, fp32 and bf16 give fp32, fp64 gives fp64, fp16
        and fp8 give ``out_dtype``. The least shape is the target's. Violations are ``AssertionError`` and
        ``ValueError`` with Triton's texts.
        """
        precision = self._input_precision(unwrap(input_precision), unwrap(allow_tf32))
        out_dtype, acc = unwrap(out_dtype), unwrap(acc)
        out_dtype = _default_result(acc) if out_dtype is None else element_type(out_dtype)
        if not all(isinstance(v, tensor) and v.type.is_block() for v in (cast(Any, lhs), cast(Any, rhs))):
            raise AssertionError(f"dot needs two blocks, got {lhs} and {rhs}")
        _check_operands(lhs.dtype, rhs.dtype)
        if lhs.dtype.is_fp8e4b15() or rhs.dtype.is_fp8e4b15():  # no float to the IR
            lhs, rhs = self.cast(lhs, float16), self.cast(rhs, float16)
        result = self.dot_result_type(lhs, rhs, out_dtype)
        if acc is None:
            acc = self.constant(0, result)
        else:
            check_accumulator(acc, result)
        limit = self.imprecise_sums(lhs.dtype, rhs.dtype, lhs.type.shape[-1], unwrap(max_num_imprecise_acc))
        properties = {
            "inputPrecision": enum_attribute(PRECISIONS[precision]),
            "maxNumImpreciseAcc": enum_attribute(limit),
        }
        lhs, rhs, acc = self._one_batch_axis(lhs), self._one_batch_axis(rhs), self._one_batch_axis(acc)
        rank, shape = len(acc.type.shape), acc.type.shape
        # Of both operands: zero times a NaN is a NaN.
        operands = [self.filled(lhs, 0, (rank - 1,)), self.filled(rhs, 0, (rank - 2,)), self.whole(acc)]
        product = self.cropped(self.emit(DotOp, operands, operands[2].type, properties), shape)
        return self.reshape(product, result.shape)

    def _one_batch_axis(self, value: tensor) -> tensor:
        """``value`` with all axes but the last two as one, where there are several: the op has no more."""
        *batch, rows, columns = value.type.shape
        return self.reshape(value, (prod(batch), rows, columns)) if len(batch) > 1 else value

    def dot_result_type(self, lhs: tensor, rhs: tensor, out_dtype: dtype) -> block_type:
        """The block type of the product, after checking the shapes and the element types."""
        left, right = lhs.type.shape, rhs.type.shape
        for fits, what in (
            (len(left) == len(right) >= 2, "ranks >= 2"),
            (left[:-2] == right[:-2], "batch shapes"),
            (left[-1:] == right[-2:-1], "reduction dimensions"),
        ):
            if not fits:
                raise AssertionError(f"input and other must have equal {what}, not those of {[*left]} and {[*right]}")
        least_m, least_n, least_k = self._least_shape(lhs.dtype, rhs.dtype)
        rows, depth, columns = *lhs.type.storage[-2:], rhs.type.storage[-1]
        if rows < least_m or columns < least_n or depth < least_k:
            raise AssertionError(f"Input shapes should have M >= {least_m}, N >= {least_n} and K >= {least_k}")
        operand = lhs.dtype
        if operand.is_int():
            if operand != int8:
                raise AssertionError("only int8 supported!")
            element: dtype = int32
        elif out_dtype.is_bf16():
            raise ValueError(
                "out_dtype=bfloat16 is unsupported. "
                "Please use out_dtype=float32/float16 and cast with `.to(tl.bfloat16)`"
            )
        elif operand.is_fp32() or operand.is_bf16():
            element = float32
        elif operand.is_fp64():
            element = float64
        elif out_dtype not in (float16, float32):
            raise ValueError(f"out_dtype={out_dtype} is unsupported: a product of {operand} is float16 or float32")
        else:
            element = out_dtype
        return block_type(element, (*left[:-1], right[-1]))

    def _least_shape(self, lhs: dtype, rhs: dtype) -> tuple[int, int, int]:
        """The least M, N, K of the target."""
        return self.options.min_dot_size(lhs.primitive_bitwidth, rhs.primitive_bitwidth)

    def imprecise_sums(self, lhs: dtype, rhs: dtype, depth: int, given: int | None) -> int:
        """How many products of operands of these types are added before the sum is rounded to float32, at most."""
        both_fp8 = lhs.is_fp8() and rhs.is_fp8()
        if given is None:
            return self.options.max_num_imprecise_acc_default if both_fp8 else 0
        if both_fp8 and given > depth:
            raise ValueError(f"max_num_imprecise_acc ({given}) must be <= K ({depth})")
        return given

    def _input_precision(self, given: str | None, allow_tf32: bool | None) -> str:
        if given is not None and allow_tf32 is not None:
            raise AssertionError("Only one of input_precision and allow_tf32 can be specified")
        allowed = self.options.allowed_dot_input_precisions
        if given is None:
            if allow_tf32 is None:
                given = _environment_default() or self.options.default_dot_input_precision
            else:
                given = "tf32" if allow_tf32 and "tf32" in allowed else "ieee"
        if given not in PRECISIONS or given not in allowed:
            raise ValueError(f"input_precision must be one of {allowed}. Got {given}")
        return given


def check_accumulator(acc: Any, result: block_type) -> None:
    """The accumulator has the type of the result."""
    given = acc.type
    if not given.is_block() or given.shape != result.shape:
        shape = [*given.shape] if given.is_block() else []
        raise AssertionError(f"expected accumulator shape {[*result.shape]}, got {shape}")
    if given.element_ty != result.element_ty:
        raise AssertionError(
            f"expected accumulator dtype {result.element_ty}, got {given.element_ty}; "
            f"pass out_dtype={given.element_ty} to use this accumulator dtype"
        )


def _default_result(acc: object) -> dtype:
    """The ``out_dtype`` of a product that names none."""
    return acc.dtype if isinstance(acc, tensor) and level.active().dot_of_accumulator else float32


def _environment_default() -> str | None:
    return knobs.language.fp32_default


def _check_operands(lhs: dtype, rhs: dtype) -> None:
    if lhs.is_fp8() and rhs.is_fp8():
        return
    if lhs not in _OPERANDS:
        raise AssertionError(f"Unsupported lhs dtype {lhs}")
    if rhs not in _OPERANDS:
        raise AssertionError(f"Unsupported rhs dtype {rhs}")
    if lhs != rhs:
        raise AssertionError(f"Both operands must be same dtype. Got {lhs} and {rhs}")
