"""Which values end in 16 bits only, and which need all of their precision."""

from __future__ import annotations

import pytest

from tritonx.analysis.precision import only_narrowed
from tritonx.dialects import math
from tritonx.ir.text import parse_module

FUNCTION = """
tt.func public @k(%p: tensor<64x!tt.ptr<f16>>, %q: tensor<64x!tt.ptr<f32>>, %x: tensor<64xf32>, %y: tensor<64xf32>,
                  %c: tensor<64xi1>, %n: i32) {{
  %e = math.exp %x : tensor<64xf32>
  {body}
  tt.return
}}
"""

SUM = """
  %s = "tt.reduce"(%e) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %t = COMBINE
    tt.reduce.return %t : f32
  }) : (tensor<64xf32>) -> f32
  %w = tt.splat %s : f32 -> tensor<64xf32>
  %d = arith.divf %e, %w : tensor<64xf32>
  %r = arith.truncf %d : tensor<64xf32> to tensor<64xf16>
  tt.store %p, %r : tensor<64x!tt.ptr<f16>>
"""

LOOP = """
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %s = scf.for %i = %zero to %n step %one iter_args(%a = %y) -> (tensor<64xf32>) : i32 {
    %b = arith.mulf %a, %e : tensor<64xf32>
    scf.yield %b : tensor<64xf32>
  }
"""

NARROWED = {
    "stored narrow": """
      %r = arith.truncf %e : tensor<64xf32> to tensor<64xf16>
      tt.store %p, %r : tensor<64x!tt.ptr<f16>>""",
    "never used": "",
    "normalised": SUM.replace("COMBINE", "arith.addf %a, %b : f32"),
    "carried": LOOP + """
      %r = arith.truncf %s : tensor<64xf32> to tensor<64xf16>
      tt.store %p, %r : tensor<64x!tt.ptr<f16>>""",
    "chosen": """
      %m = arith.select %c, %e, %y : tensor<64xi1>, tensor<64xf32>
      %r = arith.truncf %m : tensor<64xf32> to tensor<64xf16>
      tt.store %p, %r : tensor<64x!tt.ptr<f16>>""",
}  # fmt: skip

WHILE = """
  %t = arith.constant true
  %s:2 = scf.while (%a = %e, %b = %y) : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
    scf.condition(%t) %b, %a : tensor<64xf32>, tensor<64xf32>
  } do {
  ^bb0(%f: tensor<64xf32>, %g: tensor<64xf32>):
    %h = arith.mulf %g, %f : tensor<64xf32>
    scf.yield %h, %f : tensor<64xf32>, tensor<64xf32>
  }
"""
JUMPS = """
  %t = arith.constant true
  %s = scf.execute_region -> tensor<64xf32> {
    cf.cond_br %t, ^one(%y : tensor<64xf32>), ^two(%e : tensor<64xf32>)
  ^one(%a: tensor<64xf32>):
    scf.yield %a : tensor<64xf32>
  ^two(%b: tensor<64xf32>):
    cf.br ^one(%b : tensor<64xf32>)
  }
"""
HALF = """
      %r = arith.truncf RESULT : tensor<64xf32> to tensor<64xf16>
      tt.store %p, %r : tensor<64x!tt.ptr<f16>>"""
NARROWED |= {
    "round a while": WHILE + HALF.replace("RESULT", "%s#0") + HALF.replace("RESULT", "%s#1").replace("%r", "%z"),
    "by jumps": JUMPS + HALF.replace("RESULT", "%s"),
}

NEEDED = {
    "round a while, whole": WHILE + HALF.replace("RESULT", "%s#0") + "\n tt.store %q, %s#1 : tensor<64x!tt.ptr<f32>>",
    "by jumps, whole": JUMPS + "\n      tt.store %q, %s : tensor<64x!tt.ptr<f32>>",
    "stored whole": "tt.store %q, %e : tensor<64x!tt.ptr<f32>>",
    "also stored whole": NARROWED["stored narrow"] + "\n      tt.store %q, %e : tensor<64x!tt.ptr<f32>>",
    "a difference": """
      %m = arith.subf %e, %y : tensor<64xf32>
      %r = arith.truncf %m : tensor<64xf32> to tensor<64xf16>
      tt.store %p, %r : tensor<64x!tt.ptr<f16>>""",
    "a comparison": """
      %m = arith.cmpf olt, %e, %y : tensor<64xf32>
      tt.store %q, %y, %m : tensor<64x!tt.ptr<f32>>""",
    "a function": """
      %m = math.log %e : tensor<64xf32>
      %r = arith.truncf %m : tensor<64xf32> to tensor<64xf16>
      tt.store %p, %r : tensor<64x!tt.ptr<f16>>""",
    "differences summed": SUM.replace("COMBINE", "arith.subf %a, %b : f32"),
    "carried out whole": LOOP + "\n      tt.store %q, %s : tensor<64x!tt.ptr<f32>>",
    "widened": """
      %m = arith.extf %e : tensor<64xf32> to tensor<64xf64>
      %r = arith.truncf %m : tensor<64xf64> to tensor<64xf32>
      tt.store %q, %r : tensor<64x!tt.ptr<f32>>""",
}  # fmt: skip


def _exponential(body: str) -> math.ExpOp:
    module = parse_module(FUNCTION.format(body=body))
    module.verify()
    return next(op for op in module.walk() if isinstance(op, math.ExpOp))


@pytest.mark.parametrize("name", NARROWED)
def test_only_sixteen_bits_are_seen(name: str) -> None:
    assert only_narrowed(_exponential(NARROWED[name]).result)


@pytest.mark.parametrize("name", NEEDED)
def test_all_bits_may_be_seen(name: str) -> None:
    assert not only_narrowed(_exponential(NEEDED[name]).result)
