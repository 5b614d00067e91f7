"""Index formulas: the algebra of polynomials, and what they say of real address arithmetic."""

from __future__ import annotations

from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritonx.conversion.tile_to_loops.index import (
    MAX_TERMS,
    IndexAnalysis,
    IndexAtom,
    Polynomial,
    TensorAtom,
    reshape_groups,
)
from tritonx.dialects import tile
from tritonx.ir.text import parse_module

_X = Polynomial.atom(IndexAtom(0))
_Y = Polynomial.atom(IndexAtom(1))


def value(p: Polynomial, x: int, y: int) -> int:
    total = 0
    for monomial, c in p.terms:
        for atom in monomial:
            assert isinstance(atom, IndexAtom)
            c *= (x, y)[atom.dim]
        total += c
    return total


@st.composite
def polynomials(draw: st.DrawFn) -> Polynomial:
    p = Polynomial.constant(draw(st.integers(-9, 9)))
    for _ in range(draw(st.integers(0, 3))):
        q = draw(st.sampled_from([_X, _Y, Polynomial.constant(draw(st.integers(-5, 5)))]))
        p = p * q if draw(st.booleans()) else p + q
    return p


@given(polynomials(), polynomials(), st.integers(-7, 7), st.integers(-7, 7))
def test_ring(p: Polynomial, q: Polynomial, x: int, y: int) -> None:
    assert value(p + q, x, y) == value(p, x, y) + value(q, x, y)
    assert value(p - q, x, y) == value(p, x, y) - value(q, x, y)
    assert value(p * q, x, y) == value(p, x, y) * value(q, x, y)
    assert (p * q == q * p) and (p - p).constant_value() == 0


@given(polynomials(), st.integers(0, 5), st.integers(0, 5))
def test_stride_is_the_difference_of_neighbours(p: Polynomial, x: int, y: int) -> None:
    step = p.stride(0)
    if step is not None:
        assert value(step, x, y) == value(p, x + 1, y) - value(p, x, y)


def test_reshape_groups() -> None:
    assert reshape_groups((64,), (8, 8)) == [(0, [0, 1])]
    assert reshape_groups((4, 16), (2, 2, 16)) == [(0, [0, 1]), (1, [2])]
    assert reshape_groups((4, 16), (64,)) is None
    assert reshape_groups((4, 1, 8), (4, 8)) == [(0, [0]), (1, []), (2, [1])]


_KERNEL = """
tt.func public @k(%p: !tt.ptr<f32>, %s: i32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %m = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %k = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %me = tt.expand_dims %m {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %ss = tt.splat %s : i32 -> tensor<16x1xi32>
  %ms = arith.muli %me, %ss : tensor<16x1xi32>
  %ke = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %mb = tt.broadcast %ms : tensor<16x1xi32> -> tensor<16x32xi32>
  %kb = tt.broadcast %ke : tensor<1x32xi32> -> tensor<16x32xi32>
  %o = arith.addi %mb, %kb : tensor<16x32xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<16x32x!tt.ptr<f32>>
  %a = tt.addptr %ps, %o : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
  %step = arith.constant dense<32> : tensor<16x32xi32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%q = %a) -> (tensor<16x32x!tt.ptr<f32>>)  : i32 {
    %next = tt.addptr %q, %step : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    scf.yield %next : tensor<16x32x!tt.ptr<f32>>
  }
  %t = tt.trans %r {order = array<i32: 1, 0>} : tensor<16x32x!tt.ptr<f32>> -> tensor<32x16x!tt.ptr<f32>>
  %v = tt.load %t : tensor<32x16x!tt.ptr<f32>>
  tt.return
}
"""


def test_rows_of_a_matrix_through_a_loop_and_a_transposition() -> None:
    module = parse_module(_KERNEL)
    analysis = IndexAnalysis()
    load = next(op for op in module.walk() if isinstance(op, tile.LoadOp))
    form = analysis.form(load.ptr)
    assert form is not None and form.base is not None
    assert form.offset.stride(0) == Polynomial.constant(1)
    step = form.offset.stride(1)
    assert step is not None and step.constant_value() is None and step.uniform()
    loop = next(op for op in module.walk() if op.name == "scf.for")
    argument = loop.regions[0].block.args[1]
    assert analysis.carried(argument) is not None
    assert analysis.step(argument) == Polynomial.constant(32)


def test_offsets_that_a_loop_carries_advance_with_it() -> None:
    """A tile of i32 that each trip moves by the same amount is a formula of the trip, as a tile of pointers is."""
    module = parse_module("""
tt.func public @k(%p: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant dense<16> : tensor<16xi32>
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %v = arith.constant dense<1.0> : tensor<16xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%o = %i) -> (tensor<16xi32>) : i32 {
    %q = tt.addptr %ps, %o : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    tt.store %q, %v : tensor<16x!tt.ptr<f32>>
    %next = arith.addi %o, %step : tensor<16xi32>
    scf.yield %next : tensor<16xi32>
  }
  tt.return
}""")
    loop = next(op for op in module.walk() if op.name == "scf.for")
    carried = loop.regions[0].block.args[1]
    analysis = IndexAnalysis()
    assert analysis.carried(carried) is not None
    assert analysis.step(carried).constant_value() == 16


