"""Matrix products of every type, by pointers and by descriptors, in every order of operands; decoding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch

from products.case import Bench, Builder, Call, Case, Configuration, Described, Step, tile_grid, tiles

TILES = tiles(
    [(128, 256, 64, 8, 3), (128, 256, 64, 8, 4), (256, 128, 64, 8, 3), (256, 128, 64, 8, 4), (128, 128, 64, 4, 3),
     (128, 128, 64, 4, 4), (128, 128, 64, 8, 4), (64, 256, 64, 4, 4)]
)  # fmt: skip

TILES_TF32 = tiles(
    [(128, 256, 32, 8, 3), (128, 256, 32, 8, 4), (256, 128, 32, 8, 4), (128, 128, 32, 4, 4), (128, 128, 32, 8, 4),
     (128, 128, 64, 8, 3), (64, 256, 32, 4, 4)]
)  # fmt: skip

TILES_BYTES = tiles(
    [(128, 256, 128, 8, 3), (128, 256, 128, 8, 4), (256, 128, 128, 8, 3), (128, 128, 128, 4, 4),
     (128, 128, 128, 8, 4), (128, 256, 64, 8, 4), (64, 256, 128, 4, 4)]
)  # fmt: skip

TILES_FLAT = tiles(
    [(128, 256, 64, 8, 3), (128, 256, 64, 8, 4), (128, 128, 64, 4, 4), (128, 128, 64, 8, 4), (64, 256, 64, 4, 4),
     (64, 128, 64, 4, 4), (64, 128, 128, 4, 3), (256, 128, 64, 8, 4)]
)  # fmt: skip

TILES_F64 = tiles(
    [(64, 64, 16, 4, 3), (64, 64, 32, 4, 3), (128, 64, 16, 4, 3), (128, 64, 16, 8, 3), (64, 128, 16, 8, 3),
     (128, 128, 16, 8, 3)]
)  # fmt: skip

TILES_IEEE = tiles(
    [(64, 64, 16, 4, 3), (64, 64, 32, 4, 3), (128, 64, 16, 4, 3), (128, 64, 32, 8, 3), (128, 128, 16, 8, 3),
     (128, 128, 32, 8, 3)],
    PRECISION="ieee",
)  # fmt: skip

TOLERANCES = {
    torch.float16: 1e-3, torch.bfloat16: 5e-3, torch.float32: 4e-3, torch.float64: 1e-12, torch.int8: 0.0,
    torch.float8_e4m3fn: 3e-2, torch.float8_e5m2: 3e-2,
}  # fmt: skip
"""By the type of the operands. Matrix units read f32 as tf32, and add products of 8 bits with about 14."""

RESULTS = {torch.int8: torch.int32, torch.float8_e4m3fn: torch.float16, torch.float8_e5m2: torch.float16}
NAMES = {
    torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "tf32", torch.float64: "f64", torch.int8: "s8",
    torch.float8_e4m3fn: "e4m3", torch.float8_e5m2: "e5m2",
}  # fmt: skip


def by_pointers(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor, c: Configuration) -> Call:
    (m, k), n = a.shape, b.shape[1]
    arguments = (a, b, out, m, n, k, *a.stride(), *b.stride(), *out.stride())
    return Call("kernels_products", "matmul", tile_grid(m, n, c), arguments, c)


def by_descriptors(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor, c: Configuration) -> Call:
    (m, k), n = a.shape, b.shape[1]
    rows, columns, depth = c["BLOCK_M"], c["BLOCK_N"], c["BLOCK_K"]
    blocks = (rows, depth), (depth, columns), (rows, columns)
    described = (Described(x, block) for x, block in zip((a, b, out), blocks, strict=True))
    return Call("kernels_products", "matmul_described", tile_grid(m, n, c), (*described, m, n, k), c)


def by_own_descriptors(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor, c: Configuration) -> Call:
    """The kernel makes them."""
    (m, k), n = a.shape, b.shape[1]
    return Call("kernels_products", "matmul_describing", tile_grid(m, n, c), (a, b, out, m, n, k), c)


def _multiprocessors(a: torch.Tensor) -> int:
    return torch.cuda.get_device_properties(a.device).multi_processor_count if a.is_cuda else 1


def persistent(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor, c: Configuration) -> Call:
    """As many programs as the GPU has multiprocessors."""
    call = by_descriptors(a, b, out, c)
    return replace(call, kernel="matmul_persistent", grid=(min(call.grid[0], _multiprocessors(a)),))


def own_persistent(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor, c: Configuration) -> Call:
    """With descriptors that the kernel makes."""
    call = by_own_descriptors(a, b, out, c)
    return replace(call, kernel="matmul_persistent_describing", grid=(min(call.grid[0], _multiprocessors(a)),))


LABELS = {
    by_descriptors: "descriptors", by_own_descriptors: "descriptors of its own", persistent: "persistent",
    own_persistent: "persistent, descriptors of its own",
}  # fmt: skip


def matmul(
    m: int, n: int, k: int, dtype: torch.dtype, configurations: Sequence[Configuration] = TILES, *,
    launch: Callable[..., Call] = by_pointers, turned: str = "", ieee: bool = False,
) -> Builder:  # fmt: skip
    """``turned`` names the operands whose columns lie densely: "a", "b", "ab"."""

    def operand(bench: Bench, rows: int, columns: int, is_turned: bool) -> torch.Tensor:
        drawn = bench.drawn(*((columns, rows) if is_turned else (rows, columns)), dtype=dtype)
        return drawn.T if is_turned else drawn

    def build(bench: Bench) -> Case:
        rows, columns, depth = bench.sizes(m, n, k)
        a, b = operand(bench, rows, depth, "a" in turned), operand(bench, depth, columns, "b" in turned)
        out = bench.empty(rows, columns, dtype=RESULTS.get(dtype, dtype))
        words = ["matmul", f"{m}x{n}x{k}", "ieee" if ieee else NAMES[dtype], *turned.upper()]
        return Case(
            " ".join([*words, LABELS.get(launch, "")]).strip(),
            2.0 * rows * columns * depth, configurations, (out,), lambda c: [launch(a, b, out, c)],
            lambda: [a.double() @ b.double()], 3e-6 if ieee else TOLERANCES[dtype],
            None if dtype == torch.float8_e5m2 else lambda: [library(a, b, ieee)],
        )  # fmt: skip

    return build


def library(a: torch.Tensor, b: torch.Tensor, ieee: bool) -> torch.Tensor:
    """PyTorch's call; it has none for two operands of e5m2."""
    if a.dtype == torch.int8:
        return torch._int_mm(a, b)
    if a.dtype == torch.float8_e4m3fn:
        one = torch.ones((), device=a.device)
        return torch._scaled_mm(a, b, one, one, out_dtype=torch.float16, use_fast_accum=True)
    torch.backends.cuda.matmul.allow_tf32 = not ieee
    return a @ b


