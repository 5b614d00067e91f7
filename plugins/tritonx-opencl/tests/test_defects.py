"""What proves that a case of ``known_defects.txt`` fails by the driver: a kernel of two lines, on each target; and
what its compiler takes too long for, which `legalize.words` writes otherwise: OpenCL C, with nothing of ours.

It looks at the driver only, so it runs with ``TRITONX_CONFORMANCE=full``; a driver that is mended fails here."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys, ml_dtypes, numpy as np, tritonx, tritonx.language as tl
from tritonx.runtime import driver

@tritonx.jit
def narrowed(x, half, single, N: tl.constexpr):
    i = tl.arange(0, N)
    value = tl.load(x + i)
    tl.store(half + i, value.to(tl.bfloat16))
    tl.store(single + i, value.to(tl.float32))

driver.set_active("opencl")
n = int(sys.argv[1])
x, half, single = np.arange(n) / 4, np.zeros(n, ml_dtypes.bfloat16), np.zeros(n, np.float32)
narrowed[(1,)](x, half, single, N=n, num_warps=1)
assert (half == x.astype(ml_dtypes.bfloat16)).all() and (single == x).all()
"""
SECONDS = 20
"""Of the processor. All that ends takes less than two."""


def ends(folder: Path, target: str, numbers: int) -> bool:
    """Whether ``numbers`` doubles in one warp are stored, and right."""
    program = folder / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, str(program), str(numbers)], capture_output=True, text=True, check=False,
        env={**os.environ, "TRITONX_OPENCL_TARGET": target, "TRITONX_CACHE_DIR": str(folder / "cache")},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS)),
    )  # fmt: skip
    assert done.returncode <= 0, done.stderr
    return done.returncode == 0


@pytest.mark.skipif(os.environ.get("TRITONX_CONFORMANCE") != "full", reason="it looks at the driver only")
@pytest.mark.usefixtures("device")
def test_doubles_as_bf16_and_f32(tmp_path: Path) -> None:
    assert ends(tmp_path, "spirv", 16)
    assert ends(tmp_path, "items", 32)
    assert not ends(tmp_path, "spirv", 32), "clBuildProgram ends: the line of known_defects.txt can go"


GATHERED = r"""
import ctypes, sys, time
from tritonx_opencl import BACKEND, icd
from tritonx_opencl.driver import OpenCLDriver

count, words, options = int(sys.argv[1]), sys.argv[2] == "words", " ".join(sys.argv[3:])
lines = []
for n in range(count):
    if words:
        for w in range(4):
            lines.append(f"uint w{n}_{w} = *(__local uint*)(m + at + {8 * n + 2 * w});")
            lines.append(f"half h{n}_{2 * w} = as_half((ushort)w{n}_{w});")
            lines.append(f"half h{n}_{2 * w + 1} = as_half((ushort)(w{n}_{w} >> 16));")
    else:
        lines.append(f"half8 v{n} = *(__local half8*)(m + at + {8 * n});")
        lines.append(" ".join(f"half h{n}_{e} = v{n}.s{e};" for e in range(8)))
for n in range(count):
    lines.append(" ".join(f"s{e} = s{e} * h{n}_{e} + b;" for e in range(8)))
source = (
    "\n#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
    "__attribute__((intel_reqd_sub_group_size(16))) __attribute__((reqd_work_group_size(128, 1, 1)))"
    "__kernel void k(__global half* p, int stride) {"
    "__local half m[8192]; int i = get_sub_group_local_id() + 16 * get_sub_group_id(); half b = p[i]; m[i] = b;"
    "barrier(CLK_LOCAL_MEM_FENCE);"
    "int at = i * stride;" + " ".join(f"half s{e} = {e};" for e in range(8)) + " ".join(lines)
    + "p[i] = s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7; }"
)
driver = OpenCLDriver(BACKEND)
create = icd.load().clCreateProgramWithSource
create.restype = ctypes.c_void_p
create.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
text = ctypes.c_char_p(source.encode())
start = time.process_time()
program = ctypes.c_void_p(create(driver.context, 1, ctypes.addressof(text), None, None))
driver.cl.call("clBuildProgram", program, 1, ctypes.byref(driver.device), options.encode(), None, None)
print(time.process_time() - start)
"""


def build_seconds(*arguments: str) -> float:
    command = [sys.executable, "-c", GATHERED, *arguments]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(os.environ.get("TRITONX_CONFORMANCE") != "full", reason="it looks at the driver only")
@pytest.mark.usefixtures("device")
def test_sixteen_bits_that_lanes_gather() -> None:
    """As words, and unoptimised, the same takes a twentieth; twice as many take more than twice as long."""
    few, many = build_seconds("48", "whole"), build_seconds("96", "whole")
    assert many > 2.5 * few and many > 8 * build_seconds("96", "words"), "`words.py` can go"
    assert many > 8 * build_seconds("96", "whole", "-cl-opt-disable")
