"""Programs whose loops Triton pipelines for Hopper: which kernel, compiled how, on which arrays, and what comes out.

The kernels are in `pipeline_kernels.py`, which only the wheel's process imports.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray

DTYPES: dict[str, Any] = {
    "fp16": np.float16, "bf16": ml_dtypes.bfloat16, "fp32": np.float32, "i8": np.int8, "i32": np.int32,
    "u32": np.uint32, "fp8e4nv": ml_dtypes.float8_e4m3fn, "fp8e5": ml_dtypes.float8_e5m2,
}  # fmt: skip


class HostDescriptor:
    """What the host passes for a tensor descriptor; the kernel's function takes its shape and strides behind it."""

    def __init__(self, base: Array, block: list[int] | None = None) -> None:
        self.base = base
        self.block = block
        self.shape = base.shape
        self.strides = tuple(int(np.prod(base.shape[i + 1 :])) for i in range(base.ndim))

    def flat(self) -> list[Any]:
        return [self, *self.shape, *self.strides]


@dataclass(frozen=True)
class Run:
    """Arguments of the IR function, and pairs of an output array and what it must hold."""

    args: list[Any]
    outputs: list[tuple[Array, Array]]
    grid: tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """`trips` is the trip count of the pipelined loop."""

    name: str
    kernel: str
    signature: dict[str, str]
    constants: dict[str, Any]
    make: Callable[[np.random.Generator, int], Run]
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    tolerance: float = 0.0


BLOCK = {"BM": 64, "BN": 64, "BK": 64}


def _matrices(rng: np.random.Generator, dtype: str, m: int, n: int, k: int) -> tuple[Array, Array, Array]:
    """Operands of small integers, whose product every type and order of summation gives exactly; and it."""
    a, b = (rng.integers(-2, 3, shape) for shape in ((m, k), (k, n)))
    return a.astype(DTYPES[dtype]), b.astype(DTYPES[dtype]), (a @ b).astype(np.int32 if dtype == "i8" else np.float32)


def product(dtype: str, stages: int, *, block: dict[str, int] = BLOCK, warps: int = 4, ctas: int = 1) -> Case:
    """Pointers, masked along K; the last step is not whole."""
    accumulator = "i32" if dtype == "i8" else "fp32"

    def make(rng: np.random.Generator, trips: int) -> Run:
        m, n, k = 2 * block["BM"], block["BN"], max(trips * block["BK"] - 16, 0)
        a, b, expected = _matrices(rng, dtype, m, n, k)
        c = np.full((m, n), 77, expected.dtype)
        held = [x if x.size else np.zeros(16, x.dtype) for x in (a, b)]
        return Run([*held, c, m, n, k, k, n, n], [(c, expected)], (2, 1))

    pointers = {"a": f"*{dtype}", "b": f"*{dtype}", "c": f"*{accumulator}"}
    numbers = dict.fromkeys(("m", "n", "k", "sa", "sb", "sc"), "i32")
    constants = {**block, "STAGES": stages, "ACC": accumulator}
    name = f"pointers_{dtype}_s{stages}_w{warps}_c{ctas}"
    return Case(name, "pointers", {**pointers, **numbers}, constants, make, {"num_warps": warps, "num_ctas": ctas})


def described(dtype: str, stages: int, where: str, *, specialised: bool = False, warps: int = 4, ctas: int = 1) -> Case:
    """Tensor descriptors, made on the device or the host; the last step reads beyond the end."""

    def make(rng: np.random.Generator, trips: int) -> Run:
        m, n, k = 2 * 64, 64, max(trips * 64 - 16, 0)
        a, b, expected = _matrices(rng, dtype, m, n, max(k, 16))
        expected = expected if k else np.zeros_like(expected)
        c = np.full((m, n), 77, np.float16)
        arrays: list[Any] = [a, b, c]
        given = arrays if where == "device" else [part for x in arrays for part in HostDescriptor(x).flat()]
        return Run([*given, m, n, k], [(c, expected.astype(np.float16))], (2, 1))

    block = f"{dtype}[64,64]"
    types = {"a": block, "b": block, "c": "fp16[64,64]"}
    names = {n: f"*{t.partition('[')[0]}" if where == "device" else f"tensordesc<{t}>" for n, t in types.items()}
    constants = {**BLOCK, "STAGES": stages, "WS": specialised}
    name = f"{where}_{dtype}_s{stages}_w{warps}_c{ctas}" + ("_specialised" if specialised else "")
    signature = {**names, "m": "i32", "n": "i32", "k": "i32"}
    return Case(name, f"{where}_descriptors", signature, constants, make, {"num_warps": warps, "num_ctas": ctas})


def persistent(stages: int, *, flatten: bool) -> Case:
    def make(rng: np.random.Generator, trips: int) -> Run:
        m, n, k = 3 * 64, 64, trips * 64
        a, b, expected = _matrices(rng, "fp16", m, n, k)
        c = np.full((m, n), 77, np.float16)
        held = [x if x.size else np.zeros(16, x.dtype) for x in (a, b)]
        return Run([*held, c, m, n, k], [(c, expected.astype(np.float16))], (2,))

    signature = {"a": "*fp16", "b": "*fp16", "c": "*fp16", "m": "i32", "n": "i32", "k": "i32"}
    constants = {**BLOCK, "STAGES": stages, "FLATTEN": flatten, "PROGRAMS": 2}
    return Case(f"persistent_s{stages}_{'flat' if flatten else 'nested'}", "persistent", signature, constants, make)


