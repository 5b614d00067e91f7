"""Memory-bound kernels on a GPU, beside Triton in the same run: achieved GB/s and the ratio of the best configurations.

    python benchmarks/gpu_memory.py [--json out.json] [--rows N] [case ...]

Inputs are fresh random numbers, outputs are filled with NaN first, results are compared with float64. Each compiler
is given the same small list of configurations; then the best two of each run 400 times by turns. The ratio has a
standard error below 0.001: what is left differs from machine to machine.

Kernels that read and write rows race against one of the same grid that only copies them, the better of both compilers
and of the same configurations: nothing that moves those bytes in that grid can be much faster. ``--rows`` takes fewer
of them."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from peers import gpu_milliseconds, gpu_race, load

KERNELS = load("kernels_memory")
EVERY_CONFIGURATION = False
MOST_ROWS = 1 << 30
GOALS = {
    "add f32": 1.0, "add f32, 2^28 - 3": 1.0, "add bf16, 2^28 - 3": 1.0,
    "softmax 65536x1024 f16": 1.05, "softmax 16384x8192 f32": 1.0, "softmax 8192x32768 bf16": 1.2,
    "softmax 32768x4000 f32": 1.0, "layernorm 16384x8192 f16": 1.0, "layernorm 16384x5000 f32": 1.65,
    "layernorm 32768x2048 bf16": 1.0, "column sum 16384^2 f16": 1.25, "cumsum 16384x4096 f32": 1.0,
    "transpose 16384^2 f16": 1.0,
}  # fmt: skip
"""Ratios to Triton to reach; docs/measurements.md has what was reached."""


Launch = Callable[[Any, torch.Tensor, dict[str, int]], Any]


@dataclass(frozen=True)
class Case:
    """``launch(kernels, out, configuration)`` runs one compiler's kernel, ``copy`` its copy of the same rows; ``bytes``
    is what must be moved at least."""

    name: str
    bytes: int
    configurations: list[dict[str, int]]
    out: torch.Tensor
    launch: Launch
    exact: Callable[[], torch.Tensor]
    tolerance: float
    copy: Launch | None = None


def next_power(n: int) -> int:
    return 1 << (n - 1).bit_length()


def random(*shape: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.randn(*shape, device="cuda", dtype=torch.float32).to(dtype)


def add_case(n: int, dtype: torch.dtype, label: str, tolerance: float) -> Case:
    x, y = random(n, dtype=dtype), random(n, dtype=dtype)
    return Case(
        f"add {label}", 3 * n * x.element_size(),
        [{"BLOCK": b, "num_warps": w} for b, w in ((1024, 4), (2048, 8), (4096, 8))],
        torch.empty_like(x),
        lambda k, out, c: k.add[(-(-n // c["BLOCK"]),)](x, y, out, n, **c),
        lambda: x.double() + y.double(), tolerance,
    )  # fmt: skip


def copying(x: torch.Tensor) -> Launch:
    rows, cols = x.shape
    return lambda k, out, c: k.copy_rows[(rows,)](out, x, cols, **c)


def softmax_case(rows: int, cols: int, dtype: torch.dtype, label: str) -> Case:
    rows = min(rows, MOST_ROWS)
    x = random(rows, cols, dtype=dtype)
    block = next_power(cols)
    return Case(
        f"softmax {rows}x{cols} {label}", 2 * x.numel() * x.element_size(),
        [{"BLOCK": block, "num_warps": w} for w in (1, 2, 4, 8, 16, 32) if 8 <= block // (32 * w) <= 128],
        torch.empty_like(x),
        lambda k, out, c: k.softmax[(rows,)](out, x, cols, **c),
        lambda: torch.softmax(x.double(), dim=1), 1e-6 if dtype == torch.float32 else 5e-3, copying(x),
    )  # fmt: skip


def layer_norm_case(rows: int, cols: int, dtype: torch.dtype, label: str) -> Case:
    rows = min(rows, MOST_ROWS)
    x, w, b = random(rows, cols, dtype=dtype), random(cols, dtype=dtype), random(cols, dtype=dtype)
    block = next_power(cols)
    return Case(
        f"layernorm {rows}x{cols} {label}", 2 * x.numel() * x.element_size(),
        [{"BLOCK": block, "num_warps": n} for n in (2, 4, 8, 16) if 8 <= block // (32 * n) <= 128],
        torch.empty_like(x),
        lambda k, out, c: k.layer_norm[(rows,)](x, out, w, b, cols, 1e-5, **c),
        lambda: torch.nn.functional.layer_norm(x.double(), (cols,), w.double(), b.double(), 1e-5),
        1e-6 if dtype == torch.float32 else 5e-3, copying(x),
    )  # fmt: skip


def column_sum_case() -> Case:
    n = 16384
    x = random(n, n, dtype=torch.float16)
    return Case(
        "column sum 16384^2 f16", x.numel() * 2,
        [{"BLOCK_M": m, "BLOCK_N": c, "num_warps": w} for m, c, w in
         ((32, 64, 4), (64, 64, 4), (64, 64, 8), (128, 64, 8), (32, 128, 4), (64, 32, 4), (128, 32, 4), (256, 32, 8))],
        torch.empty(n, device="cuda"),
        lambda k, out, c: k.column_sum[(n // c["BLOCK_N"],)](x, out, n, n, **c),
        lambda: x.double().sum(0), 1e-5,
    )  # fmt: skip


def cumsum_case() -> Case:
    rows, cols = min(16384, MOST_ROWS), 4096
    x = random(rows, cols, dtype=torch.float32)
    return Case(
        f"cumsum {rows}x{cols} f32", 8 * x.numel(),
        [{"BLOCK": cols, "num_warps": w} for w in (4, 8, 16)],
        torch.empty_like(x),
        lambda k, out, c: k.cumsum[(rows,)](x, out, cols, **c),
        lambda: x.double().cumsum(1), 1e-6, copying(x),
    )  # fmt: skip


def transpose_case() -> Case:
    n = 16384
    x = random(n, n, dtype=torch.float16)
    return Case(
        "transpose 16384^2 f16", 4 * x.numel(),
        [{"BLOCK_M": m, "BLOCK_N": c, "num_warps": w} for m, c, w in
         ((64, 64, 4), (128, 64, 4), (64, 128, 4), (128, 64, 8), (128, 128, 8), (64, 64, 8))],
        torch.empty_like(x),
        lambda k, out, c: k.transpose[(n // c["BLOCK_M"], n // c["BLOCK_N"])](x, out, n, n, **c),
        lambda: x.t().double(), 0.0,
    )  # fmt: skip


CASES: dict[str, Callable[[], Case]] = {
    "add": lambda: add_case(1 << 28, torch.float32, "f32", 1e-7),
    "add_odd": lambda: add_case((1 << 28) - 3, torch.float32, "f32, 2^28 - 3", 1e-7),
    "add_odd_bf16": lambda: add_case((1 << 28) - 3, torch.bfloat16, "bf16, 2^28 - 3", 2e-2),
    "softmax1024": lambda: softmax_case(65536, 1024, torch.float16, "f16"),
    "softmax8192": lambda: softmax_case(16384, 8192, torch.float32, "f32"),
    "softmax32768": lambda: softmax_case(8192, 32768, torch.bfloat16, "bf16"),
    "softmax4000": lambda: softmax_case(32768, 4000, torch.float32, "f32"),
    "layernorm8192": lambda: layer_norm_case(16384, 8192, torch.float16, "f16"),
    "layernorm5000": lambda: layer_norm_case(16384, 5000, torch.float32, "f32"),
    "layernorm2048": lambda: layer_norm_case(32768, 2048, torch.bfloat16, "bf16"),
    "column_sum": column_sum_case,
    "cumsum": cumsum_case,
    "transpose": transpose_case,
}


def poison(out: torch.Tensor) -> None:
    out.fill_(float("nan"))


def error_of(out: torch.Tensor, exact: torch.Tensor) -> float:
    difference = out.double().sub_(exact)
    return float(difference.norm() / exact.norm())


Run = tuple[str, dict[str, int], Callable[[], Any]]
"""Who runs it, how, and the launch."""


def checked_runs(case: Case) -> tuple[list[Run], dict[str, float]]:
    """Every configuration of both compilers that the device has room for, and the largest error of each compiler."""
    exact = case.exact()
    runs: list[Run] = []
    errors: dict[str, float] = {}
    for name, module in {"tritonx": KERNELS.ours, "triton": KERNELS.peer}.items():
        if module is None:
            continue
        for configuration in case.configurations:
            poison(case.out)
            try:
                case.launch(module, case.out, configuration)
                torch.cuda.synchronize()
            except Exception as problem:  # a configuration may need more than the device has
                print(
                    f"  {case.name} {name} {configuration}: {type(problem).__name__}: {str(problem)[:200]}",
                    file=sys.stderr,
                )
                continue
            errors[name] = max(errors.get(name, 0.0), error_of(case.out, exact))
            runs.append((name, configuration, lambda m=module, c=configuration: case.launch(m, case.out, c)))
    return runs, errors


def copies(case: Case) -> list[Run]:
    """Both compilers' copies of the rows, in every configuration."""
    launch = case.copy
    if launch is None:
        return []
    modules = [module for module in KERNELS if module is not None]
    return [
        ("copy", configuration, lambda m=module, c=configuration: launch(m, case.out, c))
        for module in modules
        for configuration in case.configurations
    ]


