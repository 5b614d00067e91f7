"""Blocked encodings for a shape, a launch and a wish of elements per thread."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from tritonx.layouts.encodings import BlockedEncoding, Ints
from tritonx.layouts.tiling import storage_shape


@lru_cache(maxsize=1024)
def blocked(
    shape: Ints, per_thread: Ints, order: Ints, num_warps: int, warp_size: int, num_ctas: int = 1
) -> BlockedEncoding:
    """Threads along the fastest dims of `order` first, lanes before warps; what is left over goes to the slowest dim.

    With a cluster the CTAs split the slowest dim that is long enough, or hold copies.
    """
    sizes = list(storage_shape(shape))
    rank = len(sizes)
    cga = _split_over_ctas(sizes, order, num_ctas)
    lanes, warps = [1] * rank, [1] * rank
    free_lanes, free_warps, free_threads = warp_size, num_warps, warp_size * num_warps
    for d in order[:-1]:
        threads = _clamp(free_threads, max(1, sizes[d] // per_thread[d]))
        lanes[d] = _clamp(threads, free_lanes)
        warps[d] = _clamp(threads // lanes[d], free_warps)
        free_lanes //= lanes[d]
        free_warps //= warps[d]
        free_threads //= threads
    lanes[order[-1]], warps[order[-1]] = free_lanes, free_warps
    return BlockedEncoding(per_thread, tuple(lanes), tuple(warps), order, cga)


def _clamp(value: int, most: int) -> int:
    return max(1, min(value, most))


def block_bases(shape: Ints, tile: Ints, num_ctas: int) -> tuple[Ints, ...]:
    """How the blocks of a cluster share a result of whole tiles: as a row-major blocked encoding has them, as far as
    each has a tile; those that would share one hold copies."""
    bases = _split_over_ctas(list(storage_shape(shape)), tuple(reversed(range(len(shape)))), num_ctas)
    dims = range(len(shape))
    splits = [max(basis[d] for basis in bases) * 2 if any(basis[d] for basis in bases) else 1 for d in dims]
    tiles = [max(1, size // extent) for size, extent in zip(storage_shape(shape), tile, strict=True)]
    copies = [max(1, split // count) for split, count in zip(splits, tiles, strict=True)]
    return tuple(tuple(basis[d] // copies[d] for d in dims) for basis in bases)


def _split_over_ctas(sizes: list[int], order: Sequence[int], num_ctas: int) -> tuple[Ints, ...]:
    """Bases of the CTA bits; `sizes` becomes what is left for one CTA."""
    rank = len(sizes)
    bases: list[Ints] = []
    steps = [1] * rank
    for _ in range(num_ctas.bit_length() - 1):
        basis = [0] * rank
        d = next((d for d in reversed(order) if sizes[d] > 1), None)
        if d is not None:
            basis[d] = steps[d]
            steps[d] *= 2
            sizes[d] //= 2
        bases.append(tuple(basis))
    return tuple(bases)


def default_encoding(shape: Ints, num_warps: int, warp_size: int, num_ctas: int = 1) -> BlockedEncoding:
    """One element per thread, the last dim fastest."""
    rank = len(shape)
    return blocked(shape, (1,) * rank, tuple(reversed(range(rank))), num_warps, warp_size, num_ctas)
