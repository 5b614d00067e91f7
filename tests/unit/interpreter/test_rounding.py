"""Conversions between formats: against ml_dtypes where it rounds once, against exact rationals everywhere."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritonx.interpreter.rounding import (
    FORMATS,
    Rounding,
    float_to_integer,
    integer_to_float,
    round_to,
    truncate_to_tf32,
)

NARROW = [np.dtype(t) for t in (np.float16, ml_dtypes.bfloat16)]
FP8 = [f.dtype for f in FORMATS.values() if f.saturates]


def every_value(dtype: np.dtype) -> np.ndarray:
    bits = np.arange(1 << (8 * dtype.itemsize), dtype=np.uint64).astype(f"u{dtype.itemsize}")
    return bits.view(dtype)


def exact_rounding(value: float, dtype: np.dtype, rounding: Rounding) -> float:
    """The definition by search: the nearest value of the format, or the next one towards zero; ties to the even
    code."""
    candidates = every_value(dtype)
    finite = candidates[np.isfinite(candidates.astype(np.float64))]
    codes = finite.view(f"u{dtype.itemsize}")
    exact = Fraction(value)
    numbers = [Fraction(float(x)) for x in finite.astype(np.float64)]
    if rounding is Rounding.TOWARDS_ZERO:
        inside = [n for n in numbers if abs(n) <= abs(exact) and n * exact >= 0]
        return float(max(inside, key=abs))
    best = min(abs(n - exact) for n in numbers)
    near = {n: int(c) for n, c in zip(numbers, codes, strict=True) if abs(n - exact) == best}
    return float(next(n for n, c in near.items() if len(near) == 1 or c % 2 == 0))


@pytest.mark.parametrize("dtype", FP8, ids=str)
@pytest.mark.parametrize("rounding", list(Rounding))
@given(value=st.floats(-500, 500))
def test_to_fp8_is_the_nearest_value(dtype: np.dtype, rounding: Rounding, value: float) -> None:
    largest = FORMATS[dtype].largest
    value = max(-largest, min(largest, value))
    got = float(round_to(np.array([value]), dtype, rounding).astype(np.float64)[0])
    assert got == exact_rounding(value, dtype, rounding)


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_f32_to_16_bits_agrees_with_ml_dtypes(dtype: np.dtype) -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(0, 1 << 32, 100_000, dtype=np.uint64).astype(np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        wanted = values.astype(dtype).astype(np.float32)
        direct = round_to(values, dtype).astype(np.float32)
        wide = round_to(values.astype(np.float64), dtype).astype(np.float32)
    np.testing.assert_array_equal(direct, wanted)
    np.testing.assert_array_equal(wide, wanted)


def test_f64_to_f16_rounds_once() -> None:
    value = 1.0 + 2.0**-11 + 2.0**-40  # above the tie; through f32 it would land on the tie and go down
    assert float(round_to(np.array([value]), np.dtype(np.float16))[0]) == 1.0 + 2.0**-10


@pytest.mark.parametrize("dtype", FP8, ids=str)
def test_fp8_saturates_and_keeps_nan(dtype: np.dtype) -> None:
    largest = FORMATS[dtype].largest
    got = round_to(np.array([1e30, -1e30, np.inf, -np.inf, np.nan], np.float32), dtype).astype(np.float32)
    np.testing.assert_array_equal(got, np.array([largest, -largest, largest, -largest, np.nan], np.float32))


@pytest.mark.parametrize("dtype", [*FP8, *NARROW], ids=str)
def test_every_value_survives_widening(dtype: np.dtype) -> None:
    values = every_value(dtype)
    with np.errstate(all="ignore"):
        for wide in (np.dtype(np.float32), np.dtype(np.float64)):
            back = round_to(values.astype(wide), dtype)
            finite = np.isfinite(values.astype(np.float32))
            np.testing.assert_array_equal(
                back[finite].view(f"u{dtype.itemsize}"), values[finite].view(f"u{dtype.itemsize}")
            )


def test_round_towards_zero_stops_at_the_largest_finite() -> None:
    got = round_to(np.array([1e39, -1e39, np.inf]), np.dtype(np.float32), Rounding.TOWARDS_ZERO)
    np.testing.assert_array_equal(got, np.array([3.4028235e38, -3.4028235e38, np.inf], np.float32))


def test_tf32_keeps_ten_bits() -> None:
    values = np.array([1.0 + 2.0**-10, 1.0 + 2.0**-11, -1.0 - 2.0**-11, np.inf, 3e-45], np.float32)
    got = truncate_to_tf32(values)
    np.testing.assert_array_equal(got, np.array([1.0 + 2.0**-10, 1.0, -1.0, np.inf, 0.0], np.float32))


@given(st.integers(-(2**63), 2**63 - 1), st.sampled_from([np.float16, ml_dtypes.bfloat16, np.float32]))
def test_integers_round_once(value: int, target: type) -> None:
    dtype = np.dtype(target)
    with np.errstate(all="ignore"):
        got = float(integer_to_float(np.array([value], np.int64), dtype).astype(np.float64)[0])
    if np.isinf(got):
        assert abs(value) > FORMATS[dtype].largest
        return
    spacing = np.nextafter(np.abs(np.array([got])).astype(dtype), np.array([np.inf]).astype(dtype)).astype(np.float64)[
        0
    ] - abs(got)
    assert abs(Fraction(value) - Fraction(got)) * 2 <= Fraction(float(spacing))


@pytest.mark.parametrize(
    ("value", "target", "signed", "wanted"),
    [
        (300.0, np.int8, True, 127),
        (-300.0, np.int8, True, -128),
        (3.99, np.int32, True, 3),
        (-3.99, np.int32, True, -3),
        (float("nan"), np.int32, True, 0),
        (float("inf"), np.int64, True, 2**63 - 1),
        (-1.0, np.int32, False, 0),
        (3e9, np.int32, False, 3_000_000_000 - 2**32),
        (2.0**64, np.int64, False, -1),
        (2.0**63, np.int64, False, -(2**63)),
    ],
)
def test_float_to_integer_saturates(value: float, target: type, signed: bool, wanted: int) -> None:
    assert int(float_to_integer(np.array([value]), np.dtype(target), signed=signed)[0]) == wanted


@given(
    value=st.one_of(st.floats(allow_nan=False), st.integers(-(2**65), 2**65).map(float)),
    target=st.sampled_from([np.int8, np.int16, np.int32, np.int64]),
    signed=st.booleans(),
)
def test_float_to_integer_is_the_nearest_inside_towards_zero(value: float, target: type, signed: bool) -> None:
    bits = 8 * np.dtype(target).itemsize
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    whole = (high if value > 0 else low) if np.isinf(value) else int(value)
    got = int(float_to_integer(np.array([value]), np.dtype(target), signed=signed)[0])
    assert got % 2**bits == max(low, min(high, whole)) % 2**bits


@pytest.mark.parametrize("target", [np.dtype(ml_dtypes.float8_e4m3fnuz), np.dtype(ml_dtypes.float8_e5m2fnuz)])
@pytest.mark.parametrize("source", [np.float64, np.float32, np.float16])
def test_formats_without_a_negative_zero(source: type, target: np.dtype) -> None:
    """What would be it is the NaN of these formats."""
    values = np.array([-0.0, 0.0, -np.finfo(source).smallest_subnormal], source)
    for rounding in Rounding:
        assert not round_to(values, target, rounding).view(np.uint8).any(), rounding
