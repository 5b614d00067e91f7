"""Triton's interface to linear layouts. (Against the wheel: tests/peer/test_linear_layout.py.)"""

from __future__ import annotations

import pytest

from tritonx._C.libtriton import linear_layout
from tritonx.tools import LinearLayout

TILE = LinearLayout.from_bases([("in0", [[0, 1], [0, 2]]), ("in1", [[1, 0], [2, 0]])], ["out0", "out1"])


def test_what_it_is() -> None:
    assert linear_layout.LinearLayout is LinearLayout
    assert TILE.bases == [("in0", [[0, 1], [0, 2]]), ("in1", [[1, 0], [2, 0]])]
    assert TILE.out_dims == [("out0", 4), ("out1", 4)]
    assert TILE.get_in_dim_names() == ["in0", "in1"] and TILE.get_out_dim_names() == ["out0", "out1"]
    assert TILE.num_in_dims == TILE.num_out_dims == 2
    assert TILE == TILE.invert().invert() != TILE.invert()
    assert [TILE.apply({"in0": i, "in1": j}) for j in range(2) for i in range(3, 5)] == [
        {"out0": j, "out1": i} for j in range(2) for i in (3, 0)
    ]


def test_text() -> None:
    assert (
        f"\n{TILE * LinearLayout.identity_1d(1, 'x', 'y')}\n"
        == """

 - in0=1 -> (0, 1, 0)
   in0=2 -> (0, 2, 0)
 - in1=1 -> (1, 0, 0)
   in1=2 -> (2, 0, 0)
 - x is a size 1 dimension
where out dims are: [out0 (size 4), out1 (size 4), y (size 1)]
"""
    )
    assert str(LinearLayout()) == "\n(empty layout)"
    assert str(LinearLayout.from_bases([], ["o"])) == "\n(empty layout with out-dims [o (size 1)])"


def test_in_place() -> None:
    layout = LinearLayout.identity_1d(2, "i", "o")
    layout *= LinearLayout.zeros_1d(2, "i", "o", 4)
    assert layout.get_matrix_view() == [[1, 0], [0, 0], [0, 0]]
    assert not layout.is_surjective() and not layout.is_injective() and not layout.is_invertible()


WORDS = "power of two|no place|outside|same length|be provided|one coordinate|twice|dims|compose|smaller|not inv|hold"

IDENTITY = LinearLayout.identity_1d(8, "i", "o")


@pytest.mark.parametrize(
    "make",
    [
        lambda: LinearLayout.identity_1d(7, "i", "o"),
        lambda: LinearLayout.strided_1d(8, 3, "i", "o"),
        lambda: LinearLayout.from_bases([("i", [[3]])], ["o"]),
        lambda: LinearLayout.from_bases([("i", [[2]])], ["o"], [2], False),
        lambda: LinearLayout.from_bases([("i", [[1]])], ["o"], [3]),
        lambda: LinearLayout.from_bases([("i", [[1]])], ["o"], [2, 2]),
        lambda: LinearLayout.from_bases([("i", [[1]])], ["o"], None, False),
        lambda: LinearLayout.from_bases([("i", [[-1]])], ["o"]),
        lambda: LinearLayout.from_bases([("i", [[2, 1]])], ["o"]),
        lambda: LinearLayout.from_bases([("i", [[1]]), ("i", [[2]])], ["o"]),
        lambda: LinearLayout.from_bases([("i", [[1, 1]])], ["o", "o"]),
        lambda: IDENTITY.apply({}),
        lambda: IDENTITY.apply({"i": 1, "j": 1}),
        lambda: IDENTITY.compose(IDENTITY),
        lambda: IDENTITY.compose(LinearLayout.identity_1d(4, "o", "p")),
        lambda: IDENTITY.invert_and_compose(LinearLayout.identity_1d(4, "j", "o")),
        lambda: LinearLayout.strided_1d(4, 2, "i", "o").invert(),
        lambda: LinearLayout.strided_1d(4, 2, "i", "o").pseudoinvert(),
    ],
)
def test_what_triton_ends_the_process_for(make: object) -> None:
    assert callable(make)
    with pytest.raises(ValueError, match=WORDS):
        make()
