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
BUFFERS = """
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [LANES], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = LANES : i32, ttg.shared = 1024 : i32} {
  tt.func SIGNATURE {
    %o = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #b>
    %m = ttg.local_alloc %o PLACE : (tensor<256xi32, #b>) -> !ttg.memdesc<256xi32, #s, #ttg.shared_memory>
    %x = ttg.local_load %m : !ttg.memdesc<256xi32, #s, #ttg.shared_memory> -> tensor<256xi32, #b>
    BODY
    tt.return
  }
}
""".lstrip()

COPIED = """
#b = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%p: tensor<256x!tt.ptr<i4>, #b>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<256xi4, #s, #ttg.shared_memory, mutable>
    %t = ttg.async_copy_global_to_local %p, %m
        : tensor<256x!tt.ptr<i4>, #b> -> <256xi4, #s, #ttg.shared_memory, mutable>
    tt.return
  }
}
""".lstrip()


def placed(place: str, lanes: int = 32, signature: str = "public @k()", body: str = "") -> str:
    """A module that says that its memory has been placed."""
    text = BUFFERS.replace("PLACE", place).replace("LANES", str(lanes))
    return text.replace("SIGNATURE", signature).replace("BODY", body)


FOUND = {
    "a tile module that says how many warps it is for": (
        'module attributes {"ttg.num-warps" = 4 : i32} {\n  tt.func public @k(%a: !tt.ptr<i32>) {' + TILE, "cuda:90", ""
    ),
    "and for more than a launch has by default": (
        'module attributes {"ttg.num-warps" = 8 : i32} {\n  tt.func public @k(%a: !tt.ptr<i32>) {' + TILE, "cuda:90", ""
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
    "elements that no register has, on their way to shared memory": (
        COPIED,
        "cuda:90",
        "<stdin>:6:5: error: stage 'llir': no target has registers for i4",
    ),
    "a descriptor of elements that no tensor map is of": (
        "#s = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>\n"
        'module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {\n'
        "  tt.func public @k(%d: !tt.tensordesc<tensor<64x16xi1, #s>>) {\n    tt.return\n  }\n}\n",
        "cuda:90",
        "<stdin>:3:3: error: stage 'llir': a tensor map is of numbers of 8 to 64 bits, got !tt.tensordesc<",
    ),
    "a descriptor of a block that no tensor map moves": (
        "#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>\n"
        'module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {\n'
        "  tt.func public @k(%d: !tt.tensordesc<tensor<64x16xf16, #s>>) {\n    tt.return\n  }\n}\n",
        "cuda:90",
        "<stdin>:3:3: error: stage 'llir': a tensor map needs a block laid out by #ttg.nvmma_shared without padding",
    ),
    "a scaled product of a format that is not taken apart": (
        "tt.func @k(%a: tensor<16x32xi8>, %b: tensor<32x16xbf16>, %c: tensor<16x16xf32>) {\n"
        "  %d = tt.dot_scaled %a, %b, %c lhs = e2m3 rhs = bf16 {fastMath = false}"
        " : tensor<16x32xi8> * tensor<32x16xbf16> -> tensor<16x16xf32>\n  tt.return\n}\n",
        "hip:gfx942",
        "<stdin>:2:3: error: pass 'decompose-scaled-dots': operands of e2m3 are not widened",
    ),
    "a descriptor that is read into a layout": (
        "#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>\n"
        "tt.func @k(%d: !tt.tensordesc<tensor<64x32xf16>>, %n: i32) {\n"
        "  %x = tt.descriptor_load %d[%n, %n] : !tt.tensordesc<tensor<64x32xf16>> -> tensor<64x32xf16, #b>\n"
        "  tt.return\n}\n",
        "cpu",
        "<stdin>:3:3: error: pass 'rewrite-descriptors': descriptors and block pointers become pointers before tiles",
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
    "a buffer that was not placed where others were": (
        placed("{}"), "cuda:90", "<stdin>:6:5: error: pass 'insert-barriers': ttg.local_alloc has no shared memory"
    ),
    "a buffer that was placed nowhere": (
        placed("{allocation.offset = -16 : i32}", 64),
        "hip:gfx942",
        "<stdin>:6:5: error: pass 'insert-barriers': 'allocation.offset' must be a number of bytes, got -16 : i32",
    ),
    "a place that is no number": (
        placed('{allocation.offset = "x"}'),
        "cuda:90",
        "<stdin>:6:5: error: pass 'insert-barriers': 'allocation.offset' must be a number of bytes",
    ),
    "a place beyond what there is": (
        placed("{allocation.offset = 1024 : i32}"),
        "cuda:90",
        "<stdin>:6:5: error: stage 'llir': its buffer at byte 1024 is not in the 1024 bytes that the module has",
    ),
    "a place": (placed("{allocation.offset = 0 : i32}"), "cuda:90", ""),
    "a parameter in shared memory": (
        placed(
            "{allocation.offset = 0 : i32}",
            signature="@f(%d: !ttg.memdesc<256xi32, #s, #ttg.shared_memory, mutable>)",
            body="ttg.local_dealloc %d : !ttg.memdesc<256xi32, #s, #ttg.shared_memory, mutable>",
        ),
        "cuda:90",
        "<stdin>:4:3: error: stage 'llir': no function takes or returns shared memory",
    ),
    "a result in shared memory": (
        placed(
            "{allocation.offset = 0 : i32}",
            64,
            "@f() -> !ttg.memdesc<256xi32, #s, #ttg.shared_memory>",
            "tt.return %m : !ttg.memdesc<256xi32, #s, #ttg.shared_memory>",
        ).replace("    tt.return\n", ""),
        "hip:gfx942",
        "<stdin>:4:3: error: stage 'llir': no function takes or returns shared memory",
    ),
    "a buffer where no tile has a layout, laid out over threads": (
        "#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>\n"
        "tt.func public @k() {\n"
        "  %m = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #b, #ttg.shared_memory, mutable>\n  tt.return\n}\n",
        "cuda:90",
        "<stdin>:3:3: error: 'ttg.local_alloc': !ttg.memdesc<1xi64,",
    ),
    "tiles of what has no width": (
        "tt.func public @k(%p: !tt.ptr<index>, %v: index, %c: i1) {\n"
        "  %0 = tt.atomic_rmw max, relaxed, sys, %p, %v, %c : (!tt.ptr<index>, index, i1) -> index\n  tt.return\n}\n",
        "cuda:90",
        "<stdin>:1:1: error: 'tt.func': a pointer is to numbers, to pointers or to a tile, got !tt.ptr<index>",
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
