"""Kernels for the CPU as C: compiled, linked and called from C, from C++ and through ctypes."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.unit.tools.test_seal import run
from tritonx.runtime.tuning.case import module
from tritonx.tools import link
from tritonx.tools.compile import MOST, CompileArgs, NotEmbeddable, alternatives, compile_kernel

PAGE = Path(__file__).parents[3] / "docs" / "embedding.md"
CC = shutil.which("cc")

pytestmark = pytest.mark.skipif(CC is None or sys.platform != "linux", reason="no C compiler for ELF")

KERNELS = """
import tritonx, tritonx.language as tl

@tritonx.jit
def add_one(x, y, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK
    y.store([row, 0], x.load([row, 0]) + 1)

@tritonx.jit
def halves(x, n, unit, by, wide, flag):
    tl.device_assert(n < 100)
    tl.store(x, tl.where(flag, (n + tl.program_id(1)) // 2, -1) + unit + by.to(tl.int64) + wide)

@tritonx.jit
def shift(x, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(x + 1 + at, tl.load(x + at))
"""


def function(folder: Path, name: str, signature: str, grid: str = "1, 2, 1", **options: object):
    """The kernel in this process."""
    (folder / "kernels.py").write_text(KERNELS)
    args = CompileArgs(str(folder / "kernels.py"), name, signature, grid, "cpu", options=options)
    args.out_path, args.shared = folder / name, True
    found, files = compile_kernel(args)
    assert [file.suffix for file in files] == [".c", ".h", ".so"]
    return getattr(ctypes.CDLL(str(files[-1])), found)


def address(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def test_linking_what_lies_in_another_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the output's name is no identifier in C; a header is not overwritten by what it is linked into."""
    function(tmp_path, "shift", "*i32, 4")
    (tmp_path / "a folder").mkdir()
    headers = [str(path) for path in tmp_path.glob("shift.*.h")]
    assert link.main([*headers, "-o", str(tmp_path / "a folder" / "all (ä)"), "--shared"]) == 0
    x = np.arange(5, dtype=np.int32)
    library = ctypes.CDLL(str(tmp_path / "a folder" / "liball (ä).so"))
    assert library.shift_default(None, address(x)) == 0
    assert "#ifndef TRITONX_all_____H\n" in (tmp_path / "a folder" / "all (ä).h").read_text()
    Path(headers[0]).rename(tmp_path / "shift.h")
    assert link.main([str(tmp_path / "shift.h"), "-o", str(tmp_path / "shift")]) == 2
    assert "would overwrite" in capsys.readouterr().err


def test_descriptors(tmp_path: Path) -> None:
    """Neither extent is one of whole blocks, and rows of the second are apart."""
    add_one = function(tmp_path, "add_one", "tensordesc<fp32[16, 32]>, tensordesc<fp32[16,32]>, 16", "3, 1, 1")
    x, whole = np.arange(40 * 30, dtype=np.float32).reshape(40, 30), np.full((40, 37), 5, np.float32)
    extents = [ctypes.c_int64(n) for n in (40, 30)]
    strides = [[ctypes.c_int64(n), ctypes.c_int64(1)] for n in (30, 37)]
    assert add_one(None, address(x), *extents, *strides[0], address(whole), *extents, *strides[1]) == 0
    assert np.array_equal(whole[:, :30], x + 1)
    assert (whole[:, 30:] == 5).all()


def test_arguments_of_all_kinds(tmp_path: Path) -> None:
    """Integers below 0, one compiled as 1, a float, a wide integer, a truth value, and a failed assertion."""
    halves = function(tmp_path, "halves", "*i64, i32, i32:1, fp32, i64, u1", debug=True)
    x = np.zeros(1, np.int64)

    def called(n: int, *, flag: bool) -> int:
        return halves(None, address(x), ctypes.c_int32(n), ctypes.c_float(3.5), ctypes.c_int64(-(1 << 40)), flag)

    assert [called(-9, flag=True), x[0] + (1 << 40)] == [0, 0]
    assert [called(11, flag=False), x[0] + (1 << 40)] == [0, 3]
    assert [called(100, flag=True), called(11, flag=True), x[0] + (1 << 40)] == [2, 0, 10]
    assert halves(None, None, 5, ctypes.c_float(1), ctypes.c_int64(0), 1) == 1


def test_arguments_that_overlap(tmp_path: Path) -> None:
    """Tiles are read whole before they are stored, where the code is for that."""
    shift = function(tmp_path, "shift", "*fp32, 64", "1, 1, 1", irregular=True)
    x = np.arange(65, dtype=np.float32)
    assert shift(None, address(x)) == 0
    assert x.tolist() == [0, *range(64)]


def test_alternatives() -> None:
    assert len(alternatives("*fp32|*fp16, tensordesc<fp32[2, 4]>, (1|2), 3 | 4 |5")) == 6
    with pytest.raises(NotEmbeddable, match=f"512 versions, and one command compiles {MOST}"):
        alternatives(", ".join(["1|2"] * 9))


@pytest.mark.parametrize(
    ("name", "signature", "options", "said"),
    [
        ("add_one", "tensordesc<fp32[16, a]>, *fp32, 16", {}, "'x': a descriptor is written tensordesc"),
        ("add_one", "tensordesc<fp32[16]>:16, *fp32, 16", {}, "'x': a descriptor is written tensordesc"),
        ("shift", "*fp32, 64", {"check_bounds": True}, "a table of what it may access"),
    ],
)
def test_refusals(name: str, signature: str, options: dict[str, object], said: str, tmp_path: Path) -> None:
    with pytest.raises(NotEmbeddable, match=re.escape(said)):
        function(tmp_path, name, signature, **options)


@pytest.mark.parametrize(
    ("grid", "options", "said"),
    [
        ("n, 1, 1", {}, "--grid n: 'n' is nothing that a grid of shift may name: x, B"),
        ("1, cdiv(B, 2), 1", {}, "--grid cdiv(B, 2): 'cdiv'"),
        ("1, 1, 1", {"nope": 3}, "--option nope: the backend cpu has "),
    ],
)
def test_names_that_are_unknown(grid: str, options: dict[str, object], said: str, tmp_path: Path) -> None:
    """Before anything is written."""
    with pytest.raises(NotEmbeddable, match=re.escape(said)):
        function(tmp_path, "shift", "*i32, 4", grid, **options)
    assert [file.name for file in tmp_path.iterdir() if file.name != "__pycache__"] == ["kernels.py"]


def test_grids_in_c(tmp_path: Path) -> None:
    """Casts, suffixes of numbers and limits are C's own; descriptors' extents are parameters."""
    function(tmp_path, "shift", "*i32, 4", "(int64_t)B / 4u, (B < INT32_MAX) + 0x0L, 1e0 > 2")
    function(tmp_path, "add_one", "tensordesc<i32[4, 4]>, tensordesc<i32[4, 4]>, 4", "x_shape0 / BLOCK, 1, 1")


def test_an_object_file(tmp_path: Path) -> None:
    """It is all that a program links."""
    (tmp_path / "kernels.py").write_text(KERNELS)
    args = CompileArgs(str(tmp_path / "kernels.py"), "shift", "*i32, 4", "1, 1, 1", "cpu", out_path=tmp_path / "shift")
    args.object = True
    name, (source, header, made) = compile_kernel(args)
    source.unlink()
    text = f'#include "{header.name}"\nint main(void) {{ int x[5] = {{7}}; return {name}(0, x) ? 99 : x[1]; }}\n'
    (tmp_path / "main.c").write_text(text)
    assert CC is not None
    subprocess.run([CC, "main.c", made.name, "-lm", "-o", "main"], cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "main"], check=False).returncode == 7


def test_the_page(tmp_path: Path) -> None:
    """The kernel, the commands, the C program with what it prints, C++, and the Python program."""
    found = re.findall(r"^```(?:python|c|console)\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    for name, text in zip(("kernels.py", "", "main.c", "", "program.py", "export.py"), found, strict=True):
        if name:
            (tmp_path / name).write_text(text)
    printed = ""
    for line in (found[1] + found[3]).splitlines():
        if not line.startswith("$ "):
            printed += f"{line}\n"
            continue
        command = line.removeprefix("$ ").replace("tritonx ", f"{sys.executable} -m tritonx ", 1)
        command = command if "-m tritonx" in command else line.removeprefix("$ ")
        done = subprocess.run(command, cwd=tmp_path, shell=True, capture_output=True, text=True, timeout=300)
        assert done.returncode == (1 if line == "$ ./main" else 0), done.stderr
    assert done.stdout == printed
    if cxx := shutil.which("c++"):
        (tmp_path / "check.cpp").write_text('#include "all.h"\nint main() { return !scale_algo_name(0); }\n')
        libraries = ["-L.", "-lall", "-Wl,-rpath,."]
        subprocess.run([cxx, "-Wall", "-Werror", "check.cpp", *libraries, "-o", "check"], cwd=tmp_path, check=True)
        subprocess.run(["./check"], cwd=tmp_path, check=True)
    assert run(tmp_path, "program.py").returncode == 0


SHARED = """
@tritonx.jit
def combined(x, skip: tl.constexpr, y, n, one, by, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * by + one + skip, mask=at < n)
"""


def test_libraries_for_aotinductor(tmp_path: Path) -> None:
    """Called as PyTorch's runtime does: an argument for each parameter, integers as int64, constants not read."""
    (tmp_path / "kernels.py").write_text("import tritonx, tritonx.language as tl\n" + SHARED)
    x, y = np.arange(300, dtype=np.float32), np.zeros(300, np.float32)
    made = module(str(tmp_path / "kernels.py")).combined.warmup(x, 3, y, 299, 1, 0.5, 64, grid=(5,))
    assert made.asm.get("nothing") is None and "so" not in made.asm
    for name in ("so", "launcher.so"):
        (tmp_path / name).write_bytes(made.asm.get(name))
    launch, kernel = ctypes.CDLL(str(tmp_path / "launcher.so")), ctypes.CDLL(str(tmp_path / "so"))
    n, by = ctypes.c_int64(299), ctypes.c_float(0.5)
    given = (ctypes.c_void_p * 7)(x.ctypes.data, None, y.ctypes.data, ctypes.addressof(n), None, ctypes.addressof(by))
    launch.run_from_nativert(5, 1, 1, 1, given, ctypes.cast(kernel.combined, ctypes.c_void_p))
    assert np.array_equal(y[:299], x[:299] / 2 + 4) and y[299] == 0
