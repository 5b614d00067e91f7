"""Products with an epilogue, of several sizes in one launch, and of shares of a long inner dimension."""

from __future__ import annotations

import torch

from products.case import Bench, Builder, Call, Case, Configuration, Step, tile_grid, tiles

TILES = tiles(
    [(128, 256, 64, 8, 3), (128, 256, 64, 8, 4), (256, 128, 64, 8, 3), (128, 128, 64, 4, 3), (128, 128, 64, 4, 4),
     (128, 128, 64, 8, 4), (64, 256, 64, 4, 4)]
)  # fmt: skip


def gelu(m: int, n: int, k: int) -> Builder:
    """Of a product and a bias, added to a residual."""

    def build(bench: Bench) -> Case:
        dtype = torch.bfloat16
        rows, columns, depth = bench.sizes(m, n, k)
        a = bench.drawn(rows, depth, dtype=dtype)
        b = (bench.drawn(depth, columns, dtype=torch.float32) / depth**0.5).to(dtype)
        bias, residual = bench.drawn(columns, dtype=dtype), bench.drawn(rows, columns, dtype=dtype)
        out = bench.empty(rows, columns, dtype=dtype)

        def steps(c: Configuration) -> list[Step]:
            arguments = (a, b, bias, residual, out, rows, columns, depth, depth, columns, columns)
            return [Call("kernels_fused", "matmul_gelu", tile_grid(rows, columns, c), arguments, c)]

        def computed(*given: torch.Tensor) -> list[torch.Tensor]:
            x, y, added, carried = given
            return [torch.nn.functional.gelu(torch.addmm(added, x, y), approximate="tanh") + carried]

        return Case(
            f"gelu {m}x{n}x{k} bf16", 2.0 * rows * columns * depth, TILES, (out,), steps,
            lambda: computed(*(x.double() for x in (a, b, bias, residual))), 5e-3,
            lambda: computed(a, b, bias, residual),
        )  # fmt: skip

    return build


SPLITS = [
    {**tile, "SPLIT": split}
    for choice, split in (
        ((128, 128, 64, 8, 4), 2), ((128, 128, 64, 8, 4), 4), ((128, 128, 64, 4, 4), 2), ((128, 128, 64, 4, 4), 4),
        ((128, 256, 64, 8, 4), 4), ((128, 256, 64, 8, 3), 8), ((64, 128, 64, 4, 4), 2),
    )
    for tile in tiles([choice])
]  # fmt: skip


def split(m: int, n: int, k: int) -> Builder:
    """Few tiles and a long sum; the result is f32."""

    def build(bench: Bench) -> Case:
        rows, columns, depth = (256, 256, 1024) if bench.small else (m, n, k)
        a, b = (bench.drawn(*shape, dtype=torch.float16) for shape in ((rows, depth), (depth, columns)))
        out = bench.empty(rows, columns, dtype=torch.float32)

        def steps(c: Configuration) -> list[Step]:
            grid = (*tile_grid(rows, columns, c), c["SPLIT"])
            arguments = (a, b, out, rows, columns, depth, depth, columns, columns)
            return [out.zero_, Call("kernels_fused", "matmul_split", grid, arguments, c)]

        return Case(
            f"split {m}x{n}x{k} f16", 2.0 * rows * columns * depth, SPLITS, (out,), steps,
            lambda: [a.double() @ b.double()], 1e-3, lambda: [a @ b],
        )  # fmt: skip

    return build


GROUPED = [
    {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "num_warps": w, "num_stages": s}
    for m, n, k, w, s in (
        (128, 256, 64, 8, 3), (128, 128, 64, 4, 3), (128, 256, 64, 8, 4), (256, 128, 64, 8, 3), (128, 128, 64, 4, 4),
        (128, 128, 64, 8, 4), (64, 256, 64, 4, 4),
    )
]  # fmt: skip

GROUPS = [(512, 4096, 4096), (1024, 4096, 4096), (2048, 2048, 4096), (256, 8192, 2048), (4096, 4096, 1024),
          (768, 3072, 8192), (1536, 1024, 2048), (2048, 4096, 4096)]  # fmt: skip
SMALL_GROUPS = [(256, 256, 128), (512, 256, 192), (256, 512, 64)]
STAYING = 132
"""Programs of a grouped product: the multiprocessors of an H100."""


def grouped(bench: Bench) -> Case:
    """Products of several sizes in one launch. The library is called for each."""
    sizes = SMALL_GROUPS if bench.small else GROUPS
    dtype = torch.float16
    a = [bench.drawn(m, k, dtype=dtype) for m, _, k in sizes]
    b = [bench.drawn(k, n, dtype=dtype) for _, n, k in sizes]
    out = [bench.empty(m, n, dtype=dtype) for m, n, _ in sizes]
    addresses = [
        torch.tensor([x.data_ptr() for x in each], dtype=torch.int64, device=bench.device) for each in (a, b, out)
    ]
    listed = torch.tensor(sizes, dtype=torch.int32, device=bench.device)

    def steps(c: Configuration) -> list[Step]:
        arguments = (*addresses, listed, len(sizes))
        return [Call("kernels_fused", "grouped", (STAYING,), arguments, {"PROGRAMS": STAYING, **c})]

    return Case(
        f"grouped {len(sizes)} f16", sum(2.0 * m * n * k for m, n, k in sizes), GROUPED, tuple(out), steps,
        lambda: [x.double() @ y.double() for x, y in zip(a, b, strict=True)], 1e-3,
        lambda: [x @ y for x, y in zip(a, b, strict=True)],
    )  # fmt: skip


FUSED: dict[str, Builder] = {
    "gelu_4096": gelu(4096, 4096, 4096),
    "split_1024x1024x16384": split(1024, 1024, 16384),
    "grouped": grouped,
}
