"""Comparing arrays of any library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

DEFAULT_ATOL = 1e-2
DEFAULT_RTOL = 0.0


def to_numpy(value: Any) -> Any:
    """A NumPy array on the host, fp32 where NumPy has no such dtype itself."""
    import numpy as np

    if hasattr(value, "detach"):  # torch: NumPy has no bfloat16
        value = value.detach().cpu()
        if "bfloat16" in str(value.dtype) or "float8" in str(value.dtype):
            value = value.float()
        return value.numpy()
    as_array: Any = np.asarray
    array: Any = value.numpy() if hasattr(value, "numpy") and not isinstance(value, np.ndarray) else as_array(value)
    return array.astype(np.float32) if array.dtype.kind == "V" or "float8" in array.dtype.name else array


Bound = float | Callable[[object], float]
"""A tolerance, or what gives it for a dtype."""


def assert_close(x: object, y: object, atol: Bound | None = None, rtol: Bound | None = None, err_msg: str = "") -> None:
    """Raise AssertionError unless |x - y| <= atol + rtol * |y| everywhere; NaNs equal each other, infinities
    themselves.

    ``x`` and ``y`` are arrays of any library, or numbers. ``atol`` is 1e-2 and ``rtol`` 0 unless given; a function is
    called with the dtype of ``x``. The message says how many elements differ and by how much at most, or both numbers
    where there is one of each.

    >>> tritonx.testing.assert_close(np.array([1.0, np.nan]), np.array([1.001, np.nan]))
    >>> tritonx.testing.assert_close(np.array([1.0]), np.array([1.5]), rtol=0.4)
    >>> tritonx.testing.assert_close(3, 1)
    Traceback (most recent call last):
        ...
    AssertionError:  3 is not close to 1 (atol=0.01, rtol=0.0)
    """
    import numpy as np

    left, right = to_numpy(x), to_numpy(y)
    dtype = getattr(x, "dtype", left.dtype)
    atol = atol(dtype) if callable(atol) else DEFAULT_ATOL if atol is None else atol
    rtol = rtol(dtype) if callable(rtol) else DEFAULT_RTOL if rtol is None else rtol
    wide = [array.astype(np.float64) if array.dtype.kind != "c" else array for array in (left, right)]
    if left.size <= 1 and right.size <= 1:
        if not np.allclose(*wide, atol=atol, rtol=rtol, equal_nan=True):
            raise AssertionError(f"{err_msg} {left} is not close to {right} (atol={atol}, rtol={rtol})")
        return
    np.testing.assert_allclose(*wide, atol=atol, rtol=rtol, err_msg=err_msg, equal_nan=True)
