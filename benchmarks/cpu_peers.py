"""The CPU backend beside NumPy, PyTorch, Numba and JAX: part of `cpu.py`.

Each figure is the least processor time of many runs, all sides by turns in one process at one thread, so that what else
runs on the machine is left out as far as it can be. A peer that is not installed has no column.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

import tritonx
import tritonx.language as tl

Run = Callable[[], object]

SECONDS = 0.4
"""How long a side runs in a turn."""

TURNS = 3


@dataclass(frozen=True)
class Row:
    """A kernel; ``runs`` by the side's name, ours first. ``flops`` of a run, where its rate is of interest."""

    name: str
    runs: Mapping[str, Run]
    flops: float = 0.0


def least(runs: Mapping[str, Run]) -> dict[str, float]:
    """Milliseconds of processor time of each, the sides by turns.

    Of JAX, which computes in a thread of its own, it is the least mean of a turn: the clock of a process counts another
    thread's time late.
    """
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(TURNS):
        for name, run in runs.items():
            run()
            times: list[float] = []
            end = time.perf_counter() + SECONDS
            while time.perf_counter() < end:
                start = time.process_time_ns()
                run()
                times.append((time.process_time_ns() - start) / 1e6)
            best[name] = min(best[name], statistics.fmean(times) if name == "jax" else min(times))
    return best


def peer(name: str) -> Any:
    """The module, limited to one thread; None where it is not installed."""
    if find_spec(name) is None:
        return None
    module = import_module(name)
    if name == "torch":
        module.set_num_threads(1)
    return module


def from_jax(function: Callable[..., Any], *arrays: np.ndarray) -> Run | None:
    """A compiled function of arrays, run to its end."""
    jax = peer("jax")
    if jax is None:
        return None
    compiled, given = jax.jit(function), [jax.device_put(array) for array in arrays]
    return lambda: compiled(*given).block_until_ready()


def present(**runs: Run | None) -> dict[str, Run]:
    return {name: run for name, run in runs.items() if run is not None}


# ---- elementwise


@tritonx.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


def add(n: int = 1 << 22) -> Row:
    x, y = np.random.default_rng().standard_normal((2, n), dtype=np.float32)
    out, other = np.empty_like(x), np.empty_like(x)
    torch = peer("torch")
    tensors = None if torch is None else [torch.from_numpy(array) for array in (x, y, other)]
    grid = (tritonx.cdiv(n, 1024),)
    runs = present(
        tritonx=lambda: add_kernel[grid](x, y, out, n, BLOCK=1024),
        numpy=lambda: np.add(x, y, out=other),
        torch=None if tensors is None else lambda: torch.add(tensors[0], tensors[1], out=tensors[2]),
        jax=from_jax(lambda a, b: a + b, x, y),
    )
    return Row("add 4 M f32", runs)


# ---- rows


@tritonx.jit
def softmax_kernel(out, x, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + columns, mask=columns < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * stride + columns, e / tl.sum(e, axis=0), mask=columns < n)


def softmax(rows: int = 4096, n: int = 1000) -> Row:
    x = np.random.default_rng().standard_normal((rows, n), dtype=np.float32)
    out = np.empty_like(x)
    torch, jax = peer("torch"), peer("jax")
    tensor = None if torch is None else torch.from_numpy(x)

    def numpy() -> np.ndarray:
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    runs = present(
        tritonx=lambda: softmax_kernel[(rows,)](out, x, n, n, BLOCK=tritonx.next_power_of_2(n)),
        numpy=numpy,
        torch=None if torch is None else lambda: torch.softmax(tensor, 1),
        jax=None if jax is None else from_jax(lambda a: jax.nn.softmax(a, axis=1), x),
    )
    runs["tritonx"]()
    np.testing.assert_allclose(out, numpy(), rtol=1e-5, atol=1e-9)
    return Row(f"softmax {rows}×{n}", runs)


