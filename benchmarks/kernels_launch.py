"""Kernels and the host code around them as users write it, for `gpu_launch.py`. Loaded for one compiler by ``peers``.

Every wrapper is in the style of Triton's tutorials and of libraries: it makes its outputs, descriptors and grids at
each call. The kernels do little, so that the device keeps up with the host."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

SIDE, BLOCK = 64, 1024


@dataclass(frozen=True)
class Form:
    """A way to launch. ``call`` is what the user calls; ``rest`` is the same without the launch and without what only
    the launch needs (descriptors, grids), so that what PyTorch takes of the time is known."""

    call: Callable[[], object]
    rest: Callable[[], object] | None = None


@triton.jit
def one(a):
    pass


@triton.jit
def five(a, b, c, d, e):
    pass


@triton.jit
def twenty(a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r, s, t, u):
    pass


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask), mask=mask)


@triton.jit
def cast(x_ptr, out_ptr, n, TYPE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n).to(TYPE), mask=at < n)


@triton.jit
def add_pairs(pointers, sizes, out_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < sizes[0]
    tl.store(out_ptr + at, tl.load(pointers[0] + at, mask=mask) + tl.load(pointers[1] + at, mask=mask), mask=mask)


@triton.jit
def normalise(x_ptr, weight_ptr, bias_ptr, residual_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * n + at, mask=at < n, other=0.0)
    if residual_ptr is not None:
        x += tl.load(residual_ptr + tl.program_id(0) * n + at, mask=at < n, other=0.0)
    x *= tl.rsqrt(tl.sum(x * x, axis=0) / n + eps)
    if weight_ptr is not None:
        x *= tl.load(weight_ptr + at, mask=at < n)
    if bias_ptr is not None:
        x += tl.load(bias_ptr + at, mask=at < n)
    tl.store(out_ptr + tl.program_id(0) * n + at, x, mask=at < n)


@triton.heuristics(
    {
        "WHOLE": lambda args: args["n"] % args["BLOCK"] == 0,
        "HAS_BIAS": lambda args: args["bias_ptr"] is not None,
    }
)
@triton.jit
def scale(x_ptr, bias_ptr, out_ptr, n, factor, BLOCK: tl.constexpr, WHOLE: tl.constexpr, HAS_BIAS: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = (tl.load(x_ptr + at) if WHOLE else tl.load(x_ptr + at, mask=at < n)) * factor
    if HAS_BIAS:
        x += tl.load(bias_ptr + at, mask=at < n)
    tl.store(out_ptr + at, x, mask=at < n)


CONFIGS = [triton.Config({"BLOCK": size}, num_warps=4) for size in (512, 1024)]


@triton.autotune(CONFIGS, key=["n"])
@triton.jit
def tuned_add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask), mask=mask)


@triton.autotune(CONFIGS, key=["n"])
@triton.heuristics({"WHOLE": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def tuned_scale(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr, WHOLE: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at) if WHOLE else tl.load(x_ptr + at, mask=at < n)
    tl.store(out_ptr + at, x * factor, mask=at < n)


@triton.jit
def product(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, ACTIVATION: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    ks = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + rows[:, None] * stride_am + ks[None, :] * stride_ak
    b_ptrs = b_ptr + ks[:, None] * stride_bk + columns[None, :] * stride_bn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=ks[None, :] < K - k * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=ks[:, None] < K - k * BLOCK_K, other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    if ACTIVATION == "leaky_relu":
        acc = tl.where(acc >= 0, acc, 0.01 * acc)
    c_ptrs = c_ptr + rows[:, None] * stride_cm + columns[None, :] * stride_cn
    tl.store(c_ptrs, acc.to(tl.float16), mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def product_described(a_desc, b_desc, c_desc, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    row, column = tl.program_id(0) * BLOCK_M, tl.program_id(1) * BLOCK_N
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        acc = tl.dot(a_desc.load([row, k]), b_desc.load([k, column]), acc)
    c_desc.store([row, column], acc.to(tl.float16))


def set_block_shapes(args: dict[str, Any]) -> None:
    """As the tutorial on persistent products sets what only the configuration knows."""
    args["a_desc"].block_shape = [args["BLOCK_M"], args["BLOCK_K"]]
    args["b_desc"].block_shape = [args["BLOCK_K"], args["BLOCK_N"]]
    args["c_desc"].block_shape = [args["BLOCK_M"], args["BLOCK_N"]]


tuned_described = triton.autotune(
    [
        triton.Config(
            {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64}, num_stages=stages, num_warps=4, pre_hook=set_block_shapes
        )
        for stages in (1, 2)
    ],
    key=["K"],
)(product_described)


# What users call -----------------------------------------------------------------------------------------------------


def vector_sum(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    n = out.numel()
    add[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, out, n, BLOCK=BLOCK)
    return out


def leaky_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    assert a.shape[1] == b.shape[0], "Incompatible dimensions"
    assert a.is_contiguous(), "Matrix A must be contiguous"
    M, K = a.shape
    _, N = b.shape
    c = torch.empty((M, N), device=a.device, dtype=a.dtype)
    product[lambda meta: (triton.cdiv(M, meta["BLOCK_M"]), triton.cdiv(N, meta["BLOCK_N"]))](
        a, b, c, M, N, K, a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1),
        BLOCK_M=SIDE, BLOCK_N=SIDE, BLOCK_K=SIDE, ACTIVATION="leaky_relu", num_warps=4, num_stages=2,
    )  # fmt: skip
    return c


def described_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    c = torch.empty((a.shape[0], b.shape[1]), device=a.device, dtype=a.dtype)
    a_desc, b_desc, c_desc = (TensorDescriptor.from_tensor(each, [SIDE, SIDE]) for each in (a, b, c))
    grid = triton.cdiv(a.shape[0], SIDE), triton.cdiv(b.shape[1], SIDE)
    product_described[grid](a_desc, b_desc, c_desc, a.shape[1], SIDE, SIDE, SIDE)
    return c


def tuned_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    M, K = a.shape
    N = b.shape[1]
    c = torch.empty((M, N), device=a.device, dtype=a.dtype)
    unknown = [1, 1]
    a_desc = TensorDescriptor(a, a.shape, a.stride(), unknown)
    b_desc = TensorDescriptor(b, b.shape, b.stride(), unknown)
    c_desc = TensorDescriptor(c, c.shape, c.stride(), unknown)
    tuned_described[lambda meta: (triton.cdiv(M, meta["BLOCK_M"]), triton.cdiv(N, meta["BLOCK_N"]))](
        a_desc, b_desc, c_desc, K
    )
    return c


def empty_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.empty((a.shape[0], b.shape[1]), device=a.device, dtype=a.dtype)


def rms_norm(x: torch.Tensor, weight: torch.Tensor | None, bias: torch.Tensor | None) -> torch.Tensor:
    out = torch.empty_like(x)
    normalise[(x.shape[0],)](x, weight, bias, None, out, x.shape[1], 1e-6, BLOCK=SIDE)
    return out


def arguments(count: int, device: str) -> list[Any]:
    """Tensors, ints and floats as real kernels mix them."""
    kinds = {1: "p", 5: "ppiif", 20: "p" * 8 + "i" * 8 + "f" * 4}[count]
    tensors = [torch.zeros(BLOCK, device=device) for _ in range(8)]
    made: list[Any] = []
    for i, kind in enumerate(kinds):
        made.append(tensors[i % 8] if kind == "p" else 33 + i if kind == "i" else 0.5 + i)
    return made


def forms(device: str, streams: Sequence[Any], use: Callable[[Any], object]) -> dict[str, Form]:
    """Every form by its name. ``streams`` are PyTorch's, ``use`` makes one of them the current one."""
    x, y, out = (torch.zeros(4 * BLOCK, device=device) for _ in range(3))
    half = torch.zeros(4 * BLOCK, device=device, dtype=torch.float16)
    rows = torch.zeros(SIDE, SIDE, device=device)
    a, b, c = (torch.zeros(SIDE, SIDE, device=device, dtype=torch.float16) for _ in range(3))
    a_desc, b_desc, c_desc = (TensorDescriptor.from_tensor(each, [SIDE, SIDE]) for each in (a, b, c))
    n, lengths, turns = x.numel(), [4 * BLOCK - 17 * i for i in range(16)], iter(range(1 << 62))
    of_one, of_five, of_twenty = (arguments(count, device) for count in (1, 5, 20))
    kept = add[(4,)]

    def on_streams() -> None:
        use(streams[next(turns) % len(streams)])
        add[(4,)](x, y, out, n, BLOCK=BLOCK)

    def of_any_length() -> None:
        length = lengths[next(turns) % len(lengths)]
        add[(triton.cdiv(length, BLOCK),)](x, y, out, length, BLOCK=BLOCK)

    return {
        "1 argument": Form(lambda: one[(1,)](*of_one)),
        "5 arguments": Form(lambda: five[(1,)](*of_five)),
        "20 arguments": Form(lambda: twenty[(1,)](*of_twenty)),
        "keywords": Form(lambda: add[(4,)](x_ptr=x, y_ptr=y, out_ptr=out, n=n, BLOCK=BLOCK)),
        "options": Form(lambda: add[4, 1, 1](x, y, out, n, BLOCK, num_warps=8, num_stages=2)),
        "a launch that is kept": Form(lambda: kept(x, y, out, n, BLOCK=BLOCK)),
        "grid by a lambda": Form(lambda: add[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, out, n, BLOCK=BLOCK)),
        "other lengths at each call": Form(of_any_length),
        "an output is made": Form(lambda: vector_sum(x, y), lambda: torch.empty_like(x)),
        "a dtype": Form(lambda: cast[(4,)](x, half, n, TYPE=tl.float16, BLOCK=BLOCK)),
        "tuples": Form(lambda: add_pairs[(4,)]((x, y), (n, 4), out, BLOCK=BLOCK)),
        "None and an output": Form(lambda: rms_norm(rows, rows, None), lambda: torch.empty_like(rows)),
        "heuristics": Form(
            lambda: scale[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, None, out, n, 0.5, BLOCK=BLOCK)
        ),
        "autotuned": Form(lambda: tuned_add[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, out, n)),
        "autotuned, heuristics": Form(
            lambda: tuned_scale[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, out, n, 0.5)
        ),
        "a product by pointers": Form(lambda: leaky_product(a, b), lambda: empty_product(a, b)),
        "three descriptors, kept": Form(
            lambda: product_described[(1, 1)](a_desc, b_desc, c_desc, SIDE, SIDE, SIDE, SIDE)
        ),
        "three descriptors, new": Form(lambda: described_product(a, b), lambda: empty_product(a, b)),
        "descriptors, autotuned": Form(lambda: tuned_product(a, b), lambda: empty_product(a, b)),
        "streams by turns": Form(on_streams, lambda: use(streams[next(turns) % len(streams)])),
    }
