"""What the axis analysis claims of random index expressions holds for the numbers they produce."""

from __future__ import annotations

import os
import random

import numpy as np
import pytest

from tritonx.analysis.access_width import access_width
from tritonx.analysis.axis_info import analyze_axes
from tritonx.analysis.axis_value import AxisInfo, Sign, reshaped
from tritonx.ir.text import parse_module
from tritonx.layouts import linear_layout
from tritonx.layouts.encodings import BlockedEncoding

SEED = int(os.environ["TRITONX_SEED"])
EXTENT = 32


class Expression:
    """Random ops in text, each with the array that it computes (for some values of the arguments)."""

    def __init__(self, rng):
        self.rng = rng
        self.lines = []
        self.values = {}
        self.arguments = {"%a": 16 * rng.randrange(-8, 9), "%b": 4 * rng.randrange(1, 40), "%n": rng.randrange(-99, 99)}
        self.tiles = []
        self.masks = []
        for name, value in self.arguments.items():
            self.tiles.append(self.emit(f"tt.splat {name} : i32 -> tensor<{EXTENT}xi32>", np.full(EXTENT, value)))
        self.tiles.append(
            self.emit(
                f"tt.make_range {{end = {EXTENT} : i32, start = 0 : i32}} : tensor<{EXTENT}xi32>", np.arange(EXTENT)
            )
        )
        for _ in range(2):
            constant = rng.choice([1, 2, 4, 8, 3, 12, 16, -8, 0])
            text = f"arith.constant dense<{constant}> : tensor<{EXTENT}xi32>"
            self.tiles.append(self.emit(text, np.full(EXTENT, constant)))

    def emit(self, text, value):
        name = f"%{len(self.values)}"
        self.values[name] = value
        self.lines.append(f"  {name} = {text}")
        return name

    def step(self):
        rng = self.rng
        a, b = rng.choice(self.tiles), rng.choice(self.tiles)
        x, y = self.values[a], self.values[b]
        kind = rng.choice("addi addi subi muli divsi remsi shli shrsi andi minsi maxsi cmpi select".split())
        suffix = f"{a}, {b} : tensor<{EXTENT}xi32>"
        match kind:
            case "addi":
                value = x + y
            case "subi":
                value = x - y
            case "muli":
                value = x * y
            case "divsi" | "remsi":
                if (y == 0).any():
                    return
                quotient = np.trunc(x / y).astype(np.int64)
                value = quotient if kind == "divsi" else x - quotient * y
            case "shli" | "shrsi":
                if (y < 0).any() or (y > 8).any():
                    return
                value = x << y if kind == "shli" else x >> y
            case "andi":
                value = x & y
            case "minsi":
                value = np.minimum(x, y)
            case "maxsi":
                value = np.maximum(x, y)
            case "cmpi":
                predicate = rng.choice(["slt", "sle", "sgt", "sge", "eq"])
                compare = {
                    "slt": np.less,
                    "sle": np.less_equal,
                    "sgt": np.greater,
                    "sge": np.greater_equal,
                    "eq": np.equal,
                }
                self.masks.append(self.emit(f"arith.cmpi {predicate}, {suffix}", compare[predicate](x, y)))
                return
            case "select":
                if not self.masks:
                    return
                mask = rng.choice(self.masks)
                text = f"arith.select {mask}, {a}, {b} : tensor<{EXTENT}xi1>, tensor<{EXTENT}xi32>"
                self.tiles.append(self.emit(text, np.where(self.values[mask], x, y)))
                return
        if np.abs(value).max() < 2**30:
            self.tiles.append(self.emit(f"arith.{kind} {suffix}", value))

    def text(self):
        body = "\n".join(self.lines)
        negative = "tt.negative = 1 : i32"  # as these are drawn
        divisible = [f"%{name}: i32 {{tt.divisibility = {by} : i32, {negative}}}" for name, by in (("a", 16), ("b", 4))]
        arguments = f"{', '.join(divisible)}, %n: i32 {{{negative}}}"
        return f"tt.func public @f({arguments}) {{\n{body}\n  tt.return\n}}\n"


