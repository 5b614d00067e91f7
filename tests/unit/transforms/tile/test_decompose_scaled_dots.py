"""Scaled products as plain ones give what they gave, in the interpreter."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.transforms.products import TYPES, both, function
from tritonx.transforms.tile.decompose_scaled_dots import DecomposeScaledDots

SCALED = {"e4m3": "f8E4M3FN", "e5m2": "f8E5M2", "e2m1": "i8"}


@pytest.mark.parametrize("lhs", SCALED)
@pytest.mark.parametrize("rhs", SCALED)
def test_scaled(lhs, rhs):
    rng = np.random.default_rng(2)

    def operand(kind, shape, k_axis):
        if kind == "e2m1":
            shape = tuple(n // 2 if d == k_axis else n for d, n in enumerate(shape))
            return rng.integers(-128, 128, shape).astype(np.int8)
        return rng.normal(size=shape).astype(TYPES[SCALED[kind]])

    a, b = operand(lhs, (16, 64), 1), operand(rhs, (64, 16), 0)
    # 0 is 2**-127, a subnormal; 255 is NaN.
    sa, sb = (rng.choice([0, 120, 127, 130, 255], p=[0.05, 0.3, 0.3, 0.3, 0.05], size=(16, 2)) for _ in range(2))
    c = rng.normal(size=(16, 16)).astype(np.float32)
    types = [f"tensor<{x.shape[0]}x{x.shape[1]}x{SCALED[k]}>" for x, k in ((a, lhs), (b, rhs))]
    parts = [("a", a.shape, SCALED[lhs]), ("sa", (16, 2), "i8"), ("b", b.shape, SCALED[rhs]), ("sb", (16, 2), "i8")]
    parts.append(("c", (16, 16), "f32"))
    scale = "tensor<16x2xi8>"
    body = (
        f"  %d = tt.dot_scaled %av scale %sav, %bv scale %sbv, %cv lhs = {lhs} rhs = {rhs} {{fastMath = false}}"
        f" : {types[0]}, {scale} * {types[1]}, {scale} -> tensor<16x16xf32>\n"
    )
    arrays = [a, sa.astype(np.uint8).view(np.int8), b, sb.astype(np.uint8).view(np.int8), c]
    before, after, text = both(function(parts, body, 16, 16), arrays, (16, 16), DecomposeScaledDots())
    np.testing.assert_array_equal(after, before)
    assert "dot_scaled" not in text


@pytest.mark.parametrize("code", [0, 1, 126, 127, 128, 200, 254, 255])
def test_each_code_of_a_scale_by_itself(code):
    """A power of two, or NaN. Numbers above zero only: else an infinity in its place would give NaN in the sum too."""
    a, b = np.full((16, 32), 1, TYPES["f8E4M3FN"]), np.full((32, 16), 1 / 32, TYPES["f8E4M3FN"])
    scales, c = np.full((16, 1), code, np.uint8).view(np.int8), np.zeros((16, 16), np.float32)
    parts = [("a", a.shape, "f8E4M3FN"), ("s", (16, 1), "i8"), ("b", b.shape, "f8E4M3FN"), ("c", c.shape, "f32")]
    body = (
        "  %d = tt.dot_scaled %av scale %sv, %bv, %cv lhs = e4m3 rhs = e4m3 {fastMath = false}"
        " : tensor<16x32xf8E4M3FN>, tensor<16x1xi8> * tensor<32x16xf8E4M3FN> -> tensor<16x16xf32>\n"
    )
    wanted = np.float32(np.nan) if code == 255 else np.ldexp(np.float32(1), code - 127)
    for result in both(function(parts, body, 16, 16), [a, scales, b, c], (16, 16), DecomposeScaledDots())[:2]:
        np.testing.assert_array_equal(result, np.full((16, 16), wanted))
