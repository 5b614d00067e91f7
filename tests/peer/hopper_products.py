"""Arguments of the products and attentions of `kernels_hopper.py`, and what must come out, in f64.

``small``: as few programs as show what the kernel does, for a machine that takes its time. Otherwise every program of
the grid has its work."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.peer.hopper_launch import Described, Launch, Output, launch, poisoned
from tests.peer.pipeline_cases import DTYPES, Array

STEP = {"fp32": 2.0**-11, "fp16": 2.0**-10, "bf16": 2.0**-7, "i32": 0.0}
"""Rounding of a result, relative."""

ON_DEVICE = ("product_device_descriptors", "specialized_device_descriptors", "persistent_device_descriptors")
"""Kernels that make their descriptors themselves."""

OF_ROWS = ("persistent_product", "specialized_product", *ON_DEVICE)
"""Kernels whose `b` is N x K."""


def factor(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    """Values whose products the tensor cores take as they are: of f32 they read the bits of tf32, and sums of f8 are
    exact there to 13 bits below the largest term only, so whole numbers.
    """
    kind = np.dtype(DTYPES[dtype])
    if kind.kind in "iu" or dtype.startswith("fp8"):
        return rng.integers(-8, 8, shape).astype(kind)
    values = rng.standard_normal(shape, dtype=np.float32)
    if dtype == "fp32":
        values = (values.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    return values.astype(kind)


def exact(*arrays: Array) -> list[Any]:
    return [a.astype(np.float64) for a in arrays]


def rounded(array: Array, expected: Array, dtype: str, depth: int) -> Output:
    """Within the rounding of the result and of sums of ``depth`` products."""
    step = STEP[dtype]
    return Output(array, expected, rtol=step, atol=step * np.sqrt(depth))


def product(case: Described, rng: np.random.Generator, *, small: bool) -> Launch:
    """`a` is M x K, `b` is K x N or, for descriptors, mostly N x K."""
    tile = {key: case.constants[key] for key in "MNK"}
    rows, columns = (int(rng.integers(1, 3)), 1) if small else (3, 2)
    m, n, k = rows * tile["M"], columns * tile["N"], int(rng.integers(0, 7)) * tile["K"]
    blocks = case.constants.get("BLOCKS")
    if blocks is not None:  # the first programs have two tiles
        m, n = (blocks + 2) * tile["M"], tile["N"]
    turned = case.constants.get("TURNED", case.kernel in OF_ROWS)
    a, b = factor(rng, (m, max(k, 16)), case.element("a")), factor(rng, (n, max(k, 16)), case.element("b"))
    expected = np.matmul(*exact(a, b.T)) if k else np.zeros((m, n))
    c = poisoned((m, n), case.element("c"))
    given: dict[str, Any] = {"a": a, "b": b if turned else np.ascontiguousarray(b.T), "c": c, "m": m, "n": n, "k": k}
    given |= {"sa": a.shape[1], "sb": n, "sc": n}
    if "rows" in case.signature:
        given["rows"] = rng.integers(0, m, m).astype(np.int32)
        expected = expected[given["rows"]]
    grid = (m // tile["M"], n // tile["N"]) if blocks is None else (2 if small else blocks,)
    if small and blocks is not None:
        idle = np.arange(m) // tile["M"] % blocks >= grid[0]
        expected[idle] = np.nan
    return launch(case, given, (rounded(c, expected, case.element("c"), k),), grid)


def two_products(case: Described, rng: np.random.Generator, *, small: bool) -> Launch:
    m, n, k = (128 if small else 256), (128 if small else 256), 64 * int(rng.integers(1, 6))
    a, b, c = (factor(rng, shape, "fp16") for shape in ((m, k), (k, 64), (64, n)))
    b = (b / 8).astype(np.float16)
    x, y, z = exact(a, b, c)
    firsts = [x[:, s : s + 64] @ y[s : s + 64] for s in range(0, k, 64)]
    expected = sum(first.astype(np.float16).astype(np.float64) for first in firsts) @ z
    d = poisoned((m, n), "fp16")
    given = {"a": a, "b": b, "c": c, "d": d, "k": k}
    return launch(case, given, (Output(d, expected, rtol=2e-2, atol=0.5),), (m // 128, n // 128))


def attention(case: Described, rng: np.random.Generator, *, small: bool) -> Launch:
    m, d = case.constants["M"], case.constants["D"]
    n = int(rng.integers(1, 3 if small else 5)) * m
    dtype = case.element("q")
    q, k, v = (factor(rng, (n, d), dtype) for _ in range(3))
    scale = 1.0 / d**0.5
    x, y, z = exact(q, k, v)
    scores = x @ y.T * scale
    if case.constants["CAUSAL"]:
        scores = np.where(np.tri(n, dtype=bool), scores, -1e6)
    p = np.exp2(scores - scores.max(1, keepdims=True))
    o = poisoned((n, d), "fp16")
    output = rounded(o, p / p.sum(1, keepdims=True) @ z, "bf16" if dtype == "bf16" else "fp16", 16)
    return launch(case, {"q": q, "k": k, "v": v, "o": o, "n": n, "scale": scale}, (output,), (n // m,))


def gradients(case: Described, rng: np.random.Generator, *, small: bool) -> Launch:
    n, d, scale = 64 * int(rng.integers(1, 3 if small else 5)), 64, 0.125
    q, k, v, go = (factor(rng, (n, d), "fp16") for _ in range(4))
    x, y, z, g = exact(q, k, v, go)
    scores = x @ y.T * scale
    lse = np.log2(np.exp2(scores).sum(1))
    p = np.exp2(scores - lse[:, None])
    delta = (g * (p @ z)).sum(1)
    ds = p * (g @ z.T - delta[:, None])
    expected = {"gq": ds @ y * scale, "gk": ds.T @ x * scale, "gv": p.T @ g}
    made = {name: Output(poisoned((n, d), "fp16"), e, 1e-2, 2e-2) for name, e in expected.items()}
    given: dict[str, Any] = {"q": q, "k": k, "v": v, "go": go, "n": n, "scale": scale}
    given |= {"lse": lse.astype(np.float32), "delta": delta.astype(np.float32)}
    given |= {name: output.array for name, output in made.items()}
    return launch(case, given, tuple(o for name, o in made.items() if name in case.signature), (n // 64,))
