"""`tritonx-run` executes a file on arrays, reports, saves, draws."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from tritonx.tools.run import main

TEXT = """#rows = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#turned = #ttg.linear<{register = [], lane = [[4], [8], [16], [32], [64]], warp = [[1], [2]], block = []}>
#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.shared = 512 : i32} {
  tt.func public @twice(%x: !tt.ptr<f32>, %by: i32, %o: !tt.ptr<f32>) {
    %i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #rows>
    %p = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #rows>
    %q = tt.addptr %p, %i : tensor<128x!tt.ptr<f32>, #rows>, tensor<128xi32, #rows>
    %v = tt.load %q : tensor<128x!tt.ptr<f32>, #rows>
    %m = ttg.local_alloc %v {allocation.offset = 0 : i32} : (tensor<128xf32, #rows>) -> !ttg.memdesc<128xf32, #plain, #ttg.shared_memory>
    ttg.local_barrier
    %w = ttg.local_load %m : !ttg.memdesc<128xf32, #plain, #ttg.shared_memory> -> tensor<128xf32, #turned>
    %c = arith.sitofp %by : i32 to f32
    %d = tt.splat %c : f32 -> tensor<128xf32, #turned>
    %y = arith.mulf %w, %d : tensor<128xf32, #turned>
    %j = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #turned>
    %r = tt.splat %o : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #turned>
    %s = tt.addptr %r, %j : tensor<128x!tt.ptr<f32>, #turned>, tensor<128xi32, #turned>
    tt.store %s, %y : tensor<128x!tt.ptr<f32>, #turned>
    tt.return
  }
}
"""  # noqa: E501 -- one op a line


def run(tmp_path: Path, text: str, *arguments: str) -> tuple[int, str, str]:
    path = tmp_path / "k.ttgir"
    path.write_text(text)
    out, errors = io.StringIO(), io.StringIO()
    code = main([str(path), *arguments], stdout=out, stderr=errors)
    return code, out.getvalue(), errors.getvalue()


def arrays(tmp_path: Path) -> str:
    path = tmp_path / "in.npz"
    np.savez(path, x=np.arange(128, dtype=np.float32), o=np.zeros(128, np.float32))
    return str(path)


def test_runs_and_saves(tmp_path: Path) -> None:
    saved = tmp_path / "out.npz"
    code, out, errors = run(tmp_path, TEXT, arrays(tmp_path), "--set", "by=3", "--save", str(saved))
    assert (code, out, errors) == (0, "", "")
    with np.load(saved) as held:
        np.testing.assert_array_equal(held["o"], 3 * np.arange(128))
        np.testing.assert_array_equal(held["x"], np.arange(128))


def test_reports_the_line_of_the_file(tmp_path: Path) -> None:
    text = TEXT.replace("    ttg.local_barrier\n", "")
    code, out, _ = run(tmp_path, text, "--random", "1")
    assert code == 1
    assert "k.ttgir:11:" in out
    assert "read of what is not visible yet: %w = ttg.local_load" in out
    assert "(with %m = ttg.local_alloc at " in out
    assert run(tmp_path, text, "--random", "1", "--warps", "together")[:2] == (0, "")


def test_timelines(tmp_path: Path) -> None:
    code, out, _ = run(tmp_path, TEXT, "--random", "1", "--timeline", "-")
    assert code == 0
    assert "warps 0-3" in out
    assert "ttg.local_barrier" in out
    picture = tmp_path / "t.svg"
    assert run(tmp_path, TEXT, "--random", "1", "--timeline", str(picture))[0] == 0
    assert picture.read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing is given for the argument x"),
        (["--set", "z=1"], "no argument is called z"),
        (["--set", "by"], "expected NAME=NUMBER"),
        (["--random", "1", "--grid", "a"], "expected up to three extents"),
        (["--random", "1", "--function", "g"], "no function @g"),
        (["wrong.npz", "--random", "1"], "an array is given for the argument by of type i32"),
        (["missing.npz"], "no .npz that can be read"),
    ],
)
def test_mistakes(tmp_path: Path, arguments: list[str], message: str) -> None:
    np.savez(tmp_path / "wrong.npz", by=np.zeros(3))
    code, _, errors = run(tmp_path, TEXT, *(str(tmp_path / a) if a.endswith(".npz") else a for a in arguments))
    assert code == 2
    assert message in errors


def test_a_fault_of_the_kernel(tmp_path: Path) -> None:
    path = tmp_path / "short.npz"
    np.savez(path, x=np.zeros(100, np.float32), o=np.zeros(128, np.float32), by=np.int32(2))
    code, out, _ = run(tmp_path, TEXT, str(path))
    assert code == 1
    assert "element 100 of x" in out


DESCRIBED = """#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#plain = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 32}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @rows(%a: !tt.tensordesc<tensor<16x32xf32, #plain>>, %a_0: i32, %a_1: i32, %a_2: i64, %a_3: i64, %n: i32) {
    %zero = arith.constant 0 : i32
    %true = arith.constant true
    %m = ttg.local_alloc : () -> !ttg.memdesc<16x32xf32, #plain, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.init_barrier %b, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.barrier_expect %b, 2048, %true : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.async_tma_copy_global_to_local %a[%n, %zero] %m, %b, %true : !tt.tensordesc<tensor<16x32xf32, #plain>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<16x32xf32, #plain, #smem, mutable>
    ttng.wait_barrier %b, %zero : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    %v = ttg.local_load %m : !ttg.memdesc<16x32xf32, #plain, #smem, mutable> -> tensor<16x32xf32, #row>
    %w = arith.addf %v, %v : tensor<16x32xf32, #row>
    ttg.local_store %w, %m : tensor<16x32xf32, #row> -> !ttg.memdesc<16x32xf32, #plain, #smem, mutable>
    ttng.fence_async_shared {bCluster = false}
    ttng.async_tma_copy_local_to_global %a[%n, %zero] %m : !tt.tensordesc<tensor<16x32xf32, #plain>>, !ttg.memdesc<16x32xf32, #plain, #smem, mutable>
    ttng.async_tma_store_wait {pendings = 0 : i32}
    tt.return
  }
}
"""  # noqa: E501 -- one op a line


def test_descriptors(tmp_path: Path) -> None:
    """A descriptor is an array; what follows it in the arguments is taken from it."""
    x = np.arange(40 * 32, dtype=np.float32).reshape(40, 32)
    np.savez(tmp_path / "in.npz", a=x)
    saved = tmp_path / "out.npz"
    code, out, errors = run(
        tmp_path, DESCRIBED, str(tmp_path / "in.npz"), "--set", "n=32", "--save", str(saved), "--timeline", "-"
    )
    assert (code, errors) == (0, "")
    assert out.count("copies: ttng.async_tma_copy") == 2
    with np.load(saved) as held:
        np.testing.assert_array_equal(held["a"], np.concatenate([x[:32], 2 * x[32:]]))
