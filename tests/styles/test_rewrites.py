"""Each rewriting, by what it makes of a few lines, and where its condition does not hold."""

from __future__ import annotations

import ast
from random import Random

import pytest

from tests.styles.program import Program, Tensor
from tests.styles.rewrites import REWRITINGS
from tests.styles.sites import Draw

NUMBERS = {"M": "M", "N": "N", "K": "K", "stride": "N", "stride_unit": "1", "scale": "0.5"}
HEAD = "def kernel(x, y, M, N, K, stride, stride_unit, scale, B: tl.constexpr):"
ROWS = "m = tl.program_id(0) * B + tl.arange(0, B)"


def program(body: str, helpers: str = "", grid: tuple[str, ...] = ("cdiv(M, B)", "cdiv(N, B)")) -> Program:
    """A kernel of these lines. ``x`` and ``y`` are f16, ``stride_unit`` is 1."""
    indented = "\n".join(f"    {line}" for line in body.splitlines())
    text = f"{helpers}\n@triton.jit\n{HEAD}\n{indented}"
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    tensors = {"x": Tensor("fp16", "M * N"), "y": Tensor("fp16", "M * N")}
    return Program(functions[-1], tuple(functions[:-1]), tensors, NUMBERS, {"B": "B"}, grid)


def body_of(made: Program) -> str:
    return "\n".join(ast.unparse(ast.fix_missing_locations(statement)) for statement in made.kernel.body)


def rewritten(rewriting: str, body: str) -> str | None:
    """The body behind a rewriting at all its sites, None where its condition holds nowhere."""
    made = REWRITINGS[rewriting](program(body), Draw(Random(1)))
    return None if made is None else body_of(made)


LOOP = """p = x + tl.arange(0, B)
for k in range(0, tl.cdiv(K, B)):
    a = tl.load(p, mask=tl.arange(0, B) < K - k * B, other=0.0)
    p += B * stride"""

