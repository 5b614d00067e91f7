"""Which scalars a launch can bound, and the questions that it is asked about them."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp

from tritonx.analysis.axis_info import analyze_axes
from tritonx.analysis.launch_bounds import ASKED, LaunchBounds, Question, ask, questions_of
from tritonx.analysis.polynomials import Polynomial, atom, number
from tritonx.analysis.tile_indices import Indices
from tritonx.dialects import tile
from tritonx.ir.text import parse_module, print_module
from tritonx.transforms.tile.written_polynomials import Writer

KERNEL = """
module {
  tt.func private @called(%x: i32) -> i32 {
    tt.return %x : i32
  }
  tt.func public @kernel(%n: i32, %m: i32 {tt.negative = 1 : i32}, %p: !tt.ptr<i32>, %w: i64, %f: f32) {
    %c0 = arith.constant 0 : i32
    %c3 = arith.constant 3 : i32
    %c16 = arith.constant 16 : i32
    %pid = tt.get_program_id y : i32
    %programs = tt.get_num_programs x : i32
    %left = arith.subi %n, %pid : i32
    %some = arith.cmpi sgt, %left, %c0 : i32
    %chosen = scf.if %some -> (i32) {
      %twice = arith.addi %left, %left : i32
      scf.yield %twice : i32
    } else {
      scf.yield %programs : i32
    }
    %loaded = tt.load %p : !tt.ptr<i32>
    %of_loaded = arith.addi %loaded, %n : i32
    %natural = arith.andi %loaded, %c16 : i32
    %assumed = arith.addi %loaded, %c3 : i32
    %is = arith.cmpi sge, %assumed, %c0 : i32
    llvm.intr.assume %is : i1
    %of_assumed = arith.divsi %assumed, %n : i32
    %of_float = arith.fptosi %f : f32 to i32
    %call = tt.call @called(%n) : (i32) -> i32
    %last, %wild = scf.for %i = %pid to %n step %c3 iter_args(%moved = %n, %lost = %n) -> (i32, i32) : i32 {
      %next = arith.subi %moved, %c16 : i32
      %root = arith.muli %lost, %lost : i32
      %of_i = arith.divsi %i, %c3 : i32
      %of_moved = arith.maxsi %moved, %c3 : i32
      %of_lost = arith.addi %lost, %c3 : i32
      scf.yield %next, %root : i32, i32
    }
    %behind = arith.maxsi %last, %c3 : i32
    %unsigned = scf.for unsigned %j = %pid to %n step %c3 iter_args(%k = %c0) -> (i32) : i32 {
      %of_j = arith.divsi %j, %c3 : i32
      scf.yield %k : i32
    }
    %wide = arith.extsi %pid : i32 to i64
    %far = arith.muli %wide, %w : i64
    tt.return
  }
}
"""


def kernel() -> tuple[tile.FuncOp, LaunchBounds, dict[str, Polynomial]]:
    module = parse_module(KERNEL)
    function = list(module.ops)[1]
    assert isinstance(function, tile.FuncOp)
    indices = Indices(analyze_axes(module))
    named = [*function.body.blocks[0].args, *(value for op in function.walk() for value in op.results)]
    named += [value for op in function.walk() for region in op.regions for value in region.blocks[0].args]
    atoms = {value.name_hint: atom(value) for value in named if value.name_hint}
    return function, LaunchBounds(function, indices, Writer(function, indices).ordered), atoms


BOUNDED: dict[str, tuple[int, int, int]] = {
    # the least value for n = 40, m = -7, w = 5 and 1 × 8 × 1 programs; for n = 6; for n = 40 and one program
    "n": (40, 6, 40), "m": (-7, -7, -7), "w": (5, 5, 5), "c3": (3, 3, 3), "pid": (0, 0, 0), "programs": (1, 1, 1),
    "left": (33, -1, 40), "chosen": (66, -2, 80), "i": (0, 0, 0), "of_i": (0, 0, 0),
    "moved": (40 - 16 * 13, 6 - 16, 40 - 16 * 13), "of_moved": (3, 3, 3), "last": (40 - 16 * 14, 6 - 32, 40 - 16 * 14),
    "behind": (3, 3, 3), "wide": (0, 0, 0), "far": (0, 0, 0), "next": (40 - 16 * 14, 6 - 32, 40 - 16 * 14),
}  # fmt: skip
KNOWN = {"assumed": (0, 0, 0), "natural": (0, 0, 0), "of_assumed": (0, 0, 0)}
UNKNOWN = ["loaded", "of_loaded", "of_float", "call", "wild", "lost", "of_lost", "root", "j", "of_j"]
LAUNCHES = (({0: 40, 1: -7, 3: 5}, (1, 8, 1)), ({0: 6, 1: -7, 3: 5}, (1, 8, 1)), ({0: 40, 1: -7, 3: 5}, (1, 1, 1)))


@pytest.mark.parametrize("name", [*BOUNDED, *KNOWN])
def test_what_a_launch_can_bound(name: str) -> None:
    _, bounds, atoms = kernel()
    for least, (arguments, grid) in zip((BOUNDED | KNOWN)[name], LAUNCHES, strict=True):
        exactly, too_much = (bounds.question([atoms[name] - number(least + more)]) for more in (0, 1))
        assert exactly is not None and exactly.holds(arguments, grid)
        assert too_much is not None and not too_much.holds(arguments, grid)


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_it_cannot(name: str) -> None:
    """Nor anything together with it."""
    _, bounds, atoms = kernel()
    assert bounds.question([atoms[name]]) is None
    assert bounds.question([atoms["n"], atoms["n"] * atoms[name] + number(1)]) is None
    assert bounds.question([atoms["n"]]) is not None


def test_sums_and_products() -> None:
    _, bounds, atoms = kernel()
    n, pid = atoms["n"], atoms["pid"]
    asked = [n * n * number(2) - pid * n * number(11) + number(7), number(0), n - number(40)]
    question = bounds.question(asked)
    assert question is not None and len(question.from_zero) == 3
    assert question.holds({0: 40}, (1, 8, 1)) and question.holds({0: 100}, (9, 8, 3))
    assert not question.holds({0: 40}, (1, 9, 1)) and not question.holds({0: 39}, (1, 1, 1))
    assert not question.holds({0: -(1 << 31)}, (1, 1, 1))


def test_a_usual_launch() -> None:
    """One program, and arguments of a usual size, below 0 where it is known that they are."""
    _, bounds, atoms = kernel()
    for name, is_usual in {"left": True, "n": True, "m": False, "moved": False, "pid": True}.items():
        question = bounds.question([atoms[name]])
        assert question is not None and bounds.is_usual(question) == is_usual, name
    question = bounds.question([atoms["pid"] - number(1)])
    assert question is not None and not bounds.is_usual(question)


def test_the_text_keeps_them() -> None:
    """Each by itself, in an order that is the text's."""
    function, bounds, atoms = kernel()
    written: list[Question] = []
    for wanted in (["chosen", "far", "last"], ["n"]):
        question = bounds.question({atoms[name] for name in wanted})
        assert question is not None
        written.append(question)
        ask(function, question)
    assert questions_of(function) == written
    module = function.parent_op()
    assert isinstance(module, ModuleOp)
    read, plain = (list(parse_module(text).ops)[1] for text in (print_module(module), KERNEL))
    assert isinstance(read, tile.FuncOp) and ASKED in read.attributes and questions_of(read) == written
    assert isinstance(plain, tile.FuncOp) and questions_of(plain) == []


def test_the_same_steps_for_the_same_text() -> None:
    found: list[Question | None] = []
    for _ in range(5):
        _, bounds, atoms = kernel()
        found.append(bounds.question({atoms[name] * atoms["n"] + atoms["pid"] for name in BOUNDED}))
    assert found[0] is not None and all(each == found[0] for each in found)
