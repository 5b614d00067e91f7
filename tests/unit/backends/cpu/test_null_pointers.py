"""Null pointers: an error where a kernel accesses memory through one, nothing where its masks are false."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.runtime.errors import NullPointer


@tritonx.jit
def copy(x_ptr, o_ptr, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


@tritonx.jit
def loads(x_ptr, o_ptr, B: tl.constexpr):
    tl.store(o_ptr + tl.arange(0, B), tl.load(x_ptr + tl.arange(0, B)))


@tritonx.jit
def scalar(x_ptr, o_ptr, n):
    if n > 0:
        tl.store(o_ptr, tl.load(x_ptr + n))


@tritonx.jit
def loop(x_ptr, o_ptr, n, B: tl.constexpr):
    total = tl.zeros((B,), tl.float32)
    p = x_ptr + tl.arange(0, B)
    for _ in range(n):
        total += tl.load(p)
        p += B
    tl.store(o_ptr + tl.arange(0, B), total)


@tritonx.jit
def atomic(x_ptr, o_ptr, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.atomic_add(x_ptr + i, 1.0, mask=i < n)


@tritonx.jit
def accessed(x_ptr, o_ptr, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.atomic_store(o_ptr + i, tl.atomic_load(x_ptr + i, mask=i < n), mask=i < n)


@tritonx.jit
def polled(x_ptr, o_ptr):
    tl.atomic_poll(x_ptr.to(tl.pointer_type(tl.int32)), 1, timeout_ns=0)


@tritonx.jit
def swap(x_ptr, o_ptr):
    tl.atomic_cas(x_ptr, 0, 1)


@tritonx.jit
def described(x_ptr, o_ptr, n, B: tl.constexpr):
    d = tl.make_tensor_descriptor(x_ptr, [n], [1], [B])
    tl.store(o_ptr + tl.arange(0, B), d.load([0]))


@tritonx.jit
def chosen(x_ptr, o_ptr, n):
    p = x_ptr
    if n > 3:
        p = o_ptr
    tl.store(o_ptr, tl.load(p + n))


class Null:
    """A tensor whose storage was freed."""

    shape, dtype = (32,), np.dtype(np.float32)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {"data": (0, False), "shape": (32,), "typestr": "<f4", "version": 3}


def out() -> Any:
    return np.full(64, -1, np.float32)


ERRORS = [
    (copy, (4, 64), r"x_ptr.*program \(0, 0, 0\), element 0"),
    (loads, (64,), "x_ptr"),
    (scalar, (1,), "x_ptr"),
    (loop, (2, 16), "x_ptr"),
    (atomic, (3, 16), "x_ptr"),
    (accessed, (3, 16), "x_ptr"),
    (described, (4, 16), "x_ptr"),
]
RIGHT = [
    (copy, (0, 64)),
    (scalar, (0,)),
    (loop, (0, 16)),
    (atomic, (0, 16)),
    (accessed, (0, 16)),
    (described, (0, 16)),
    (chosen, (4,)),
]


def name_of(case: Any) -> str:
    return case[0].__name__


@pytest.mark.parametrize("case", ERRORS, ids=name_of)
def test_an_access_is_an_error(case: Any) -> None:
    kernel, rest, words = case
    for _ in range(2):
        with pytest.raises(
            NullPointer, match=f"{kernel.__name__} accesses memory through its argument {words}"
        ) as caught:
            kernel[(1,)](Null(), out(), *rest)
        assert "test_null_pointers.py:" in str(caught.value)
    x, o = np.arange(64, dtype=np.float32), out()
    kernel[(1,)](x, o, *rest)  # regular arguments have their code still


def test_stores_and_compares() -> None:
    with pytest.raises(NullPointer, match="its argument o_ptr"):
        copy[(1,)](np.ones(64, np.float32), Null(), 4, 64)

    class Integers(Null):
        @property
        def __array_interface__(self) -> dict[str, Any]:
            return {**super().__array_interface__, "typestr": "<i4"}

    with pytest.raises(NullPointer, match="its argument x_ptr"):
        swap[(1,)](Integers(), out())
    with pytest.raises(NullPointer, match="its argument x_ptr"):
        polled[(1,)](Integers(), out())


@pytest.mark.parametrize("case", RIGHT, ids=name_of)
def test_no_access_is_none(case: Any) -> None:
    kernel, rest = case
    kernel[(1,)](Null(), o := out(), *rest)
    if kernel is loop:
        assert (o[:16] == 0).all()


def test_an_empty_grid_and_an_empty_array() -> None:
    loads[(0,)](Null(), out(), 64)
    copy[(1,)](np.zeros(0, np.float32), np.zeros(0, np.float32), 0, 64)


def test_a_compiled_kernel_that_is_launched_directly() -> None:
    x, o = np.ones(64, np.float32), out()
    compiled = copy[(1,)](x, o, 64, 64)
    with pytest.raises(NullPointer, match="x_ptr"):
        compiled[(1,)](0, o, 64)
    compiled[(1,)](0, o, 0)


def test_freed_storage() -> None:
    pytest.importorskip("torch")
    code = (
        f"import sys, torch; sys.path.insert(0, {__file__.rpartition('/')[0]!r}); from test_null_pointers import *\n"
        "x, o = torch.arange(64.0), torch.zeros(64)\n"
        "x.untyped_storage().resize_(0)\n"
        "copy[(1,)](x, o, 0, 64); copy[(1,)](torch.empty(0), torch.empty(0), 0, 64)\n"
        "try: copy[(1,)](x, o, 5, 64)\n"
        "except NullPointer as error: print(error.argument)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.strip()) == (0, "x_ptr"), done.stderr
