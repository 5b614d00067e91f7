"""`flatten-loops` on random nests, in which all that happens goes into one number and what is stored by it: the
interpreter cannot tell the module before from the one after. Counters of every width, signed and not, steps that do not
divide the range, loops that do not run."""

from __future__ import annotations

import os
from random import Random

import pytest

from tritonx.dialects import scf
from tritonx.interpreter.compare import Inputs, same_behaviour
from tritonx.ir.pipeline import PassHooks, run_passes
from tritonx.ir.text import parse_module
from tritonx.ir.verify import verify
from tritonx.transforms.tile.flatten_loops import FlattenLoops

SEED = int(os.environ["TRITONX_SEED"])
DRAWS = int(os.environ.get("TRITONX_RANDOM_KERNELS", "10")) * 4

HASHED = """
      %{name}_t = arith.muli %{before}, %c31 : i32
      %{name} = arith.addi %{name}_t, %{value} : i32"""


def nest(random: Random) -> str:
    """A kernel with a loop in a loop."""
    outer, inner = (random.choice(("i8", "i16", "i32", "i64")) for _ in range(2))
    signs = [random.choice(("", "unsigned ")) for _ in range(2)]
    begins = random.choice(("%c7", "%h", "%p1"))

    def number(name: str, value: str, type_: str) -> str:
        how = {"i64": "trunci", "i32": None}.get(type_, "extsi")
        return (
            f"%{name} = arith.addi {value}, %c0 : i32"
            if how is None
            else f"%{name} = arith.{how} {value} : {type_} to i32"
        )

    def bound(name: str, *, signed: bool) -> str:
        if random.random() < 0.3:
            return f"%{name} = arith.constant {random.randrange(0, 4)} : i32"
        return f"%{name} = arith.rem{'si' if signed else 'ui'} %{name}_n, %c5 : i32"

    def typed(name: str, type_: str, base: int) -> list[str]:
        """As a number of the type, so many further on."""
        how = {"i32": "addi %{0}, %c0 : i32", "i64": "extsi %{0} : i32 to i64"}.get(type_, "trunci %{0} : i32 to {1}")
        return [
            f"%{name}_y = arith.{how.format(name, type_)}",
            f"%{name}_b = arith.constant {base} : {type_}",
            f"%{name}_x = arith.addi %{name}_y, %{name}_b : {type_}",
        ]

    def base(type_: str, *, signed: bool) -> int:
        """Zero, or the number below which the loop ends near the type's largest, or where the sign would change."""
        largest = (1 << (int(type_[1:]) - 1)) - 1
        return random.choice((0, largest - 4 if signed else largest - 2))

    def of_the_tile(name: str, begin: str, least: int) -> list[str]:
        """A bound of the inner loop that is at least so far behind ``begin``, and how far follows from the outer
        counter."""
        most = random.randrange(1, 5)
        cast = "trunci" if int(inner[1:]) < int(outer[1:]) else "extui"
        return [
            f"%{name}_i = arith.{random.choice(('addi %i, %s', 'muli %i, %i'))} : {outer}",
            f"%{name}_m = arith.constant {most} : {outer}",
            f"%{name}_r = arith.remui %{name}_i, %{name}_m : {outer}",
            f"%{name}_t = arith.{cast} %{name}_r : {outer} to {inner}"
            if inner != outer
            else f"%{name}_t = arith.ori %{name}_r, %{name}_r : {outer}",
            f"%{name}_k = arith.constant {least} : {inner}",
            f"%{name}_s = arith.addi %{name}_t, %{name}_k : {inner}",
            f"%{name}_z = arith.addi %{begin}, %{name}_s : {inner}",
        ]

    def uneven() -> tuple[str, str, list[str]]:
        """The inner loop's bounds, and what makes them in the outer loop's body."""
        how = random.randrange(6)
        if how == 0 and (inner, signs[1], bases[1]) == (outer, signs[0], bases[0]):
            return "i", "u2_x", []
        if how == 1 and bases[1] == 0:  # and the program says that there is a round
            less = "ult" if signs[1] else "slt"
            stated = [f"%some = arith.cmpi {less}, %l2_x, %u2_z : {inner}", "llvm.intr.assume %some : i1"]
            return "l2_x", "u2_z", [*of_the_tile("u2", "l2_x", 1), *stated]
        lines: list[str] = []
        names: list[str] = []
        for name in ("l2", "u2"):
            far = name == "l2" and bases[1] and not signs[1]  # so that it would begin at the least number instead
            moves = not far and random.random() < (0.5 if how < 4 else 0)
            names.append(f"{name}_{'z' if moves else 'x'}")
            lines += of_the_tile(name, f"{name}_x", random.randrange(3)) if moves else []
        return names[0], names[1], lines

    steps = random.randrange(1, 4), random.randrange(1, 4)
    bases = [base(type_, signed=not sign) for type_, sign in zip((outer, inner), signs, strict=True)]
    low, high, makes_bounds = uneven()
    stored = random.random() < 0.7
    prologue = random.random() < 0.7
    lines = [
        "tt.func public @nest(%out: !tt.ptr<i32>, %l_n: i32, %u_n: i32, %l2_n: i32, %u2_n: i32) {",
        *(f"%c{value} = arith.constant {value} : i32" for value in (0, 1, 5, 7, 31, 63)),
        *(bound(name, signed=not sign) for names, sign in zip((("l", "u"), ("l2", "u2")), signs, strict=True)
          for name in names),
        *(line for name in ("l", "u") for line in typed(name, outer, bases[0])),
        *(line for name in ("l2", "u2") for line in typed(name, inner, bases[1])),
        f"%s = arith.constant {steps[0]} : {outer}",
        f"%s2 = arith.constant {steps[1]} : {inner}",
        f"%end = scf.for {signs[0]}%i = %l_x to %u_x step %s iter_args(%h = %c1) -> (i32) : {outer} {{",
        number("i32", "%i", outer),
        HASHED.format(name="p1", before="h", value="i32"),
        *(["%w = arith.andi %p1, %c63 : i32", "%pw = tt.addptr %out, %w : !tt.ptr<i32>, i32",
           "%seen = tt.load %pw : !tt.ptr<i32>"] if prologue else ["%seen = arith.addi %p1, %c1 : i32"]),
        *makes_bounds,
        f"%r, %q = scf.for {signs[1]}%j = %{low} to %{high} step %s2 "
        f"iter_args(%x = {begins}, %y = %c7) -> (i32, i32) : {inner} {{",
        number("j32", "%j", inner),
        HASHED.format(name="x1", before="x", value="j32"),
        HASHED.format(name="y1", before="y", value="seen"),
        HASHED.format(name="x2", before="x1", value="i32"),
        "scf.yield %x2, %y1 : i32, i32",
        "}",
        HASHED.format(name="e1", before="r", value="q"),
        HASHED.format(name="e2", before="e1", value="p1"),
        *(["%at = arith.andi %e2, %c63 : i32", "%pe = tt.addptr %out, %at : !tt.ptr<i32>, i32",
           "tt.store %pe, %e2 : !tt.ptr<i32>"] if stored else []),
        "scf.yield %e2 : i32",
        "} {tt.flatten}",
        "tt.store %out, %end : !tt.ptr<i32>",
        "tt.return",
        "}",
    ]  # fmt: skip
    return "\n".join(lines)


@pytest.mark.parametrize("draw", range(DRAWS))
def test_a_nest_does_the_same_as_one_loop(draw: int) -> None:
    random = Random(f"{SEED} {draw}")
    text = nest(random)
    before, after = parse_module(text), parse_module(text)
    verify(before)
    run_passes(after, (FlattenLoops(),), PassHooks(verify=True))
    loops = [op for op in after.walk() if isinstance(op, scf.ForOp)]
    ran = [op for op in loops if op.unsigned is not None and len(op.iter_args) >= 4]
    constant_none = "tt.flatten" not in str(after) and not ran
    assert ran or constant_none
    for number in range(4):
        inputs = Inputs(elements=64, integers=(-40, 40))
        same_behaviour(before, after, seed=random.randrange(1 << 30) + number, inputs=inputs)