@tritonx.jit
def norm_kernel(x_ptr, w_ptr, b_ptr, y_ptr, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * n + columns, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / n
    centred = tl.where(mask, x - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / n + eps)
    w, b = tl.load(w_ptr + columns, mask=mask), tl.load(b_ptr + columns, mask=mask)
    tl.store(y_ptr + row * n + columns, centred * scale * w + b, mask=mask)


def numba_norm(x: np.ndarray, w: np.ndarray, b: np.ndarray, out: np.ndarray) -> Run | None:
    numba = peer("numba")
    if numba is None:
        return None

    @numba.njit(fastmath=True)
    def norm(x, w, b, out, eps):  # pyright: ignore  # Numba compiles it
        for r in range(x.shape[0]):
            total = np.float32(0)
            for i in range(x.shape[1]):
                total += x[r, i]
            mean, squares = total / np.float32(x.shape[1]), np.float32(0)
            for i in range(x.shape[1]):
                squares += (x[r, i] - mean) * (x[r, i] - mean)
            scale = np.float32(1) / np.sqrt(squares / np.float32(x.shape[1]) + eps)
            for i in range(x.shape[1]):
                out[r, i] = (x[r, i] - mean) * scale * w[i] + b[i]

    return lambda: norm(x, w, b, out, np.float32(1e-5))


def layer_norm(rows: int = 2048, n: int = 3000) -> Row:
    rng = np.random.default_rng()
    x, (w, b) = rng.standard_normal((rows, n), dtype=np.float32), rng.standard_normal((2, n), dtype=np.float32)
    out, other = np.empty_like(x), np.empty_like(x)
    torch = peer("torch")
    tensors = None if torch is None else [torch.from_numpy(array) for array in (x, w, b)]

    def formula(m: Any) -> Callable[..., Any]:
        def norm(x: Any, w: Any, b: Any) -> Any:
            centred = x - x.mean(axis=1, keepdims=True)
            return centred / m.sqrt((centred * centred).mean(axis=1, keepdims=True) + 1e-5) * w + b

        return norm

    runs = present(
        tritonx=lambda: norm_kernel[(rows,)](x, w, b, out, n, 1e-5, BLOCK=tritonx.next_power_of_2(n)),
        numpy=lambda: formula(np)(x, w, b),
        torch=None if tensors is None else lambda: torch.nn.functional.layer_norm(tensors[0], (n,), *tensors[1:]),
        numba=numba_norm(x, w, b, other),
        jax=None if peer("jax") is None else from_jax(formula(import_module("jax.numpy")), x, w, b),
    )
    runs["tritonx"]()
    np.testing.assert_allclose(out, formula(np)(x, w, b), rtol=1e-3, atol=1e-4)
    return Row(f"layer norm {rows}×{n}", runs)


# ---- products


@tritonx.jit
def matmul_kernel(a, b, c, M, N, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    pa = a + rm[:, None] * sa + k[None, :]
    pb = b + k[:, None] * sb + rn[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(tl.cdiv(K, BK)):
        x = tl.load(pa, mask=(rm[:, None] < M) & (k[None, :] < K - i * BK), other=0.0)
        y = tl.load(pb, mask=(k[:, None] < K - i * BK) & (rn[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc, input_precision="ieee")
        pa += BK
        pb += BK * sb
    tl.store(c + rm[:, None] * sc + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


def matmul(size: int, block: tuple[int, int, int]) -> Row:
    a, b = np.random.default_rng().standard_normal((2, size, size), dtype=np.float32)
    c, other = np.empty_like(a), np.empty_like(a)
    torch = peer("torch")
    tensors = None if torch is None else [torch.from_numpy(array) for array in (a, b)]
    sizes = dict(zip(("BM", "BN", "BK"), block, strict=True))
    grid = (tritonx.cdiv(size, block[0]), tritonx.cdiv(size, block[1]))
    runs = present(
        tritonx=lambda: matmul_kernel[grid](a, b, c, *[size] * 6, **sizes),
        numpy=lambda: np.matmul(a, b, out=other),
        torch=None if tensors is None else lambda: torch.matmul(*tensors),
        jax=from_jax(lambda x, y: x @ y, a, b),
    )
    runs["tritonx"]()
    np.testing.assert_allclose(c, a.astype(np.float64) @ b, rtol=1e-3, atol=1e-3)
    return Row(f"matmul {size}³, tiles {'×'.join(map(str, block))}", runs, 2.0 * size**3)


def attention() -> Row:
    """The example's, causal."""
    harness, example = import_module("harness"), import_module("flash_attention")
    case = example.case(harness.Device(), np.random.default_rng())
    q, k, v = np.random.default_rng().standard_normal((3, 8, 1000, 64), dtype=np.float32)
    torch = peer("torch")
    tensors = None if torch is None else [torch.from_numpy(array) for array in (q, k, v)]
    function = None if torch is None else torch.nn.functional.scaled_dot_product_attention
    runs = present(
        tritonx=case.launch,
        numpy=case.numpy,
        torch=None if function is None else lambda: function(*tensors, is_causal=True),
    )
    return Row("attention 8×1000×64, causal", runs)


ROWS: tuple[Callable[[], Row], ...] = (
    add,
    softmax,
    layer_norm,
    lambda: matmul(1024, (128, 128, 64)),
    lambda: matmul(768, (128, 128, 128)),
    lambda: matmul(768, (96, 96, 96)),
    attention,
)


def print_table() -> None:
    """One line a kernel: milliseconds of each side, with GFLOP/s of products."""
    for make in ROWS:
        row = make()
        times = least(row.runs)
        rates = f" ({row.flops / times['tritonx'] / 1e6:.0f} GFLOP/s)" if row.flops else ""
        print(f"{row.name:32s} " + "  ".join(f"{name} {ms:.2f} ms" for name, ms in times.items()) + rates, flush=True)
