"""Kernels as C: what ``tritonx compile`` and ``tritonx link`` write, compiled and run against a library that tells what
it is called with. (With the vendor's own: tests/gpu/test_embedding.py.)"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from tritonx.tools import link
from tritonx.tools.compile import CompileArgs, NotEmbeddable, compile_kernel, main

SEED = int(os.environ["TRITONX_SEED"])
CC = shutil.which("cc")

KERNELS = """
import tritonx, tritonx.language as tl

@tritonx.jit
def scale(x, y, stream, stride, by, wide, flag, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at * stride, tl.load(x + at * stride, mask=at < stream) * by + wide, mask=(at < stream) & flag)

@tritonx.jit
def described(x, BLOCK: tl.constexpr):
    block = tl.make_tensor_descriptor(x, [64, 64], [64, 1], [BLOCK, BLOCK])
    block.store([0, 0], block.load([0, 0]) + 1)

@tritonx.jit
def taken(x, y):
    tl.store(y, tl.sum(x.load([0, 0])))
"""

STAND_INS = Path(__file__).parent / "stand_ins"
"""Headers of the vendors' libraries, and libraries that print what they are called with."""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "kernels.py"
    path.write_text(KERNELS)
    return str(path)


def compiled(
    file: str, target: str, signature: str, grid: str = "(stream_ + BLOCK - 1) / BLOCK, 2, 1", **more: object
) -> list[Path]:
    out = Path(file).parent / "scale"
    args = CompileArgs(file, "scale", signature, grid, target, out_path=out, num_warps=4, options=more)
    return compile_kernel(args)[1]


