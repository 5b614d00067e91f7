"""Host time of ``kernel[grid](*args)`` in steady state, for 1, 5 and 20 arguments, for three tensor descriptors, and
for a small product through pointers, whose launch makes tensor maps, beside Triton in the same run.

Bursts of launches are timed on the host, one compiler's and then the other's, and the device is waited for outside the
timing; the minimum over bursts is reported, with the median in brackets."""

from __future__ import annotations

import importlib
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from peers import load

BURST, REPEAT = 400, 15


def microseconds(runs: dict[str, Callable[[], Any]]) -> dict[str, tuple[float, float]]:
    """Minimum and median of each, a burst of one after a burst of the other."""
    for run in runs.values():
        for _ in range(300):
            run()
        torch.cuda.synchronize()
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(REPEAT):
        for name, run in runs.items():
            start = time.perf_counter_ns()
            for _ in range(BURST):
                run()
            times[name].append((time.perf_counter_ns() - start) / BURST / 1e3)
            torch.cuda.synchronize()
    return {name: (min(each), statistics.median(each)) for name, each in times.items()}


def arguments(count: int) -> list[Any]:
    """Tensors, ints and floats as real kernels mix them."""
    kinds = {1: "p", 5: "ppiif", 20: "p" * 8 + "i" * 8 + "f" * 4}[count]
    tensors = [torch.zeros(1024, device="cuda") for _ in range(8)]
    out: list[Any] = []
    for i, kind in enumerate(kinds):
        out.append(tensors[i % 8] if kind == "p" else 33 + i if kind == "i" else 0.5 + i)
    return out


def described(compiler: str) -> list[Any]:
    """Three tensor descriptors and an int."""
    module = importlib.import_module(f"{compiler}.tools.tensor_descriptor")
    tensors = [torch.zeros(256, 256, device="cuda", dtype=torch.float16) for _ in range(3)]
    return [*(module.TensorDescriptor.from_tensor(tensor, [64, 64]) for tensor in tensors), 33]


def product() -> tuple[list[Any], dict[str, Any]]:
    """Of two matrices of 64 × 64 in one program."""
    a, b, c = (torch.zeros(64, 64, device="cuda", dtype=torch.float16) for _ in range(3))
    constants = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64, "GROUP": 8, "num_warps": 4, "num_stages": 2}
    return [a, b, c, 64, 64, 64, 64, 1, 64, 1, 64, 1], constants


def show(
    title: str,
    kernel: str,
    arguments_of: Callable[[str], list[Any]],
    options: dict[str, Any] | None = None,
    module: str = "kernels_memory",
) -> None:
    kernels, given = load(module), options or {}
    modules = {"tritonx": kernels.ours} | ({"triton": kernels.peer} if kernels.peer is not None else {})
    runs = {name: (getattr(module, kernel), arguments_of(name)) for name, module in modules.items()}
    row = microseconds({name: lambda k=found, a=args: k[(1,)](*a, **given) for name, (found, args) in runs.items()})
    cells = [f"{name} {low:.2f} ({middle:.2f}) µs" for name, (low, middle) in row.items()]
    ratio = f"ratio {row['tritonx'][0] / row['triton'][0]:.2f} (goal 0.8)" if len(row) == 2 else ""
    print(f"{title}: " + ", ".join(cells), ratio, flush=True)


def main() -> None:
    for count in (1, 5, 20):
        args = arguments(count)
        show(f"{count:2d} arguments", f"empty{count}", lambda _, args=args: args)
    show("three descriptors", "empty_described", described)
    args, constants = product()
    show("a product", "matmul", lambda _: args, constants, "kernels_products")
    x = torch.zeros(1024, device="cuda")
    low, middle = microseconds({"torch": lambda: x.add_(1)})["torch"]
    print(f"torch x.add_(1): {low:.2f} ({middle:.2f}) µs")


if __name__ == "__main__":
    main()
