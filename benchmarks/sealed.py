"""The first launch of a sealed program in a new process: its processor time, and how much of it is loading the code.

    python benchmarks/sealed.py [processes]

The kernel and the package of docs/seal.md are sealed for the CPU; each process declares the kernel and launches it
twice. Loading is what reads the file of the member's code (`SealedFile.content`) and links it (`CpuDriver.load`); the
rest is what sealing can save. Beside it, by turns in the same run: the first launch of the same program with the
compiled kernel in the cache and no `TRITONX_SEALED`, and the same kernel as a shared library of `tritonx compile`,
opened and called through ctypes. Least, median and most, in milliseconds of the process's own time
(`time.process_time`), which other programs on the machine do not add to, though they slow it down: so the ratios."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "seal.md"

TIMED = """
import time
start = time.process_time()
import numpy as np
from kernels import scale
declared = time.process_time() - start
loading = [0.0]

def timed(function):
    def call(*args):
        begun = time.process_time()
        try:
            return function(*args)
        finally:
            loading[0] += time.process_time() - begun
    return call
"""
LAUNCHED = """
x, y = np.ones(1000, np.float32), np.zeros(1000, np.float32)
taken = []
for _ in range(2):
    begun = time.process_time()
    scale[(8,)](x, y, 1000, 2.5, BLOCK=128, num_warps=4)
    taken.append(time.process_time() - begun)
assert y.min() == y.max() == 2.5
"""
SEALED = f"""{TIMED}
import sys
from tritonx.backends.cpu.driver import CpuDriver
from tritonx.runtime.compiling.sealed_files import SealedFile

SealedFile.content, CpuDriver.load = timed(SealedFile.content), timed(CpuDriver.load)
{LAUNCHED}
assert not {{"xdsl", "llvmlite"}} & set(sys.modules)
print(declared, taken[0], loading[0], taken[0] - loading[0], taken[1])
"""
CACHED = f"{TIMED}{LAUNCHED}print(taken[0])"
CTYPES = """
import ctypes, time
import numpy as np

x, y = np.ones(1000, np.float32), np.zeros(1000, np.float32)
begun = time.process_time()
library = ctypes.CDLL("./libscale.so")
opened = time.process_time() - begun
address = [ctypes.c_void_p(each.ctypes.data) for each in (x, y)]
done = library.scale_default(None, *address, ctypes.c_int32(1000), ctypes.c_float(2.5))
taken = time.process_time() - begun
assert done == 0 and y.min() == y.max() == 2.5
print(taken, opened)
"""
PROGRAMS = {"run_sealed": SEALED, "run_cached": CACHED, "run_ctypes": CTYPES}
ROWS = ("importing the kernel, NumPy included", "first launch, sealed", "its loading", "its rest", "second launch",
        "first launch, from the cache", "ctypes: opening and calling", "ctypes: opening")  # fmt: skip
SIGNATURE = "*fp32:16, *fp32:16, i32, fp32, 128"


def prepare(folder: str, environment: dict[str, str]) -> None:
    """The kernel, sealed and as a shared library, and the programs."""
    found = re.findall(r"^```(?:python|toml)\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    Path(folder, "kernels.py").write_text(found[0])
    Path(folder, "package.toml").write_text(found[1])
    for name, text in PROGRAMS.items():
        Path(folder, f"{name}.py").write_text(text)

    def tritonx(*words: str) -> None:
        line = [sys.executable, "-m", "tritonx", *words]
        subprocess.run(line, cwd=folder, check=True, env=environment, stdout=subprocess.DEVNULL)

    tritonx("seal", "package.toml", "--draws", "0")
    tritonx("compile", "kernels.py", "-n", "scale", "-t", "cpu", "-s", SIGNATURE, "-g", "(n + BLOCK - 1) / BLOCK, 1, 1")
    tritonx("link", *[each.name for each in Path(folder).glob("scale.*.h")], "-o", "scale", "--shared")


def main(processes: int) -> None:
    with tempfile.TemporaryDirectory(prefix="tritonx-sealed-") as folder:
        own = {"TRITONX_CPU_THREADS": "1", "TRITONX_CACHE_DIR": str(Path(folder, "cache"))}
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), **own}
        prepare(folder, environment)
        times: list[list[float]] = []
        for _ in range(processes + 1):
            row: list[float] = []
            for name in PROGRAMS:
                given = environment | ({"TRITONX_SEALED": "sealed"} if name == "run_sealed" else {})
                line = [sys.executable, f"{name}.py"]
                done = subprocess.run(line, cwd=folder, env=given, check=True, capture_output=True, text=True)
                row += [1e3 * float(word) for word in done.stdout.split()]
            times.append(row)
    columns = list(zip(*times[1:], strict=True))  # the first ones write .pyc files, and compile what is cached
    for name, column in zip(ROWS, columns, strict=True):
        print(f"{name}: {min(column):.2f} ms, median {statistics.median(column):.2f}, most {max(column):.2f}")
    for name, column in (("from the cache", columns[5]), ("ctypes", columns[6])):
        ratios = [other / own for own, other in zip(columns[1], column, strict=True)]
        print(f"{name} / sealed: {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
