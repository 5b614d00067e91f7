"""What a launch computes of its arguments for a kernel, against what the same ops mean in the kernel."""

from __future__ import annotations

import json
import os
from random import Random

import numpy as np
import pytest

from tritonx.analysis.launch_ranges import arguments_of
from tritonx.analysis.launch_values import RULES, launch_values, needed, steps
from tritonx.backends.nvidia.launch.launch_values import MEANINGS, evaluate
from tritonx.dialects import tile
from tritonx.interpreter.machine import interpret
from tritonx.ir.text import parse_module

SEED = int(os.environ["TRITONX_SEED"])
WIDTHS = (1, 8, 16, 32, 64)
BINARY = (
    "addi subi muli divsi divui remsi remui andi ori xori shli shrsi shrui maxsi minsi maxui minui"
).split()  # fmt: skip
PREDICATES = "eq ne slt sle sgt sge ult ule ugt uge".split()
POINTEES = "i1", "i8", "f16", "f32", "f64"
EDGES = (0, 1, 2, 3, 7, 8, 16, 31, 32, 63, 64, 65, 255, -1, -2, -8)
"""Shifts by the width and more, and divisors that a division alone would not take, among them."""


def drawn(random: Random, bits: int) -> int:
    """In the signed range."""
    least, most = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    found = random.choice([least, most, random.randint(least, most), random.choice(EDGES), random.randint(-9, 99)])
    return min(max(found, least), most)