def run(directory: Path, backend: str, calls: str, sources: list[Path], show: str, header: str = "all.h") -> list[str]:
    """The lines that a program of these calls prints, compiled as C, and its headers as C++ too."""
    assert CC is not None
    (directory / "versions.h").write_text(
        f'#include "{header}"\nstatic int unit;\nstatic void show(void **a) {{ {show} }}\n'
    )
    found = ["-I", str(directory), "-I", str(STAND_INS)]
    program = directory / "main.c"
    program.write_text(f'#include "telling.c"\n#include "{backend}.c"\nint main(void) {{ {calls} return 0; }}\n')
    line = [CC, "-std=c99", "-Wall", "-Wextra", "-Werror", *found, "-o", str(directory / "program")]
    subprocess.run([*line, str(program), *map(str, sources)], check=True, timeout=120)
    if cxx := shutil.which("c++"):
        (directory / "check.cpp").write_text(f'#include "{header}"\n')
        subprocess.run([cxx, "-fsyntax-only", "-Wall", "-Werror", *found, str(directory / "check.cpp")], check=True)
    done = subprocess.run([str(directory / "program")], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.splitlines()


ANY = "*fp32, *fp32, i32, i32, fp32, i64, u1, {}"
MULTIPLES = "*fp32:16, *fp32:16, i32:16, i32:1, fp32, i64, u1, {}"
SHOW = (
    'printf(" %llx %llx %d", *(unsigned long long *)a[0], *(unsigned long long *)a[1], *(int *)a[2]);'
    'if (!unit) printf(" %d", *(int *)a[3]); a += !unit;'
    'printf(" %g %lld %d", *(float *)a[3], *(long long *)a[4], *(unsigned char *)a[5]);'
)


@pytest.mark.skipif(CC is None, reason="no C compiler")
@pytest.mark.parametrize("target", ["cuda:90:32", "hip:gfx942"])
def test_the_version_whose_hints_hold_is_launched(target: str, file: str, tmp_path: Path) -> None:
    draw = random.Random(f"{SEED} {target}")
    backend = target.split(":")[0]
    versions = [compiled(file, target, text.format(block)) for block in (128, 64) for text in (ANY, MULTIPLES)]
    headers = [str(each[1]) for each in versions]
    assert link.main([*headers, "-o", str(tmp_path / "all")]) == 0
    pointer, stream = {"cuda": ("(CUdeviceptr)", "(CUstream)5"), "hip": ("(hipDeviceptr_t)", "(hipStream_t)5")}[backend]
    calls, wanted, loaded = ['unload_scale(); printf("%d\\n", scale_get_num_algos());'], ["2"], list[int]()
    for _ in range(24):
        x, y = (draw.choice([16, 8]) * draw.randrange(1 << 40) for _ in range(2))
        n, stride = draw.choice([16, 1]) * draw.randrange(1, 5000), draw.choice([1, 1, 3])
        by, wide, flag, variant = (
            draw.randrange(64) / 8,
            draw.randrange(-(1 << 60), 1 << 60),
            draw.randrange(2),
            draw.randrange(2),
        )
        unit = x % 16 == y % 16 == n % 16 == 0 and stride == 1
        which, block = 2 * variant + unit, (128, 64)[variant]
        passed = f"{stream}, {pointer}{x}ull, {pointer}{y}ull, {n}, {stride}, {by}f, {wide}ll, {flag}"
        if which not in loaded:
            wanted.append(f"load {len(loaded)} scale")
            loaded.append(which)
        calls.append(f'unit = {int(unit)}; printf("%d\\n", scale({passed}, {variant}));')
        shown = f"{x:x} {y:x} {n}{'' if unit else f' {stride}'} {by:g} {wide} {flag}"
        threads = 4 * (32 if backend == "cuda" else 64)
        wanted += [f"launch {loaded.index(which)}: {-(-n // block)} 2 1 of {threads} on 5: {shown}", "0"]
    calls.append(f'printf("%d\\n", scale_default({stream}, 0, 0, 0, 1, 0, 0, 0));')  # nothing to launch
    calls.append(f'printf("%d\\n", scale_default({stream}, 0, 0, -1000, 1, 0, 0, 0));')
    calls.append(f'printf("%d\\n", scale({stream}, 0, 0, 1, 1, 0, 0, 0, 2));')
    calls.append("unload_scale();")
    wanted += ["0", "7", "7", *(f"unload {loaded.index(which)}" for which in (1, 0, 3, 2) if which in loaded)]
    got = run(tmp_path, backend, "\n".join(calls), [tmp_path / "all.c", *(each[0] for each in versions)], SHOW)
    assert sorted(got[-4:]) == sorted(wanted[-4:])
    assert got[:-4] == wanted[:-4]


@pytest.mark.skipif(CC is None, reason="no C compiler")
def test_clusters_and_cooperative_grids_are_launched_so(file: str, tmp_path: Path) -> None:
    choices = {"num_ctas": 2, "launch_cooperative_grid": True, "launch_pdl": True}
    source, header = compiled(file, "cuda:90", ANY.format(128), "3, 2, 1", **choices)
    name = header.read_text().partition("load_")[2].partition("(")[0]
    calls = f"{name}(0, 0, 0, 1, 1, 0, 0, 0);"
    lines = run(tmp_path, "cuda", calls, [source], "(void)a; unit = 1;", header.name)
    assert lines == ["load 0 scale", "with 4 2", "with 2 1", "with 6 1", "launch 0: 6 2 1 of 128 on 0:"]


@pytest.mark.skipif(CC is None, reason="no C compiler")
def test_cooperative_grids_of_hip(file: str, tmp_path: Path) -> None:
    source, header = compiled(file, "hip:gfx942", ANY.format(128), "3, 2, 1", launch_cooperative_grid=True)
    name = header.read_text().partition("load_")[2].partition("(")[0]
    calls = f"{name}(0, (hipDeviceptr_t)48, 0, 7, 1, 0, 0, 0);"
    shown = 'unit = 1; printf(" %llx", *(unsigned long long *)a[0]);'
    lines = run(tmp_path, "hip", calls, [source], shown, header.name)
    assert lines == ["load 0 scale", "cooperative", "launch 0: 3 2 1 of 256 on 0: 30"]


@pytest.mark.parametrize(
    ("signature", "said"),
    [
        ("*fp32, *fp32, i32", "has 8 parameters"),
        ("*fp32, *fp32, i32, i32, fp32, i64, u1, i32", "'BLOCK' is a compile-time parameter"),
        ("*fp32, *fp32, i32:8, i32, fp32, i64, u1, 64", "a hint is 1 or 16"),
        ("*fp32:1, *fp32, i32, i32, fp32, i64, u1, 64", "an address is not 1"),
        ("*fp32, *fp32, i32, i32, fp32:16, i64, u1, 64", "fp32 takes no hint"),
        ("*fp32, *fp32, i33, i32, fp32, i64, u1, 64", "type i33 cannot be passed"),
    ],
)
def test_a_signature_that_is_none_is_said_so(
    signature: str, said: str, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line = [file, "-n", "scale", "-t", "cuda:90", "-s", signature, "-g", "1, 1, 1", "-o", file]
    assert main(line) == 2
    assert said in capsys.readouterr().err


def test_what_has_no_form_as_c_is_refused(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(NotEmbeddable, match="memory of its own"):
        compile_kernel(CompileArgs(file, "described", "*fp32:16, 64", "1, 1, 1", "cuda:90", out_path=tmp_path / "o"))
    with pytest.raises(NotEmbeddable, match="by a tensor map, which no C source makes"):
        args = CompileArgs(file, "taken", "tensordesc<fp16[64, 64]>, *fp16", "1, 1, 1", "cuda:90")
        compile_kernel(args)
    with pytest.raises(NotEmbeddable, match="no kernel 'other'; those it has: scale, described, taken"):
        compile_kernel(CompileArgs(file, "other"))
    with pytest.raises(NotEmbeddable, match="three expressions"):
        compiled(file, "cuda:90", ANY.format(64), "1, 1")
    assert main([file, "-n", "scale", "-t", "cuda:90", "-s", ANY.format(64), "-g", "1,1,1", "-O", "nothing=1"]) == 2
    assert "nothing" in capsys.readouterr().err
    assert not list(tmp_path.glob("*.c"))


def test_headers_that_do_not_go_together_are_refused(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = compiled(file, "cuda:90", ANY.format(64))[1]
    others = {
        "more than one vendor": compiled(file, "hip:gfx942", ANY.format(64))[1],
        "other parameters": compiled(file, "cuda:90", ANY.replace("i32", "i64").format(64))[1],
        "given twice": first,
        "no header that tritonx compile wrote": Path(file),
    }
    damaged = tmp_path / "damaged.h"
    damaged.write_text(first.read_text().replace('"arguments"', '"argument"'))
    others["damaged"] = damaged
    for said, other in others.items():
        assert link.main([str(first), str(other), "-o", str(tmp_path / "all")]) == 2
        assert said in capsys.readouterr().err


def test_a_variant_has_the_name_that_triton_gives_it(file: str) -> None:
    """Its compile-time values, warps and stages; options that Triton's command has not are behind them."""
    for options, behind in (({}, ""), ({"maxnreg": 64}, "xmaxnreg64")):
        _, header = compiled(file, "cuda:80", ANY.format(64), **options)
        [version] = link.versions_in(header)
        assert version.variant == f"64_warps4xstages3{behind}"
