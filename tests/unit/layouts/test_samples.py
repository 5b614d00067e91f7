"""The random layouts that other tests go by are legal, and come in all kinds: a test is as good as what it draws."""

from __future__ import annotations

import os
from collections import Counter
from math import prod
from random import Random
from typing import Any

import pytest

from tritonx.layouts import linear_layout
from tritonx.layouts.encodings import (
    AmdMfmaEncoding,
    AmdWmmaEncoding,
    BlockedEncoding,
    DotOperandEncoding,
    NvidiaMmaEncoding,
    NvmmaSharedEncoding,
    RotatingSharedEncoding,
    SliceEncoding,
    SwizzledSharedEncoding,
)
from tritonx.layouts.samples import (
    random_blocked,
    random_cga,
    random_distributed,
    random_mfma,
    random_mma,
    random_shape,
    random_shared,
    random_wgmma,
    random_wmma,
    split,
)
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


def powers(low: int, high: int) -> set[int]:
    return {1 << bit for bit in range(low, high)}


def test_how_often_there_are_clusters_and_wide_warps() -> None:
    """Of 4000 draws; bounds are six standard deviations wide, so that one run in 10^9 fails."""
    rng = Random(SEED)
    alone = sum(not random_cga(rng, 2) for _ in range(4000)) / 4000
    assert abs(alone - 3 / 5) < 0.05, (SEED, alone)
    wide = sum(prod(random_blocked(rng, 2).threads_per_warp) == 64 for _ in range(4000)) / 4000
    assert abs(wide - 1 / 3) < 0.05, (SEED, wide)
    square = [e for e in (random_mfma(rng) for _ in range(8000)) if e.instr_shape[0] == 16]
    assert abs(sum(e.element_bit_width == 64 for e in square) / len(square) - 0.2) < 0.06, SEED
    kinds = Counter(isinstance(e, DotOperandEncoding) for e, _ in (random_distributed(rng) for _ in range(6000)))
    assert abs(kinds[True] / 6000 - (2 + 2 * 0.6) / 9) < 0.04, (SEED, kinds)


def test_blocked_layouts_are_all_that_a_target_may_have() -> None:
    rng = Random(SEED)
    drawn = [random_blocked(rng, 2) for _ in range(600)]
    assert {prod(e.size_per_thread) for e in drawn} == powers(0, 5), SEED
    assert {prod(e.threads_per_warp) for e in drawn} == {32, 64}, SEED
    assert {prod(e.warps_per_cta) for e in drawn} == powers(0, 4), SEED
    assert {e.order for e in drawn} == {(0, 1), (1, 0)}, SEED


@pytest.mark.parametrize("rank", [2, 3])
def test_units_that_multiply(rank: int) -> None:
    rng, lead = Random(SEED), (1,) * (rank - 2)
    mma = [random_mma(rng, rank) for _ in range(300)]
    assert {(e.version_major, e.version_minor, e.instr_shape) for e in mma} == {(2, 0, (*lead, 16, 8))}
    assert {prod(e.warps_per_cta) for e in mma} == powers(0, 4), SEED
    mfma = [random_mfma(rng, rank) for _ in range(1500)]
    assert {(e.instr_shape, e.is_transposed, e.element_bit_width) for e in mfma} == {
        ((32, 32, 8), False, 32),
        ((32, 32, 8), True, 32),
        *(((16, 16, 16), transposed, width) for transposed in (False, True) for width in (32, 64)),
        ((64, 4, 4), True, 32),
        ((4, 64, 4), True, 32),
    }, SEED
    assert {e.version for e in mfma} == {2, 3, 4}, SEED
    wmma = [random_wmma(rng, rank) for _ in range(600)]
    assert {(e.version, e.instr_shape, e.is_transposed) for e in wmma} == {
        (version, (16, 16, 32 if version == 3 else 16), transposed)
        for version in (1, 2, 3)
        for transposed in (False, True)
    }, SEED
    assert all(e.tiles_per_warp == (1,) * rank for e in wmma if e.version == 1)
    for drawn in (mfma, [e for e in wmma if e.version > 1]):
        tiles = {e.tiles_per_warp for e in drawn}
        assert tiles == {(*lead, 1 << a, 1 << b) for a in range(3) for b in range(3 - a)}, SEED
        assert {prod(e.warps_per_cta) for e in drawn} == powers(0, 4), SEED


