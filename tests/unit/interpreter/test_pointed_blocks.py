"""Blocks of memory in the interpreter: block pointers of `tt`, descriptors that a launch is given, tensors of another
library; against slices of NumPy, on shapes and offsets that reach over every edge."""

from __future__ import annotations

import os
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.interpreter.errors import InvalidLaunch
from tritonx.interpreter.function import interpreted
from tritonx.interpreter.ir_launch import launch
from tritonx.interpreter.machine import interpret
from tritonx.ir.text import parse_module
from tritonx.tools.tensor_descriptor import TensorDescriptor

SEED = int(os.environ["TRITONX_SEED"])
ROWS, COLUMNS = 4, 8

BLOCKS = """
tt.func @copy(%x: !tt.ptr<ELEM>, %y: !tt.ptr<ELEM>, %h: i64, %w: i64, %s: i64, %r: i32, %c: i32, %dr: i32, %dc: i32) {
  %one = arith.constant 1 : i64
  %b = tt.make_tensor_ptr %x, [%h, %w], [%s, %one], [%r, %c] {order = array<i32: 1, 0>} : !tt.ptr<tensor<4x8xELEM>>
  %moved = tt.advance %b, [%dr, %dc] : !tt.ptr<tensor<4x8xELEM>>
  %v = tt.load %moved LOAD : !tt.ptr<tensor<4x8xELEM>>
  %t = tt.make_tensor_ptr %y, [%h, %w], [%s, %one], [%r, %c] {order = array<i32: 1, 0>} : !tt.ptr<tensor<4x8xELEM>>
  tt.store %t, %v STORE : !tt.ptr<tensor<4x8xELEM>>
  tt.return
}
"""


@pytest.mark.parametrize("padding", [None, 1, 2], ids=["undefined", "zero", "nan"])
@pytest.mark.parametrize("axes", [(), (0,), (1,), (0, 1)], ids=str)
def test_block_pointers(axes: tuple[int, ...], padding: int | None) -> None:
    """Along an axis that is not checked a block stays inside."""
    random, numbers = Random(SEED), np.random.default_rng(SEED)
    for _ in range(20):
        h, w, pitch = random.randint(6, 12), random.randint(10, 16), random.randint(16, 20)
        x, y = numbers.standard_normal((h, pitch)).astype(np.float32), np.full((h, pitch), 77, np.float32)
        at, by = [0, 0], [0, 0]
        for axis, (extent, block) in enumerate(((h, ROWS), (w, COLUMNS))):
            low, high = (-block, extent + 1) if axis in axes else (0, extent - block)
            at[axis], target = random.randint(low, high), random.randint(low, high)
            by[axis] = target - at[axis]
        check = f"boundaryCheck = array<i32: {', '.join(map(str, axes))}>" if axes else ""
        attributes = ", ".join(a for a in (check, f"padding = {padding} : i32" if padding else "") if a)
        text = BLOCKS.replace("ELEM", "f32").replace("LOAD", f"{{{attributes}}}" if attributes else "")
        module = parse_module(text.replace("STORE", f"{{{check}}}" if check else ""), "blocks")
        interpret(module, (1,), [x, y, h, w, pitch, *at, *by])
        expected = np.full((h, pitch), 77, np.float32)
        known = np.ones((h, pitch), bool)
        for i in range(ROWS):
            for j in range(COLUMNS):
                row, column, to_row, to_column = at[0] + by[0] + i, at[1] + by[1] + j, at[0] + i, at[1] + j
                if 0 <= to_row < h and 0 <= to_column < w:
                    inside = 0 <= row < h and 0 <= column < w
                    expected[to_row, to_column] = x[row, column] if inside else np.nan if padding == 2 else 0
                    known[to_row, to_column] = inside or padding is not None
        np.testing.assert_array_equal(np.where(known, y, 0), np.where(known, expected, 0), err_msg=f"{SEED}")


def test_pointers_moved_by_truth_values() -> None:
    """A set i1 is −1, as for every signed integer."""
    text = """
    tt.func @k(%x: !tt.ptr<i32>, %set: i1) {
      %seven = arith.constant 7 : i32
      %two = arith.constant 2 : i32
      %m = tt.addptr %x, %two : !tt.ptr<i32>, i32
      %p = tt.addptr %m, %set : !tt.ptr<i32>, i1
      tt.store %p, %seven : !tt.ptr<i32>
      tt.return
    }"""
    for value in (False, True):
        x = np.zeros(5, np.int32)
        interpret(parse_module(text, "k"), (1,), [x, value])
        assert x.tolist() == [0, 0, 7, 0, 0] if not value else [0, 7, 0, 0, 0]


