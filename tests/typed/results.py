"""What pyright says of values in kernels: the type stands behind ``reveal_type``."""

# pyright: strict, reportUnusedExpression=false, reportUnusedVariable=false
# ruff: noqa: F821, RUF059  # `reveal_type`, and what stands for its type alone

from typing import Any

import tritonx
import tritonx.language as tl


@tritonx.jit
def longest(a: tl.tensor, b: tl.tensor) -> tl.tensor:
    return tl.maximum(a, b)


@tritonx.jit
def scaled(x: tl.tensor, by: tl.tensor | float, BLOCK: tl.constexpr = 16) -> tl.tensor:
    return x * by + tl.arange(0, BLOCK)


@tritonx.constexpr_function
def half(n: int) -> int:
    return n // 2


@tritonx.jit
def operators(x_ptr: tl.tensor, n: tl.tensor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    reveal_type(at)  # Any
    reveal_type(tl.program_id(0) + tl.arange(0, BLOCK))  # tensor
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    reveal_type(x)  # tensor
    reveal_type(x + 1)  # tensor
    reveal_type(2.0 * x)  # tensor
    reveal_type(-x)  # tensor
    reveal_type(~(x > 0))  # tensor
    reveal_type(x == 0)  # tensor
    reveal_type((x < 3) & (x >= n))  # tensor
    reveal_type(x // 2 % 3 << 1 | 1 ^ x)  # tensor
    reveal_type(min(n, BLOCK))  # tensor
    reveal_type(x[:, None])  # tensor
    reveal_type(x[None, :8])  # tensor
    x += 1
    reveal_type(x)  # tensor
    reveal_type(x.shape)  # tuple
    reveal_type(x.shape[0])  # Any
    reveal_type(x.dtype)  # dtype
    reveal_type(x_ptr.dtype.element_ty)  # dtype
    reveal_type(x.T)  # tensor


@tritonx.jit
def methods(x: tl.tensor):
    reveal_type(x.to(tl.float32))  # tensor
    reveal_type(x.sum(axis=0).exp())  # tensor
    reveal_type(x.max(0, return_indices=True))  # tuple[tensor, tensor]
    reveal_type(x.reshape(4, 4).trans())  # tensor
    even, odd = x.reshape(4, 4, 2).split()
    reveal_type(even)  # tensor


@tritonx.jit
def functions(x: tl.tensor, y: tl.tensor, K: tl.constexpr, TYPE: tl.constexpr = tl.float32):
    reveal_type(tl.dot(x, y, out_dtype=TYPE))  # tensor
    reveal_type(tl.sum(x, axis=1))  # tensor
    reveal_type(tl.max(x, axis=1))  # tensor
    reveal_type(tl.min(x, 1, return_indices=True))  # tuple[tensor, tensor]
    reveal_type(tl.argmax(x, 0))  # tensor
    reveal_type(tl.cumsum(x, 0))  # tensor
    reveal_type(tl.sort(x))  # tensor
    reveal_type(tl.where(x > 0, x, 0))  # tensor
    reveal_type(tl.zeros([K, half(K)], dtype=TYPE))  # tensor
    reveal_type(tl.cdiv(x, K))  # tensor
    reveal_type(tl.cdiv(7, 2))  # int
    reveal_type(tl.cdiv(K, 2))  # Any
    reveal_type(tl.atomic_add(x, 1, sem="relaxed"))  # tensor
    reveal_type(tl.store(x, y))  # None
    reveal_type(tl.split(x))  # tuple[tensor, tensor]
    reveal_type(tl.philox(7, x, 0, 0, 0))  # tuple[tensor, tensor, tensor, tensor]
    reveal_type(tl.rand(7, x))  # tensor
    reveal_type(tl.reduce(x, 0, longest))  # tensor
    reveal_type(tl.reduce((x, y), 0, longest))  # tuple[tensor, tensor]
    reveal_type(tl.associative_scan(x, 0, longest))  # tensor
    reveal_type(tl.math.exp2(x))  # tensor
    reveal_type(tl.load(tl.advance(tl.make_block_ptr(x, (4, 4), (4, 1), (0, 0), (2, 2), (1, 0)), (0, 2))))  # tensor


@tritonx.jit
def descriptors(base: tl.tensor, given: tl.tensor_descriptor, M: tl.constexpr):
    made = tl.make_tensor_descriptor(base, [M, M], [M, 1], [16, 16])
    reveal_type(made)  # tensor_descriptor
    reveal_type(made.load([0, 0]))  # tensor
    reveal_type(given.load([0, M]))  # tensor
    reveal_type(given.store([0, 0], made.load([0, 0])))  # None
    reveal_type(given.shape)  # tuple


@tritonx.jit
def loops(x: tl.tensor, n: tl.tensor, STEP: tl.constexpr):
    for i in range(0, n, STEP):
        reveal_type(i)  # int
    for i in tl.range(0, n, STEP, num_stages=2):
        reveal_type(i)  # tensor
    for i in tl.static_range(STEP):
        reveal_type(i)  # Any
    while x.sum() > 0:
        x -= n
    if n > 0 and x.sum() == 0:
        x = scaled(x, 2.0)
    WIDTH: tl.constexpr = STEP // 2
    reveal_type(tl.arange(0, WIDTH))  # tensor
    reveal_type(scaled(x, by=n, BLOCK=8))  # tensor
    reveal_type(half(STEP))  # int


@tl.core._aggregate  # pyright: ignore[reportPrivateUsage]  # its name in Triton
class Pair:
    first: tl.tensor
    second: tl.constexpr

    def __init__(self, first: tl.tensor, second: Any):
        self.first = first
        self.second = second

    @tritonx.jit
    def plus(self, other: tl.tensor) -> tl.tensor:
        return self.first + self.second + other


@tritonx.jit
def aggregates(x: tl.tensor):
    pair = Pair(x, 4)
    reveal_type(pair.first)  # tensor
    reveal_type(pair.plus(x))  # tensor


SCALE = tl.constexpr(1.5)
LIMIT: tl.constexpr = 16


@tritonx.jit
def constants(x: tl.tensor):
    reveal_type(SCALE)  # Any
    reveal_type(tl.arange(0, LIMIT) * SCALE)  # Any
