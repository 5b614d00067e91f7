"""A libcuda that does nothing, for timing what the host does of a launch without a GPU (`gpu_launch.py --stand-in`).

It is built by the system's C compiler. Kernels are compiled for sm_90 as ever, "loaded" and "launched" on PyTorch's
tensors in the host's memory; nothing runs."""

from __future__ import annotations

import ctypes
import importlib
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

SOURCE = r"""
#include <stdint.h>
#include <string.h>
typedef int R; typedef void *P;
static P current;
R cuInit(unsigned f) { return 0; }
R cuDriverGetVersion(int *v) { *v = 13000; return 0; }
R cuDeviceGetCount(int *n) { *n = 1; return 0; }
R cuDeviceGet(int *d, int i) { *d = i; return 0; }
R cuDeviceGetAttribute(int *v, int a, int d) { /* CUdevice_attribute of cuda.h: an H200 */
  switch (a) {
    case 1: *v = 1024; break;
    case 10: *v = 32; break;
    case 12: *v = 65536; break;
    case 13: *v = 1980000; break;
    case 16: *v = 132; break;
    case 36: *v = 2619000; break;
    case 37: *v = 6144; break;
    case 38: *v = 52428800; break;
    case 75: *v = 9; break;
    case 76: *v = 0; break;
    case 81: *v = 233472; break;
    case 97: *v = 232448; break;
    default: *v = 1;
  }
  return 0;
}
R cuCtxGetCurrent(P *c) { *c = current; return 0; }
R cuCtxSetCurrent(P c) { current = c; return 0; }
R cuCtxGetDevice(int *d) { *d = 0; return 0; }
R cuDevicePrimaryCtxRetain(P *c, int d) { *c = (P)0x5000; return 0; }
R cuCtxGetLimit(size_t *v, int l) { *v = 1; return 0; }
R cuCtxSetLimit(int l, size_t v) { return 0; }
R cuCtxSynchronize(void) { return 0; }
R cuModuleLoadData(P *m, const void *d) { *m = (P)0x6000; return 0; }
R cuModuleUnload(P m) { return 0; }
R cuStreamQuery(P s) { return 0; }
R cuModuleGetFunction(P *f, P m, const char *n) { *f = (P)0x7000; return 0; }
R cuFuncGetAttribute(int *v, int a, P f) { *v = a == 0 ? 1024 : a == 4 ? 32 : 0; return 0; }
R cuFuncSetAttribute(P f, int a, int v) { return 0; }
R cuFuncSetCacheConfig(P f, int c) { return 0; }
R cuFuncGetParamInfo(P f, size_t i, size_t *o, size_t *s) { return 1; }
R cuGetErrorName(int c, const char **s) { *s = "CUDA_ERROR_OF_THE_STAND_IN"; return 0; }
R cuGetErrorString(int c, const char **s) { *s = "an error of the stand-in"; return 0; }
R cuLaunchKernel(P f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g, unsigned s, P t, P *k,
                 P *x) { return 0; }
R cuLaunchKernelEx(void *c, P f, P *k, P *x) { return 0; }
R cuTensorMapEncodeTiled(P m, int t, unsigned r, P a, const uint64_t *d, const uint64_t *s, const uint32_t *b,
                         const uint32_t *e, int i, int w, int l, int o) { memset(m, t, 128); return 0; }
R cuPointerGetAttribute(void *out, int a, uint64_t p) { *(uint64_t *)out = p; return 0; }
R cuOccupancyMaxActiveClusters(int *n, P f, void *c) { *n = 16; return 0; }
R cuStreamIsCapturing(P s, int *x) { *x = 0; return 0; }
R cuMemAlloc_v2(uint64_t *a, size_t n) { *a = 1ull << 32; return 0; }
R cuMemFree_v2(uint64_t a) { return 0; }
R cuMemcpyHtoD_v2(uint64_t d, const void *s, size_t n) { return 0; }
R cuMemcpyDtoH_v2(void *d, uint64_t s, size_t n) { return 0; }
R cuMemsetD32Async(uint64_t a, unsigned v, size_t n, P s) { return 0; }
R cuEventCreate(P *e, unsigned f) { *e = (P)0x8000; return 0; }
R cuEventRecord(P e, P s) { return 0; }
R cuEventElapsedTime_v2(float *ms, P a, P b) { *ms = 1; return 0; }
R cuEventDestroy_v2(P e) { return 0; }
R cuEventQuery(P e) { return 0; }
R cuEventSynchronize(P e) { return 0; }
"""


def built(folder: Path) -> Path:
    """The library in ``folder``."""
    source, library = folder / "cuda.c", folder / "libcuda.so.1"
    source.write_text(SOURCE)
    command = ["cc", "-O2", "-shared", "-fPIC", "-w", f"-Wl,-soname,{library.name}", str(source), "-o", str(library)]
    subprocess.run(command, check=True)
    (folder / "libcuda.so").symlink_to(library.name)
    return library


def install(compiler: str) -> tuple[str, list[Any], Callable[[Any], object]]:
    """Have ``compiler`` launch with the stand-in; the device of tensors, streams, and what makes one current."""
    import torch

    folder = Path(tempfile.mkdtemp(prefix="stand-in-cuda-"))
    library = built(folder)
    os.environ["TRITON_LIBCUDA_PATH"] = str(folder)
    ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)  # found by its name from here on
    torch_c: Any = torch._C
    torch_c._cuda_getCurrentRawStream = int  # the device's number, by a call into C
    torch_c._cuda_getDevice = int
    version: Any = torch.version
    version.cuda = "13.0"
    cuda: Any = torch.cuda
    cuda._initialized, cuda._is_in_bad_fork, cuda.is_current_stream_capturing = True, bool, bool
    _choose(compiler)
    return "cpu", [0, 1], int


def _choose(compiler: str) -> None:
    if compiler == "tritonx":
        registry = importlib.import_module("tritonx.backends.registry")
        type(registry.get_backend("cuda")).torch_device_types = frozenset({"cuda", "cpu"})
        importlib.import_module("tritonx.runtime.driver").set_active("cuda")
        return
    driver = importlib.import_module("triton.backends.nvidia.driver").CudaDriver()
    driver.get_device_capability = lambda device=None: (9, 0)
    driver.get_benchmarker = lambda: _benchmarked
    importlib.import_module("triton").runtime.driver.set_active(driver)


def _benchmarked(call: Callable[[], object], quantiles: object = None, **_: object) -> list[float]:
    """In the place of measuring: there is nothing to measure."""
    call()
    return [1.0, 1.0, 1.0]
