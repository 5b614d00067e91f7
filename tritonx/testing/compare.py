"""Comparing arrays of any library."""

from __future__ import annotations

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


def assert_close(x: object, y: object, atol: float | None = None, rtol: float | None = None, err_msg: str = "") -> None:
    """Raise AssertionError unless |x - y| <= atol + rtol * |y| everywhere; NaNs equal each other, infinities
    themselves.

    ``atol`` is 1e-2 and ``rtol`` 0 unless given. The message says how many elements differ and by how much at most.

    >>> tritonx.testing.assert_close(np.array([1.0, np.nan]), np.array([1.001, np.nan]))
    >>> tritonx.testing.assert_close(np.array([1.0]), np.array([1.5]), rtol=0.4)
    """
    import numpy as np

    left, right = to_numpy(x), to_numpy(y)
    np.testing.assert_allclose(
        left.astype(np.float64) if left.dtype.kind != "c" else left,
        right.astype(np.float64) if right.dtype.kind != "c" else right,
        atol=DEFAULT_ATOL if atol is None else atol,
        rtol=DEFAULT_RTOL if rtol is None else rtol,
        err_msg=err_msg,
        equal_nan=True,
    )