R = "tensor<16xi32>"
FORMULAS = {
    "a range": ("%v = tt.make_range {start = 3 : i32, end = 19 : i32} : tensor<16xi32>", "i + 3"),
    "one number": ("%v = tt.make_range {start = 3 : i32, end = 4 : i32} : tensor<1xi32>", "3"),
    "a constant": (f"%v = arith.constant dense<-7> : {R}", "-7"),
    "a sum": (f"%v = arith.addi %i, %c : {R}", "i + 5"),
    "a difference": (f"%v = arith.subi %c, %i : {R}", "5 - i"),
    "a product": (f"%w = arith.muli %i, %c : {R}\n%v = arith.muli %w, %i : {R}", "5 * i * i"),
    "a shift": (f"%v = arith.shli %i, %c : {R}", "32 * i"),
    "a shift too far": (f"%v = arith.shli %i, %far : {R}", None),
    "a shift by no constant": (f"%v = arith.shli %c, %i : {R}", None),
    "signed and wider": (f"%v = arith.extsi %down : {R} to tensor<16xi64>", "5 - i"),
    "unsigned and wider": (f"%v = arith.extui %up : {R} to tensor<16xi64>", "i + 5"),
    "maybe negative and wider": (f"%v = arith.extui %down : {R} to tensor<16xi64>", None),
    "below zero and wider": (f"%v = arith.extui %below : {R} to tensor<16xi64>", None),
    "unknown and wider": (f"%s = tt.splat %n : i32 -> {R}\n%v = arith.extui %s : {R} to tensor<16xi64>", None),
    "a quotient": (f"%v = arith.divsi %i, %c : {R}", None),
    "an argument": (f"%s = tt.splat %n : i32 -> {R}\n%v = arith.muli %i, %s : {R}", "i * n"),
    "a splat constant": (f"%k = arith.constant 9 : i32\n%v = tt.splat %k : i32 -> {R}", "9"),
    "rows": (f"%v = tt.expand_dims %up {{axis = 0 : i32}} : {R} -> tensor<1x16xi32>", "j + 5"),
    "columns": (f"%v = tt.expand_dims %up {{axis = 1 : i32}} : {R} -> tensor<16x1xi32>", "i + 5"),
    "repeated": (
        f"""%e = tt.expand_dims %up {{axis = 1 : i32}} : {R} -> tensor<16x1xi32>
        %v = tt.broadcast %e : tensor<16x1xi32> -> tensor<16x4xi32>""",
        "i + 5",
    ),
    "turned": (
        f"""%e = tt.expand_dims %up {{axis = 1 : i32}} : {R} -> tensor<16x1xi32>
        %v = tt.trans %e {{order = array<i32: 1, 0>}} : tensor<16x1xi32> -> tensor<1x16xi32>""",
        "j + 5",
    ),
    "split": (f"%v = tt.reshape %down : {R} -> tensor<4x4xi32>", "5 - 4 * i - j"),
    "split with ones": (f"%v = tt.reshape %up : {R} -> tensor<1x16xi32>", "j + 5"),
    "ones after it": (f"%v = tt.reshape %up : {R} -> tensor<16x1xi32>", "i + 5"),
    "merged": (
        f"""%e = tt.reshape %up : {R} -> tensor<4x4xi32>
        %v = tt.reshape %e : tensor<4x4xi32> -> tensor<16xi32>""",
        None,
    ),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_a_formula_gives_the_numbers(name: str) -> None:
    """At every place; None where the value must be taken as it is."""
    body, expected = FORMULAS[name]
    module = parse_module(f"""
tt.func public @k(%n: i32) {{
  %i = tt.make_range {{start = 0 : i32, end = 16 : i32}} : {R}
  %c = arith.constant dense<5> : {R}
  %far = arith.constant dense<31> : {R}
  %up = arith.addi %i, %c : {R}
  %down = arith.subi %c, %i : {R}
  %below = arith.subi %i, %c : {R}
  {body}
  tt.return
}}""")
    (value,) = [r for op in module.walk() for r in op.results if r.name_hint == "v"]
    form = IndexAnalysis().form(value)
    assert form is not None and form.base is None
    atoms = list(form.offset.atoms())
    if expected is None:
        assert [type(a) for a in atoms] == [TensorAtom]
        return
    n = 7
    for i in range(4):
        for j in range(4):
            numbers = {a: (i, j)[a.dim] if isinstance(a, IndexAtom) else n for a in atoms}
            total = sum(c * prod(numbers[a] for a in monomial) for monomial, c in form.offset.terms)
            assert total == eval(expected, {"i": i, "j": j, "n": n})


@pytest.mark.parametrize(("terms", "is_formula"), [(MAX_TERMS, True), (MAX_TERMS + 1, False)])
def test_formulas_have_so_many_terms(terms: int, is_formula: bool) -> None:
    names = [f"%n{i}" for i in range(terms)]
    sums = [f"%s0 = tt.splat %n0 : i32 -> {R}"]
    for i in range(1, terms):
        sums.append(f"%t{i} = tt.splat %n{i} : i32 -> {R}\n%s{i} = arith.addi %s{i - 1}, %t{i} : {R}")
    arguments = ", ".join(f"{name}: i32" for name in names)
    module = parse_module(f"tt.func public @k({arguments}) {{\n" + "\n".join(sums) + "\ntt.return\n}")
    (value,) = [r for op in module.walk() for r in op.results if r.name_hint == f"s{terms - 1}"]
    form = IndexAnalysis().form(value)
    assert form is not None and len(form.offset.terms) == (terms if is_formula else 1)
