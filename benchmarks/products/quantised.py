"""Products whose weights are integers of 8 and 4 bits, and of 8-bit floats with scales of blocks."""

from __future__ import annotations

import torch

from products.case import Bench, Builder, Call, Case, Configuration, Step, tile_grid, tiles

TILES = tiles(
    [(128, 128, 64, 8, 3), (128, 256, 64, 8, 3), (128, 128, 64, 4, 3), (128, 128, 64, 8, 4), (64, 128, 64, 4, 4),
     (256, 128, 64, 8, 3), (128, 128, 128, 8, 3)]
)  # fmt: skip

TILES_SCALED = tiles(
    [(128, 128, 128, 8, 3), (64, 128, 128, 4, 4), (128, 128, 128, 4, 3), (128, 128, 128, 8, 4), (64, 256, 128, 8, 3),
     (128, 256, 128, 8, 3), (64, 128, 128, 4, 3)]
)  # fmt: skip

SHARED = 128
"""Rows of a column, or elements of a row, that have one scale."""


def int8_weights(m: int, n: int, k: int) -> Builder:
    def build(bench: Bench) -> Case:
        rows, columns, depth = bench.sizes(m, n, k)
        a, b = bench.drawn(rows, depth, dtype=torch.bfloat16), bench.drawn(depth, columns, dtype=torch.int8)
        scale = bench.drawn(columns, dtype=torch.float32).abs() / 127
        out = bench.empty(rows, columns, dtype=torch.bfloat16)

        def steps(c: Configuration) -> list[Step]:
            arguments = (a, b, scale, out, rows, columns, depth, depth, columns, columns)
            return [Call("kernels_quantised", "matmul_int8_weights", tile_grid(rows, columns, c), arguments, c)]

        return Case(
            f"int8 weights {m}x{n}x{k} bf16", 2.0 * rows * columns * depth, TILES, (out,), steps,
            lambda: [a.double() @ b.double() * scale.double()], 5e-3,
        )  # fmt: skip

    return build


def int4_weights(m: int, n: int, k: int) -> Builder:
    def build(bench: Bench) -> Case:
        rows, columns, depth = bench.sizes(m, n, k)
        a, packed = bench.drawn(rows, depth, dtype=torch.float16), bench.drawn(depth // 2, columns, dtype=torch.uint8)
        scale = (bench.drawn(depth // SHARED, columns, dtype=torch.float32).abs() / 8).to(torch.float16)
        out = bench.empty(rows, columns, dtype=torch.float16)

        def exact() -> list[torch.Tensor]:
            halves = torch.stack([packed & 15, packed >> 4], dim=1).reshape(depth, columns).to(torch.float16) - 8
            weights = halves * scale.repeat_interleave(SHARED, 0)  # rounded to f16, as they are multiplied
            return [a.double() @ weights.double()]

        def steps(c: Configuration) -> list[Step]:
            arguments = (a, packed, scale, out, rows, columns, depth, depth, columns, columns, columns)
            options = {**c, "SHARED": SHARED}
            return [Call("kernels_quantised", "matmul_int4_weights", tile_grid(rows, columns, c), arguments, options)]

        return Case(
            f"int4 weights {m}x{n}x{k} f16", 2.0 * rows * columns * depth, TILES, (out,), steps, exact, 1e-3
        )  # fmt: skip

    return build


def block_scales(m: int, n: int, k: int) -> Builder:
    def build(bench: Bench) -> Case:
        rows, columns, depth = bench.sizes(m, n, k)
        a, b = (bench.drawn(x, depth, dtype=torch.float8_e4m3fn) for x in (rows, columns))
        a_scale = bench.drawn(rows, depth // SHARED, dtype=torch.float32).abs()
        b_scale = bench.drawn(columns // SHARED, depth // SHARED, dtype=torch.float32).abs()
        out = bench.empty(rows, columns, dtype=torch.bfloat16)

        def steps(c: Configuration) -> list[Step]:
            strides = (depth, depth, depth // SHARED, depth // SHARED, columns)
            arguments = (a, b, a_scale, b_scale, out, rows, columns, depth, *strides)
            return [Call("kernels_quantised", "matmul_block_scales", tile_grid(rows, columns, c), arguments, c)]

        def exact() -> list[torch.Tensor]:
            x = a.double() * a_scale.double().repeat_interleave(SHARED, 1)
            squares = b_scale.double().repeat_interleave(SHARED, 0).repeat_interleave(SHARED, 1)
            return [x @ (b.double() * squares).T]

        return Case(
            f"block scales {m}x{n}x{k} e4m3", 2.0 * rows * columns * depth, TILES_SCALED, (out,), steps, exact, 5e-3
        )  # fmt: skip

    return build


QUANTISED: dict[str, Builder] = {
    "int8_weights_4096": int8_weights(4096, 4096, 4096),
    "int4_weights_4096": int4_weights(4096, 4096, 4096),
    "block_scales_4096": block_scales(4096, 4096, 4096),
}
