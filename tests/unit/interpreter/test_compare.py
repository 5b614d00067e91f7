"""What the interpreter's own commands and comparisons promise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tritonx.interpreter.compare import BehaviourDiffers, run_file, same_behaviour
from tritonx.ir.text import parse_module

ADDS = """
tt.func public @f(%x: !tt.ptr<f32>) {
  %i = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %q = tt.addptr %p, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %v = tt.load %q : tensor<8x!tt.ptr<f32>>
  %c = arith.constant dense<VALUE> : tensor<8xf32>
  %w = arith.addf %v, %c : tensor<8xf32>
  tt.store %q, %w : tensor<8x!tt.ptr<f32>>
  tt.return
}
"""


def test_a_file_is_run_on_the_arguments(tmp_path: Path) -> None:
    path = tmp_path / "adds.ttir"
    path.write_text(ADDS.replace("VALUE", "1.5"))
    (x,) = run_file(path, args=[np.arange(8, dtype=np.float32)])
    assert np.array_equal(x, np.arange(8) + 1.5)


def test_a_file_is_run_on_random_arguments_of_a_seed(tmp_path: Path) -> None:
    path = tmp_path / "adds.ttir"
    path.write_text(ADDS.replace("VALUE", "0.0"))
    (untouched,) = run_file(path, seed=3)
    path.write_text(ADDS.replace("VALUE", "2.0"))
    (x,) = run_file(path, seed=3)
    assert np.array_equal(x[:8], untouched[:8] + np.float32(2))
    assert np.array_equal(x[8:], untouched[8:])


def test_modules_that_differ_by_one_ulp_differ() -> None:
    first, second = (parse_module(ADDS.replace("VALUE", v)) for v in ("1.0", "1.00000012"))
    with pytest.raises(BehaviourDiffers):
        same_behaviour(first, second)
    same_behaviour(first, parse_module(ADDS.replace("VALUE", "1.0")))
