"""Random kernels on the CPU backend and in the interpreter, bit for bit, for every instruction set of this machine.

Others with every run's seed; `TRITONX_RANDOM_KERNELS=300` draws so many for each.

Each instruction set runs in a child process of its own, since LLVM ends the process on code that it cannot handle.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SEED = int(os.environ["TRITONX_SEED"])
COUNT = int(os.environ.get("TRITONX_RANDOM_KERNELS", "15"))

_CHILD = r"""
import sys
import numpy as np
from tritonx.backends.api import KernelImage, Compilation, Parameter, run_stages
from tritonx.backends.cpu import BACKEND
from tritonx.interpreter.machine import interpret
from tritonx.ir.text import parse_module
from tritonx_testing.random_kernels import ELEMENTS, random_kernel

target = BACKEND.parse_target(sys.argv[1])
options = BACKEND.parse_options(target, {"enable_fp_fusion": False, "num_threads": 1})
driver = BACKEND.driver()
for seed in range(int(sys.argv[2]), int(sys.argv[3])):
    text = random_kernel(seed, length=14)
    rng = np.random.default_rng(seed)
    integers = rng.integers(-100, 100, ELEMENTS).astype(np.int32)
    floats = rng.standard_normal(ELEMENTS).astype(np.float32)
    rest = int(rng.integers(0, 100)), int(rng.integers(0, 100)), float(np.float32(rng.standard_normal()))
    mine, theirs = [integers.copy(), floats.copy(), *rest], [integers.copy(), floats.copy(), *rest]
    compilation = Compilation(target, options)
    artifacts = run_stages(parse_module(text), BACKEND.stages(target, options), compilation)
    parameters = tuple(Parameter(f"a{i}", t) for i, t in enumerate(("*i32", "*fp32", "i32", "i32", "fp32")))
    image = KernelImage("kernel", artifacts["obj"], parameters, compilation.metadata, target)
    kernel = driver.load(image, 0)
    launch = driver.make_launcher(image, kernel) if seed % 2 else lambda x, y, z, s, *a: kernel.launch((x, y, z), s, a)
    launch(2, 1, 1, 0, *mine)
    with np.errstate(all="ignore"):
        interpret(parse_module(text), (2, 1, 1), theirs)
    assert np.array_equal(mine[0], theirs[0]), f"seed {seed}\n{text}"
    assert np.array_equal(mine[1], theirs[1], equal_nan=True), f"seed {seed}\n{text}"
print("done")
"""


@pytest.mark.parametrize("arch", ["", "x86-64-v3"])
def test_random_kernels(arch: str) -> None:
    from tritonx.backends.cpu.host import host_isa

    if arch and not host_isa().triple.startswith("x86_64"):
        pytest.skip("not an x86-64 machine")
    first = SEED + COUNT if arch else SEED
    command = [sys.executable, "-c", _CHILD, arch, str(first), str(first + COUNT)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=20 * COUNT)
    assert result.returncode == 0 and "done" in result.stdout, result.stderr[-6000:]
