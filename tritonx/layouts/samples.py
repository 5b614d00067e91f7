"""Random encodings with shapes that they can lay out, for property tests here and comparisons with a peer."""

from __future__ import annotations

from random import Random

from tritonx.layouts.encodings import (
    AmdMfmaEncoding,
    AmdWmmaEncoding,
    Bases,
    BlockedEncoding,
    DistributedEncoding,
    DotOperandEncoding,
    Ints,
    NvidiaMmaEncoding,
    NvmmaSharedEncoding,
    PaddedSharedEncoding,
    RotatingSharedEncoding,
    SharedEncoding,
    SliceEncoding,
    SwizzledSharedEncoding,
)
from tritonx.layouts.gf2 import log2 as _log2


def split(rng: Random, bits: int, rank: int) -> Ints:
    """`rank` powers of two whose product is 2**bits."""
    exponents = [0] * rank
    for _ in range(bits):
        exponents[rng.randrange(rank)] += 1
    return tuple(1 << x for x in exponents)


def random_cga(rng: Random, rank: int) -> Bases:
    bits = rng.choice([0, 0, 0, 1, 2])
    extent = [0] * rank
    bases: list[Ints] = []
    for _ in range(bits):
        d = rng.randrange(rank + 1)
        basis = [0] * rank
        if d < rank:
            basis[d] = 1 << extent[d]
            extent[d] += 1
        bases.append(tuple(basis))
    return tuple(bases)


def random_blocked(rng: Random, rank: int) -> BlockedEncoding:
    order = list(range(rank))
    rng.shuffle(order)
    return BlockedEncoding(
        split(rng, rng.randrange(5), rank),
        split(rng, rng.choice([5, 5, 6]), rank),
        split(rng, rng.randrange(4), rank),
        tuple(order),
        random_cga(rng, rank),
    )


def random_mma(rng: Random, rank: int = 2) -> NvidiaMmaEncoding:
    warps = split(rng, rng.randrange(4), rank)
    lead = (1,) * (rank - 2)
    return NvidiaMmaEncoding(2, 0, warps, (*lead, 16, 8), random_cga(rng, rank))


def random_wgmma(rng: Random) -> NvidiaMmaEncoding:
    n = rng.choice([8, 16, 32, 64, 128, 256])
    return NvidiaMmaEncoding(3, 0, (4 * 2 ** rng.randrange(2), 2 ** rng.randrange(2)), (16, n, 16), random_cga(rng, 2))


# Matrix cores have no clusters; what the wheel gives for them with a CGALayout (copies in registers, operands split
# along K) is not followed.


def random_mfma(rng: Random, rank: int = 2) -> AmdMfmaEncoding:
    shape = rng.choice([(32, 32, 8), (16, 16, 16), (64, 4, 4), (4, 64, 4)])
    transposed = rng.random() < 0.5 or shape[0] != shape[1]
    tiles = (1,) * (rank - 2) + split(rng, rng.randrange(3), 2)
    width = 64 if shape[0] == 16 and rng.random() < 0.2 else 32
    warps = split(rng, rng.randrange(4), rank)
    return AmdMfmaEncoding(rng.choice([2, 3, 4]), warps, shape, transposed, (), tiles, width)


def random_wmma(rng: Random, rank: int = 2) -> AmdWmmaEncoding:
    version = rng.choice([1, 2, 3])
    # Version 1 with several tiles in a warp, which is not used, numbers its registers differently in the wheel.
    tiles = (1,) * (rank - 2) + split(rng, rng.randrange(3) if version > 1 else 0, 2)
    shape = (16, 16, 32) if version == 3 else (16, 16, 16)
    warps = split(rng, rng.randrange(4), rank)
    return AmdWmmaEncoding(version, rng.random() < 0.5, warps, shape, (), tiles)


def random_shape(rng: Random, rank: int, low: int = 0, high: int = 8) -> Ints:
    return tuple(1 << rng.randrange(low, high) for _ in range(rank))


