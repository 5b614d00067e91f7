"""The unit that every target has: each thread computes its elements of a product with multiply-adds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from tritonx.conversion.tile_to_gpu.blocked import block_bases, blocked
from tritonx.conversion.tile_to_gpu.matrix_unit import DotLayout, ExplainingUnit, Product, Threads

SQUARE = 4
"""Side of a thread's square of results: 4x4 reads 8 operands for 16 multiply-adds."""


@dataclass(frozen=True)
class MultiplyAdds(ExplainingUnit):
    """A blocked layout of small squares; a thread holds all of K for its rows and columns."""

    @property
    def types(self) -> frozenset[str]:
        """None for whose sake a product would be rewritten: it takes all as they are."""
        return frozenset()

    @property
    def name(self) -> str:
        return "the threads' multiply-adds"

    def refusal(self, product: Product, threads: Threads) -> str | None:
        return None

    def cycles(self, product: Product) -> int:
        """128 lanes; a few for f64 on most chips, so that a unit for it is always preferred."""
        return product.cycles(1 if product.bits == 64 else 128)

    def layout(self, product: Product, threads: Threads) -> DotLayout:
        shape = product.shape
        per_thread = [1] * len(shape)
        for d in (-1, -2):
            per_thread[d] = min(SQUARE, shape[d])
        every = threads.num_warps * threads.warp_size
        while per_thread[-1] * per_thread[-2] * every > prod(shape) and max(per_thread[-2:]) > 1:
            d = -2 if per_thread[-2] >= per_thread[-1] else -1
            per_thread[d] //= 2
        order = tuple(reversed(range(len(shape))))
        result = blocked(shape, tuple(per_thread), order, threads.num_warps, threads.warp_size, threads.num_ctas)
        if product.is_wanted_whole and threads.num_ctas > 1:
            result = replace(result, cga=block_bases(shape, shape, threads.num_ctas))
        return DotLayout.of(result, 0)
