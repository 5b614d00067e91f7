"""Type promotion: which type a binary operator computes in.

Blocks and 0-d tensors promote alike; only Python constants are weak, and a constant is weak as long as its kind (bool
< int < float) is not above the tensor's. Measured on Triton 3.6: ``tests/language/test_promotion.py`` replays 15,519
probes.
"""

from __future__ import annotations

from tritonx import level
from tritonx.language.types.dtypes import bfloat16, dtype, float16, float32, float64


class IncompatibleTypeErrorImpl(Exception):
    """Two operand types that an operator cannot combine."""

    def __init__(self, type_a: object, type_b: object):
        self.type_a = type_a
        self.type_b = type_b
        self.message = f"invalid operands of type {type_a!r} and {type_b!r}"
        super().__init__(self.message)

    def __reduce__(self):
        return (IncompatibleTypeErrorImpl, (self.type_a, self.type_b))


def promote_integers(a: dtype, b: dtype) -> dtype:
    """C's rule without the promotion to int: the wider type; at equal width the unsigned one."""
    if a.int_signedness == b.int_signedness:
        return a if a.int_bitwidth > b.int_bitwidth else b
    unsigned, signed = (b, a) if a.is_int_signed() else (a, b)
    return unsigned if unsigned.int_bitwidth >= signed.int_bitwidth else signed


def computation_type(a: dtype, a_is_constant: bool, b: dtype, b_is_constant: bool, division: bool) -> dtype:
    """The element type that ``a op b`` computes in.

    ``*_is_constant``: the operand is a Python number. ``division``: op is ``/``, ``//`` or ``%``, where half-width
    floats compute in fp32 and integers of different signedness are a ``TypeError``, as is any pair that has no common
    type.
    """
    if a_is_constant != b_is_constant:
        constant, tensor = (a, b) if a_is_constant else (b, a)
        if constant.kind().value <= tensor.kind().value:
            if division and tensor.is_fp8() and level.active().narrow_division_in_f32:
                return float32
            return float32 if division and tensor in (float16, bfloat16) else tensor
    for wide in (float64, float32):
        if wide in (a, b):
            return wide
    if division and (a.is_floating() or b.is_floating()) and level.active().narrow_division_in_f32:
        return float32
    if float16 in (a, b):
        return float32 if division else float16
    if bfloat16 in (a, b):
        return bfloat16 if a == b and not division else float32
    if a.is_fp8() and b.is_fp8():
        return a if a == b else float16
    if not a.is_int() or not b.is_int():
        raise TypeError(f"unexpected type {a} and {b}")
    if division and a.int_signedness != b.int_signedness:
        raise TypeError(
            f"Cannot use /, #, or % with {a!r} and {b!r} because they have different signedness;"
            "this is unlikely to result in a useful answer. Cast them to the same signedness."
        )
    return promote_integers(a, b)


def literal_type(value: int) -> str:
    """The name of the type of a Python int: the first of int32, uint32, int64, uint64 that holds it; else
    ``ValueError``.
    """
    if -(2**31) <= value < 2**31:
        return "int32"
    if 2**31 <= value < 2**32:
        return "uint32"
    if -(2**63) <= value < 2**63:
        return "int64"
    if 2**63 <= value < 2**64:
        return "uint64"
    raise ValueError(f"Nonrepresentable integer {value}.")


def float_literal_type(value: float) -> dtype:
    """fp32 for zero, infinities, NaN and whatever is a normal number of fp32; else fp64."""
    magnitude = abs(value)
    if magnitude in (0.0, float("inf")) or value != value:
        return float32
    return float32 if 2.0**-126 <= magnitude <= (2 - 2.0**-23) * 2.0**127 else float64
