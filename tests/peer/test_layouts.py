"""The layouts of random encodings and shapes equal those of the Triton wheel."""

from __future__ import annotations

import importlib.util
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tritonx.layouts import encodings as enc
from tritonx.layouts.lookup import linear_layout

if importlib.util.find_spec("triton") is None:
    pytest.skip("the Triton wheel is not installed", allow_module_level=True)

ORACLE = Path(__file__).with_name("layout_oracle.py")


def ask(queries):
    done = subprocess.run(
        [sys.executable, str(ORACLE)], input=json.dumps(queries), capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def lists(bases):
    return [list(basis) for basis in bases]


def query(e):
    """The oracle's words for an encoding."""
    match e:
        case enc.BlockedEncoding():
            return ["blocked", [e.size_per_thread, e.threads_per_warp, e.warps_per_cta, e.order, lists(e.cga)]]
        case enc.SliceEncoding():
            return ["slice", [e.dim, query(e.parent)]]
        case enc.NvidiaMmaEncoding():
            version = [e.version_major, e.version_minor]
            return ["nvidia_mma", [version, e.warps_per_cta, lists(e.cga), e.instr_shape]]
        case enc.DotOperandEncoding():
            return ["dot_op", [e.op_idx, query(e.parent), e.k_width]]
        case enc.AmdMfmaEncoding():
            shape = [e.version, e.warps_per_cta, e.instr_shape, e.is_transposed]
            return ["amd_mfma", [*shape, lists(e.cga), e.tiles_per_warp, e.element_bit_width]]
        case enc.AmdWmmaEncoding():
            shape = [e.version, e.is_transposed, e.warps_per_cta, e.tiles_per_warp]
            return ["amd_wmma", [*shape, lists(e.cga), e.instr_shape]]
        case enc.LinearEncoding():
            raise NotImplementedError
    raise AssertionError(e)


def split(rng, bits, rank):
    """`rank` powers of two whose product is 2**bits."""
    exponents = [0] * rank
    for _ in range(bits):
        exponents[rng.randrange(rank)] += 1
    return tuple(1 << x for x in exponents)


def random_cga(rng, rank, ctas=None):
    bits = rng.choice([0, 0, 0, 1, 2]) if ctas is None else ctas
    extent = [0] * rank
    bases = []
    for _ in range(bits):
        d = rng.randrange(rank + 1)
        basis = [0] * rank
        if d < rank:
            basis[d] = 1 << extent[d]
            extent[d] += 1
        bases.append(tuple(basis))
    return tuple(bases)


def random_blocked(rng, rank):
    order = list(range(rank))
    rng.shuffle(order)
    return enc.BlockedEncoding(
        split(rng, rng.randrange(5), rank),
        split(rng, rng.choice([5, 5, 6]), rank),
        split(rng, rng.randrange(4), rank),
        tuple(order),
        random_cga(rng, rank),
    )


def random_mma(rng, rank=2):
    warps = split(rng, rng.randrange(4), rank)
    lead = (1,) * (rank - 2)
    return enc.NvidiaMmaEncoding(2, 0, warps, (*lead, 16, 8), random_cga(rng, rank))


def random_wgmma(rng):
    n = rng.choice([8, 16, 32, 64, 128, 256])
    return enc.NvidiaMmaEncoding(3, 0, (4 * 2 ** rng.randrange(2), 2 ** rng.randrange(2)), (16, n, 16), random_cga(rng, 2))


# Matrix cores have no clusters; what the wheel gives for them with a CGALayout (copies in registers, operands split along
# K) is not followed.


def random_mfma(rng, rank=2):
    shape = rng.choice([(32, 32, 8), (16, 16, 16), (64, 4, 4), (4, 64, 4)])
    transposed = rng.random() < 0.5 or shape[0] != shape[1]
    tiles = (1,) * (rank - 2) + split(rng, rng.randrange(3), 2)
    width = 64 if shape[0] == 16 and rng.random() < 0.2 else 32
    warps = split(rng, rng.randrange(4), rank)
    return enc.AmdMfmaEncoding(rng.choice([2, 3, 4]), warps, shape, transposed, (), tiles, width)


def random_wmma(rng, rank=2):
    version = rng.choice([1, 2, 3])
    # Version 1 with several tiles in a warp, which nobody uses, numbers its registers differently in the wheel.
    tiles = (1,) * (rank - 2) + split(rng, rng.randrange(3) if version > 1 else 0, 2)
    shape = (16, 16, 32) if version == 3 else (16, 16, 16)
    warps = split(rng, rng.randrange(4), rank)
    return enc.AmdWmmaEncoding(version, rng.random() < 0.5, warps, shape, (), tiles)


def random_shape(rng, rank, low=0, high=8):
    return [1 << rng.randrange(low, high) for _ in range(rank)]


def random_case(rng):
    kind = rng.randrange(9)
    rank = rng.choice([1, 2, 2, 2, 3])
    matrix_rank = rng.choice([2, 2, 2, 3])
    match kind:
        case 0:
            return random_blocked(rng, rank), random_shape(rng, rank)
        case 1:
            parent = random_blocked(rng, rank + 1)
            return enc.SliceEncoding(rng.randrange(rank + 1), parent), random_shape(rng, rank)
        case 2:
            return random_mma(rng, matrix_rank), random_shape(rng, matrix_rank)
        case 3:
            return random_wgmma(rng), random_shape(rng, 2, 4, 9)
        case 4:
            parent = random_mma(rng, matrix_rank)
            return enc.DotOperandEncoding(rng.randrange(2), parent, 1 << rng.randrange(3)), random_shape(rng, matrix_rank, 3)
        case 5:
            parent = random_blocked(rng, matrix_rank)
            return enc.DotOperandEncoding(rng.randrange(2), parent), random_shape(rng, matrix_rank)
        case 6:
            parent = rng.choice([random_mma(rng), random_wgmma(rng), random_mfma(rng), random_wmma(rng)])
            return enc.SliceEncoding(rng.randrange(2), parent), random_shape(rng, 1, 6)
        case 7:
            parent = random_mfma(rng, matrix_rank)
            if rng.random() < 0.4:
                return parent, random_shape(rng, matrix_rank, 6)
            return enc.DotOperandEncoding(rng.randrange(2), parent, rng.choice([4, 8])), random_shape(rng, matrix_rank, 6)
        case _:
            parent = random_wmma(rng, matrix_rank)
            if rng.random() < 0.4:
                return parent, random_shape(rng, matrix_rank, 6)
            width = {1: [16], 2: [8], 3: [2, 8, 16]}[parent.version]
            return enc.DotOperandEncoding(rng.randrange(2), parent, rng.choice(width)), random_shape(rng, matrix_rank, 6)


@pytest.mark.parametrize("seed", range(4))
def test_distributed_layouts_equal(seed):
    rng = random.Random(seed)
    cases = [random_case(rng) for _ in range(400)]
    answers = ask([[*query(e), shape] for e, shape in cases])
    for (e, shape), expected in zip(cases, answers, strict=True):
        ours = {dim: lists(bases) for dim, bases in linear_layout(e, tuple(shape))}
        assert ours == expected, f"{e} on {shape}"