def attention(stages: int, *, causal: bool, warps: int = 4) -> Case:
    """Forward, one head; the softmax's rows are compared with a tolerance of f16."""

    def make(rng: np.random.Generator, trips: int) -> Run:
        n = max(trips, 1) * 64
        q, k, v = (rng.standard_normal((n, 64)).astype(np.float16) for _ in range(3))
        o = np.full((n, 64), np.nan, np.float16)
        scores = (q.astype(np.float64) @ k.astype(np.float64).T) * 0.125
        if causal:
            scores = np.where(np.tri(n, dtype=bool), scores, -np.inf)
        weights = np.exp(scores - scores.max(1, keepdims=True))
        expected = (weights / weights.sum(1, keepdims=True)) @ v.astype(np.float64)
        return Run([q, k, v, o, n], [(o, expected.astype(np.float16))], (n // 64,))

    signature = {"q": "*fp16", "k": "*fp16", "v": "*fp16", "o": "*fp16", "n": "i32"}
    constants = {"BLOCK": 64, "D": 64, "STAGES": stages, "CAUSAL": causal}
    name = f"attention_s{stages}_w{warps}" + ("_causal" if causal else "")
    return Case(name, "attention", signature, constants, make, {"num_warps": warps}, tolerance=2e-3)


def backward(of: str, stages: int, where: str, *, causal: bool = False, warps: int = 4) -> Case:
    """Attention's gradients, of `keys` (and values) or of `queries`: two programs, each with a block of its own, go
    over `trips` blocks of the others. Through pointers, or descriptors that the host or the kernel makes."""

    def make(rng: np.random.Generator, trips: int) -> Run:
        own, others = 2 * 64, trips * 64
        n, m = (others, own) if of == "keys" else (own, others)
        q, go = (rng.standard_normal((n, 64)).astype(np.float16) for _ in range(2))
        k, v = (rng.standard_normal((m, 64)).astype(np.float16) for _ in range(2))
        x, y, z, g = (a.astype(np.float64) for a in (q, k, v, go))
        scores = x @ y.T * 0.125
        if causal:
            past = 0 if of == "keys" else m - n  # queries that are not among these
            scores = np.where(np.tri(n, m, past, dtype=bool), scores, -np.inf)
        lse = np.logaddexp.reduce(scores, axis=1, initial=-1e4)
        p = np.exp(scores - lse[:, None])
        delta = (g * (p @ z)).sum(1)
        ds = p * (g @ z.T - delta[:, None]) * 0.125
        expected = [ds.T @ x, p.T @ g] if of == "keys" else [ds @ y]
        outputs = [np.full((own, 64), np.nan, np.float16) for _ in expected]
        held = [a if a.size else np.zeros((16, 64), np.float16) for a in (q, k, v, go)] + outputs
        given: list[Any] = [part for a in held for part in HostDescriptor(a).flat()] if where == "host" else [*held]
        rows = [np.resize(a, max(n, 16)).astype(np.float32) for a in (lse / np.log(2), delta)]
        return Run([*given, *rows, others], list(zip(outputs, expected, strict=True)), (own // 64,))

    names = ("q", "k", "v", "go", *(("gk", "gv") if of == "keys" else ("gq",)))
    arrays = dict.fromkeys(names, "tensordesc<fp16[64,64]>" if where == "host" else "*fp16")
    constants = {"BLOCK": 64, "D": 64, "STAGES": stages, "CAUSAL": causal, "WHERE": where}
    name = f"backward_{of}_{where}_s{stages}_w{warps}" + ("_causal" if causal else "")
    signature = {**arrays, "lse": "*fp32", "delta": "*fp32", "n": "i32"}
    return Case(name, f"gradients_of_{of}", signature, constants, make, {"num_warps": warps}, tolerance=5e-3)


def column_sum(stages: int) -> Case:
    def make(rng: np.random.Generator, trips: int) -> Run:
        rows = trips * 32
        x = rng.integers(-9, 9, (max(rows, 1), 64)).astype(np.float32)
        o = np.full(64, 77, np.float32)
        return Run([x, o, rows], [(o, x[:rows].sum(0))], (1,))

    signature = {"x": "*fp32", "o": "*fp32", "rows": "i32"}
    return Case(f"sum_s{stages}", "column_sum", signature, {"BM": 32, "BN": 64, "STAGES": stages}, make)


SMALL = {"BM": 64, "BN": 32, "BK": 32}

CASES: list[Case] = [
    *(product("fp16", stages) for stages in range(1, 6)),
    *(product(dtype, 3, block=SMALL) for dtype in ("bf16", "fp32", "fp8e5", "fp8e4nv", "i8")),
    product("fp16", 3, block={"BM": 128, "BN": 64, "BK": 32}, warps=8),
    *(described("fp16", stages, "device") for stages in range(1, 6)),
    *(described("bf16", stages, "host") for stages in (1, 2, 4)),
    described("fp8e5", 3, "host"),
    *(described("fp16", stages, where, specialised=True) for stages in (1, 2, 3, 4) for where in ("device", "host")),
    *(persistent(stages, flatten=flatten) for stages in (1, 3) for flatten in (False, True)),
    *(attention(stages, causal=causal) for stages in (1, 2, 3) for causal in (False, True)),
    *(
        backward(of, stages, where, causal=causal)
        for of in ("keys", "queries")
        for stages in (1, 2, 3)
        for where in ("pointers", "host", "device")
        for causal in (False, True)
    ),
    *(column_sum(stages) for stages in (1, 3)),
    product("fp16", 3, ctas=2),
    described("fp16", 3, "device", ctas=2),
]


def check(run: Run, case: Case, where: str) -> None:
    for got, expected in run.outputs:
        tolerance = case.tolerance
        np.testing.assert_allclose(
            got.astype(np.float64), expected.astype(np.float64), rtol=tolerance, atol=tolerance, err_msg=where
        )
