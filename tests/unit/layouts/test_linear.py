"""The algebra of linear layouts, on random ones."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritonx.layouts.division import divide_left, divide_right
from tritonx.layouts.errors import LayoutError
from tritonx.layouts.gf2 import combine, complement, echelon, independent, intersection, rank
from tritonx.layouts.linear import LinearLayout

vectors = st.lists(st.integers(0, 255), max_size=9)


@st.composite
def layouts(draw, ins=("register", "lane"), outs=("dim0", "dim1"), limit=4):
    sizes = {dim: 1 << draw(st.integers(0, limit)) for dim in outs}
    basis = st.tuples(*(st.integers(0, size - 1) for size in sizes.values()))
    return LinearLayout.from_bases({dim: draw(st.lists(basis, max_size=4)) for dim in ins}, sizes)


@st.composite
def bijections(draw):
    """An invertible layout: elementary operations on the identity."""
    columns = [1 << i for i in range(8)]
    for _ in range(draw(st.integers(0, 12))):
        i, j = draw(st.integers(0, 7)), draw(st.integers(0, 7))
        if i != j:
            columns[i] ^= columns[j]
    return LinearLayout([("register", columns[:3]), ("lane", columns[3:])], [("dim0", 5), ("dim1", 3)])


def places(layout):
    """All places of a two-input layout, as keyword arguments."""
    first, second = layout.in_dims
    return [{first: i, second: j} for i in range(layout.in_size(first)) for j in range(layout.in_size(second))]


def test_essay_example():
    layout = LinearLayout.from_bases(
        {"register": [(0, 1), (2, 0), (4, 0)], "lane": [(0, 2), (1, 0)]}, {"dim0": 8, "dim1": 4}
    )
    assert layout.apply(lane=3) == (1, 2)
    assert layout.apply(lane=3, register=1) == (1, 3)
    assert layout.apply(lane=3, register=2) == (3, 2)
    assert layout.apply(lane=3, register=5) == (5, 3)
    assert layout.is_invertible


@given(layouts(), st.integers(0, 15), st.integers(0, 15), st.integers(0, 15), st.integers(0, 15))
def test_linearity(layout, r1, l1, r2, l2):
    r1, r2 = r1 % layout.in_size("register"), r2 % layout.in_size("register")
    l1, l2 = l1 % layout.in_size("lane"), l2 % layout.in_size("lane")
    a, b = layout.apply_packed({"register": r1, "lane": l1}), layout.apply_packed({"register": r2, "lane": l2})
    assert layout.apply_packed({"register": r1 ^ r2, "lane": l1 ^ l2}) == a ^ b


@given(layouts())
def test_equal_layouts_are_one_object(layout):
    again = LinearLayout.from_bases(dict(layout), {dim: 1 << bits for dim, bits in layout.outs})
    assert again is layout
    assert pickle.loads(pickle.dumps(layout)) is layout


@given(layouts(), layouts(("register", "warp"), ("dim1", "dim2")))
def test_direct_sum(a, b):
    both = a * b
    for place in places(a)[::3]:
        for other in places(b)[::3]:
            together = {
                "register": place["register"] | other["register"] << a.in_bits("register"),
                "lane": place["lane"],
                "warp": other["warp"],
            }
            low, high = (
                dict(zip(a.out_dims, a.apply(**place), strict=True)),
                dict(zip(b.out_dims, b.apply(**other), strict=False)),
            )
            expected = {
                "dim0": low["dim0"],
                "dim1": low["dim1"] | high["dim1"] << a.out_bits("dim1"),
                "dim2": high["dim2"],
            }
            assert dict(zip(both.out_dims, both.apply(**together), strict=True)) == expected


@given(layouts(), layouts(("register", "warp"), ("dim1", "dim2")))
def test_division_undoes_the_sum(a, b):
    both = a * b
    left, right = divide_left(both, a), divide_right(both, b)
    assert left is not None and (a * left).order_outs(both.out_dims).order_ins(both.in_dims) is both
    assert right is not None and (right * b).order_outs(both.out_dims).order_ins(both.in_dims) is both


def test_division_refuses():
    layout = LinearLayout.from_bases({"register": [(2,), (1,)]}, {"dim0": 4})
    assert divide_left(layout, LinearLayout.identity(2, "register", "dim0")) is None
    assert divide_right(layout, LinearLayout.identity(8, "register", "dim0")) is None


@given(bijections())
def test_inverse(layout):
    inverse = layout.invert()
    round_trip = layout.compose(inverse)
    assert all(round_trip.apply(**place) == tuple(place.values()) for place in places(layout))


@given(bijections(), layouts(("offset",), ("dim0", "dim1"), 3))
def test_invert_and_compose_solves(outer, inner):
    solution = inner.invert_and_compose(outer)
    for place in range(inner.in_size("offset")):
        source = dict(zip(solution.out_dims, solution.apply(offset=place), strict=True))
        found = dict(zip(outer.out_dims, outer.apply(**source), strict=True))
        assert found == dict(zip(inner.out_dims, inner.apply(offset=place), strict=True))


def test_copies_stay_where_they_are():
    # Both hold copies in lane bit 1: that bit must not lead back to lane 0.
    layout = LinearLayout([("register", [1]), ("lane", [2, 0])], [("dim0", 2)])
    assert layout.invert_and_compose(layout).bases("lane") == ((0, 1), (0, 2))


def test_unsolvable_is_an_error():
    outer = LinearLayout.zeros(4, "register", "dim0", 4)
    with pytest.raises(LayoutError, match="does not hold every element"):
        LinearLayout.identity(4, "offset", "dim0").invert_and_compose(outer)


@given(layouts())
def test_free_masks_leave_one_place_for_each_element(layout):
    masks = layout.free_masks()
    kept = [p for p in places(layout) if not any(p[dim] & masks[dim] for dim in p)]
    values = [layout.apply_packed(p) for p in kept]
    assert len(set(values)) == len(values)
    assert set(values) == {layout.apply_packed(p) for p in places(layout)}


@given(layouts())
def test_reordering_and_reshaping(layout):
    assert layout.order_outs(("dim1", "dim0")).order_outs(("dim0", "dim1")) is layout
    flat = layout.flatten_outs()
    again = flat.reshape_outs([(dim, 1 << bits) for dim, bits in layout.outs])
    assert again is layout
    cut = layout.reshape_ins([("x", 1 << layout.total_in_bits)])
    assert cut.reshape_ins([(dim, layout.in_size(dim)) for dim in layout.in_dims]) is layout


def test_quotient():
    layout = LinearLayout.identity(4, "register", "register") * LinearLayout.identity(8, "warp", "warp")
    assert layout.quotient(["warp"]) is LinearLayout.identity(4, "register", "register")
    mixed = LinearLayout.from_bases({"register": [(1, 1)], "warp": [(0, 1)]}, {"register": 2, "warp": 2})
    assert mixed.quotient(["warp"]) is None


@given(vectors, st.integers(0, 255))
def test_echelon_reports_combinations(columns, vector):
    rest, combination = echelon(columns).reduce(vector)
    assert rest ^ combine(columns, combination) == vector
    assert not echelon(columns).reduce(rest)[1]


@given(vectors, vectors)
def test_spaces(a, b):
    both = intersection(a, b)
    assert rank(both) == rank(a) + rank(b) - rank([*a, *b])
    assert rank([*a, *both]) == rank(a) and rank([*b, *both]) == rank(b)
    assert rank([*a, *complement(a, 8)]) == 8 == rank(a) + len(complement(a, 8))
    assert rank(independent(a)) == rank(a) == len(independent(a))
