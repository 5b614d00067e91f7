"""Tensor descriptors and reinterpreted tensors as arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.runtime import driver
from tritonx.tools.tensor_descriptor import TensorDescriptor


@tritonx.jit
def copy_block(source, target, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK
    target.store([row, 0], source.load([row, 0]) * 2)


@pytest.fixture(autouse=True)
def on_cpu() -> Any:
    driver.set_active("cpu")
    yield
    driver.reset_active()


def test_a_descriptor_is_an_argument() -> None:
    x = np.arange(16 * 16, dtype=np.float32).reshape(16, 16)
    y = np.zeros_like(x)
    source, target = (TensorDescriptor.from_tensor(a, [8, 16]) for a in (x, y))
    kernel = copy_block[(2,)](source, target, BLOCK=8)
    assert kernel.src.signature["source"] == "tensordesc<fp32[8, 16]>"
    np.testing.assert_array_equal(y, 2 * x)


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32, np.float64])
def test_rows_that_end_within_16_bytes_are_told_apart(dtype: Any) -> None:
    """A unit that copies blocks would write beyond them; changing a descriptor that was launched already counts."""
    x, y = (np.zeros((8, 64), dtype) for _ in range(2))
    source, target = (TensorDescriptor(a, [8, 32], [64, 1], [8, 32]) for a in (x, y))
    assert copy_block[(1,)](source, target, BLOCK=8).src.attrs == {}
    for width in range(17, 33):
        target.shape[1] = source.shape[1] = width
        x[...], y[...] = 1, 5
        kernel = copy_block[(1,)](source, target, BLOCK=8)
        is_whole = width * y.itemsize % 16 == 0
        assert kernel.src.attrs == ({} if is_whole else {(n,): [["tt.partial_end", 1]] for n in range(2)})
        np.testing.assert_array_equal(y, np.where(np.arange(64) < width, 2, 5)[None].repeat(8, 0))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shape": [4]}, "rank mismatch"),
        ({"strides": [16, 2]}, "Last dimension must be contiguous"),
        ({"strides": [17, 1]}, "strides must be 16-byte aligned"),
        ({"shape": [0, 16]}, "shape must be positive"),
        ({"block_shape": [8, 24]}, "Shape element 1 must be a power of 2"),
        ({"block_shape": [2048, 1024]}, "exceeds triton maximum tensor numel"),
        ({"padding": "one"}, "Illegal value for padding"),
        ({"base": np.zeros((16, 16), np.int32), "padding": "nan"}, "only supported for floating point"),
        ({"shape": [], "strides": [], "block_shape": []}, "rank must not be zero"),
        ({"shape": [1] * 6, "strides": [16] * 5 + [1], "block_shape": [1] * 6}, "rank cannot be more than 5"),
    ],
)
def test_layouts_that_descriptors_cannot_have(change: dict[str, Any], message: str) -> None:
    fields = {"base": np.zeros((16, 16), np.float32), "shape": [16, 16], "strides": [16, 1], "block_shape": [8, 16]}
    with pytest.raises(ValueError, match=message):
        TensorDescriptor(**{**fields, **change})


def test_misaligned_base() -> None:
    base = np.zeros(65, np.float32)
    start = 1 if base.ctypes.data % 16 == 0 else 0
    with pytest.raises(ValueError, match="16-byte aligned"):
        TensorDescriptor(base[start : start + 64], [64], [1], [16])


@tritonx.jit
def widen(x, y, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at).to(tl.float32))


def test_reinterpreted_arrays() -> None:
    import ml_dtypes

    values = np.array([0.5, 1.0, -2.0, 448.0], ml_dtypes.float8_e4m3fn)
    wrapped = tritonx.reinterpret(values.view(np.uint8), tl.float8e4nv)
    assert isinstance(wrapped, tritonx.TensorWrapper)
    y = np.zeros(4, np.float32)
    kernel = widen[(1,)](wrapped, y, BLOCK=4)
    assert kernel.src.signature["x"] == "*fp8e4nv"
    np.testing.assert_array_equal(y, values.astype(np.float32))
    assert tritonx.reinterpret(wrapped, tl.uint8) is wrapped.base
    with pytest.raises(TypeError, match=r"Cannot reinterpret a <class 'list'>\."):
        tritonx.reinterpret([1], tl.uint8)
