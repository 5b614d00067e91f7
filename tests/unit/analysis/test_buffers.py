"""The shared memory that ops need, and the names of it."""

from __future__ import annotations

import pytest
from xdsl.ir import OpResult

from tests.unit.analysis.memory_modules import buffers, module_of
from tritonx.analysis.buffers import aliases_of


def test_sizes_and_alignments():
    module = module_of("""
  tt.func public @f(%a: tensor<32x32xf32, #rows>) {
    %m = ttg.local_alloc %a : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    %n = ttg.local_alloc : () -> !ttg.memdesc<3x32x32xf32, #tma, #smem, mutable>
    %p = ttg.local_alloc : () -> !ttg.memdesc<32x32xf32, #padded, #smem, mutable>
    tt.return
  }
""")
    found = [(b.size, b.alignment) for b in buffers(module)]
    # 32 rows of 32 words; three of them, swizzled over 64 bytes; with four words after each full row but the last.
    assert found == [(4096, 16), (3 * 4096, 512), (4096 + 31 * 16, 16)]


WAYS = {
    "a view of a view": (
        """
    %v = ttg.memdesc_index %many[%c0] : !slots -> !slot
    %w = ttg.memdesc_reinterpret %v : !slot -> !slot""",
        "many v w",
    ),
    "the second that a loop carries": (
        """
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %other, %w = %m) -> (!slot, !slot) : i32 {
      scf.yield %other, %w : !slot, !slot
    }""",
        "m w r_1",
    ),
    "what a loop takes up": (
        """
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %other, %w = %other) -> (!slot, !slot) : i32 {
      scf.yield %m, %v : !slot, !slot
    }""",
        "m v w r_0 r_1",
    ),
    "a while's condition": (
        """
    %r:2 = scf.while (%v = %other, %w = %m) : (!slot, !slot) -> (!slot, !slot) {
      scf.condition(%flag) %w, %v : !slot, !slot
    } do {
    ^bb0(%x: !slot, %y: !slot):
      scf.yield %other, %other : !slot, !slot
    }""",
        "m w x r_0",
    ),
    "what a while's body hands back": (
        """
    %r:2 = scf.while (%v = %other, %w = %other) : (!slot, !slot) -> (!slot, !slot) {
      scf.condition(%flag) %v, %w : !slot, !slot
    } do {
    ^bb0(%x: !slot, %y: !slot):
      scf.yield %other, %m : !slot, !slot
    }""",
        "m w y r_1",
    ),
    "one side of a condition": (
        """
    %r:2 = scf.if %flag -> (!slot, !slot) {
      scf.yield %other, %m : !slot, !slot
    } else {
      scf.yield %other, %other : !slot, !slot
    }""",
        "m r_1",
    ),
    "a jump": (
        """
    cf.br ^next(%m : !slot)
  ^next(%v: !slot):""",
        "m v",
    ),
    "either side of a branch": (
        """
    cf.cond_br %flag, ^one(%n : i32), ^two(%m : !slot)
  ^one(%k: i32):
    cf.br ^two(%other : !slot)
  ^two(%v: !slot):""",
        "m v",
    ),
    "partitions": (
        """
    ttg.warp_specialize(%n, %m)
    default {
      ttg.warp_yield
    }
    partition0(%k: i32, %v: !slot) num_warps(4) {
      ttg.warp_return
    }
    partition1(%l: i32, %w: !slot) num_warps(4) {
      ttg.warp_return
    } : (i32, !slot) -> ()""",
        "m v w",
    ),
}


@pytest.mark.parametrize("name", WAYS)
def test_the_ways_of_a_buffer(name):
    body, expected = WAYS[name]
    module = module_of(f"""
  tt.func public @f(%n: i32, %flag: i1) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %many = ttg.local_alloc : () -> !slots
    %m = ttg.local_alloc : () -> !slot
    %other = ttg.local_alloc : () -> !slot{body}
    tt.return
  }}
""")
    wanted = expected.split()[0]
    (memory,) = [r for op in module.walk() for r in op.results if r.name_hint == wanted]
    found = [
        f"{value.name_hint}_{value.index}"
        if isinstance(value, OpResult) and len(value.op.results) > 1
        else value.name_hint
        for value in aliases_of(memory)
    ]
    assert sorted(found) == sorted(expected.split())
