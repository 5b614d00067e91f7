"""Which arguments a kernel may store through: every way that a pointer can take, and those that end."""

from __future__ import annotations

import pytest

from tritonx.analysis.written import written_arguments
from tritonx.ir.text import parse_module

HEAD = "%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %table: !tt.ptr<!tt.ptr<f32>>, %c: i1, %v: f32, %n: i32"
CASES = {
    "directly": ("tt.store %q, %v : !tt.ptr<f32>", (1,)),
    "what is only read": ("%x = tt.load %p : !tt.ptr<f32>\n tt.store %q, %x : !tt.ptr<f32>", (1,)),
    "nothing": ("%x = tt.load %p : !tt.ptr<f32>", ()),
    "an offset in a tile": (
        """
        %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
        %s = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
        %a = tt.addptr %s, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
        %e = tt.expand_dims %a {axis = 0 : i32} : tensor<8x!tt.ptr<f32>> -> tensor<1x8x!tt.ptr<f32>>
        %b = tt.broadcast %e : tensor<1x8x!tt.ptr<f32>> -> tensor<4x8x!tt.ptr<f32>>
        %t = tt.trans %b {order = array<i32: 1, 0>} : tensor<4x8x!tt.ptr<f32>> -> tensor<8x4x!tt.ptr<f32>>
        %w = tt.splat %v : f32 -> tensor<8x4xf32>
        tt.store %t, %w : tensor<8x4x!tt.ptr<f32>>
        """,
        (0,),
    ),
    "a selection": ("%s = arith.select %c, %p, %q : !tt.ptr<f32>\n tt.store %s, %v : !tt.ptr<f32>", (0, 1)),
    "atomics": (
        """
        %0 = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v, %c : (!tt.ptr<f32>, f32, i1) -> f32
        %1 = tt.atomic_cas acq_rel, gpu, %q, %v, %v : (!tt.ptr<f32>, f32, f32) -> f32
        """,
        (0, 1),
    ),
    "a pointer out of memory": (
        "%l = tt.load %table : !tt.ptr<!tt.ptr<f32>>\n tt.store %l, %v : !tt.ptr<f32>",
        (),
    ),
    "a pointer put into memory": ("tt.store %table, %p : !tt.ptr<!tt.ptr<f32>>", (2,)),
    "a pointer out of a number": (
        """
        %i = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
        %j = tt.int_to_ptr %i : i64 -> !tt.ptr<f32>
        tt.store %j, %v : !tt.ptr<f32>
        """,
        (),
    ),
    "a branch": (
        """
        %s = scf.if %c -> (!tt.ptr<f32>) {
          scf.yield %p : !tt.ptr<f32>
        } else {
          scf.yield %q : !tt.ptr<f32>
        }
        tt.store %s, %v : !tt.ptr<f32>
        """,
        (0, 1),
    ),
    "a store in a branch": ("scf.if %c {\n tt.store %p, %v : !tt.ptr<f32>\n }", (0,)),
    "a loop": (
        """
        %z = arith.constant 0 : i32
        %o = arith.constant 1 : i32
        %e = scf.for %i = %z to %n step %o iter_args(%w = %q) -> (!tt.ptr<f32>) : i32 {
          tt.store %w, %v : !tt.ptr<f32>
          %m = tt.addptr %w, %o : !tt.ptr<f32>, i32
          scf.yield %m : !tt.ptr<f32>
        }
        """,
        (1,),
    ),
    "loops that exchange": (
        """
        %z = arith.constant 0 : i32
        %o = arith.constant 1 : i32
        %e:2 = scf.for %i = %z to %n step %o iter_args(%a = %p, %b = %q) -> (!tt.ptr<f32>, !tt.ptr<f32>) : i32 {
          scf.yield %b, %a : !tt.ptr<f32>, !tt.ptr<f32>
        }
        tt.store %e#0, %v : !tt.ptr<f32>
        """,
        (0, 1),
    ),
    "a while": (
        """
        %e = scf.while (%a = %p) : (!tt.ptr<f32>) -> !tt.ptr<f32> {
          scf.condition(%c) %a : !tt.ptr<f32>
        } do {
        ^bb0(%b: !tt.ptr<f32>):
          tt.store %b, %v : !tt.ptr<f32>
          scf.yield %q : !tt.ptr<f32>
        }
        """,
        (0, 1),
    ),
    "a call": ("tt.call @helper(%q, %p, %v) : (!tt.ptr<f32>, !tt.ptr<f32>, f32) -> ()", (0,)),
    "jumps": (
        """
        cf.cond_br %c, ^one(%p : !tt.ptr<f32>), ^two
      ^one(%a: !tt.ptr<f32>):
        tt.store %a, %v : !tt.ptr<f32>
        cf.br ^two
      ^two:
        """,
        (0,),
    ),
    "jumps that carry": (
        """
        cf.cond_br %c, ^one, ^two
      ^one:
        cf.br ^three(%p : !tt.ptr<f32>)
      ^two:
        cf.br ^four(%q : !tt.ptr<f32>)
      ^three(%a: !tt.ptr<f32>):
        tt.store %a, %v : !tt.ptr<f32>
        cf.br ^five
      ^four(%b: !tt.ptr<f32>):
        %x = tt.load %b : !tt.ptr<f32>
        cf.br ^five
      ^five:
        """,
        (0,),
    ),
    "jumps that meet": (
        """
        cf.cond_br %c, ^one(%n, %p : i32, !tt.ptr<f32>), ^two
      ^two:
        cf.cond_br %c, ^three, ^one(%n, %q : i32, !tt.ptr<f32>)
      ^one(%k: i32, %a: !tt.ptr<f32>):
        tt.store %a, %v : !tt.ptr<f32>
        cf.br ^three
      ^three:
        """,
        (0, 1),
    ),
    "assembly that may write": (
        """
        %0 = tt.elementwise_inline_asm "st.global.u32 [$1], 0; mov.u32 $0, 0;"
          {constraints = "=r,l", packed_element = 1 : i32, pure = false} %q : !tt.ptr<f32> -> i32
        %1 = tt.elementwise_inline_asm "mov.u64 $0, $1;"
          {constraints = "=l,l", packed_element = 1 : i32, pure = true} %p : !tt.ptr<f32> -> i64
        """,
        (1,),
    ),
    "what a call returns": (
        "%s = tt.call @second(%p, %q) : (!tt.ptr<f32>, !tt.ptr<f32>) -> !tt.ptr<f32>\n tt.store %s, %v : !tt.ptr<f32>",
        (1,),
    ),
    "a region of jumps": (
        """
        %s = scf.execute_region -> !tt.ptr<f32> {
          cf.cond_br %c, ^one(%p : !tt.ptr<f32>), ^two
        ^one(%a: !tt.ptr<f32>):
          scf.yield %a : !tt.ptr<f32>
        ^two:
          cf.br ^one(%q : !tt.ptr<f32>)
        }
        tt.store %s, %v : !tt.ptr<f32>
        """,
        (0, 1),
    ),
    "for elements": (
        """
        %s = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
        %m = "tt.map_elementwise"(%s) <{pack = 1 : i32}> ({
        ^bb0(%a: !tt.ptr<f32>):
          tt.store %a, %v : !tt.ptr<f32>
          tt.map_elementwise.return %q : !tt.ptr<f32>
        }) : (tensor<8x!tt.ptr<f32>>) -> tensor<8x!tt.ptr<f32>>
        %w = tt.splat %v : f32 -> tensor<8xf32>
        tt.store %m, %w : tensor<8x!tt.ptr<f32>>
        """,
        (0, 1),
    ),
    "a descriptor": (
        """
        %o = arith.constant 1 : i64
        %d = tt.make_tensor_descriptor %q, [%n], [%o] : <f32>, <tensor<8xf32>>
        %w = tt.splat %v : f32 -> tensor<8xf32>
        tt.descriptor_store %d[%n], %w : !tt.tensordesc<tensor<8xf32>>, tensor<8xf32>
        """,
        (1,),
    ),
}
HELPER = """
tt.func private @second(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>) -> !tt.ptr<f32> {
  %o = arith.constant 1 : i32
  %r = tt.addptr %b, %o : !tt.ptr<f32>, i32
  tt.return %r : !tt.ptr<f32>
}
tt.func private @helper(%read: !tt.ptr<f32>, %write: !tt.ptr<f32>, %v: f32) {
  %x = tt.load %read : !tt.ptr<f32>
  tt.store %write, %x : !tt.ptr<f32>
  tt.return
}
"""


@pytest.mark.parametrize("name", CASES)
def test_written_arguments(name: str) -> None:
    body, expected = CASES[name]
    module = parse_module(f"tt.func public @f({HEAD}) {{\n{body}\ntt.return\n}}\n{HELPER}")
    assert written_arguments(module, "f") == expected
