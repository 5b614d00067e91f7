"""Remainders of floats on the card: C's fmod, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.unit.conversion.gpu_to_llvm.test_remainders import N, operands, remainders
from tritonx.runtime.arrays import to_device


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_remainders(dtype: type[np.floating[Any]]) -> None:
    for _ in range(3):
        a, b = operands(dtype)
        out: Any = to_device(np.zeros(N, dtype))
        remainders[(1,)](to_device(a), to_device(b), out, N)
        o = out.numpy()
        with np.errstate(all="ignore"):
            want = np.fmod(a, b)
        word = f"u{np.dtype(dtype).itemsize}"
        same = (o.view(word) == want.view(word)) | (np.isnan(o) & np.isnan(want))
        assert same.all(), list(zip(a[~same], b[~same], o[~same], want[~same], strict=True))[:5]
