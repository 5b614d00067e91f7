"""Wave-matrix encodings made of the bases of `ctaLayout`."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from io import StringIO

import pytest

from tritonx.dialects.gpu_layout.encodings import attribute_of
from tritonx.ir.spelling import LevelError, TextLevel
from tritonx.ir.text.printer import Printer
from tritonx.layouts import LayoutError, linear_layout
from tritonx.layouts.cta_layout import bases_of, encoding_of, is_counted
from tritonx.layouts.encodings import AmdWmmaEncoding, DotOperandEncoding
from tritonx.layouts.samples import random_wmma

SEED = int(os.environ["TRITONX_SEED"])
UNITS = ((0, 1), (0, 2), (1, 0), (2, 0))


def made(register, warp) -> AmdWmmaEncoding:
    return encoding_of(2, False, tuple(register), tuple(warp), (16, 16, 16), (), 2)


def test_counts_have_bases() -> None:
    rng = random.Random(SEED)
    for _ in range(200):
        rank = rng.choice([2, 3])
        e = random_wmma(rng, rank)
        bases = bases_of(e)
        register, warp = bases.get("register", ()), bases.get("warp", ())
        again = encoding_of(e.version, e.is_transposed, register, warp, e.instr_shape, e.cga, rank)
        assert bases_of(again) == bases and is_counted(again)
        assert replace(again, tile_bases=None) == e
        if set(e.tiles_per_warp) == {1}:
            assert again == e
        else:  # one numbers the registers of a row of tiles together, the other those of a warp's tiles
            shape = (*[8] * (rank - 2), 256, 256)
            ours, theirs = linear_layout(again, shape), linear_layout(e, shape)
            assert ours.columns("warp") == theirs.columns("warp") and ours.columns("lane") == theirs.columns("lane")
            assert sorted(ours.columns("register")) == sorted(theirs.columns("register"))


def test_bases_in_any_order() -> None:
    """Each bit of a warp's number, and of that of a warp's tile, steps as its basis says; then the tiles repeat."""
    rng = random.Random(SEED)
    for _ in range(50):
        steps = rng.sample(UNITS, 4)
        register, warp = steps[:2], steps[2:]
        layout = linear_layout(made(register, warp), (128, 128))
        scaled = [tuple(16 * step for step in basis) for basis in steps]
        assert list(layout.bases("warp")) == scaled[2:]
        assert layout.bases("register") == ((1, 0), (2, 0), (4, 0), *scaled[:2], (0, 64), (64, 0))
        assert layout.is_invertible


def test_warps_that_hold_copies() -> None:
    layout = linear_layout(made([], [(0, 0), (0, 1)]), (16, 32))
    assert layout.bases("warp") == ((0, 0), (0, 16)) and layout.is_surjective


def test_operands_of_bases() -> None:
    """Along K each warp has all, and each tile of a warp the same elements."""
    rng = random.Random(SEED)
    for _ in range(50):
        steps = rng.sample(UNITS, 4)
        parent = made(steps[:2], steps[2:])
        for index, shape in ((0, (64, 32)), (1, (32, 64))):
            layout, free = linear_layout(DotOperandEncoding(index, parent, 8), shape), index
            of_warp = [tuple(16 * step if dim == free else 0 for dim, step in enumerate(b)) for b in steps[2:]]
            assert list(layout.bases("warp")) == of_warp
            registers = [basis for basis in layout.bases("register") if basis[free]]
            assert registers == [tuple(16 * step for step in basis) for basis in steps[:2] if basis[free]]
            assert layout.is_surjective


def test_bases_of_another_rank() -> None:
    with pytest.raises(LayoutError, match="ctaLayout bases must have 2 entries"):
        made([(1,)], [(0, 1)])


@pytest.mark.parametrize(
    ("encoding", "level", "text"),
    [
        (made([(1, 0)], [(0, 1), (2, 0)]), TextLevel.V3_6, "warpsPerCTA = [2, 2], tilesPerWarp = [2, 1]"),
        (made([(1, 0)], [(0, 1), (2, 0)]), None, "ctaLayout = {register = [[1, 0]], warp = [[0, 1], [2, 0]]}"),
        (made([], [(1, 0), (0, 1)]), None, "ctaLayout = {warp = [[1, 0], [0, 1]]}"),
        (made([], [(1, 0), (0, 1)]), TextLevel.V3_8, "ctaLayout = {warp = [[1, 0], [0, 1]]}"),
    ],
)
def test_text_of_a_level(encoding: AmdWmmaEncoding, level: TextLevel | None, text: str) -> None:
    stream = StringIO()
    Printer(stream, level=level).print_attribute(attribute_of(encoding))
    assert stream.getvalue() == f"#ttg.amd_wmma<{{version = 2, isTranspose = false, {text}}}>"


def test_what_the_first_level_cannot_say() -> None:
    with pytest.raises(LevelError, match=r"Triton 3.6 has no words for warps over tiles as in"):
        Printer(StringIO(), level=TextLevel.V3_6).print_attribute(attribute_of(made([], [(1, 0), (0, 1)])))
