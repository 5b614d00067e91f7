"""What lies behind a pointer argument, by the protocol of the array."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided, sliding_window_view

import tritonx
import tritonx.language as tl
from tritonx.runtime import arrays
from tritonx.runtime.errors import UnreachableArgument
from tritonx.runtime.launch.spans import Span, extent, span_of, spanned
from tritonx.tools.tensor_descriptor import TensorDescriptor


def whole(array: Any) -> tuple[int, int]:
    return array.ctypes.data, array.nbytes


def reach(array: object) -> tuple[int, int]:
    span = span_of(array)
    return span.start, span.nbytes


class Offers:
    """An array with the attributes of one protocol only."""

    def __init__(self, array: Any) -> None:
        self.array = array


class Interface(Offers):
    @property
    def __array_interface__(self) -> Any:
        return self.array.__array_interface__


class Dlpack(Offers):
    def __dlpack__(self, **asked: Any) -> Any:
        return self.array.__dlpack__(**asked)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


class Strided(Offers):
    """What is like a torch tensor, and has no storage."""

    dtype, device = "float32", "cpu"

    @property
    def shape(self) -> Any:
        return self.array.shape

    def data_ptr(self) -> int:
        return self.array.ctypes.data

    def stride(self) -> Any:
        return tuple(s // self.array.itemsize for s in self.array.strides)

    def element_size(self) -> int:
        return self.array.itemsize


class Sized(Offers):
    dtype, device = "float32", "cpu"

    def data_ptr(self) -> int:
        return self.array.ctypes.data

    @property
    def nbytes(self) -> int:
        return self.array.nbytes


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(-3, 3)), max_size=4), st.sampled_from([1, 2, 8]))
def test_an_extent_is_that_of_the_elements(axes: list[tuple[int, int]], itemsize: int) -> None:
    shape, strides = [n for n, _ in axes], [s * itemsize for _, s in axes]
    places = [sum(i * s for i, s in zip(index, strides, strict=True)) for index in np.ndindex(*shape)]
    low, high = extent(1000, shape, strides, itemsize)
    if places:
        assert (low, high) == (1000 + min(places), 1000 + max(places) + itemsize)
    else:
        assert low == high == 1000


@pytest.mark.parametrize("dtype", ["float32", "int8", ml_dtypes.bfloat16])
def test_a_view_of_an_array_reaches_all_of_it(dtype: Any) -> None:
    base = np.zeros((8, 16), dtype)
    for view in (base, base[3], base[::-2, 1:], base.T[5:], base.reshape(-1)[7:9], base[:0], base.view(np.uint8)[1:2]):
        assert reach(view) == whole(base)
        assert span_of(view).address == view.__array_interface__["data"][0]
    assert reach(np.broadcast_to(base[0], (9, 16))) == whole(base)
    assert reach(base.copy()[2:]) != whole(base)


def test_an_array_on_a_buffer_reaches_all_of_it() -> None:
    buffer = bytearray(256)
    all_of_it = np.frombuffer(buffer, np.uint8)
    assert reach(np.frombuffer(buffer, np.float32, 4, 64)[1:]) == whole(all_of_it)
    assert reach(np.ndarray((2, 2), np.int16, memoryview(buffer)[100:])[1]) == whole(all_of_it)
    assert reach(np.frombuffer(memoryview(buffer)[64:128], np.int32)) == whole(all_of_it)
    assert reach(np.frombuffer(memoryview(all_of_it[32:])[32:], np.int32)) == whole(all_of_it)
    with mmap.mmap(-1, 8192) as mapped:
        inside = np.frombuffer(mapped, np.int32, 8, 4096)
        assert reach(inside) == (inside.ctypes.data - 4096, 8192)
        del inside


def test_what_stands_between_a_view_and_its_base() -> None:
    base = np.zeros(64, np.float32)
    assert reach(as_strided(base[16:], (4, 2), (8, 4))) == whole(base)
    assert reach(sliding_window_view(base[8:], 4)[3:]) == whole(base)

    class Fields(ctypes.Structure):
        _fields_ = (("head", ctypes.c_int32 * 4), ("rest", ctypes.c_int32 * 12))

    fields = Fields()
    assert reach(np.ctypeslib.as_array(fields.rest)) == (ctypes.addressof(fields), 64)


def test_a_view_beyond_its_base_is_no_smaller_than_itself() -> None:
    memory = np.zeros(16, np.int8)
    assert reach(as_strided(memory[8:], (24,), (1,))) == (memory.ctypes.data, 32)


def test_protocols_that_tell_an_extent_only() -> None:
    base = np.zeros((8, 16), np.float32)
    start = base.ctypes.data
    for kind in (Interface, Dlpack, Strided):
        assert reach(kind(base)) == whole(base)
        assert reach(kind(base[2:4, ::2])) == (start + 128, 64 + 60)
    for kind in (Interface, Dlpack):
        assert reach(kind(base[::-1, ::-1])) == whole(base)
        assert reach(kind(base[:0])) == (base[:0].ctypes.data, 0)
    assert reach(Sized(base[2])) == (start + 128, 64)
    assert reach(tritonx.reinterpret(base.view(np.uint32), tl.float32)) == whole(base)


def test_tensors_reach_their_storage() -> None:
    torch = pytest.importorskip("torch")
    base = torch.zeros(8, 16, dtype=torch.bfloat16)
    for view in (base, base[3], base.t()[2:], base[:, ::3], base.view(torch.int16)[1:2]):
        assert reach(view) == (base.data_ptr(), 256)
    assert reach(torch.zeros(4).numpy()[1:])[1] == 16
    assert reach(torch.from_numpy(np.zeros(9, np.float32)[1:]))[1] == 32


def test_what_may_not_be_written_to() -> None:
    fixed = np.zeros(4)
    fixed.flags.writeable = False
    assert span_of(fixed).read_only and span_of(Interface(fixed)).read_only and not span_of(np.zeros(4)[1:]).read_only
    assert span_of(np.frombuffer(b"12345678", np.int8)).read_only


def test_memory_of_the_device_is_told_apart() -> None:
    array = arrays.zeros((4, 4), "float32", backend="cpu")
    assert span_of(array.reshape(16)) == Span(array.address, array.address, 64, on_device=True)


def test_what_a_launch_hands_on() -> None:
    base = np.zeros((8, 16), np.float32)
    made: Any = spanned(TensorDescriptor(base[2:], [6, 16], [16, 1], [2, 4], padding="nan"))
    assert (made.base.start, made.base.nbytes) == whole(base) and made.base.address == base.ctypes.data + 128
    assert (made.shape, made.strides, made.block_shape, made.padding) == ([6, 16], [16, 1], [2, 4], "nan")
    assert spanned(made) is made and spanned(made.base) is made.base
    assert (spanned(77), spanned(None)) == (77, None)


def test_what_does_not_tell_how_large_it_is() -> None:
    class Opaque(Offers):
        dtype, device = "float32", "cpu"

        def data_ptr(self) -> int:
            return self.array.ctypes.data

    with pytest.raises(UnreachableArgument, match="Opaque does not tell how large it is"):
        span_of(Opaque(np.zeros(4)))
    with pytest.raises(UnreachableArgument, match="set is no array"):
        span_of({1})
