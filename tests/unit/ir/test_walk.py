"""`ops_in`: what xDSL's walk gives, in the same order."""

from __future__ import annotations

from tritonx.ir.text import parse_module
from tritonx.ir.walk import ops_in

NESTED = """
tt.func public @k(%p: i1, %n: i32) {
  %a = arith.constant 1 : i32
  scf.for %i = %a to %n step %a : i32 {
    scf.if %p {
      %b = arith.addi %i, %a : i32
      tt.print "x" : %b : i32
    }
    scf.if %p {
      tt.print "y" : %i : i32
    }
  }
  tt.return
}
tt.func private @many(%p: i1) {
  cf.cond_br %p, ^one, ^two
^one:
  cf.br ^two
^two:
  tt.return
}
"""


def test_the_same_as_a_walk() -> None:
    module = parse_module(NESTED)
    assert ops_in(module) == list(module.walk())
    assert len(ops_in(module)) > 12
    leaf = ops_in(module)[-1]
    assert ops_in(leaf) == [leaf]