def measure(case: Case) -> dict[str, Any]:
    """Check both compilers' results, time every configuration of both, and keep the best of each."""
    runs, errors = checked_runs(case)
    runs += copies(case)
    times = gpu_milliseconds([run for _, _, run in runs])
    if EVERY_CONFIGURATION:
        for (name, configuration, _), ms in zip(runs, times, strict=True):
            print(f"  {name:8s} {configuration} {case.bytes / ms / 1e6:6.0f} GB/s", flush=True)
    row: dict[str, Any] = {"case": case.name, "goal": GOALS.get(case.name)}
    names = list(dict.fromkeys(name for name, _, _ in runs))
    fast: list[int] = []
    for name in names:
        fast += sorted((i for i, run in enumerate(runs) if run[0] == name), key=times.__getitem__)[:2]
    means = dict(zip(fast, gpu_race([runs[i][2] for i in fast]), strict=True))
    best = {name: min((i for i in fast if runs[i][0] == name), key=means.__getitem__) for name in names}
    for name, i in best.items():
        row[name] = {
            "gbps": case.bytes / means[i].ms / 1e6, "ms": means[i].ms, "ms_error": means[i].error,
            "configuration": runs[i][1],
        }  # fmt: skip
        if name in errors:
            row[name] |= {"error": errors[name], "right": bool(errors[name] <= case.tolerance)}
    for name, ratio in (("triton", "ratio"), ("copy", "of_copy")):
        if name in best:
            row[ratio] = means[best[name]].ms / means[best["tritonx"]].ms
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", choices=[[], *CASES], help="all by default")
    parser.add_argument("--json")
    parser.add_argument("--every", action="store_true", help="also print each configuration")
    parser.add_argument("--rows", type=int, help="at most so many rows")
    given = parser.parse_args()
    global EVERY_CONFIGURATION, MOST_ROWS
    EVERY_CONFIGURATION, MOST_ROWS = given.every, given.rows or MOST_ROWS
    rows: list[dict[str, Any]] = []
    for name in given.cases or CASES:
        try:
            row = measure(CASES[name]())
        except Exception as problem:
            print(f"{name}: {type(problem).__name__}: {problem}", flush=True)
            continue
        rows.append(row)
        cells = [f"{row['case']:28s}"]
        for who in ("tritonx", "triton"):
            if who in row:
                r = row[who]
                cells.append(
                    f"{who} {r['gbps']:6.0f} GB/s err {r['error']:.0e}{'' if r['right'] else ' WRONG'} "
                    f"{r['configuration']}"
                )
        cells.append(f"ratio {row.get('ratio', 0):.3f} (goal {row['goal']})")
        if "of_copy" in row:
            cells.append(f"{row['of_copy']:.3f} of a copy, {row['copy']['gbps']:.0f} GB/s")
        print(" | ".join(cells), flush=True)
        torch.cuda.empty_cache()
    if given.json:
        with open(given.json, "w") as file:
            json.dump(rows, file, indent=1)
    return 0 if all(row["tritonx"]["right"] for row in rows if "tritonx" in row) else 1


if __name__ == "__main__":
    sys.exit(main())
