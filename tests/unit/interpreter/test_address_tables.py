"""Kernels that read addresses: what lies there is found among the arrays that are alive, and nothing else is."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.interpreter import interpreted, launch, reachable
from tritonx.runtime.errors import InterpreterError

B = 16


@tritonx.jit
def sums(table_ptr, size_ptr, o_ptr, B: tl.constexpr):
    g = tl.program_id(0)
    p = tl.load(table_ptr + g).to(tl.pointer_type(tl.float32))
    i = tl.arange(0, B)
    tl.store(o_ptr + g, tl.sum(tl.load(p + i, mask=i < tl.load(size_ptr + g), other=0.0)))


@tritonx.jit
def sums_of_pointers(table_ptr, size_ptr, o_ptr, B: tl.constexpr):
    g = tl.program_id(0)
    p = tl.load(table_ptr.to(tl.pointer_type(tl.pointer_type(tl.float32))) + g)
    i = tl.arange(0, B)
    tl.store(o_ptr + g, tl.sum(tl.load(p + i, mask=i < tl.load(size_ptr + g), other=0.0)))


@tritonx.jit
def negate(table_ptr, size_ptr, o_ptr, B: tl.constexpr):
    """A tile of pointers, one a group, stored through."""
    g = tl.arange(0, B)
    p = tl.load(table_ptr + g, mask=g < 3, other=0).to(tl.pointer_type(tl.float32))
    tl.store(p, -tl.load(p, mask=g < 3), mask=g < 3)
    tl.store(o_ptr + g, tl.load(p, mask=g < 3), mask=g < 3)


def lines(kernel: Any, *args: Any) -> None:
    interpreted(kernel)[(3,)](*args, B)


def ir(kernel: Any, *args: Any) -> None:
    launch(kernel, (3,), *args, B)


def run(way: Callable[..., None], kernel: Any, addresses: list[int], sizes: list[int]) -> list[float]:
    o = np.zeros(3, np.float32)
    way(kernel, np.array(addresses, np.int64), np.array(sizes, np.int32), o)
    return o.tolist()


class Holder:
    def __init__(self, arrays: Any) -> None:
        self.arrays = arrays


HOLDERS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "dict": lambda arrays: dict(enumerate(arrays)),
    "nested": lambda arrays: [{"weights": (a,)} for a in arrays],
    "object": lambda arrays: Holder(tuple(arrays)),
}


@pytest.mark.parametrize("held", HOLDERS)
@pytest.mark.parametrize("kernel", [sums, sums_of_pointers], ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("way", [lines, ir])
def test_arrays_that_are_alive(way: Callable[..., None], kernel: Any, held: str) -> None:
    arrays = [np.arange(n, dtype=np.float32) for n in (3, 10, 1)]
    addresses, want = [a.ctypes.data for a in arrays], [float(a.sum()) for a in arrays]
    holder = HOLDERS[held](arrays)
    del arrays
    gc.collect()  # the collector forgets tuples of arrays
    assert run(way, kernel, addresses, [3, 10, 1]) == want
    del holder


def test_arrays_that_variables_hold() -> None:
    x, y, z = (np.full(n, n, np.float32) for n in (3, 10, 1))
    assert run(lines, sums, [x.ctypes.data, y.ctypes.data + 8, z.ctypes.data], [3, 8, 1]) == [9, 80, 1]


def test_stores() -> None:
    arrays = [np.full(1, n, np.float32) for n in (3, 10, 1)]
    assert run(lines, negate, [a.ctypes.data for a in arrays], [1, 1, 1]) == [-3, -10, -1]
    assert [a[0] for a in arrays] == [-3, -10, -1]


def test_bounds_of_what_is_found() -> None:
    arrays = [np.arange(n, dtype=np.float32) for n in (3, 10, 1)]
    with pytest.raises(InterpreterError, match=r"reads 4 bytes at .*, element 10 of the array float32\[10\]"):
        run(lines, sums, [a.ctypes.data for a in arrays], [3, 11, 1])


def test_arrays_that_may_not_be_written_to() -> None:
    arrays = [np.full(1, n, np.float32) for n in (3, 10, 1)]
    arrays[1].flags.writeable = False
    with pytest.raises(InterpreterError, match=r"the array float32\[1\].* read-only|writes to"):
        run(lines, negate, [a.ctypes.data for a in arrays], [1, 1, 1])


@pytest.mark.parametrize("address", [8, 1 << 46, -16])
@pytest.mark.parametrize("way", [lines, ir])
def test_wild_addresses(way: Callable[..., None], address: int) -> None:
    x = np.ones(4, np.float32)
    with pytest.raises(InterpreterError, match="reads 4 bytes at"):
        run(way, sums, [x.ctypes.data, address, x.ctypes.data], [4, 1, 4])


def test_an_array_beside_an_argument_is_not_reached_from_it() -> None:
    """Only addresses that the kernel reads or computes are looked up."""

    @tritonx.jit
    def over(x_ptr, o_ptr):
        tl.store(o_ptr, tl.load(x_ptr + 4))

    both = np.arange(8, dtype=np.float32)
    with pytest.raises(InterpreterError, match="element 4 of x_ptr"):
        interpreted(over)[(1,)](both[:4].copy(), np.zeros(1, np.float32))


def test_memory_that_the_user_names() -> None:
    import ctypes

    raw = (ctypes.c_float * 4)(1, 2, 3, 4)
    address = ctypes.addressof(raw)
    x = np.ones(4, np.float32)
    given = [x.ctypes.data, address, x.ctypes.data], [4, 4, 4]
    with pytest.raises(InterpreterError, match="reads 4 bytes at"):
        run(lines, sums, *given)
    with reachable((address, 16)):
        assert run(lines, sums, *given) == [4, 10, 4]
    with pytest.raises(TypeError, match="reachable takes arrays"):
        reachable("x").__enter__()


def test_tensors() -> None:
    torch = pytest.importorskip("torch")
    tensors = [torch.arange(n, dtype=torch.float32) for n in (3, 10, 1)]
    table = torch.tensor([t.data_ptr() for t in tensors], dtype=torch.int64)
    sizes, o = torch.tensor([3, 10, 1], dtype=torch.int32), torch.zeros(3)
    interpreted(sums)[(3,)](table, sizes, o, B)
    assert o.tolist() == [3, 45, 0]


INTEGERS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)
SCALARS = [kind(value) for kind in (*INTEGERS, np.float16, np.float32) for value in (1, 2)]


@tritonx.jit
def add(x_ptr, o_ptr, s, pair):
    tl.store(o_ptr, tl.load(x_ptr) + s + pair[1] * 10)


@pytest.mark.parametrize("way", [interpreted, lambda kernel: kernel], ids=["lines", "compiled"])
def test_numpy_scalars(way: Any) -> None:
    for scalar in [*SCALARS, np.bool_(True), np.bool_(False)]:
        o = np.zeros(1, np.float32)
        way(add)[(1,)](np.array([41], np.float32), o, scalar, (scalar, scalar))
        assert o[0] == 41 + 11 * float(scalar), repr(scalar)
