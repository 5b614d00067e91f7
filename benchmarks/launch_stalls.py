"""Every one of 4,000 launches of a kernel, timed by itself: no launch after the first may take ten times the median.

    python benchmarks/launch_stalls.py [--device cpu|cuda] [--launches N] [--json FILE] [--check]

Each row is a process of its own: first with an empty cache (cold), then with the one that it left (warm). Triton runs
beside where it is installed and has the device. The first launch of each kernel, which compiles or loads, is printed by
itself. ``late`` counts the launches beyond ten times the median, by the clock on the wall and by the processor's time
of this thread, which does not run while others have the core. What the machine does to any program shows in the
control: a call after each launch that takes about as long and does nothing but hash.

On a device the queue of launches is emptied every 200, outside the timing. ``--check`` fails where one of tritonx's
rows has more late launches by its own time than its control."""

from __future__ import annotations

import argparse
import hashlib
import importlib
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

LIMIT = 10
EMPTIED_EVERY = 200
SIGNATURES = {1: "p", 5: "ppiif", 20: "p" * 8 + "i" * 8 + "f" * 4}


@dataclass(frozen=True)
class Row:
    """Microseconds of the launches after the first; ``own`` is processor time of the thread."""

    compiler: str
    device: str
    cache: str
    arguments: int
    first: float
    median: float
    worst: float
    worst_at: int
    late: int
    own_ratio: float
    own_late: int
    control_ratio: float
    control_late: int
    control_own_ratio: float
    control_own_late: int

    @property
    def ratio(self) -> float:
        return self.worst / self.median

    def __str__(self) -> str:
        return (
            f"{self.compiler:8} {self.device:5} {self.cache:5} {self.arguments:2d} arguments: first {self.first:9.1f}, "
            f"then median {self.median:6.2f}, worst {self.worst:7.2f} µs (launch {self.worst_at}), "
            f"ratio {self.ratio:.1f}, late {self.late}; own ratio {self.own_ratio:.1f}, late {self.own_late}; "
            f"control ratio {self.control_ratio:.1f}, late {self.control_late}, "
            f"own {self.control_own_ratio:.1f}, late {self.control_own_late}"
        )


# One process: one compiler, one cache --------------------------------------------------------------------------------


def kernels(triton: Any) -> dict[int, Any]:
    """Kernels that do nothing, by their number of arguments."""

    @triton.jit
    def empty1(a):
        pass

    @triton.jit
    def empty5(a, b, c, d, e):
        pass

    @triton.jit
    def empty20(a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r, s, t, u):
        pass

    return {1: empty1, 5: empty5, 20: empty20}


def arguments(kinds: str, device: str) -> list[Any]:
    if device == "cpu":
        import numpy as np

        arrays: list[Any] = [np.zeros(1024, np.float32) for _ in range(8)]
    else:
        import torch

        arrays = [torch.zeros(1024, device=device) for _ in range(8)]
    return [arrays[i % 8] if kind == "p" else 33 + i if kind == "i" else 0.5 + i for i, kind in enumerate(kinds)]


@dataclass(frozen=True)
class Times:
    """Nanoseconds of each call."""

    wall: list[int]
    own: list[int]


def timed(call: Callable[[], Any], times: Times) -> None:
    own, start = time.thread_time_ns(), time.perf_counter_ns()
    call()
    times.wall.append(time.perf_counter_ns() - start)
    times.own.append(time.thread_time_ns() - own)


def record(kernel: Any, args: list[Any], device: str, launches: int) -> tuple[Times, Times]:
    """Each launch, the first included, and each call of the control."""
    times, control = Times([], []), Times([], [])
    data, grid = b"\0" * 1024, (1,)
    for i in range(launches):
        timed(lambda: kernel[grid](*args), times)
        timed(lambda: hashlib.sha256(data).digest(), control)
        if device != "cpu" and i % EMPTIED_EVERY == 0:
            import torch

            torch.cuda.synchronize()
    return times, control


def ratio(times: list[int]) -> float:
    return max(times) / statistics.median(times)


def late(times: list[int]) -> int:
    return sum(t > LIMIT * statistics.median(times) for t in times)


def measure(compiler: str, device: str, cache: str, launches: int) -> list[Row]:
    triton = importlib.import_module(compiler)
    rows: list[Row] = []
    for count, kernel in kernels(triton).items():
        times, control = record(kernel, arguments(SIGNATURES[count], device), device, launches)
        first, wall, own = times.wall[0] / 1e3, times.wall[1:], times.own[1:]
        median, worst, worst_at = statistics.median(wall) / 1e3, max(wall) / 1e3, wall.index(max(wall)) + 2
        of_launches = late(wall), ratio(own), late(own)
        of_control = ratio(control.wall), late(control.wall), ratio(control.own), late(control.own)
        rows.append(Row(compiler, device, cache, count, first, median, worst, worst_at, *of_launches, *of_control))
    return rows


# All processes -------------------------------------------------------------------------------------------------------


def in_a_process(compiler: str, device: str, cache: str, launches: int, folder: str) -> list[Row]:
    root = str(Path(__file__).resolve().parents[1])
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")])),
        "TRITONX_CACHE_DIR": folder,
        "TRITON_CACHE_DIR": folder,
    }
    command = [sys.executable, __file__, "--one", compiler, cache, "--device", device, "--launches", str(launches)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise SystemExit(f"{compiler}: {done.stderr[-2000:]}")
    return [Row(**row) for row in json.loads(done.stdout)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--launches", type=int, default=4000)
    parser.add_argument("--json")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--one", nargs=2, metavar=("COMPILER", "CACHE"), help="measure in this process, print JSON")
    given = parser.parse_args()
    if given.one:
        compiler, cache = given.one
        print(json.dumps([asdict(row) for row in measure(compiler, given.device, cache, given.launches)]))
        return
    compilers = ["tritonx"]
    if given.device != "cpu" and importlib.util.find_spec("triton") is not None:
        compilers.append("triton")
    rows: list[Row] = []
    for compiler in compilers:
        with tempfile.TemporaryDirectory(prefix="launch-stalls-") as folder:
            for cache in ("cold", "warm"):
                rows += in_a_process(compiler, given.device, cache, given.launches, folder)
                print(*rows[-len(SIGNATURES) :], sep="\n", flush=True)
    if given.json:
        Path(given.json).write_text(json.dumps([asdict(row) for row in rows], indent=1))
    if given.check and any(row.own_late > row.control_own_late for row in rows if row.compiler == "tritonx"):
        raise SystemExit("a launch was late where the control was not")


if __name__ == "__main__":
    main()