def holds(info, array):
    """Whether the claims about a tile's first dim are true of its numbers."""
    contiguity, divisibility, constancy = info.contiguity[0], info.divisibility[0], info.constancy[0]
    runs = array.reshape(-1, contiguity)
    assert (runs == runs[:, :1] + np.arange(contiguity)).all(), "contiguity"
    assert (runs[:, 0] % divisibility == 0).all(), "divisibility"
    assert (np.ptp(array.reshape(-1, constancy), axis=1) == 0).all(), "constancy"
    assert not info.non_negative or (array >= 0).all(), "sign"
    assert info.constant is None or (array == info.constant).all(), "constant"


@pytest.mark.parametrize("number", range(12))
def test_claims_are_true(number):
    rng = random.Random(SEED + number)
    for _ in range(10):
        expression = Expression(rng)
        for _ in range(30):
            expression.step()
        module = parse_module(expression.text())
        facts = analyze_axes(module)
        for op in module.walk():
            for result in op.results:
                if result.name_hint is None and op.name != "tt.func" and op.parent_op().name == "tt.func":
                    number = list(op.parent.ops).index(op)
                    array = expression.values[f"%{number}"]
                    try:
                        holds(facts.of(result), array.astype(np.int64))
                    except AssertionError as error:
                        raise AssertionError(f"{error} of {op}: {facts.of(result)}\n{expression.text()}") from error


def facts_by_name(text):
    module = parse_module(text)
    facts = analyze_axes(module)
    return {r.name_hint: facts.of(r) for op in module.walk() for r in op.results if r.name_hint}


def test_masked_row_of_a_matrix():
    info = facts_by_name("""
tt.func public @row(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %stride: i32 {tt.divisibility = 8 : i32},
                    %n: i32 {tt.divisibility = 8 : i32}) {
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %stride : i32
  %row = tt.addptr %p, %start : !tt.ptr<f32>, i32
  %columns = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %rows = tt.splat %row : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %at = tt.addptr %rows, %columns : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %limit = tt.splat %n : i32 -> tensor<1024xi32>
  %mask = arith.cmpi slt, %columns, %limit : tensor<1024xi32>
  tt.return
}
""")
    assert (info["at"].contiguity, info["at"].divisibility) == ((1024,), (16,))
    assert info["row"].divisibility == (16,)  # min(16, 8 elements of 4 bytes)
    assert info["mask"].constancy == (8,)


def test_matrix_pointers():
    info = facts_by_name("""
tt.func public @matrix(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %stride: i32 {tt.divisibility = 16 : i32}) {
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %i = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %j = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %s = tt.splat %stride : i32 -> tensor<64x1xi32>
  %is = arith.muli %i, %s : tensor<64x1xi32>
  %ib = tt.broadcast %is : tensor<64x1xi32> -> tensor<64x64xi32>
  %jb = tt.broadcast %j : tensor<1x64xi32> -> tensor<64x64xi32>
  %sum = arith.addi %ib, %jb : tensor<64x64xi32>
  %base = tt.splat %p : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %at = tt.addptr %base, %sum : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  tt.return
}
""")
    assert info["sum"].contiguity == (1, 64) and info["sum"].divisibility[1] == 16
    assert info["at"].contiguity == (1, 64) and info["at"].divisibility[1] == 16


def test_loops_settle():
    info = facts_by_name(
        """
tt.func public @loop(%n: i32, %p: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %c32 = arith.constant 32 : i32
  %range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %base = tt.splat %p : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
  %init = tt.addptr %base, %range : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  %step = arith.constant dense<8> : tensor<32xi32>
  %last = scf.for %i = %c0 to %n step %c32 iter_args(%at = %init) -> (tensor<32x!tt.ptr<f32>>) : i32 {
    %k = arith.addi %i, %c8 : i32
    %next = tt.addptr %at, %step : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
    scf.yield %next : tensor<32x!tt.ptr<f32>>
  }
  %zero = scf.while (%x = %c0) : (i32) -> i32 {
    %more = arith.cmpi slt, %x, %n : i32
    scf.condition(%more) %x : i32
  } do {
  ^bb0(%y: i32):
    %grown = arith.addi %y, %c8 : i32
    scf.yield %grown : i32
  }
  %flag = arith.cmpi slt, %n, %c0 : i32
  %either = scf.if %flag -> (i32) {
    scf.yield %c32 : i32
  } else {
    scf.yield %k2 : i32
  }
  tt.return
}
""".replace("%k2", "%c8")
    )
    assert info["k"].divisibility == (8,) and info["k"].non_negative
    assert info["next"].contiguity == (32,) and info["next"].divisibility == (16,)
    assert info["last"].contiguity == (32,) and info["last"].divisibility == (16,)
    assert info["zero"].divisibility == (8,) and info["either"].divisibility == (8,)


