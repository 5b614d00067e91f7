"""What mutants have found, made small: each was an internal error, and is a located one or compiles."""

from __future__ import annotations

import io

import pytest

from tritonx.tools import opt

TILE = """
    %o = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %p = tt.splat %a : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>>
    %q = tt.addptr %p, %o : tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>
    tt.store %q, %o : tensor<1024x!tt.ptr<i32>>
    tt.return
  }
}
"""
FOUND = {
    "a tile module that says how many warps it is for": (
        'module attributes {"ttg.num-warps" = 4 : i32} {\n  tt.func public @k(%a: !tt.ptr<i32>) {' + TILE, "cuda:90", ""
    ),
    "and for more than it is compiled for": (
        'module attributes {"ttg.num-warps" = 8 : i32} {\n  tt.func public @k(%a: !tt.ptr<i32>) {' + TILE,
        "cuda:90",
        "<stdin>:1:1: error: pass 'assign-layouts': the module says ttg.num-warps = 8, the compile options",
    ),
    "a fact about a parameter that is no integer": (
        "module {\n  tt.func public @k(%a: !tt.ptr<i32> {tt.divisibility = 16 : f16}) {" + TILE,
        "cuda:90",
        "",
    ),
    "a negative number of warps": (
        'module attributes {"ttg.num-warps" = -4 : i32} {\n  tt.func public @k(%a: !tt.ptr<i32>) {' + TILE,
        "cuda:90",
        "<stdin>:1:1: error: 'builtin.module': 'ttg.num-warps' must be a power of two up to 1024",
    ),
    "an integer type that no register has": (
        "tt.func public @k(%a: !tt.ptr<i128>) {\n  %x = tt.load %a : !tt.ptr<i128>\n"
        "  tt.store %a, %x : !tt.ptr<i128>\n  tt.return\n}\n",
        "hip:gfx942",
        "<stdin>:2:3: error: stage 'llir': no target has registers for i128",
    ),
    "an argument that no register has": (
        "tt.func public @k(%a: i128) {\n  tt.return\n}\n",
        "cuda:90",
        "<stdin>:1:1: error: stage 'llir': no target has registers for i128",
    ),
    "blocks, and arguments without attributes": (
        "tt.func public @k(%c: i1) {\n  cf.br ^loop\n^loop:\n  cf.cond_br %c, ^loop, ^end\n^end:\n  tt.return\n}\n",
        "cuda:90",
        "",
    ),
    "registers without end": (
        "#b = #ttg.blocked<{sizePerThread = [4294967296], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>\n"
        "tt.func public @k() {\n  %o = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #b>\n"
        "  tt.return\n}\n",
        "cuda:90",
        "<stdin>:3:3: error: 'tt.make_range': tensor<256xi32,",
    ),
    "shared memory on a host": (
        "#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"
        "tt.func public @k(%a: !ttg.memdesc<4xf32, #s, #ttg.shared_memory, mutable>) {\n  tt.return\n}\n",
        "cpu",
        "<stdin>:2:1: error: pass 'tile-to-loops': tt.func: the CPU backend has no representation of",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_found(name: str) -> None:
    text, target, expected = FOUND[name]
    said = io.StringIO()
    source = io.BytesIO(text.encode())
    code = opt.run(["--target", target, "-t", "llir"], stdin=source, stdout=io.StringIO(), stderr=said)
    assert (code == 0) == (not expected), said.getvalue()
    assert said.getvalue().startswith(expected)
    assert bool(said.getvalue()) == bool(expected)
