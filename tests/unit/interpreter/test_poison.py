"""What an undefined element is: 0, poison that arithmetic carries on, or the end of its format."""

import math

import ml_dtypes
import numpy as np
import pytest

from tritonx.interpreter.values import undefined

FLOATS = [
    *(np.float16, np.float32, np.float64, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn),
    *(ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2fnuz, ml_dtypes.float8_e4m3b11fnuz),
]


@pytest.mark.parametrize("dtype", [np.dtype(each) for each in FLOATS], ids=str)
def test_floats(dtype: np.dtype) -> None:
    """The ends are the infinities, or the largest numbers of a format that has none."""
    values = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float64) if dtype.itemsize == 1 else [-np.inf, np.inf]
    low, high = np.nanmin(values), np.nanmax(values)
    assert (float(undefined(dtype, math.inf)), float(undefined(dtype, -math.inf))) == (high, low)
    assert (float(undefined(dtype, False)), np.isnan(undefined(dtype, True))) == (0.0, True)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_integers(dtype: type) -> None:
    kind = np.dtype(dtype)
    found = [undefined(kind, poison) for poison in (math.inf, -math.inf, False)]
    assert found == [np.iinfo(dtype).max, np.iinfo(dtype).min, 0] and all(each.dtype == kind for each in found)
    assert undefined(kind, True).tobytes() == b"\xa5" * kind.itemsize


def test_booleans() -> None:
    found = [undefined(np.dtype(np.bool_), poison) for poison in (math.inf, -math.inf, True, False)]
    assert found == [True, False, True, False]
