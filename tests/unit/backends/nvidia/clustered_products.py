"""Products for programs of several blocks: through descriptors of the host, of the kernel, and through pointers; and
two products of which one takes the other's result."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportAttributeAccessIssue=false -- kernels are the language's, not Python's

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx.tools.tensor_descriptor import TensorDescriptor

SHAPES = (
    (128, 128, 16, 1), (256, 64, 32, 2), (64, 512, 32, 2), (128, 128, 16, 4), (64, 128, 32, 4), (32, 32, 32, 4),
    (256, 128, 32, 4),
)  # fmt: skip
"""M, N and K of a program, and stages."""


@tritonx.jit
def blocks_of_the_host(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    row, column, total = tl.program_id(0) * M, tl.program_id(1) * N, tl.zeros((M, N), tl.float32)
    at = 0
    for _ in range(tl.cdiv(a.shape[1], K)):
        total = tl.dot(a.load([row, at]), b.load([at, column]), total)
        at += K
    c.store([row, column], total.to(tl.float16))


@tritonx.jit
def blocks_of_the_kernel(a_ptr, b_ptr, c_ptr, rows, columns, inner, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    a = tl.make_tensor_descriptor(a_ptr, [rows, inner], [inner, 1], [M, K])
    b = tl.make_tensor_descriptor(b_ptr, [inner, columns], [columns, 1], [K, N])
    c = tl.make_tensor_descriptor(c_ptr, [rows, columns], [columns, 1], [M, N])
    row, column, total = tl.program_id(0) * M, tl.program_id(1) * N, tl.zeros((M, N), tl.float32)
    for at in range(0, inner, K):
        total = tl.dot(a.load([row, at]), b.load([at, column]), total)
    c.store([row, column], total.to(tl.float16))


@tritonx.jit
def by_pointers(a_ptr, b_ptr, c_ptr, rows, columns, inner, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """The loop carries the pointers."""
    m, n, k = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * N + tl.arange(0, N), tl.arange(0, K)
    a_at, b_at = a_ptr + m[:, None] * inner + k[None, :], b_ptr + k[:, None] * columns + n[None, :]
    total = tl.zeros((M, N), tl.float32)
    for at in range(0, inner, K):
        a = tl.load(a_at, (m[:, None] < rows) & (at + k[None, :] < inner), 0.0)
        b = tl.load(b_at, (at + k[:, None] < inner) & (n[None, :] < columns), 0.0)
        total = tl.dot(a, b, total)
        a_at += K
        b_at += K * columns
    inside = (m[:, None] < rows) & (n[None, :] < columns)
    tl.store(c_ptr + m[:, None] * columns + n[None, :], total.to(tl.float16), inside)


WAYS: dict[str, Any] = {"host": blocks_of_the_host, "kernel": blocks_of_the_kernel, "pointers": by_pointers}


@dataclass(frozen=True)
class Multiplied:
    """A product of matrices that end within blocks. Sums of small whole numbers are exact."""

    kernel: Any
    a: Any
    b: Any
    constants: dict[str, int]
    grid: tuple[int, int]

    @staticmethod
    def drawn(way: str, m: int, n: int, k: int, rng: np.random.Generator) -> Multiplied:
        rows, columns, inner = m + m // 2, n + n // 2, 2 * k + 8
        a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((rows, inner), (inner, columns)))
        return Multiplied(WAYS[way], a, b, {"M": m, "N": n, "K": k}, (2, 2))

    @property
    def expected(self) -> Any:
        return (self.a.astype(np.float64) @ self.b.astype(np.float64)).astype(np.float16)

    def out(self) -> Any:
        """Where the product is to go."""
        return np.full(self.expected.shape, np.nan, np.float16)

    def arguments(self, out: Any, place: Callable[[Any], Any] = lambda array: array) -> list[Any]:
        """Of a launch, with arrays where ``place`` puts them; ``out`` is there."""
        a, b = place(self.a), place(self.b)
        if self.kernel is not blocks_of_the_host:
            return [a, b, out, *out.shape, self.a.shape[1]]
        m, n, k = self.constants.values()
        parts = ((a, [m, k]), (b, [k, n]), (out, [m, n]))
        return [TensorDescriptor(x, [*x.shape], [x.shape[1], 1], block) for x, block in parts]


@tritonx.jit
def two_products(x, y, z, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TAKEN: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    first = tl.dot(tl.load(x + m[:, None] * K + k[None, :]), tl.load(y + k[:, None] * N + n[None, :])).to(
        x.dtype.element_ty
    )
    if TAKEN == "as A":
        tl.store(out + m[:, None] * K + k[None, :], tl.dot(first, tl.load(z + n[:, None] * K + k[None, :])))
    elif TAKEN == "as B":
        tl.store(out + k[:, None] * N + n[None, :], tl.dot(tl.load(z + k[:, None] * M + m[None, :]), first))
    elif TAKEN == "transposed":
        tl.store(out + n[:, None] * K + k[None, :], tl.dot(first.T, tl.load(z + m[:, None] * K + k[None, :])))
    else:  # by columns
        tl.store(out + n[None, :] * M + m[:, None], first.to(tl.float32) + tl.load(z + m[:, None] * N + n[None, :]))


def of_two_products(taken: str, x: Any, y: Any, z: Any) -> Any:
    """What `two_products` gives, with z as it takes it."""
    first = x.astype(np.float64) @ y.astype(np.float64)
    z = z.astype(np.float64)
    if taken == "as A":
        return first @ z
    if taken == "as B":
        return z @ first
    return first.T @ z if taken == "transposed" else (first + z).T


@tritonx.jit
def written_in_place(x, y, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """The block that is written last would read what the other has written."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    b = tl.load(y + k[:, None] * N + n[None, :])
    tl.store(out + m[:, None] * N + n[None, :], tl.dot(tl.load(x + m[:, None] * K + k[None, :]), b))
    tl.store(y + k[:, None] * N + n[None, :], b * 2)


@tritonx.jit
def used_besides(x, y, out, other, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Both operands are computed, and stored as well."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a, b = tl.load(x + m[:, None] * K + k[None, :]) * 2, tl.load(y + k[:, None] * N + n[None, :]) + 1
    tl.atomic_add(out + m[:, None] * N + n[None, :], tl.dot(a, b))
    tl.store(other + m[:, None] * K + k[None, :], a)
    tl.store(other + M * K + k[:, None] * N + n[None, :], b)