DECODED = {
    16: [(16, 32, 128, 4, 4), (16, 32, 256, 4, 4), (16, 64, 128, 4, 4), (16, 64, 128, 4, 5), (16, 64, 256, 4, 3),
         (16, 128, 64, 4, 5), (16, 128, 128, 4, 4)],
    64: [(64, 32, 128, 4, 4), (64, 32, 128, 4, 5), (64, 64, 64, 4, 5), (64, 64, 128, 4, 3), (64, 64, 128, 4, 4),
         (64, 128, 64, 4, 4), (64, 128, 128, 4, 3)],
    128: [(128, 32, 128, 4, 4), (128, 64, 64, 4, 4), (128, 64, 128, 4, 3), (128, 64, 128, 8, 4), (128, 128, 64, 8, 4),
          (128, 128, 128, 8, 3), (64, 64, 128, 4, 4)],
}  # fmt: skip
"""Tiles by the number of rows."""

VECTORS: list[Configuration] = [
    {"BLOCK_N": n, "BLOCK_K": k, "num_warps": w, "num_stages": s}
    for n, k, w, s in ((8, 512, 4, 3), (8, 1024, 4, 2), (16, 256, 4, 3), (16, 512, 4, 3), (16, 512, 8, 3),
                       (32, 128, 4, 4), (32, 256, 4, 3))
]  # fmt: skip