@tritonx.jit
def shifted(source, target, row, column, M: tl.constexpr, N: tl.constexpr):
    target.store([0, 0], source.load([row, column]))


@pytest.mark.parametrize("lines", [False, True], ids=["module", "python"])
@pytest.mark.parametrize("padding", ["zero", "nan"])
def test_descriptors_of_a_launch(padding: str, lines: bool) -> None:
    numbers = np.random.default_rng(SEED)
    x = numbers.standard_normal((9, 12)).astype(np.float32)
    for row, column in ((0, 0), (7, 6), (-2, -3), (9, 12)):
        y = np.full((4, 8), 77, np.float32)
        source, target = TensorDescriptor.from_tensor(x, [4, 8], padding), TensorDescriptor.from_tensor(y, [4, 8])
        if lines:
            interpreted(shifted)[(1,)](source, target, row, column, 4, 8)
        else:
            launch(shifted, (1,), source, target, row, column, M=4, N=8)
        wide = np.full((30, 40), np.nan if padding == "nan" else 0, np.float32)
        wide[10:19, 10:22] = x
        np.testing.assert_array_equal(y, wide[10 + row : 14 + row, 10 + column : 18 + column], err_msg=f"{SEED}")


@pytest.mark.parametrize("change", [{"shape": [9]}, {"strides": [12]}, {"strides": [108, 12, 1]}])
def test_descriptors_of_several_ranks(change: dict[str, Any]) -> None:
    x = np.zeros((9, 12), np.float32)
    good = TensorDescriptor.from_tensor(x, [4, 8])
    fields = {n: getattr(good, n) for n in ("base", "shape", "strides", "block_shape", "padding")}
    bad = SimpleNamespace(**{**fields, **change})
    from tritonx.interpreter.function import _descriptor
    from tritonx.interpreter.host import HostMemory

    with pytest.raises(InvalidLaunch, match="one rank"):
        _descriptor(None, bad, "source", HostMemory())


class Storage:
    """A torch storage; `copied` says what came back."""

    def __init__(self, data: Any, device: str) -> None:
        self.data, self.device, self.copied = data, device, list[Any]()

    def data_ptr(self) -> int:
        return self.data.ctypes.data if self.device == "cpu" else 1 << 40

    def nbytes(self) -> int:
        return self.data.nbytes

    def cpu(self) -> Storage:
        assert self.device != "cpu"
        return Storage(self.data.copy(), "cpu")

    def copy_(self, other: Storage) -> None:
        self.copied.append(other)
        self.data[:] = other.data


class Tensor:
    """As much of a torch tensor as a launch looks at: elements of `storage` from `start` on."""

    dtype = np.dtype(np.float32)

    def __init__(self, storage: Storage, start: int) -> None:
        self.storage, self.start, self.device = storage, start, SimpleNamespace(type=storage.device)

    def untyped_storage(self) -> Storage:
        return self.storage

    def data_ptr(self) -> int:
        return self.storage.data_ptr() + 4 * self.start


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_views_of_a_tensors_storage_are_one_memory(device: str) -> None:
    from tritonx.interpreter.host import HostMemory

    storage = Storage(np.arange(8, dtype=np.float32), device)
    host = HostMemory()
    first, second = (host.address(Tensor(storage, start), f"t{start}") for start in (2, 5))
    assert second - first == 12
    if device == "cpu":
        assert first == storage.data_ptr() + 8
    addresses = np.array([first - 8, first, second + 8], np.int64)
    from tritonx.interpreter.memory import Lanes

    got = host.memory.load(addresses, np.dtype(np.float32), Lanes((3,)))
    assert got.tolist() == [0, 2, 7]
    host.memory.store(addresses, np.array([10, 12, 17], np.float32), Lanes((3,)))
    host.write_back()
    assert storage.data.tolist() == [10, 1, 12, 3, 4, 5, 6, 17]
    assert len(storage.copied) == (device != "cpu")
