"""The first launch of a sealed program in a new process: its processor time, and how much of it is loading the code.

    python benchmarks/sealed.py [processes]

The kernel and the package of docs/seal.md are sealed for the CPU; each process declares the kernel and launches it
twice. Loading is what reads the member's files and links its code; the rest is what sealing can save. Median and range,
in milliseconds of the process's own time (`time.process_time`), which other programs on the machine do not add to."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "seal.md"

PROGRAM = """
import time
start = time.process_time()
import numpy as np
from kernels import scale
declared = time.process_time() - start
import sys
from tritonx.runtime.compiling.compiled_kernel import CompiledKernel
from tritonx.runtime.compiling.compiler import Compile

loading = [0.0]

def timed(function):
    def call(*args):
        begun = time.process_time()
        try:
            return function(*args)
        finally:
            loading[0] += time.process_time() - begun
    return call

Compile.kept, CompiledKernel.load = timed(Compile.kept), timed(CompiledKernel.load)
x, y = np.ones(1000, np.float32), np.zeros(1000, np.float32)
taken = []
for _ in range(2):
    begun = time.process_time()
    scale[(8,)](x, y, 1000, 2.5, BLOCK=128, num_warps=4)
    taken.append(time.process_time() - begun)
assert y.min() == y.max() == 2.5 and not {"xdsl", "llvmlite"} & set(sys.modules)
print(declared, taken[0], loading[0], taken[0] - loading[0], taken[1])
"""
ROWS = ("importing the kernel, NumPy included", "first launch", "its loading", "its rest", "second launch")


def main(processes: int) -> None:
    with tempfile.TemporaryDirectory(prefix="tritonx-sealed-") as folder:
        found = re.findall(r"^```(?:python|toml)\n(.*?)^```", PAGE.read_text(), re.M | re.S)
        Path(folder, "kernels.py").write_text(found[0])
        Path(folder, "package.toml").write_text(found[1])
        Path(folder, "program.py").write_text(PROGRAM)
        environment = {**os.environ, "TRITONX_CPU_THREADS": "1"}
        line = [sys.executable, "-m", "tritonx", "seal", "package.toml", "--draws", "0"]
        subprocess.run(line, cwd=folder, check=True, env=environment, stdout=subprocess.DEVNULL)
        environment["TRITONX_SEALED"] = "sealed"
        program = [sys.executable, "program.py"]
        rows = [
            subprocess.run(program, cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout
            for _ in range(processes + 1)
        ]
        times = [[1e3 * float(word) for word in row.split()] for row in rows[1:]]  # the first one writes .pyc files
    for name, column in zip(ROWS, zip(*times, strict=True), strict=True):
        print(f"{name}: {statistics.median(column):.2f} ms ({min(column):.2f} to {max(column):.2f})")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
