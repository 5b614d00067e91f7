"""Decomposed products give what the products gave, in the interpreter."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.transforms.products import TYPES, both, function
from tritonx.transforms.gpu.decompose_dots import DecomposeDots


@pytest.mark.parametrize("precision", ["tf32x3", "bf16x3", "bf16x6", "tf32", "ieee"])
@pytest.mark.parametrize("special", [False, True])
def test_precisions(precision, special):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(16, 32)).astype(np.float32), rng.normal(size=(32, 16)).astype(np.float32)
    c = rng.normal(size=(16, 16)).astype(np.float32)
    if special:
        a[3, 4], b[5, 6] = np.inf, -np.inf
    parts = [("a", (16, 32), "f32"), ("b", (32, 16), "f32"), ("c", (16, 16), "f32")]
    kind = "tensor<16x32xf32> * tensor<32x16xf32> -> tensor<16x16xf32>"
    text = function(parts, f"  %d = tt.dot %av, %bv, %cv, inputPrecision = {precision} : {kind}\n", 16, 16)
    before, after, _ = both(text, [a, b, c], (16, 16), DecomposeDots("f32 bf16 f16"))
    np.testing.assert_allclose(after, before, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("pair", [("f8E4M3FN", "f8E4M3FN"), ("f8E5M2", "f8E4M3FN")])
def test_narrow_floats(pair):
    rng = np.random.default_rng(1)
    a, b = (rng.normal(size=(16, 16)).astype(TYPES[kind]) for kind in pair)
    c = np.zeros((16, 16), np.float32)
    parts = [("a", (16, 16), pair[0]), ("b", (16, 16), pair[1]), ("c", (16, 16), "f32")]
    kind = f"tensor<16x16x{pair[0]}> * tensor<16x16x{pair[1]}> -> tensor<16x16xf32>"
    text = function(parts, f"  %d = tt.dot %av, %bv, %cv, inputPrecision = ieee : {kind}\n", 16, 16)
    before, after, _ = both(text, [a, b, c], (16, 16), DecomposeDots("f16"))
    np.testing.assert_array_equal(after, before)
