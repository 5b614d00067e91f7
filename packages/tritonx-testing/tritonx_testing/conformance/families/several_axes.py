"""Reductions and scans along several axes at once, by combine functions of tuples too; for scans, not commutative."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false,
# reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx_testing.conformance.case import Array, Case, MakeTrial, Output, Part, Trial
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.families.shape import grid_3d
from tritonx_testing.conformance.values import small_integers

Shape = tuple[int, int, int]


@tritonx.jit
def affine(a0, b0, a1, b1):
    """The composition of x → a·x + b, first 0, then 1; not commutative."""
    return a0 * a1, b0 * a1 + b1


@tritonx.jit
def reduce_kernel(
    x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, AXES: tl.constexpr, R: tl.constexpr
):
    i, r = grid_3d(A, B, C), tl.arange(0, R)
    x = tl.load(x_ptr + i)
    total = tl.sum(x, axis=AXES)
    tl.store(out_ptr + r, tl.reshape(total, (R,)).to(x.dtype))
    tl.store(out_ptr + R + i, x - tl.max(x, axis=AXES, keep_dims=True).to(x.dtype))
    tl.store(out_ptr + R + A * B * C + i, tl.min(x, AXES, keep_dims=True).to(x.dtype) + x)


@tritonx.jit
def sum_and_largest(a0, b0, a1, b1):
    return a0 + a1, tl.maximum(b0, b1)


@tritonx.jit
def pairs_kernel(
    a_ptr, b_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, AXES: tl.constexpr, R: tl.constexpr
):
    i, r = grid_3d(A, B, C), tl.arange(0, R)
    a, b = tl.reduce((tl.load(a_ptr + i), tl.load(b_ptr + i)), AXES, sum_and_largest)
    tl.store(out_ptr + r, tl.reshape(a, (R,)))
    tl.store(out_ptr + R + r, tl.reshape(b, (R,)))


@tritonx.jit
def scan_kernel(
    x_ptr,
    a_ptr,
    b_ptr,
    out_ptr,
    A: tl.constexpr,
    B: tl.constexpr,
    C: tl.constexpr,
    AXES: tl.constexpr,
    REVERSE: tl.constexpr,
):
    i = grid_3d(A, B, C)
    tl.store(out_ptr + i, tl.cumsum(tl.load(x_ptr + i), AXES, reverse=REVERSE))
    a, b = tl.associative_scan((tl.load(a_ptr + i), tl.load(b_ptr + i)), AXES, affine, reverse=REVERSE)
    tl.store(out_ptr + A * B * C + i, a)
    tl.store(out_ptr + 2 * A * B * C + i, b)


def _extents(shape: Shape) -> dict[str, int]:
    return dict(zip("ABC", shape, strict=True))


def _remaining(shape: Shape, axes: tuple[int, ...]) -> int:
    return int(np.prod([n for d, n in enumerate(shape) if d not in {a % 3 for a in axes}], dtype=int))


def _reduce(dtype: str, shape: Shape, axes: tuple[int, ...]) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = small_integers(rng, dtype, shape, -3, 4)
        with np.errstate(all="ignore"):
            parts = (
                Part("sum", x.astype(np.float64).sum(axis=axes).astype(np.int64).astype(x.dtype)),
                Part("x - max", x - x.max(axis=axes, keepdims=True)),
                Part("min + x", x.min(axis=axes, keepdims=True) + x),
            )
        return Trial((x, Output(x.dtype, parts)), _extents(shape) | {"AXES": axes, "R": _remaining(shape, axes)})

    return make


def _in_a_row(x: Array, axes: tuple[int, ...]) -> Array:
    """``x`` with the axes brought in front, in ascending order, and joined."""
    ascending = sorted(a % 3 for a in axes)
    moved = np.moveaxis(x, ascending, range(len(ascending)))
    return moved.reshape(-1, *moved.shape[len(ascending) :])


def _composed(a: Array, b: Array, axes: tuple[int, ...], *, reverse: bool) -> tuple[Array, Array]:
    """Every step of composing along the joined axes, which come first."""
    p, q = (_in_a_row(x, axes)[:: -1 if reverse else 1] for x in (a, b))
    first, second = [p[0]], [q[0]]
    for u, v in zip(p[1:], q[1:], strict=True):
        first.append(first[-1] * u)
        second.append(second[-1] * u + v)
    return np.stack(first)[:: -1 if reverse else 1], np.stack(second)[:: -1 if reverse else 1]


def _pairs(shape: Shape, axes: tuple[int, ...]) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        a, b = (small_integers(rng, "int32", shape, -99, 99) for _ in range(2))
        parts = (Part("first", a.sum(axis=axes)), Part("second", b.max(axis=axes)))
        constants = _extents(shape) | {"AXES": axes, "R": _remaining(shape, axes)}
        return Trial((a, b, Output(np.int32, parts)), constants)

    return make


def _scan(shape: Shape, axes: tuple[int, ...], reverse: bool) -> MakeTrial:
    def put_back(row: Array) -> Array:
        """What ``_in_a_row`` did, undone."""
        ascending = sorted(a % 3 for a in axes)
        others = [n for d, n in enumerate(shape) if d not in ascending]
        parted = row.reshape(*(shape[d] for d in ascending), *others)
        return np.moveaxis(parted, range(len(ascending)), ascending)

    def make(rng: np.random.Generator) -> Trial:
        x, a, b = (small_integers(rng, "int32", shape, -5, 6) for _ in range(3))
        way = -1 if reverse else 1
        total = np.cumsum(_in_a_row(x, axes)[::way], axis=0, dtype=np.int32)[::way]
        first, second = _composed(a, b, axes, reverse=reverse)
        parts = tuple(
            Part(name, put_back(done)) for name, done in (("cumsum", total), ("first", first), ("second", second))
        )
        return Trial((x, a, b, Output(np.int32, parts)), _extents(shape) | {"AXES": axes, "REVERSE": reverse})

    return make


def cases(cover: Cover) -> Iterator[Case]:
    shapes: list[Shape] = [(4, 8, 16), (2, 32, 4), (16, 1, 8), (8, 16, 2)]
    several = [(0, 1), (1, 2), (0, -1), (0, 1, 2), (-1, 0), (2,), ()]
    warps = (4, 1, 8, 2)
    for axes, shape, dtype, w in cover.zipped(several, shapes, ("int32", "fp32", "int8", "fp16", "int64"), warps):
        name = f"several_axes/reduce-{dtype}-{_named(shape, axes)}-w{w}"
        yield Case(name, reduce_kernel, _reduce(dtype, shape, axes), {"num_warps": w})
    for axes, shape, w in cover.zipped(several[:5], shapes[:3], warps):
        yield Case(
            f"several_axes/pairs-int32-{_named(shape, axes)}-w{w}",
            pairs_kernel,
            _pairs(shape, axes),
            {"num_warps": w},
        )
    for axes, shape, reverse, w in cover.zipped(several[:5], shapes[:3], (False, True), warps):
        name = f"several_axes/scan-int32-{_named(shape, axes)}{'-reverse' * reverse}-w{w}"
        yield Case(name, scan_kernel, _scan(shape, axes, reverse), {"num_warps": w})


def _named(shape: Shape, axes: tuple[int, ...]) -> str:
    return f"{'x'.join(map(str, shape))}-axes{'_'.join(map(str, axes)) or '_none'}"