def random_distributed(rng: Random) -> tuple[DistributedEncoding, Ints]:
    kind = rng.randrange(9)
    rank = rng.choice([1, 2, 2, 2, 3])
    matrix_rank = rng.choice([2, 2, 2, 3])
    match kind:
        case 0:
            return random_blocked(rng, rank), random_shape(rng, rank)
        case 1:
            parent = random_blocked(rng, rank + 1)
            return SliceEncoding(rng.randrange(rank + 1), parent), random_shape(rng, rank)
        case 2:
            return random_mma(rng, matrix_rank), random_shape(rng, matrix_rank)
        case 3:
            return random_wgmma(rng), random_shape(rng, 2, 4, 9)
        case 4:
            parent = random_mma(rng, matrix_rank)
            return DotOperandEncoding(rng.randrange(2), parent, 1 << rng.randrange(3)), random_shape(
                rng, matrix_rank, 3
            )
        case 5:
            parent = random_blocked(rng, matrix_rank)
            return DotOperandEncoding(rng.randrange(2), parent), random_shape(rng, matrix_rank)
        case 6:
            parent = rng.choice([random_mma(rng), random_wgmma(rng), random_mfma(rng), random_wmma(rng)])
            return SliceEncoding(rng.randrange(2), parent), random_shape(rng, 1, 6)
        case 7:
            parent = random_mfma(rng, matrix_rank)
            if rng.random() < 0.4:
                return parent, random_shape(rng, matrix_rank, 6)
            return DotOperandEncoding(rng.randrange(2), parent, rng.choice([4, 8])), random_shape(rng, matrix_rank, 6)
        case _:
            parent = random_wmma(rng, matrix_rank)
            if rng.random() < 0.4:
                return parent, random_shape(rng, matrix_rank, 6)
            width = {1: [16], 2: [8], 3: [2, 8, 16]}[parent.version]
            return DotOperandEncoding(rng.randrange(2), parent, rng.choice(width)), random_shape(rng, matrix_rank, 6)


def random_shared(rng: Random) -> tuple[SharedEncoding, Ints, str]:
    """A shared encoding, a shape it can lay out, and an element type of the right width."""
    rank = rng.choice([1, 2, 2, 2, 3])
    order = list(range(rank))
    rng.shuffle(order)
    vec, per_phase, max_phase = (1 << rng.randrange(4) for _ in range(3))
    match rng.randrange(4):
        case 0:
            shape = random_shape(rng, rank, 1)
            return SwizzledSharedEncoding(vec, per_phase, max_phase, tuple(order), random_cga(rng, rank)), shape, "f16"
        case 1:
            rank = max(rank, 2)
            order = tuple(reversed(range(rank)))
            return RotatingSharedEncoding(vec, per_phase, max_phase, order), random_shape(rng, rank, 1), "f16"
        case 2:
            shape = random_shape(rng, rank, 1)
            if rng.random() < 0.5:
                return PaddedSharedEncoding((64, 32), (8, 4), tuple(order), shape), shape, "f32"
            bases = [
                tuple((1 << i) if d == e else 0 for e in range(rank)) for d in order for i in range(_log2(shape[d]))
            ]
            rng.shuffle(bases)
            return PaddedSharedEncoding((64,), (8,), None, None, tuple(bases)), shape, "f32"
        case _:
            rank = max(rank, 2)
            bits = rng.choice([8, 16, 32])
            width = rng.choice([0, 32, 64, 128])
            transposed = rng.random() < 0.5 and bits == 16
            extents = list(random_shape(rng, rank, 3))
            contiguous = 0 if transposed else -1
            extents[contiguous] = max(extents[contiguous], 8 * max(width, 16) // bits)
            shape = tuple(extents)
            e = NvmmaSharedEncoding(width, transposed, bits, False, (), rank)
            return e, shape, {8: "i8", 16: "f16", 32: "f32"}[bits]