class Expressions:
    """A kernel that computes integers of its arguments at random, and stores them all; and arguments for it."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.arguments = [("a", 64), *((f"b{n}", random.choice(WIDTHS)) for n in range(4))]
        self.values = [drawn(random, bits) for _, bits in self.arguments]
        self.type = f"!tt.ptr<{random.choice(POINTEES)}>"
        self.known: dict[int, list[str]] = {bits: [] for bits in WIDTHS}
        self.lines: list[str] = []
        for name, bits in self.arguments:
            self.known[bits].append(f"%{name}")
        for bits in WIDTHS:
            number = drawn(random, bits)
            self.new(bits, f"arith.constant {str(bool(number)).lower() if bits == 1 else f'{number} : i{bits}'}")
        self.pointers = [self.line(f"tt.int_to_ptr %a : i64 -> {self.type}")]
        for _ in range(40):
            self.grow()

    def line(self, text: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def new(self, bits: int, text: str) -> None:
        self.known[bits].append(self.line(text))

    def any(self, bits: int) -> str:
        return self.random.choice(self.known[bits])

    def grow(self) -> None:
        random, bits = self.random, self.random.choice(WIDTHS)
        narrower = [n for n in WIDTHS if n < bits]
        match random.randrange(7):
            case 0 if narrower:
                source = random.choice(narrower)
                self.new(bits, f"arith.{random.choice(('extsi', 'extui'))} {self.any(source)} : i{source} to i{bits}")
            case 1 if narrower:
                target = random.choice(narrower)
                self.new(target, f"arith.trunci {self.any(bits)} : i{bits} to i{target}")
            case 2:
                self.new(1, f"arith.cmpi {random.choice(PREDICATES)}, {self.any(bits)}, {self.any(bits)} : i{bits}")
            case 3:
                self.new(bits, f"arith.select {self.any(1)}, {self.any(bits)}, {self.any(bits)} : i{bits}")
            case 4:
                pointer, by = random.choice(self.pointers), f"{self.type}, i{bits}"
                self.pointers.append(self.line(f"tt.addptr {pointer}, {self.any(bits)} : {by}"))
                self.new(64, f"tt.ptr_to_int {self.pointers[-1]} : {self.type} -> i64")
            case _:
                self.new(bits, f"arith.{random.choice(BINARY)} {self.any(bits)}, {self.any(bits)} : i{bits}")

    def finish(self) -> tuple[str, int]:
        """The text, and how many are stored, as i64."""
        stored = 0
        for bits in WIDTHS:
            for name in list(self.known[bits]):
                wide = name if bits == 64 else self.line(f"arith.extsi {name} : i{bits} to i64")
                place = self.line(f"arith.constant {stored} : i32")
                to = self.line(f"tt.addptr %out, {place} : !tt.ptr<i64>, i32")
                self.lines.append(f"tt.store {to}, {wide} : !tt.ptr<i64>")
                stored += 1
        parameters = ", ".join(f"%{name}: i{bits}" for name, bits in self.arguments)
        body = "\n".join(self.lines)
        return f"tt.func public @all({parameters}, %out: !tt.ptr<i64>) {{\n{body}\ntt.return\n}}", stored


@pytest.mark.parametrize("draw", range(60))
def test_as_in_the_kernel(draw: int) -> None:
    """In every width, of edge values too, by the text that the cache keeps."""
    made = Expressions(Random(f"{SEED} {draw}"))
    text, count = made.finish()
    module = parse_module(f"module {{\n{text}\n}}")
    (function,) = module.ops
    assert isinstance(function, tile.FuncOp)
    wanted = [op.value for op in function.walk() if isinstance(op, tile.StoreOp)]
    computed, places = steps(launch_values(function), wanted)
    computed = json.loads(json.dumps(computed))
    given = dict(enumerate(made.values))
    found = evaluate(computed, {number: given[number] for number in arguments_of(computed)})
    out = np.zeros(count, np.int64)
    interpret(module, 1, [*made.values, out])
    assert [found[place] for place in places] == out.tolist(), f"seed {SEED}, draw {draw}\n{text}"


def test_every_rule_has_a_meaning() -> None:
    """And is drawn above."""
    named = {*BINARY, "extsi", "extui", "trunci", "cmpi", "select", "addptr", "bitcast"}
    assert MEANINGS.keys() == named
    assert {op.name.partition(".")[2] for op in RULES} == named - {"bitcast"} | {
        "constant", "bitcast", "int_to_ptr", "ptr_to_int"
    }  # fmt: skip


BODY = """
tt.func public @kernel(%n: i32, %p: !tt.ptr<i32>, %f: f32, %t: tensor<4xi32>, %w: i128) {
  %c4 = arith.constant 4 : i32
  %pid = tt.get_program_id x : i32
  %loaded = tt.load %p : !tt.ptr<i32>
  %a = arith.addi %n, %c4 : i32
  %b = arith.addi %n, %pid : i32
  %c = arith.addi %n, %loaded : i32
  %d = arith.addi %t, %t : tensor<4xi32>
  %e = arith.addi %w, %w : i128
  %g = arith.fptosi %f : f32 to i32
  scf.for %i = %c4 to %n step %c4 : i32 {
    %h = arith.muli %n, %a : i32
    %j = arith.muli %n, %i : i32
    %q = tt.addptr %p, %h : !tt.ptr<i32>, i32
    tt.store %q, %j : !tt.ptr<i32>
  }
  tt.return
}
"""


def test_what_is_known_at_a_launch() -> None:
    """Not what depends on the program, on memory or on the round of a loop."""
    (function,) = parse_module(f"module {{{BODY}}}").ops
    assert isinstance(function, tile.FuncOp)
    formulas = launch_values(function)
    assert {value.name_hint for value in formulas} == {"n", "p", "c4", "a", "h", "q"}
    moved = next(value for value in formulas if value.name_hint == "q")
    assert [value.name_hint for value in needed(formulas, [moved])] == ["n", "p", "c4", "a", "h", "q"]
    computed, places = steps(formulas, [moved])
    assert evaluate(computed, {0: 3, 1: 1 << 40})[places[0]] == (1 << 40) + 4 * 3 * 7


def test_a_long_way_is_computed_step_by_step() -> None:
    """Each value once, however many it is used by."""
    lines = [f"%v{n + 1} = arith.addi %v{n}, %v{n} : i64" for n in range(3000)]
    text = "\n".join(["tt.func public @long(%v0: i64) {", *lines, "tt.return", "}"])
    (function,) = parse_module(f"module {{{text}}}").ops
    assert isinstance(function, tile.FuncOp)
    formulas = launch_values(function)
    computed, (place,) = steps(formulas, [list(formulas)[-1]])
    assert len(computed) == 3001
    assert evaluate(computed, {0: 5})[place] == 0 and evaluate(computed, {0: 5})[60] == 5 << 60