CACHE = 1 << 29
"""Bytes of weights: more than caches hold."""


def decoding(m: int, n: int, k: int) -> Builder:
    """A few rows times the weights of several layers one after the other, of which no cache holds all."""

    def build(bench: Bench) -> Case:
        _, columns, depth = (m, 256, 1024) if bench.small else (m, n, k)
        layers = 2 if bench.small else max(2, CACHE // (2 * n * k))
        x = bench.drawn(m, depth, dtype=torch.bfloat16)
        weights = bench.drawn(layers, columns, depth, dtype=torch.bfloat16)
        out = bench.empty(layers, m, columns, dtype=torch.bfloat16)

        def layer(w: torch.Tensor, y: torch.Tensor, c: Configuration) -> Step:
            if m > 1:
                return by_pointers(x, w.T, y, c)
            grid = (columns // c["BLOCK_N"],)
            return Call("kernels_quantised", "vector_times_weights", grid, (x, w, y, columns, depth, depth), c)

        return Case(
            f"decoding {m}x{n}x{k} bf16", 2.0 * layers * m * columns * depth, tiles(DECODED[m]) if m > 1 else VECTORS,
            (out,), lambda c: [layer(w, y, c) for w, y in zip(weights, out, strict=True)],
            lambda: [torch.stack([x.double() @ w.double().T for w in weights])], TOLERANCES[x.dtype],
            lambda: [torch.stack([torch.mm(x, w.T, out=y) for w, y in zip(weights, out, strict=True)])], brief=True,
        )  # fmt: skip

    return build


HALVES = {"f16": torch.float16, "bf16": torch.bfloat16}

PRODUCTS: dict[str, Builder] = {
    **{f"{name}_{s}": matmul(s, s, s, dtype) for s in (8192, 4096, 2048) for name, dtype in HALVES.items()},
    **{f"f16_{s}_descriptors": matmul(s, s, s, torch.float16, launch=by_descriptors) for s in (8192, 4096, 2048)},
    "f16_4096_own_descriptors": matmul(4096, 4096, 4096, torch.float16, launch=by_own_descriptors),
    "f16_4096_own_persistent": matmul(4096, 4096, 4096, torch.float16, launch=own_persistent),
    **{f"{name}_4096_persistent": matmul(4096, 4096, 4096, dtype, launch=persistent) for name, dtype in HALVES.items()},
    "bf16_512": matmul(512, 8192, 8192, torch.bfloat16, TILES_FLAT),
    "tf32_8192": matmul(8192, 8192, 8192, torch.float32, TILES_TF32),
    "tf32_8192_descriptors": matmul(8192, 8192, 8192, torch.float32, TILES_TF32, launch=by_descriptors),
    "e4m3_8192": matmul(8192, 8192, 8192, torch.float8_e4m3fn, TILES_BYTES, turned="b"),
    "e5m2_8192": matmul(8192, 8192, 8192, torch.float8_e5m2, TILES_BYTES, turned="b"),
    "s8_8192": matmul(8192, 8192, 8192, torch.int8, TILES_BYTES, turned="b"),
    **{f"f16_8192_turned_{t}": matmul(8192, 8192, 8192, torch.float16, turned=t) for t in ("a", "b", "ab")},
    "f64_2048": matmul(2048, 2048, 2048, torch.float64, TILES_F64),
    "ieee_2048": matmul(2048, 2048, 2048, torch.float32, TILES_IEEE, ieee=True),
}

DECODING: dict[str, Builder] = {
    f"decoding{m}_{n}x{k}": decoding(m, n, k) for m in (1, 16, 64, 128) for n in (4096, 8192) for k in (4096, 8192)
}
