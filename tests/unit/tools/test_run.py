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
        (["missing.npz"], "no .npz that can be read"),
    ],
)
def test_mistakes(tmp_path: Path, arguments: list[str], message: str) -> None:
    code, _, errors = run(tmp_path, TEXT, *arguments)
    assert code == 2
    assert message in errors


def test_a_fault_of_the_kernel(tmp_path: Path) -> None:
    path = tmp_path / "short.npz"
    np.savez(path, x=np.zeros(100, np.float32), o=np.zeros(128, np.float32), by=np.int32(2))
    code, out, _ = run(tmp_path, TEXT, str(path))
    assert code == 1
    assert "element 100 of x" in out
