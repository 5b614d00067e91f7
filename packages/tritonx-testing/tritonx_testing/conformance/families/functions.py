"""Mathematical functions, with the error that each may have.

The bounds are what Triton's own code for a GPU reaches, not what a careful library does: ``exp`` multiplies by
log2(e) in fp32 before the hardware's 2^x, so its error grows with |x|; the hardware's square roots and quotients are
1 to 2 ulps off. fp64 functions come from libraries and are good to 4 ulps. Errors are measured against NumPy in fp64,
for fp64 in the platform's long double. fp16 and bf16 are computed in fp32 and rounded once more: 1 ulp."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false,
# reportUnknownVariableType=false
from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx_testing.conformance.case import ROUNDED, Array, Case, MakeTrial, Output, Part, Tolerance, Trial
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.values import DTYPES


@dataclass(frozen=True)
class Function:
    """A unary function: what NumPy computes, over which interval its arguments are drawn, and the fp32 bound."""

    reference: Callable[[Array], Array]
    low: float
    high: float
    bound: Tolerance


def _each(function: Callable[[float], float]) -> Callable[[Array], Array]:
    return lambda x: np.array([function(float(v)) for v in x.reshape(-1)]).reshape(x.shape)


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


FUNCTIONS: dict[str, Function] = {
    "exp": Function(np.exp, -10, 10, Tolerance(ulps=18)),
    "exp2": Function(np.exp2, -20, 20, Tolerance(ulps=4)),
    "log": Function(np.log, 1e-3, 100, Tolerance(ulps=4, absolute=2e-7)),
    "log2": Function(np.log2, 1e-3, 100, Tolerance(ulps=4, absolute=2e-7)),
    "sin": Function(np.sin, -30, 30, Tolerance(ulps=4, absolute=3e-7)),
    "cos": Function(np.cos, -30, 30, Tolerance(ulps=4, absolute=3e-7)),
    "sqrt": Function(np.sqrt, 0, 1000, Tolerance(ulps=2)),
    "rsqrt": Function(lambda x: 1 / np.sqrt(x), 1e-3, 1000, Tolerance(ulps=4)),
    "erf": Function(_each(math.erf), -4, 4, Tolerance(ulps=8)),
    "sigmoid": Function(_sigmoid, -10, 10, Tolerance(ulps=24)),
    "sqrt_rn": Function(np.sqrt, 0, 1000, ROUNDED),
}
"""Functions of ``tl``."""

LIBRARY: dict[str, Function] = {
    "tanh": Function(np.tanh, -5, 5, Tolerance(ulps=8)),
    "log1p": Function(np.log1p, -0.9, 20, Tolerance(ulps=8)),
    "expm1": Function(np.expm1, -5, 5, Tolerance(ulps=8)),
    "log10": Function(np.log10, 1e-3, 100, Tolerance(ulps=8, absolute=2e-7)),
    "trunc": Function(np.trunc, -50, 50, ROUNDED),
    "rint": Function(np.rint, -50, 50, ROUNDED),
    "floor": Function(np.floor, -50, 50, ROUNDED),
    "abs": Function(np.abs, -50, 50, ROUNDED),
}
"""Functions of ``tl.extra.libdevice``."""

DOUBLE = Tolerance(ulps=4, absolute=1e-16)
HALF = Tolerance(ulps=1.01)


@tritonx.jit
def unary_kernel(x_ptr, out_ptr, N: tl.constexpr, FUNCTION: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, getattr(tl, FUNCTION.value)(tl.load(x_ptr + i)))


@tritonx.jit
def library_kernel(x_ptr, out_ptr, N: tl.constexpr, FUNCTION: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, getattr(tl.extra.libdevice, FUNCTION.value)(tl.load(x_ptr + i)))


@tritonx.jit
def half_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i).to(tl.float32)
    tl.store(out_ptr + i, tl.exp2(x).to(out_ptr.dtype.element_ty))
    tl.store(out_ptr + N + i, tl.sqrt(tl.abs(x)).to(out_ptr.dtype.element_ty))


@tritonx.jit
def division_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(out_ptr + i, tl.div_rn(x, y))
    tl.store(out_ptr + N + i, tl.fdiv(x, y))


@tritonx.jit
def softmax_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    start = tl.program_id(0) * columns
    x = tl.load(x_ptr + start + i, mask=i < columns, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + start + i, e / tl.sum(e, axis=0), mask=i < columns)


@tritonx.jit
def special_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    out = out_ptr + i
    tl.store(out, tl.exp(x))
    tl.store(out + N, tl.exp2(x))
    tl.store(out + 2 * N, tl.log(x))
    tl.store(out + 3 * N, tl.log2(x))
    tl.store(out + 4 * N, tl.sqrt(x))
    tl.store(out + 5 * N, tl.sin(x))
    tl.store(out + 6 * N, tl.rsqrt(x))


def _unary(function: Function, name: str, dtype: str, count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = rng.uniform(function.low, function.high, count).astype(DTYPES[dtype])
        expected = function.reference(x.astype(np.longdouble if dtype == "fp64" else np.float64))
        bound = function.bound if dtype == "fp32" else DOUBLE
        return Trial((x, Output(x.dtype, (Part(name, expected, bound),))), {"N": count, "FUNCTION": name})

    return make


def _halves(dtype: str, count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = rng.uniform(-8, 8, count).astype(DTYPES[dtype])
        wide = x.astype(np.float64)
        parts = (Part("exp2", np.exp2(wide), HALF), Part("sqrt", np.sqrt(np.abs(wide)), HALF))
        return Trial((x, Output(x.dtype, parts)), {"N": count})

    return make


def _division(count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, y = (rng.standard_normal(count).astype(np.float32) for _ in range(2))
        exact = x.astype(np.float64) / y
        parts = (Part("div_rn", exact, ROUNDED), Part("fdiv", exact, Tolerance(ulps=2)))
        return Trial((x, y, Output(np.float32, parts)), {"N": count})

    return make


def _softmax(rows: int, columns: int, block: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = (rng.standard_normal((rows, columns)) * 3).astype(np.float32)
        e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
        expected = e / e.sum(axis=1, keepdims=True)
        bound = Tolerance(ulps=64, absolute=1e-9)
        return Trial((x, Output.of(expected, bound, dtype=np.float32), columns), {"BLOCK": block}, (rows,))

    return make


def _special(rng: np.random.Generator) -> Trial:
    x = np.array([0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 200.0, -200.0] * 4, np.float32)
    wide = x.astype(np.float64)
    bound = Tolerance(ulps=40, absolute=2e-7)
    with np.errstate(all="ignore"):
        results = {
            "exp": np.exp(wide), "exp2": np.exp2(wide), "log": np.log(wide), "log2": np.log2(wide),
            "sqrt": np.sqrt(wide), "sin": np.sin(wide), "rsqrt": 1 / np.sqrt(wide),
        }  # fmt: skip
    return Trial((x, Output(np.float32, tuple(Part(n, v, bound) for n, v in results.items()))), {"N": x.size})


def cases(cover: Cover) -> Iterator[Case]:
    for count, warps in cover.choose([(512, 4)], [(1, 1), (512, 4), (2048, 8), (8192, 2)]):
        options = {"num_warps": warps}
        for dtype in ("fp32", "fp64"):
            for name, function in FUNCTIONS.items():
                if (name, dtype) == ("sqrt_rn", "fp64"):
                    continue  # of fp32 only, as in Triton
                make = _unary(function, name, dtype, count)
                library = dtype == "fp64" and name not in ("sqrt", "rsqrt")
                title = f"functions/{name}-{dtype}-{count}-w{warps}"
                yield Case(title, unary_kernel, make, options, optional=library)
            for name, function in LIBRARY.items():
                make = _unary(function, name, dtype, count)
                title = f"functions/libdevice.{name}-{dtype}-{count}-w{warps}"
                yield Case(title, library_kernel, make, options, optional=dtype == "fp64")
        for dtype in ("fp16", "bf16"):
            yield Case(f"functions/through-fp32-{dtype}-{count}-w{warps}", half_kernel, _halves(dtype, count), options)
    yield Case("functions/division-fp32", division_kernel, _division(512))
    yield Case("functions/special-fp32", special_kernel, _special, {"num_warps": 1})
    for rows, columns, block, warps in ((3, 100, 128, 1), (2, 1000, 1024, 4), (5, 2048, 2048, 8)):
        yield Case(
            f"functions/softmax-{rows}x{columns}-w{warps}",
            softmax_kernel,
            _softmax(rows, columns, block),
            {"num_warps": warps},
        )
