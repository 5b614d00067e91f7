"""A search of 36 configurations of a product on a GPU, beside Triton's in the same run: wall time, and how fast is what
was found.

    python benchmarks/gpu_tuning.py [--size 4096] [--repeat 1] [--workers N] [--show]
    python benchmarks/gpu_tuning.py --devices 0,1 [--size 4096] [--repeat 1] [--workers N]

Each search is a process of its own with an empty cache, which has its inputs on the GPU and the library imported when
the clock starts: what is timed is the first launch of the tuned kernel, of which the search is nearly all. It includes
starting the workers. The found configurations are then timed by this process, by turns, with the same compiler and the
same clock for both (tritonx's; the configuration is what was searched), and each with its own compiler.

With ``--devices`` the search is that of ``tritonx tune`` on the first of them alone and on all, each measuring in a
process of its own, which has its inputs when the clock starts; and how long more than one measured at once."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import torch
import tuned_product
from peers import gpu_milliseconds, load
from tuned_product import CONFIGURATIONS, arguments, inputs, tiled, tuned

from tritonx.runtime.tuning.case import Case, launches, prepare
from tritonx.runtime.tuning.report import short
from tritonx.tools.tune import device_processes, tune

NAMES = ("num_warps", "num_stages")


def launch(kernel: Any, arrays: tuple[torch.Tensor, ...], size: int, options: dict[str, int]) -> None:
    kernel[tiled(size)](*arguments(arrays, size), GROUP=8, **options)


def searched(which: str, size: int, show: bool) -> dict[str, Any]:
    """In a process of its own: the seconds of the first launch, and what it chose."""
    kernel = tuned(which)
    arrays = inputs(size)
    torch.cuda.synchronize()
    start = time.perf_counter()
    launch(kernel, arrays, size, {})
    torch.cuda.synchronize()
    seconds = time.perf_counter() - start
    a, b, c = arrays
    wanted = a.double() @ b.double()
    error = ((c.double() - wanted).abs().max() / wanted.abs().max()).item()
    best = {**kernel.best_config.kwargs, **{name: getattr(kernel.best_config, name) for name in NAMES}}
    if show:
        for config, times in sorted(kernel.configs_timings.items(), key=lambda item: item[1]):
            print(f"  {which} {times[0]:9.4f} ms  {config}", file=sys.stderr)
    return {"seconds": seconds, "best": best, "error": error}


class Watched(Executor):
    """One device's process, and when it measured."""

    def __init__(self, process: Executor) -> None:
        self.process = process
        self.spans: list[tuple[float, float]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        start = time.perf_counter()
        future = self.process.submit(fn, *args, **kwargs)
        future.add_done_callback(lambda _: self.spans.append((start, time.perf_counter())))
        return future


def seconds_together(watched: Sequence[Watched]) -> float:
    """How long at least two of them measured."""
    edges = sorted(edge for each in watched for start, end in each.spans for edge in ((start, 1), (end, -1)))
    total, depth, since = 0.0, 0, 0.0
    for moment, change in edges:
        total += (moment - since) * (depth > 1)
        depth, since = depth + change, moment
    return total


def searched_on(devices: Sequence[str]) -> dict[str, Any]:
    """In a process of its own: the seconds of a search that measures on these devices, and what it chose."""
    case = Case(str(Path(tuned_product.__file__).resolve()), "matmul")
    processes = device_processes(devices)
    try:
        for ready in [process.submit(prepare, case) for process in processes]:
            ready.result()
        launches(case.file)
        watched = [Watched(process) for process in processes]
        start = time.perf_counter()
        report = tune(case, watched)
        seconds = time.perf_counter() - start
    finally:
        for process in processes:
            process.shutdown(wait=False)
    best, counts = short(report.ordered[0].config), [len(each.spans) for each in watched]
    return {"seconds": seconds, "best": best, "counts": counts, "together": seconds_together(watched)}


def apart(which: str, given: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "TRITON_CACHE_DIR": cache, "TRITONX_CACHE_DIR": cache}
        environment["TUNED_SIZE"] = str(given.size)
        if given.workers is not None:
            environment["TRITONX_TUNING_WORKERS"] = str(given.workers)
        command = [sys.executable, __file__, "--only", which, "--size", str(given.size)]
        command += ["--show"] if given.show else []
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def several_devices(given: argparse.Namespace) -> int:
    all_of_them = given.devices.split(",")
    medians: list[float] = []
    for devices in (all_of_them[:1], all_of_them):
        runs = [apart(",".join(devices), given) for _ in range(given.repeat)]
        medians.append(statistics.median(run["seconds"] for run in runs))
        for run in runs:
            print(
                f"devices {','.join(devices)}: {run['seconds']:.2f} s, measurements {run['counts']}, "
                f"{run['together']:.2f} s of them at once; {run['best']}"
            )
    print(f"search of {len(CONFIGURATIONS)} on {len(all_of_them)} devices: {medians[1] / medians[0]:.3f} of one's time")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--show", action="store_true", help="every configuration with its time")
    parser.add_argument("--devices", default="", help="numbers: tritonx tune on the first, then on all of them")
    parser.add_argument("--only", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.only:
        here = given.only in ("ours", "peer")
        one = searched(given.only, given.size, given.show) if here else searched_on(given.only.split(","))
        print(json.dumps(one))
        return 0
    if given.devices:
        return several_devices(given)
    found = {which: [apart(which, given) for _ in range(given.repeat)] for which in ("ours", "peer")}
    seconds = {which: statistics.median(each["seconds"] for each in runs) for which, runs in found.items()}
    arrays = inputs(given.size)
    runs = {which: runs[-1]["best"] for which, runs in found.items()}
    pair = load("kernels_products")

    def calls(compiler: str, chosen: str) -> Any:
        return lambda: launch(getattr(pair, compiler).matmul, arrays, given.size, runs[chosen])

    own = gpu_milliseconds([calls("ours", "ours"), calls("peer", "peer")])
    same = gpu_milliseconds([calls("ours", "ours"), calls("ours", "peer")])
    for which, each in found.items():
        print(f"{which}: {seconds[which]:6.2f} s  {runs[which]}  error {each[-1]['error']:.1e}")
    ratio = seconds["ours"] / seconds["peer"]
    print(
        f"search of {len(CONFIGURATIONS)}: {ratio:.3f} of Triton's wall time; what was found runs in "
        f"{own[0]:.4f} ms, Triton's in {own[1]:.4f} ({own[1] / own[0]:.3f}); by the same compiler, ours "
        f"{same[0]:.4f} ms, Triton's choice {same[1]:.4f}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
