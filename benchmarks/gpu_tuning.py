"""A search of 36 configurations of a product on a GPU, beside Triton's in the same run: wall time, and how fast is what
was found.

    python benchmarks/gpu_tuning.py [--size 4096] [--repeat 1] [--workers N] [--show]

Each search is a process of its own with an empty cache, which has its inputs on the GPU and the library imported when
the clock starts: what is timed is the first launch of the tuned kernel, of which the search is nearly all. It includes
starting the workers. The found configurations are then timed by this process, by turns, with the same compiler and the
same clock for both (tritonx's; the configuration is what was searched), and each with its own compiler."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

import torch
from peers import gpu_milliseconds, load

CONFIGURATIONS = [
    (m, n, k, warps, stages)
    for m, n, warps in [(128, 256, 8), (256, 128, 8), (128, 128, 4), (128, 128, 8), (64, 256, 4), (64, 128, 4)]
    for k in (32, 64, 128)
    for stages in (3, 4)
]
"""36: what the tutorials list and a little around it. With 128 of K some do not fit the shared memory."""

NAMES = ("BLOCK_M", "BLOCK_N", "BLOCK_K", "num_warps", "num_stages")


def inputs(size: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    a, b = (torch.randn(size, size, device="cuda", dtype=torch.float16) for _ in range(2))
    return a, b, torch.full_like(a, float("nan"))


def tiled(size: int) -> Any:
    return lambda meta: (-(-size // meta["BLOCK_M"]) * -(-size // meta["BLOCK_N"]),)


def launch(kernel: Any, arrays: tuple[torch.Tensor, ...], size: int, options: dict[str, int]) -> None:
    strides = [stride for array in arrays for stride in array.stride()]
    kernel[tiled(size)](*arrays, size, size, size, *strides, GROUP=8, **options)


def searched(which: str, size: int, show: bool) -> dict[str, Any]:
    """In a process of its own: the seconds of the first launch, and what it chose."""
    module = getattr(load("kernels_products"), which)
    configs = [
        module.triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k}, num_warps=warps, num_stages=stages)
        for m, n, k, warps, stages in CONFIGURATIONS
    ]
    kernel = module.triton.autotune(configs, key=["M", "N", "K"])(module.matmul)
    arrays = inputs(size)
    torch.cuda.synchronize()
    start = time.perf_counter()
    launch(kernel, arrays, size, {})
    torch.cuda.synchronize()
    seconds = time.perf_counter() - start
    a, b, c = arrays
    wanted = a.double() @ b.double()
    error = ((c.double() - wanted).abs().max() / wanted.abs().max()).item()
    best = {**kernel.best_config.kwargs, **{name: getattr(kernel.best_config, name) for name in NAMES[3:]}}
    if show:
        for config, times in sorted(kernel.configs_timings.items(), key=lambda item: item[1]):
            print(f"  {which} {times[0]:9.4f} ms  {config}", file=sys.stderr)
    return {"seconds": seconds, "best": best, "error": error}


def apart(which: str, given: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "TRITON_CACHE_DIR": cache, "TRITONX_CACHE_DIR": cache}
        if given.workers is not None:
            environment["TRITONX_TUNING_WORKERS"] = str(given.workers)
        command = [sys.executable, __file__, "--only", which, "--size", str(given.size)]
        command += ["--show"] if given.show else []
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--show", action="store_true", help="every configuration with its time")
    parser.add_argument("--only", choices=["ours", "peer"], help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.only:
        print(json.dumps(searched(given.only, given.size, given.show)))
        return 0
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