def test_products_of_warp_groups_have_all_widths() -> None:
    rng = Random(SEED)
    drawn = {(e.version_major, e.version_minor, e.instr_shape) for e in (random_wgmma(rng) for _ in range(300))}
    assert drawn == {(3, 0, (16, n, 16)) for n in powers(3, 9)}, SEED


def test_operands_of_products() -> None:
    """Of each unit both sides, with every width of K that it has."""
    rng = Random(SEED)
    found: dict[str, set[tuple[int, int]]] = {}
    extents: dict[str, set[int]] = {}
    for _ in range(8000):
        encoding, shape = random_distributed(rng)
        parent: Any = encoding.parent if isinstance(encoding, DotOperandEncoding | SliceEncoding) else encoding
        name = type(parent).__name__ + str(getattr(parent, "version", getattr(parent, "version_major", "")))
        if isinstance(encoding, DotOperandEncoding):
            found.setdefault(name, set()).add((encoding.op_idx, encoding.k_width))
        extents.setdefault(f"{type(encoding).__name__} {name}", set()).update(shape)
    sides = {"BlockedEncoding": {0}, "NvidiaMmaEncoding2": {1, 2, 4}, "AmdWmmaEncoding1": {16}, "AmdWmmaEncoding2": {8}}
    sides |= {f"AmdMfmaEncoding{version}": {4, 8} for version in (2, 3, 4)} | {"AmdWmmaEncoding3": {2, 8, 16}}
    assert found == {name: {(side, width) for side in (0, 1) for width in ks} for name, ks in sides.items()}, SEED
    low = {name: min(sizes) for name, sizes in extents.items()}
    for name, least in low.items():
        expected = 64 if "Amd" in name or (name.startswith("Slice") and "Blocked" not in name) else 1
        special = {"NvidiaMmaEncoding NvidiaMmaEncoding3": 16, "DotOperandEncoding NvidiaMmaEncoding2": 8}
        assert least == special.get(name, expected), (SEED, name)


def test_shared_layouts() -> None:
    rng = Random(SEED)
    found: dict[str, set[Any]] = {}
    for _ in range(6000):
        encoding, shape, element = random_shared(rng)
        linear_layout(encoding, shape)
        name = type(encoding).__name__
        if isinstance(encoding, SwizzledSharedEncoding | RotatingSharedEncoding):
            found.setdefault(name, set()).add((encoding.vec, encoding.per_phase, encoding.max_phase))
        elif isinstance(encoding, NvmmaSharedEncoding):
            found.setdefault(name, set()).add(
                (encoding.swizzling_byte_width, encoding.transposed, encoding.element_bit_width, element)
            )
            contiguous = shape[0 if encoding.transposed else -1]
            assert contiguous * encoding.element_bit_width >= 8 * max(encoding.swizzling_byte_width, 16), SEED
        found.setdefault(f"{name} ranks", set()).add(len(shape))
        found.setdefault(f"{name} least", set()).add(min(shape))
    every = {(v, p, m) for v in powers(0, 4) for p in powers(0, 4) for m in powers(0, 4)}
    assert found["SwizzledSharedEncoding"] == every == found["RotatingSharedEncoding"], SEED
    assert found["NvmmaSharedEncoding"] == {
        (width, transposed, bits, element)
        for width in (0, 32, 64, 128)
        for bits, element in ((8, "i8"), (16, "f16"), (32, "f32"))
        for transposed in ((False, True) if bits == 16 else (False,))
    }, SEED
    ranks = {name: found[f"{name} ranks"] for name in ("SwizzledSharedEncoding", "RotatingSharedEncoding")}
    assert ranks == {"SwizzledSharedEncoding": {1, 2, 3}, "RotatingSharedEncoding": {2, 3}}, SEED
    least = {name: min(found[f"{name} least"]) for name in ("SwizzledSharedEncoding", "NvmmaSharedEncoding")}
    assert least == {"SwizzledSharedEncoding": 2, "NvmmaSharedEncoding": 8}, SEED
