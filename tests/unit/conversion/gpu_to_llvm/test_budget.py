"""What would be unrolled without end is refused before LLVM sees it, whichever op it is, with its tile and line."""

from __future__ import annotations

import io
import re

import pytest

from tritonx.tools import opt

HEAD = """module {
  tt.func public @k(%p: !tt.ptr<f32>, %n: i32) {
    %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
    %q = tt.splat %n : i32 -> tensor<128xi32>
    %s = arith.muli %r, %q : tensor<128xi32>
    %a = tt.expand_dims %s {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %b = tt.expand_dims %r {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %c = tt.broadcast %a : tensor<128x1xi32> -> tensor<128x128xi32>
    %d = tt.broadcast %b : tensor<1x128xi32> -> tensor<128x128xi32>
    %o = arith.addi %c, %d : tensor<128x128xi32>
    %t = tt.splat %p : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>>
    %u = tt.addptr %t, %o : tensor<128x128x!tt.ptr<f32>>, tensor<128x128xi32>
    %x = tt.load %u : tensor<128x128x!tt.ptr<f32>>
"""
TAIL = """
    tt.return
  }
}
"""
STORE = "\n    tt.store %u, %y : tensor<128x128x!tt.ptr<f32>>"
COMBINE = """({
    ^bb0(%v: f32, %w: f32):
      %z = arith.addf %v, %w : f32
      tt.KIND.return %z : f32
    }) : (tensor<128x128xf32>) -> """
OPS = {
    "tt.load": STORE.replace("%y", "%x"),
    "tt.store": STORE.replace("%y", "%x"),
    "math.exp": "    %y = math.exp %x : tensor<128x128xf32>" + STORE,
    "tt.scan": '    %y = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> '
    + COMBINE.replace("KIND", "scan")
    + "tensor<128x128xf32>"
    + STORE,
    "tt.gather": "    %y = tt.gather %x[%o] {axis = 1 : i32} : (tensor<128x128xf32>, tensor<128x128xi32>) ->"
    " tensor<128x128xf32>" + STORE,
    "tt.dot": "    %z = arith.constant dense<0.0> : tensor<128x128xf32>\n    %y = tt.dot %x, %x, %z :"
    " tensor<128x128xf32> * tensor<128x128xf32> -> tensor<128x128xf32>" + STORE,
    "ttg.convert_layout": "    %y = tt.trans %x {order = array<i32: 1, 0>} : tensor<128x128xf32> -> tensor<128x128xf32>"
    + STORE,
    "tt.atomic_rmw": "    %m = arith.constant dense<true> : tensor<128x128xi1>\n    %y = tt.atomic_rmw fadd, relaxed,"
    " gpu, %u, %x, %m : (tensor<128x128x!tt.ptr<f32>>, tensor<128x128xf32>, tensor<128x128xi1>) -> tensor<128x128xf32>"
    + STORE,
}  # fmt: skip


def compiled(text: str, tmp_path, *options: str) -> str:
    """What `tritonx-opt -t llir` says about a module; empty where it compiles."""
    path = tmp_path / "k.ttir"
    path.write_text(text)
    errors = io.StringIO()
    arguments = [str(path), *options, "-t", "llir", "-o", str(tmp_path / "k.ll")]
    code = opt.run(arguments, stderr=errors)
    assert (code == 0) == (not errors.getvalue())
    return errors.getvalue()


@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx942"])
@pytest.mark.parametrize("name", OPS)
def test_every_op_is_counted(name, target, tmp_path):
    text = HEAD + OPS[name] + TAIL
    assert not compiled(text, tmp_path, "--target", target, "--option", "num_warps=4")
    limit = (tmp_path / "k.ll").read_text().count("\n") // 2
    said = compiled(text, tmp_path, "--target", target, "--option", "num_warps=4", f"--option=max_instructions={limit}")
    refused = rf"k\.ttir:\d+:\d+: error: stage 'llir': the program of a thread has more than {limit} "
    assert re.search(refused, said), said
    assert re.search(r"\d+ of them for \S+ of (128|1)(x128|x1)? elements", said), said


def test_a_product_that_multiply_adds_would_unroll_is_refused_at_once(tmp_path):
    text = (HEAD + OPS["tt.dot"] + TAIL).replace("128", "512")
    said = compiled(text, tmp_path, "--target", "cuda:90")
    found = re.search(r"more than (\d+) instructions, (\d+) of them for ttg\.local_dot of 512x512 elements", said)
    assert found, said
    assert int(found[2]) <= int(found[1])  # of the million that it would be


def test_a_product_that_is_a_loop_is_no_long_program(tmp_path):
    """Of 256x256x256, a thread's part are 131,072 multiply-adds, of which 2,048 are written."""
    assert compiled((HEAD + OPS["tt.dot"] + TAIL).replace("128", "256"), tmp_path, "--target", "cuda:90") == ""
