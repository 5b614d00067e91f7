"""A kernel as C beside the driver's own header and library: compiled, linked, run by a C program, its results read."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tritonx.runtime import driver
from tritonx.tools import link
from tritonx.tools.compile import CompileArgs, compile_kernel

SEED = int(os.environ["TRITONX_SEED"])
HEADERS = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "include"
CC = shutil.which("cc")

KERNELS = """
import tritonx, tritonx.language as tl

@tritonx.jit
def product(a, b, o, n, M: tl.constexpr, K: tl.constexpr):
    rows, columns = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * M + tl.arange(0, M)
    ks = tl.arange(0, K)
    total = tl.zeros((M, M), tl.float32)
    for k in range(0, n, K):
        x = tl.load(a + rows[:, None] * n + k + ks, mask=(rows < n)[:, None] & (k + ks < n), other=0.0)
        y = tl.load(b + (k + ks)[:, None] * n + columns, mask=(k + ks < n)[:, None] & (columns < n), other=0.0)
        total = tl.dot(x, y, total)
    tl.store(o + rows[:, None] * n + columns, total, mask=(rows < n)[:, None] & (columns < n))
"""

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include "all.h"
#define TRY(call) do { CUresult r = (call); if (r) { fprintf(stderr, "%d: " #call "\n", (int)r); return 1; } } while (0)
int main(int count, char **names) {
    const int n = atoi(names[1]);
    const size_t half = 2ull * n * n, full = 4ull * n * n;
    CUdevice device; CUcontext context; CUstream stream; CUdeviceptr a, b, o;
    void *host = malloc(full);
    (void)count;
    TRY(cuInit(0)); TRY(cuDeviceGet(&device, 0)); TRY(cuDevicePrimaryCtxRetain(&context, device));
    TRY(cuCtxSetCurrent(context)); TRY(cuStreamCreate(&stream, 0));
    TRY(cuMemAlloc(&a, half)); TRY(cuMemAlloc(&b, half)); TRY(cuMemAlloc(&o, full));
    TRY(cuMemsetD32(o, 0x7fc00000, n * n));
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(names[2 + i], "rb");
        if (fread(host, 1, half, file) != half) return 2;
        TRY(cuMemcpyHtoD(i ? b : a, host, half)); fclose(file);
    }
    TRY(load_product());
    TRY(product_default(stream, a, b, o, n)); TRY(cuStreamSynchronize(stream));
    TRY(cuMemcpyDtoH(host, o, full)); TRY(unload_product());
    FILE *file = fopen(names[4], "wb");
    fwrite(host, 1, full, file); fclose(file);
    return 0;
}
"""


@pytest.mark.real_gpu
@pytest.mark.skipif(CC is None or not (HEADERS / "cuda.h").exists(), reason="no C compiler, or no header of the driver")
@pytest.mark.parametrize("n", [512, 333])
def test_a_c_program_runs_a_kernel(n: int, tmp_path: Path) -> None:
    assert CC is not None
    (tmp_path / "kernels.py").write_text(KERNELS)
    target, out = str(driver.get_active().get_current_target()), tmp_path / "product"
    files: list[Path] = []
    for hint in (":16", ""):
        signature = f"*fp16:16, *fp16:16, *fp32:16, i32{hint}, 128, 64"
        args = CompileArgs(
            str(tmp_path / "kernels.py"), "product", signature, "(n + M - 1) / M, (n + M - 1) / M, 1", target
        )
        args.num_warps, args.out_path = 4, out
        files += compile_kernel(args)[1]
    assert link.main([*(str(file) for file in files if file.suffix == ".h"), "-o", str(tmp_path / "all")]) == 0
    (tmp_path / "main.c").write_text(PROGRAM)
    sources = [str(tmp_path / name) for name in ("main.c", "all.c")] + [str(f) for f in files if f.suffix == ".c"]
    library = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True).stdout
    found = [line.split()[-1] for line in library.splitlines() if "libcuda.so.1" in line]
    line = [CC, "-std=c99", "-Wall", "-Werror", "-I", str(HEADERS), *sources, "-o", str(tmp_path / "program")]
    subprocess.run([*line, *(found[:1] or ["-l:libcuda.so.1"])], check=True, timeout=120)

    draw = np.random.default_rng([SEED, n])
    a, b = (draw.standard_normal((n, n)).astype(np.float16) for _ in range(2))
    a.tofile(tmp_path / "a"), b.tofile(tmp_path / "b")
    names = [str(tmp_path / name) for name in ("a", "b", "o")]
    done = subprocess.run([str(tmp_path / "program"), str(n), *names], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    got = np.fromfile(names[2], np.float32).reshape(n, n)
    np.testing.assert_allclose(got, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-5, atol=2e-4)
