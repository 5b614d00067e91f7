"""The random layouts that other tests go by are legal, and come in all kinds: a test is as good as what it draws."""

from __future__ import annotations

import os
from math import prod
from random import Random

from tritonx.layouts import linear_layout
from tritonx.layouts.encodings import (
    AmdMfmaEncoding,
    AmdWmmaEncoding,
    BlockedEncoding,
    DotOperandEncoding,
    NvidiaMmaEncoding,
    SliceEncoding,
)
from tritonx.layouts.samples import random_cga, random_distributed, random_shape, random_shared, random_wgmma, split
from tritonx.layouts.text import encoding_text
from tritonx.tools.layout import parse_encoding

SEED = int(os.environ["TRITONX_SEED"])


def test_split() -> None:
    rng = Random(SEED)
    drawn = [split(rng, 4, 2) for _ in range(400)]
    assert set(drawn) == {(1, 16), (2, 8), (4, 4), (8, 2), (16, 1)}, SEED
    assert split(rng, 0, 3) == (1, 1, 1)


def test_clusters_step_by_powers_of_two() -> None:
    """Each bit of the block's number steps on in one dim, by twice the step before in that dim, or is a copy."""
    rng = Random(SEED)
    drawn = [random_cga(rng, 2) for _ in range(400)]
    for bases in drawn:
        for d in range(2):
            steps = [basis[d] for basis in bases if basis[d]]
            assert steps == [1 << i for i in range(len(steps))], (SEED, bases)
        assert all(sum(step != 0 for step in basis) <= 1 for basis in bases), (SEED, bases)
    assert {len(bases) for bases in drawn} == {0, 1, 2}
    assert {(0, 0), (1, 0), (0, 1), (2, 0), (0, 2)} == {basis for bases in drawn for basis in bases}, SEED


def test_warp_groups() -> None:
    rng = Random(SEED)
    assert {random_wgmma(rng).warps_per_cta for _ in range(200)} == {(4, 1), (4, 2), (8, 1), (8, 2)}, SEED


def test_shapes() -> None:
    rng = Random(SEED)
    assert {size for _ in range(200) for size in random_shape(rng, 2, 1, 4)} == {2, 4, 8}, SEED


def test_every_kind_is_drawn_and_lays_out_its_shape() -> None:
    rng = Random(SEED)
    found: set[tuple[str, int]] = set()
    for _ in range(600):
        encoding, shape = random_distributed(rng)
        layout = linear_layout(encoding, shape)
        assert [1 << bits for _, bits in layout.outs] == list(shape), (SEED, encoding, shape)
        assert layout.is_surjective and prod(shape) > 0, (SEED, encoding, shape)
        found.add((type(encoding).__name__, len(shape)))
    names = {name for name, _ in found}
    kinds = (BlockedEncoding, SliceEncoding, DotOperandEncoding, NvidiaMmaEncoding, AmdMfmaEncoding, AmdWmmaEncoding)
    assert names == {kind.__name__ for kind in kinds}, SEED
    assert {rank for _, rank in found} == {1, 2, 3}, SEED


def test_the_text_of_an_encoding_says_it_all() -> None:
    """What is left out of it is what a reader takes for it."""
    rng = Random(SEED)
    for _ in range(300):
        for encoding in (random_distributed(rng)[0], random_shared(rng)[0]):
            text = encoding_text(encoding)
            assert parse_encoding(text) == encoding, (SEED, text)