TABLE = [
    ("no_assumptions", "tl.assume(M > 0)\nn = M", "n = M"),
    ("assumptions", "n = tl.program_id(0)\nq = n - 1", "tl.assume(stride > 0)\ntl.assume(K > 0)\ntl.assume(N > 0)\n"
     "tl.assume(M > 0)\nn = tl.program_id(0)\ntl.assume(n >= 0)\nq = n - 1"),
    ("unmarked", "n = tl.multiple_of(M, 16)", "n = M"),
    ("marked_contiguous", ROWS, "m = tl.max_contiguous(tl.multiple_of(tl.program_id(0) * B + tl.arange(0, B), B), B)"),
    ("sums_to_the_left", "p = x + (M + (N + K))", "p = x + M + N + K"),
    ("sums_to_the_right", "p = x + M + N", "p = x + (M + N)"),
    ("sums_to_the_left", "f = scale + (scale + scale)", None),
    ("commuted", "p = x + M * N", "p = N * M + x"),
    ("comparisons_turned", "c = M < N", "c = N > M"),
    ("scaled_before_expanding", f"{ROWS}\np = x + m[:, None] * stride", f"{ROWS}\np = x + (m * stride)[:, None]"),
    ("scaled_after_expanding", f"{ROWS}\np = x + (m * stride)[:, None]", f"{ROWS}\np = x + m[:, None] * stride"),
    ("expanded_by_name", f"{ROWS}\nq = m[None, :]", f"{ROWS}\nq = tl.expand_dims(m, 0)"),
    ("shifted_and_back", ROWS, "m = tl.program_id(0) * B + tl.arange(0, B) - 3 + 3"),
    ("remainder_by_quotient", "q = M % N", "q = M - M // N * N"),
    ("remainder_by_quotient", "q = B % 3", None),
    ("quotient_in_two_steps", "q = M // (N * K)", "q = M // N // K"),
    ("quotient_in_two_steps", "q = (M - 9) // (N * K)", None),
    ("blocks_counted_by_hand", "q = tl.cdiv(M, B)", "q = (M + B - 1) // B"),
    ("wide_program_ids", "n = tl.program_id(0)", "n = tl.program_id(0).to(tl.int64)"),
    ("wide_ranges", "n = tl.arange(0, B)", "n = tl.arange(0, B).to(tl.int64)"),
    ("named_terms", f"{ROWS}\np = x + m * stride", f"{ROWS}\nterm = m * stride\np = x + term"),
    ("names_replaced", "n = M * N\np = x + n", "p = x + M * N"),
    ("names_replaced", "n = M * N\nn = n + 1\np = x + n", None),
    ("names_replaced", "n = M * N\nM = 3\np = x + n", None),
    ("bases_in_front", "v = tl.load(x + M * N)", "base = x + M * N\nv = tl.load(base)"),
    ("sums_of_pointers_split", "p = x + M + N", "rows = x + M\nboth = rows + N\np = both"),
    ("masks_in_front", "v = tl.load(x + M, mask=M < N)", "mask = M < N\nv = tl.load(x + M, mask=mask)"),
    ("masks_in_front", "for i in range(K):\n    v = tl.load(x + i, mask=M < N)",
     "mask = M < N\nfor i in range(K):\n    v = tl.load(x + i, mask=mask)"),
    ("masks_in_front", "for i in range(K):\n    v = tl.load(x + i, mask=i < N)",
     "for i in range(K):\n    mask = i < N\n    v = tl.load(x + i, mask=mask)"),
    ("masks_in_place", "c = M < N\nv = tl.load(x + M, mask=c)", "c = M < N\nv = tl.load(x + M, mask=M < N)"),
    ("chosen_for_masks", "v = tl.load(x + M, mask=M < N, other=0.0)",
     "v = tl.where(M < N, tl.load(x + M, mask=M < N), 0.0)"),
    ("other_as_integer", "v = tl.load(x + M, mask=M < N, other=0.0)", "v = tl.load(x + M, mask=M < N, other=0)"),
    ("unmasked_if_even", LOOP, """p = x + tl.arange(0, B)
for k in range(0, tl.cdiv(K, B)):
    if EVEN:
        a = tl.load(p)
    else:
        a = tl.load(p, mask=tl.arange(0, B) < K - k * B, other=0.0)
    p += B * stride"""),
    ("stepping_by_blocks", LOOP, """p = x + tl.arange(0, B)
for start in range(0, K, B):
    a = tl.load(p, mask=tl.arange(0, B) < K - start, other=0.0)
    p += B * stride"""),
    ("counting_blocks", "for k in range(0, K, B):\n    v = tl.load(x + k)",
     "for step in range(0, tl.cdiv(K, B)):\n    v = tl.load(x + step * B)"),
    ("counting_blocks", "for k in range(0, K, M):\n    v = tl.load(x + k)", None),
    ("while_loops", "for k in range(0, K, B):\n    v = tl.load(x + k)",
     "k = 0\nwhile k < K:\n    v = tl.load(x + k)\n    k += B"),
    ("while_loops", "for k in range(K, 0, -B):\n    v = tl.load(x + k)", None),
    ("triton_ranges", "for k in range(K):\n    v = tl.load(x + k)", "for k in tl.range(K):\n    v = tl.load(x + k)"),
    ("pointers_recomputed", LOOP, """p = x + tl.arange(0, B)
for k in range(0, tl.cdiv(K, B)):
    a = tl.load(p + k * (B * stride), mask=tl.arange(0, B) < K - k * B, other=0.0)"""),
    ("pointers_recomputed", LOOP.replace("tl.cdiv(K, B)", "K, B"), """p = x + tl.arange(0, B)
for k in range(0, K, B):
    a = tl.load(p + k * stride, mask=tl.arange(0, B) < K - k * B, other=0.0)"""),
    ("pointers_recomputed", f"{LOOP}\nq = tl.load(p)", None),
    ("pointers_advanced", "for k in range(0, K, B):\n    v = tl.load(x + k * stride + M)",
     "pointer = x + 0 * stride + M\nfor k in range(0, K, B):\n    v = tl.load(pointer)\n    pointer += stride * B"),
    ("pointers_advanced", "for k in range(0, K, B):\n    v = tl.load(x + k * k)", None),
    ("transposed_by_name", "v = tl.trans(x)", "v = tl.permute(x, (1, 0))"),
    ("transposed_by_attribute", "v = tl.trans(x)", "v = x.T"),
    ("cast_by_name", "v = M.to(tl.float32)", "v = tl.cast(M, tl.float32)"),
    ("reduced_dims_kept", "v = tl.sum(x, axis=1)[:, None]", "v = tl.sum(x, axis=1, keep_dims=True)"),
    ("reduced_dims_kept", "v = tl.sum(x, axis=0)[:, None]", None),
    ("filled_with_zeros", "v = tl.zeros((B,), dtype=tl.int32)", "v = tl.full((B,), 0, tl.int32)"),
    ("cache_hints", "v = tl.load(x)", "v = tl.load(x, eviction_policy='evict_last')"),
    ("products_added", "v = tl.dot(x, y, v)", "v += tl.dot(x, y)"),
    ("products_accumulated", "v += tl.dot(x, y)", "v = tl.dot(x, y, v)"),
    ("axes_swapped", "n = tl.program_id(0)\nm = tl.program_id(1)", "n = tl.program_id(1)\nm = tl.program_id(0)"),
    ("axes_swapped", "n = tl.num_programs(0)", None),
    ("one_axis_by_rows", "n = tl.program_id(0)", """pid = tl.program_id(0)
down = tl.cdiv(M, B)
across = tl.cdiv(N, B)
row = pid // across
column = pid % across
n = row"""),
    ("block_pointers", f"{ROWS}\nn = tl.arange(0, B)\n"
     "v = tl.load(x + m[:, None] * stride + n[None, :], mask=m[:, None] < M, other=0.0)",
     f"{ROWS}\nn = tl.arange(0, B)\nv = tl.load(tl.make_block_ptr(x, (M, 0 + B), (stride, 1), "
     "(tl.program_id(0) * B, 0), (B, B), (1, 0)), boundary_check=(0,), padding_option='zero')"),
    ("block_pointers", f"{ROWS}\nv = tl.load(x + m[:, None] * stride + m[None, :], mask=m[:, None] < M, other=1.0)",
     None),
    ("block_pointers", f"{ROWS}\nv = tl.load(x + m[:, None] * stride + m[None, :], mask=m[:, None] > M)", None),
    ("descriptors", f"{ROWS}\nv = tl.load(x + m[:, None] * stride + m[None, :], mask=m[:, None] < M)",
     f"{ROWS}\ndescribed = tl.make_tensor_descriptor(x, (M, tl.program_id(0) * B + B), (stride, 1), (B, B))\n"
     "v = described.load([tl.program_id(0) * B, tl.program_id(0) * B])"),
    ("descriptors", f"{ROWS}\nv = tl.load(x + m[:, None] * stride + m[None, :] * N, mask=m[:, None] < M)", None),
    ("descriptors", f"n = tl.cdiv(M, B).to(tl.int64)\n{ROWS}\nv = tl.load(x + m[:, None] * stride + m[None, :])", None),
    ("wide_program_ids", "n = tl.program_id(0)\np = tl.make_block_ptr(x, (M,), (1,), (n,), (B,), (0,))", None),
]  # fmt: skip


