"""``triton.tools.LinearLayout`` of both, on random layouts: values, texts and what is made of them are the same."""

from __future__ import annotations

import importlib.util
import os
import random
from typing import Any

import pytest

from tritonx.tools import LinearLayout

pytestmark = pytest.mark.peer
if importlib.util.find_spec("triton") is None:
    pytest.skip("the Triton wheel is not installed", allow_module_level=True)

from triton._C.libtriton.linear_layout import LinearLayout as Theirs  # noqa: E402  # pyright: ignore  # a compiled module

SEED = int(os.environ["TRITONX_SEED"])
OUTS = ["a", "b"]
ASKED = ("is_surjective", "is_injective", "is_invertible", "get_in_dim_names", "get_out_dim_names", "get_matrix_view")
SHOWN = ("bases", "out_dims", "num_in_dims", "num_out_dims")


def same(ours: LinearLayout, theirs: Any) -> None:
    assert repr(ours) == repr(theirs)
    for name in ASKED:
        assert getattr(ours, name)() == getattr(theirs, name)(), name
    for name in SHOWN:
        assert getattr(ours, name) == getattr(theirs, name), name


def surjective(draw: random.Random, ins: tuple[str, str], bits: tuple[int, int], copies: int) -> Any:
    """Bases that reach every coordinate, with some that reach nothing new."""
    total = sum(bits)
    columns = [1 << i for i in range(total)]
    for _ in range(8 if total > 1 else 0):
        to, by = draw.sample(range(total), 2)
        columns[to] ^= columns[by]
    columns += [draw.randrange(1 << total) for _ in range(copies)]
    draw.shuffle(columns)
    bases = [[column & (1 << bits[0]) - 1, column >> bits[0]] for column in columns]
    cut = draw.randrange(len(columns) + 1)
    return [(ins[0], bases[:cut]), (ins[1], bases[cut:])]


def test_random_layouts() -> None:
    draw = random.Random(SEED)
    for _ in range(400):
        bits = draw.randrange(3), draw.randrange(4)
        one = surjective(draw, ("p", "q"), bits, draw.randrange(3))
        other = surjective(draw, ("u", "v"), bits, draw.randrange(3))
        ours, theirs = LinearLayout.from_bases(one, OUTS), Theirs.from_bases(one, OUTS)
        more, their_more = LinearLayout.from_bases(other, OUTS), Theirs.from_bases(other, OUTS)
        same(ours, theirs)
        same(ours * more, theirs * their_more)
        same(ours.invert_and_compose(more), theirs.invert_and_compose(their_more))
        same(ours.pseudoinvert(), theirs.pseudoinvert())
        place = {"q": draw.randrange(-64, 64), "p": draw.randrange(-64, 64)}
        assert ours.apply(place) == theirs.apply(place)
        if ours.is_invertible():
            same(ours.invert(), theirs.invert())
        further = surjective(draw, ("b", "a"), bits[::-1], 0)
        if [len(bases) for _, bases in further] == list(bits[::-1]):
            same(ours.compose(LinearLayout.from_bases(further, OUTS)), theirs.compose(Theirs.from_bases(further, OUTS)))


def test_layouts_of_one_dim() -> None:
    for size in (1, 2, 8):
        same(LinearLayout.identity_1d(size, "i", "o"), Theirs.identity_1d(size, "i", "o"))
        for step in (1, 2, 4):
            same(LinearLayout.strided_1d(size, step, "i", "o"), Theirs.strided_1d(size, step, "i", "o"))
            same(LinearLayout.zeros_1d(size, "i", "o", step), Theirs.zeros_1d(size, "i", "o", step))
    same(LinearLayout(), Theirs())
    same(LinearLayout.from_bases([], ["o"], [4], False), Theirs.from_bases([], ["o"], [4], False))
