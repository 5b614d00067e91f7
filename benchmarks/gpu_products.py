"""Products on a GPU from tutorial-style source, beside Triton and PyTorch's libraries in the same run: TFLOP/s, and
ratios of the best configurations.

    python benchmarks/gpu_products.py [--json out.json] [--every] [--seconds 0.5] [case ...]

Inputs are fresh random numbers, outputs are filled with NaN first, results are compared with float64. Both compilers
are given the same list of configurations, of which the best two of each then run by turns in blocks of half a second:
a GPU at its power limit is as fast as the last half second was. tritonx pipelines unless TRITONX_PIPELINE=0 is set."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("TRITONX_PIPELINE", "1")

import torch
from peers import gpu_milliseconds, load

KERNELS = load("kernels_products")
ROUNDS = 5
Configuration = dict[str, Any]
Launch = Callable[[Any, torch.Tensor, Configuration], Any]


@dataclass(frozen=True)
class Case:
    """``launch(kernels, out, configuration)`` runs one compiler's kernel, ``library`` PyTorch's; both fill ``out``'s
    shape. ``exact`` is the result in float64."""

    name: str
    flops: float
    configurations: Sequence[Configuration]
    out: torch.Tensor
    launch: Launch
    library: Callable[[], torch.Tensor]
    exact: Callable[[], torch.Tensor]
    tolerance: float


def random(*shape: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.randn(*shape, device="cuda", dtype=torch.float32).to(dtype)


def blocks(choices: Sequence[tuple[int, int, int, int, int]]) -> list[Configuration]:
    return [
        {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP": 8, "num_warps": w, "num_stages": s}
        for m, n, k, w, s in choices
    ]


MATMULS = blocks(
    [(128, 256, 64, 8, 3), (128, 256, 64, 8, 4), (256, 128, 64, 8, 3), (256, 128, 64, 8, 4), (128, 128, 64, 4, 3),
     (128, 128, 64, 4, 4), (128, 128, 64, 8, 4), (64, 256, 64, 4, 4)]
)  # fmt: skip


def matmul_case(m: int, n: int, k: int, dtype: torch.dtype, *, described: bool = False) -> Case:
    a, b = random(m, k, dtype=dtype), random(k, n, dtype=dtype)

    def by_pointers(kernels: Any, out: torch.Tensor, c: Configuration) -> Any:
        grid = (-(-m // c["BLOCK_M"]) * -(-n // c["BLOCK_N"]),)
        strides = (*a.stride(), *b.stride(), *out.stride())
        return kernels.matmul[grid](a, b, out, m, n, k, *strides, **c)

    def by_descriptors(kernels: Any, out: torch.Tensor, c: Configuration) -> Any:
        make = descriptor_of(kernels)
        grid = (-(-m // c["BLOCK_M"]) * -(-n // c["BLOCK_N"]),)
        sizes = ("BLOCK_M", "BLOCK_K"), ("BLOCK_K", "BLOCK_N"), ("BLOCK_M", "BLOCK_N")
        made = [make(x, [c[size] for size in names]) for x, names in zip((a, b, out), sizes, strict=True)]
        return kernels.matmul_described[grid](*made, m, n, k, **c)

    label = "f16" if dtype == torch.float16 else "bf16"
    return Case(
        f"matmul {m}x{n}x{k} {label}{' descriptors' if described else ''}", 2.0 * m * n * k, MATMULS,
        torch.empty(m, n, device="cuda", dtype=dtype), by_descriptors if described else by_pointers,
        lambda: a @ b, lambda: a.double() @ b.double(), 1e-3 if dtype == torch.float16 else 5e-3,
    )  # fmt: skip


def descriptor_of(kernels: Any) -> Callable[[torch.Tensor, list[int]], Any]:
    if kernels is KERNELS.ours:
        from tritonx.tools.tensor_descriptor import TensorDescriptor as Ours

        return Ours.from_tensor
    from triton.tools.tensor_descriptor import TensorDescriptor  # pyright: ignore[reportMissingImports]

    return TensorDescriptor.from_tensor


ATTENTIONS = [
    {"BLOCK_M": m, "BLOCK_N": n, "num_warps": w, "num_stages": s}
    for m, n, w in ((128, 64, 4), (128, 64, 8), (128, 128, 8), (64, 64, 4))
    for s in (2, 3, 4)
]


def attention_case(heads: int, n: int, head: int, *, causal: bool) -> Case:
    q, k, v = (random(heads, n, head, dtype=torch.float16) for _ in range(3))
    scale = head**-0.5

    def launch(kernels: Any, out: torch.Tensor, c: Configuration) -> Any:
        grid = (n // c["BLOCK_M"], heads)
        return kernels.attention[grid](q, k, v, out, scale, n, HEAD=head, CAUSAL=causal, **c)

    def exact() -> torch.Tensor:
        future = torch.ones(n, n, device="cuda", dtype=torch.bool).triu(1) if causal else None
        found: list[torch.Tensor] = []
        for one in range(heads):
            scores = q[one].double() @ k[one].double().T * scale
            if future is not None:
                scores.masked_fill_(future, float("-inf"))
            found.append(torch.softmax(scores, dim=1) @ v[one].double())
        return torch.stack(found)

    def library() -> torch.Tensor:
        attend = torch.nn.functional.scaled_dot_product_attention
        return attend(q[None], k[None], v[None], is_causal=causal)[0]

    return Case(
        f"attention {heads}x{n} D={head}{' causal' if causal else ''}",
        4.0 * heads * n * n * head / (2 if causal else 1),
        ATTENTIONS,
        torch.empty_like(q),
        launch,
        library,
        exact,
        2e-3,
    )


CASES: dict[str, Callable[[], Case]] = {
    **{
        f"{label}{size}": lambda s=size, d=dtype: matmul_case(s, s, s, d)
        for size in (8192, 4096, 2048)
        for label, dtype in (("f16_", torch.float16), ("bf16_", torch.bfloat16))
    },
    **{
        f"f16_{size}_descriptors": lambda s=size: matmul_case(s, s, s, torch.float16, described=True)
        for size in (8192, 4096, 2048)
    },
    **{
        f"attention{head}{'_causal' if causal else ''}_{n}": lambda n=n, h=head, c=causal: attention_case(
            16, n, h, causal=c
        )
        for n in (4096, 16384)
        for head in (64, 128)
        for causal in (False, True)
    },
}

Run = tuple[str, Configuration, Callable[[], Any]]
"""Who runs it, how, and the launch."""


def checked_runs(case: Case) -> tuple[list[Run], dict[str, float]]:
    """Every configuration that the device has room for, and the largest error of each compiler."""
    exact = case.exact()
    runs: list[Run] = [("library", {}, case.library)]
    errors = {"library": error_of(case.library(), exact)}
    for name, module in {"tritonx": KERNELS.ours, "triton": KERNELS.peer}.items():
        for configuration in case.configurations if module is not None else ():
            case.out.fill_(float("nan"))
            try:
                case.launch(module, case.out, configuration)
                torch.cuda.synchronize()
            except Exception as problem:  # a configuration may need more than the device has
                print(f"  {name} {configuration}: {type(problem).__name__}: {str(problem)[:200]}", file=sys.stderr)
                continue
            error = error_of(case.out, exact)
            if not error <= case.tolerance:
                print(f"  {name} {configuration}: WRONG, error {error:.1e}", flush=True)
            errors[name] = max(errors.get(name, 0.0), error) if error == error else error
            runs.append((name, configuration, lambda m=module, c=configuration: case.launch(m, case.out, c)))
    return runs, errors


def error_of(out: torch.Tensor, exact: torch.Tensor) -> float:
    return float((out.double() - exact).norm() / exact.norm())


def raced(runs: Sequence[Callable[[], Any]], seconds: float, estimates: Sequence[float]) -> list[float]:
    """Milliseconds of each: median over blocks of so many seconds, by turns."""
    counts = [max(1, round(seconds * 1000 / ms)) for ms in estimates]
    times: list[list[float]] = [[] for _ in runs]
    for round_ in range(ROUNDS):
        order = list(range(len(runs)))
        for i in order if round_ % 2 else reversed(order):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(counts[i]):
                runs[i]()
            torch.cuda.synchronize()
            times[i].append((time.perf_counter() - start) * 1000 / counts[i])
    return [statistics.median(each) for each in times]


def measure(case: Case, seconds: float, every: bool) -> dict[str, Any]:
    """Check all results, time every configuration, and race the best ones."""
    runs, errors = checked_runs(case)
    times = gpu_milliseconds([run for _, _, run in runs], repeat=9)
    if every:
        for (name, configuration, _), ms in zip(runs, times, strict=True):
            print(f"  {name:8s} {case.flops / ms / 1e9:6.0f} TFLOP/s {configuration}", flush=True)
    names = list(dict.fromkeys(name for name, _, _ in runs))
    fast = [i for n in names for i in sorted((i for i, r in enumerate(runs) if r[0] == n), key=times.__getitem__)[:2]]
    means = dict(zip(fast, raced([runs[i][2] for i in fast], seconds, [times[i] for i in fast]), strict=True))
    row: dict[str, Any] = {"case": case.name}
    for name in names:
        i = min((i for i in fast if runs[i][0] == name), key=means.__getitem__)
        row[name] = {
            "tflops": case.flops / means[i] / 1e9, "ms": means[i], "error": errors[name],
            "right": bool(errors[name] <= case.tolerance), "configuration": runs[i][1],
        }  # fmt: skip
    for name in ("triton", "library"):
        if name in row and "tritonx" in row:
            row[f"of_{name}"] = row[name]["ms"] / row["tritonx"]["ms"]
    return row


def shown(row: dict[str, Any]) -> str:
    cells = [f"{row['case']:36s}"]
    for name in ("tritonx", "triton", "library"):
        if name in row:
            r = row[name]
            right = "" if r["right"] else " WRONG"
            cells.append(f"{name} {r['tflops']:5.0f} err {r['error']:.0e}{right} {tuple(r['configuration'].values())}")
    ratios = (f"{row[f'of_{name}']:.3f} of {name}" for name in ("triton", "library") if f"of_{name}" in row)
    return " | ".join([*cells, *ratios])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", choices=[[], *CASES], help="all by default")
    parser.add_argument("--json")
    parser.add_argument("--every", action="store_true", help="also print each configuration")
    parser.add_argument("--seconds", type=float, default=0.5, help="of a block")
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for name in given.cases or CASES:
        try:
            rows.append(measure(CASES[name](), given.seconds, given.every))
        except Exception as problem:
            print(f"{name}: {type(problem).__name__}: {problem}", flush=True)
            continue
        print(shown(rows[-1]), flush=True)
        torch.cuda.empty_cache()
    if given.json:
        with open(given.json, "w") as file:
            json.dump(rows, file, indent=1)
    return 0 if all(row["tritonx"]["right"] for row in rows if "tritonx" in row) else 1


if __name__ == "__main__":
    sys.exit(main())