@pytest.mark.parametrize(("rewriting", "before", "after"), TABLE)
def test_what_it_makes(rewriting: str, before: str, after: str | None) -> None:
    assert rewritten(rewriting, before) == after


def test_arguments_become_constants() -> None:
    base = program("v = tl.load(x + M * stride)")
    made = REWRITINGS["constant_sizes"](base, Draw(Random(1)))
    assert made is not None and {"M", "N", "K"} <= set(made.constants) and "M" not in made.numbers
    assert "M: tl.constexpr" in made.text() and "stride: tl.constexpr" not in made.text()
    made = REWRITINGS["constant_strides"](base, Draw(Random(1)))
    assert made is not None and made.constants["stride"] == "N" and "stride: tl.constexpr" in made.text()
    assert REWRITINGS["constant_sizes"](program("M += 1\nN = K = 2"), Draw(Random(1))) is None


def test_strides_are_passed_otherwise() -> None:
    base = program("v = tl.load(x + stride)")
    made = REWRITINGS["wide_strides"](base, Draw(Random(1)))
    assert made is not None and made.wide == {"stride"} and "stride: tl.int64" in made.text()
    units = program("v = tl.load(x + stride_unit)")
    made = REWRITINGS["unknown_unit_strides"](units, Draw(Random(1)))
    assert made is not None and made.unspecialised == {"stride_unit"}
    assert "do_not_specialize=['stride_unit']" in made.text()


