"""Modules that no kernel's source gives, compiled from their text: branches in cycles, the type `index`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tritonx.interpreter.machine import interpret
from tritonx.ir.text import parse_module
from tritonx.runtime.compiler import compile

TWO_ENTRIES = """
tt.func public @f(%x: !tt.ptr<i32>, %n: i32, %way: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %i = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %p = tt.splat %x : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
  %q = tt.addptr %p, %i : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
  %v = tt.load %q : tensor<32x!tt.ptr<i32>>
  %c = arith.cmpi slt, %way, %one : i32
  cf.cond_br %c, ^first(%zero, %v : i32, tensor<32xi32>), ^second(%zero, %v : i32, tensor<32xi32>)
^first(%a: i32, %s: tensor<32xi32>):
  %t = arith.addi %s, %i : tensor<32xi32>
  %a1 = arith.addi %a, %one : i32
  %more = arith.cmpi slt, %a1, %n : i32
  cf.cond_br %more, ^second(%a1, %t : i32, tensor<32xi32>), ^end(%t : tensor<32xi32>)
^second(%b: i32, %u: tensor<32xi32>):
  %w = arith.muli %u, %u : tensor<32xi32>
  %b1 = arith.addi %b, %one : i32
  %again = arith.cmpi slt, %b1, %n : i32
  cf.cond_br %again, ^first(%b1, %w : i32, tensor<32xi32>), ^end(%w : tensor<32xi32>)
^end(%r: tensor<32xi32>):
  tt.store %q, %r : tensor<32x!tt.ptr<i32>>
  tt.return
}
"""

INDEX = """
tt.func public @f(%x: !tt.ptr<i64>, %n: i64) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.index_cast %n : i64 to index
  %start = tt.load %x : !tt.ptr<i64>
  %sum = scf.for %i = %zero to %end step %one iter_args(%s = %start) -> (i64) {
    %k = arith.index_cast %i : index to i64
    %t = arith.addi %s, %k : i64
    scf.yield %t : i64
  }
  tt.store %x, %sum : !tt.ptr<i64>
  tt.return
}
"""


def same_as_interpreted(text: str, tmp_path: Path, array: Any, *scalars: int) -> None:
    path = tmp_path / "module.ttir"
    path.write_text(text)
    compiled: Any = compile(str(path))
    ours, theirs = array.copy(), array.copy()
    compiled[(1,)](ours, *scalars)
    interpret(parse_module(text), (1,), [theirs, *scalars])
    assert not np.array_equal(theirs, array)
    assert np.array_equal(ours, theirs)


@pytest.fixture(autouse=True)
def fresh_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path))


@pytest.mark.parametrize("way", [0, 1])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_cycle_with_two_entries(tmp_path: Path, n: int, way: int) -> None:
    same_as_interpreted(TWO_ENTRIES, tmp_path, np.arange(2, 34, dtype=np.int32), n, way)


def test_index_is_64_bits_wide(tmp_path: Path) -> None:
    same_as_interpreted(INDEX, tmp_path, np.array([5 << 33], np.int64), 100)