def test_a_branch_that_gives_anything_says_nothing() -> None:
    """As the rounds of a flattened loop in which nothing is loaded."""
    module = parse_module("""tt.func public @f(%n: i32 {tt.divisibility = 16 : i32}, %c: i1) {
  %p = ub.poison : i32
  %x = scf.if %c -> (i32) {
    scf.yield %n : i32
  } else {
    scf.yield %p : i32
  }
  tt.return
}
""")
    facts = analyze_axes(module)
    (branch,) = (op for op in module.walk() if op.name == "scf.if")
    assert facts.of(branch.results[0]).divisibility == (16,)


@pytest.mark.parametrize(
    ("old", "new", "runs", "expected"),
    [
        ((64, 32), (2, 32, 32), (64, 1), (1, 32, 1)),
        ((64, 32), (64, 4, 8), (64, 1), (64, 1, 1)),
        ((64, 32), (64, 4, 8), (1, 32), (1, 1, 8)),
        ((2, 32, 32), (64, 32), (1, 32, 1), (32, 1)),
        ((64, 32), (32, 64), (64, 1), (1, 1)),
        ((64, 32), (32, 64), (1, 32), (1, 32)),
        ((8, 1, 4), (1, 8, 4), (8, 1, 1), (1, 8, 1)),
    ],
)
def test_runs_that_a_reshape_keeps(
    old: tuple[int, ...], new: tuple[int, ...], runs: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    ones = (1,) * len(old)
    found = reshaped(AxisInfo(runs, (16,) * len(old), ones), old, new)
    assert found.contiguity == expected
    # An array with such runs, reshaped.
    array = np.zeros(old, int)
    for dim, run in enumerate(runs):
        index = np.arange(old[dim]).reshape([-1 if d == dim else 1 for d in range(len(old))])
        array = array + (index % run if run > 1 else index * 1000)
    for dim, run in enumerate(expected):
        lines = np.moveaxis(array.reshape(new), dim, -1).reshape(-1, run)
        assert (np.diff(lines, axis=1) == 1).all()


@pytest.mark.parametrize(
    ("old", "new", "equal", "expected"),
    [
        ((16, 3), (48,), (16, 1), (1,)),
        ((6,), (2, 3), (2,), (1, 1)),
        ((6, 8), (3, 16), (2, 8), (1, 8)),
        ((4, 2), (2, 4), (4, 2), (2, 4)),
    ],
)
def test_equal_elements_that_a_reshape_keeps(
    old: tuple[int, ...], new: tuple[int, ...], equal: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    """A dim of 3 or 6 whose elements are equal in runs of a power of two need not be equal throughout."""
    ones = (1,) * len(old)
    assert reshaped(AxisInfo(ones, ones, equal), old, new).constancy == expected
    array = np.zeros(old, int)
    for dim, run in enumerate(equal):
        array = 100 * array + (np.arange(old[dim]) // run).reshape([-1 if d == dim else 1 for d in range(len(old))])
    for dim, run in enumerate(expected):
        lines = np.moveaxis(array.reshape(new), dim, -1).reshape(-1, run)
        assert (np.diff(lines, axis=1) == 0).all()


def test_callers_meet():
    info = facts_by_name("""
tt.func private @callee(%x: i32) attributes {noinline = true} {
  %y = arith.addi %x, %x : i32
  tt.return
}
tt.func public @caller(%a: i32 {tt.divisibility = 16 : i32}, %b: i32 {tt.divisibility = 4 : i32}) {
  tt.call @callee(%a) : (i32) -> ()
  tt.call @callee(%b) : (i32) -> ()
  tt.return
}
""")
    assert info["y"].divisibility == (4,)


def test_hints():
    info = facts_by_name("""
tt.func public @hint(%a: i32) {
  %x = arith.addi %a, %a {tt.divisibility = dense<16> : tensor<1xi32>} : i32
  tt.return
}
""")
    assert info["x"].divisibility == (16,)


def test_signed_division_of_negative_runs():
    info = facts_by_name("""
tt.func public @division(%a: i32 {tt.divisibility = 16 : i32, tt.negative = 1 : i32}) {
  %range = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %four = arith.constant dense<4> : tensor<16xi32>
  %base = tt.splat %a : i32 -> tensor<16xi32>
  %x = arith.addi %base, %range : tensor<16xi32>
  %maybe_negative = arith.divsi %x, %four : tensor<16xi32>
  %positive = arith.divsi %range, %four : tensor<16xi32>
  tt.return
}
""")
    # -4 .. -1 truncate to -1, 0, 0, 0.
    assert info["maybe_negative"].constancy == (1,) and info["positive"].constancy == (4,)


def sign_facts(body: str, head: str = "%n: i32 {tt.divisibility = 16 : i32}, %m: i32") -> dict[str, AxisInfo]:
    return facts_by_name(f"""
    tt.func public @signs({head}) {{
      %range = tt.make_range {{end = 16 : i32, start = 0 : i32}} : tensor<16xi32>
      %pid = tt.get_program_id x : i32
      %c8 = arith.constant 8 : i32
      %c128 = arith.constant 128 : i32
      {body}
      tt.return
    }}
    """)


def tile_of(start: str, divisor: str) -> str:
    """(start * 128 + range) % divisor and its quotient."""
    return f"""
      %first = arith.muli {start}, %c128 : i32
      %all = tt.splat %first : i32 -> tensor<16xi32>
      %index = arith.addi %all, %range : tensor<16xi32>
      %by = tt.splat {divisor} : i32 -> tensor<16xi32>
      %rest = arith.remsi %index, %by : tensor<16xi32>
      %quotient = arith.divsi %index, %by : tensor<16xi32>"""


GROUPED = """
      %per = arith.muli %c8, %m : i32
      %group = arith.divsi %pid, %per : i32
      %first_row = arith.muli %group, %c8 : i32
      %left = arith.subi %m, %first_row : i32
      %rows = arith.minsi %left, %c8 : i32
      %inside = arith.remsi %pid, %per : i32
      %row = arith.divsi %inside, %rows : i32
"""
"""The column of a program in grouped order; the rows that a group has left may be none."""


@pytest.mark.parametrize(
    ("before", "start", "head", "runs"),
    [
        ("", "%pid", None, 16),
        (GROUPED, "%row", None, 16),
        ("%start = arith.divsi %pid, %m : i32", "%start", None, 16),
        ("%start = arith.addi %pid, %m : i32", "%start", None, 16),
        ("%start = arith.subi %pid, %m : i32", "%start", None, 1),  # a kernel that subtracts means what is below zero
        ("", "%m", None, 16),
        ("", "%m", "%n: i32 {tt.divisibility = 16 : i32}, %m: i32 {tt.negative = 1 : i32}", 1),
        (GROUPED, "%row", "%n: i32 {tt.divisibility = 16 : i32}, %m: i32 {tt.negative = 1 : i32}", 1),
    ],
    ids=["program", "grouped", "quotient", "sum", "difference", "argument", "negative", "grouped, negative"],
)
def test_runs_of_what_is_presumed(before: str, start: str, head: str | None, runs: int) -> None:
    facts = sign_facts(before + tile_of(start, "%n"), *([head] if head else []))
    assert facts["rest"].contiguity == (runs,) and facts["quotient"].constancy == (runs,)


def test_a_difference_is_a_divisor_of_what_is_presumed_only_as_far_as_sizes_go() -> None:
    """A quotient by what is loaded, or by a number below zero, is not presumed."""
    facts = sign_facts("""
      %less = arith.constant -8 : i32
      %negated = arith.divsi %pid, %less : i32
      %difference = arith.subi %n, %m : i32
      %presumed = arith.divsi %pid, %difference : i32""")
    assert (facts["negated"].sign, facts["presumed"].sign) == (Sign.OF_SIZES, Sign.PRESUMED)


def test_the_sign_of_extrema():
    """A maximum is not negative where one of the two is not, a minimum where both are."""
    info = facts_by_name("""
tt.func public @extrema(%n: i32) {
  %zero = arith.constant 0 : i32
  %x = tt.get_program_id x : i32
  %clamped = arith.maxsi %n, %x : i32
  %turned = arith.maxsi %x, %n : i32
  %unknown = arith.maxsi %n, %n : i32
  %less = arith.minsi %n, %x : i32
  %both = arith.minsi %x, %clamped : i32
  tt.return
}
""")
    assert {name for name, fact in info.items() if fact.non_negative} == {"zero", "x", "clamped", "turned", "both"}


def test_the_width_of_an_access_follows_its_mask():
    module = parse_module("""
tt.func public @masked(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %pairs: i32 {tt.divisibility = 2 : i32},
                       %fours: i32 {tt.divisibility = 4 : i32}) {
  %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %b = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %at = tt.addptr %b, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  %n0 = tt.splat %n : i32 -> tensor<512xi32>
  %by_one = arith.cmpi slt, %i, %n0 : tensor<512xi32>
  %n1 = tt.splat %pairs : i32 -> tensor<512xi32>
  %by_two = arith.cmpi slt, %i, %n1 : tensor<512xi32>
  %n2 = tt.splat %fours : i32 -> tensor<512xi32>
  %by_four = arith.cmpi slt, %i, %n2 : tensor<512xi32>
  %all = arith.cmpi slt, %n0, %n1 : tensor<512xi32>
  %scalar = arith.cmpi slt, %n, %pairs : i32
  tt.return
}
""")
    facts = analyze_axes(module)
    named = {r.name_hint: r for op in module.walk() for r in op.results}
    layout = linear_layout(BlockedEncoding((4,), (32,), (4,), (0,)), (512,))
    expected = {"by_one": 1, "by_two": 2, "by_four": 4, "all": 4, "scalar": 4}
    assert access_width(facts, layout, named["at"], None, 32) == 4
    assert {name: access_width(facts, layout, named["at"], named[name], 32) for name in expected} == expected


@pytest.mark.parametrize(
    "condition, known",
    [
        ("sge, %n, %zero", True),
        ("sgt, %n, %minus", True),
        ("sle, %zero, %n", True),
        ("slt, %minus, %n", True),
        ("sge, %n, %minus", False),
        ("slt, %n, %zero", False),
        ("sge, %zero, %n", False),
        ("ne, %n, %zero", False),
    ],
)
def test_assumptions(condition, known):
    module = parse_module(f"""
tt.func @f(%n: i32) {{
  %zero = arith.constant 0 : i32
  %minus = arith.constant -1 : i32
  %c = arith.cmpi {condition} : i32
  llvm.intr.assume %c : i1
  tt.return
}}""")
    function = next(iter(module.ops))
    assert analyze_axes(module).of(function.body.block.args[0]).non_negative == known


@pytest.mark.parametrize("assumed, run", [(True, 16), (False, 1)])
def test_a_computed_number_that_is_assumed_not_to_be_negative(assumed, run):
    """Columns of a tile modulo a width: negative ones would be no run. The divisor's sign does not matter."""
    module = parse_module(f"""
tt.func @f(%n: i32, %k: i32, %width: i32 {{tt.divisibility = 16 : i32}}) {{
  %zero = arith.constant 0 : i32
  %sixteen = arith.constant 16 : i32
  %block = arith.subi %n, %k : i32
  {"%c = arith.cmpi sge, %block, %zero : i32" if assumed else ""}
  {"llvm.intr.assume %c : i1" if assumed else ""}
  %start = arith.muli %block, %sixteen : i32
  %starts = tt.splat %start : i32 -> tensor<16xi32>
  %line = tt.make_range {{start = 0 : i32, end = 16 : i32}} : tensor<16xi32>
  %columns = arith.addi %starts, %line : tensor<16xi32>
  %widths = tt.splat %width : i32 -> tensor<16xi32>
  %wrapped = arith.remsi %columns, %widths : tensor<16xi32>
  tt.return
}}""")
    wrapped = next(op for op in module.walk() if op.name == "arith.remsi")
    assert analyze_axes(module).of(wrapped.results[0]).contiguity == (run,)
