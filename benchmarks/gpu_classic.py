"""Products written as in tutorials, and launches that make their descriptors, beside Triton in the same run.

    python benchmarks/gpu_classic.py [--sizes 8192 4096 4000]

`gpu_products.py` has kernels that state what they know (`tl.assume`, descriptors made once). These state nothing: a
fact that ordinary source leaves out must not cost speed. A row is a size and which operands are transposed; each
compiler is given the same configurations, and its best one counts. Inputs are fresh random numbers, outputs are filled
with NaN first, results are compared with float32 products of the same halves."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch
from peers import gpu_milliseconds, load

KERNELS = load("kernels_classic")
CONFIGURATIONS = ((128, 256, 64, 8, 3), (128, 128, 64, 4, 4), (128, 128, 64, 8, 3))
"""Rows, columns and depth of a block, warps, stages."""


def random_halves(rows: int, columns: int, transposed: bool) -> torch.Tensor:
    if transposed:
        return torch.randn(columns, rows, device="cuda", dtype=torch.float16).T
    return torch.randn(rows, columns, device="cuda", dtype=torch.float16)


def launch(module: Any, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, configuration: tuple[int, ...]) -> None:
    (m, k), n = a.shape, b.shape[1]
    rows, columns, depth, warps, stages = configuration
    grid = (-(-m // rows) * -(-n // columns),)
    blocks = {"BLOCK_M": rows, "BLOCK_N": columns, "BLOCK_K": depth, "GROUP": 8}
    strides = (*a.stride(), *b.stride(), *c.stride())
    module.product[grid](a, b, c, m, n, k, *strides, **blocks, num_warps=warps, num_stages=stages)


def best(module: ModuleType, a: torch.Tensor, b: torch.Tensor, exact: torch.Tensor) -> Callable[[], None]:
    """The launch of the fastest configuration, each of which must be right."""
    runs: list[Callable[[], None]] = []
    for configuration in CONFIGURATIONS:
        c = torch.full_like(exact, float("nan"), dtype=torch.float16)
        launch(module, a, b, c, configuration)
        error = float(((c.float() - exact).abs() / (exact.abs() + a.shape[1] ** 0.5)).max())
        assert error < 5e-3, f"{module.__name__} {configuration}: relative error {error:.2g}"
        runs.append(lambda c=c, configuration=configuration: launch(module, a, b, c, configuration))
    return min(zip(gpu_milliseconds(runs, 10), runs, strict=True), key=lambda found: found[0])[1]


def products(size: int) -> None:
    for name, transposed in (("nn", (False, False)), ("tn", (True, False)), ("nt", (False, True))):
        a, b = (random_halves(size, size, each) for each in transposed)
        exact = a.float() @ b.float()
        runs = [best(module, a, b, exact) for module in KERNELS if module is not None]
        times = gpu_milliseconds(runs, 40)
        rates = "  ".join(f"{2 * size**3 / ms / 1e9:6.0f} TFLOP/s" for ms in times)
        ratio = f"  ratio {times[1] / times[0]:.3f}" if len(times) > 1 else ""
        print(f"product {size} f16 {name}: {rates}{ratio}")


def descriptors(count: int = 200) -> None:
    """Host time of launches that make three descriptors each, as wrappers do."""
    a, b = random_halves(8192, 512, False), random_halves(512, 8192, False)
    c = torch.empty(8192, 8192, device="cuda", dtype=torch.float16)
    times: list[float] = []
    for module, package in zip(KERNELS, ("tritonx", "triton"), strict=True):
        if module is None:
            continue
        descriptor = __import__(f"{package}.tools.tensor_descriptor", fromlist=["TensorDescriptor"]).TensorDescriptor

        def run(module: Any = module, descriptor: Any = descriptor) -> None:
            blocks = ((a, [128, 64]), (b, [64, 256]), (c, [128, 256]))
            made = [descriptor.from_tensor(tensor, block) for tensor, block in blocks]
            module.described_product[(64 * 32,)](
                *made, 8192, 512, BLOCK_M=128, BLOCK_N=256, BLOCK_K=64, num_warps=8, num_stages=3
            )

        for _ in range(20):
            run()
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(count):
            run()
        times.append((time.perf_counter() - start) / count * 1e6)
        torch.cuda.synchronize()
    ratio = f"  ratio {times[1] / times[0]:.2f}" if len(times) > 1 else ""
    print(f"launch with three new descriptors: {'  '.join(f'{each:.1f} us' for each in times)}{ratio}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[8192, 4096, 4000])
    for size in parser.parse_args().sizes:
        products(size)
    descriptors()


if __name__ == "__main__":
    main()