def test_two_axes_become_one() -> None:
    base = program("n = tl.program_id(0)\nm = tl.program_id(1)\nz = tl.program_id(2)", grid=("cdiv(M, B)", "N", "K"))
    made = REWRITINGS["one_axis_by_columns"](base, Draw(Random(1)))
    assert made is not None and made.grid == ("(cdiv(M, B)) * (N)", "K")
    assert body_of(made).endswith("n = row\nm = column\nz = tl.program_id(1)")
    assert "row = pid % down\ncolumn = pid // down" in body_of(made)
    made = REWRITINGS["one_axis_in_groups"](base, Draw(Random(1)))
    assert made is not None and "height = min(down - first, 8)" in body_of(made)
    unknown = program("n = tl.program_id(0)", grid=("cdiv(Q, B)", "N"))
    assert REWRITINGS["one_axis_by_rows"](unknown, Draw(Random(1))) is None


def test_a_program_loops_over_tiles() -> None:
    made = REWRITINGS["persistent"](program("n = tl.program_id(0)", grid=("cdiv(M, B)",)), Draw(Random(1)))
    assert made is not None and made.grid == ("min(cdiv(M, B), 4)",)
    loop = "for tile in range(tl.program_id(0), tl.cdiv(M, B), tl.num_programs(0)):\n    n = tile"
    assert body_of(made) == loop
    assert REWRITINGS["persistent"](program("x += tl.program_id(0)", grid=("M",)), Draw(Random(1))) is None


def test_helpers_are_made_and_inlined() -> None:
    made = REWRITINGS["helpers_made"](program("n = M * B + N"), Draw(Random(1)))
    assert made is not None and body_of(made) == "n = helper_0(B, M, N)"
    assert ast.unparse(made.helpers[0]) == "@triton.jit\ndef helper_0(B: tl.constexpr, M, N):\n    return M * B + N"
    inlined = REWRITINGS["helpers_inlined"](made, Draw(Random(1)))
    assert inlined is not None and body_of(inlined) == "n = M * B + N"
    twice = "def square(v):\n    return v * v"
    assert REWRITINGS["helpers_inlined"](program("n = square(tl.load(x))", twice), Draw(Random(1))) is None


def test_the_grid_stays_where_a_helper_asks_for_it() -> None:
    helper = "def place():\n    return tl.program_id(0)"
    assert REWRITINGS["axes_swapped"](program("n = place() + tl.program_id(0)", helper), Draw(Random(1))) is None


def test_a_site_may_be_left_out() -> None:
    body = "\n".join(f"n{i} = tl.program_id(0)" for i in range(40))
    made = REWRITINGS["wide_program_ids"](program(body), Draw(Random(1), 0.5))
    assert made is not None and 8 < body_of(made).count("int64") < 32


def test_every_rewriting_is_looked_at() -> None:
    elsewhere = {"constant_strides", "constant_unit_strides", "constant_sizes",
                 "unknown_unit_strides", "wide_strides", "one_axis_by_columns", "one_axis_in_groups", "persistent",
                 "helpers_made", "helpers_inlined", "sums_in_any_order"}  # fmt: skip
    assert {name for name, _, _ in TABLE} | elsewhere == set(REWRITINGS)
