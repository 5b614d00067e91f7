"""Loop-carried numbers, counted along: drawn loops against what their ops mean, round by round."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

import pytest

from tritonx.analysis.slot_sequence import Slot, rounds_between
from tritonx.dialects import scf
from tritonx.ir.text import parse_module

SEED = int(os.environ["TRITONX_SEED"])
WORD = 1 << 32


def signed(number: int) -> int:
    return (number + WORD // 2) % WORD - WORD // 2


COMPARED: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b,
    "slt": lambda a, b: signed(a) < signed(b), "sle": lambda a, b: signed(a) <= signed(b),
    "sgt": lambda a, b: signed(a) > signed(b), "sge": lambda a, b: signed(a) >= signed(b),
    "ult": lambda a, b: a < b, "ule": lambda a, b: a <= b, "ugt": lambda a, b: a > b, "uge": lambda a, b: a >= b,
}  # fmt: skip
COUNTED: dict[str, Callable[[int, int], int]] = {
    "addi": lambda a, b: (a + b) % WORD, "subi": lambda a, b: (a - b) % WORD,
    "andi": lambda a, b: a & b, "xori": lambda a, b: a ^ b,
}  # fmt: skip


@dataclass
class Loop:
    """`%c0` and so on are carried; `steps` are the lines of a round, each with what it makes of the values before."""

    starts: list[int]
    lines: list[str] = field(default_factory=list)
    steps: list[tuple[str, Callable[[dict[str, int]], int]]] = field(default_factory=list)
    yielded: list[str] = field(default_factory=list)
    wanted: tuple[str, str] = ("%c0", "%c0")

    def add(self, line: str, value: Callable[[dict[str, int]], int], type_: str = "i32") -> str:
        name = f"%v{len(self.steps)}"
        self.lines.append(f"{name} = {line} : {type_}")
        self.steps.append((name, value))
        return name

    def constant(self, number: int) -> str:
        return self.add(f"arith.constant {signed(number)}", lambda _: number % WORD)

    def counted(self, op: str, a: str, b: str) -> str:
        return self.add(f"arith.{op} {a}, {b}", lambda v: COUNTED[op](v[a], v[b]))

    def chosen(self, predicate: str, a: str, b: str, yes: str, no: str) -> str:
        test = self.add(f"arith.cmpi {predicate}, {a}, {b}", lambda v: int(COMPARED[predicate](v[a], v[b])))
        return self.add(f"arith.select {test}, {yes}, {no}", lambda v: v[yes] if v[test] else v[no])

    def text(self) -> str:
        names = [f"%c{n}" for n in range(len(self.starts))]
        types = ", ".join(["i32"] * len(names))
        given = ", ".join(f"{name} = %s{n}" for n, name in enumerate(names))
        return "\n".join([
            "tt.func public @f(%n: i32) {", "%zero = arith.constant 0 : i32", "%one = arith.constant 1 : i32",
            *(f"%s{n} = arith.constant {signed(start)} : i32" for n, start in enumerate(self.starts)),
            f"%r:{len(names)} = scf.for %i = %zero to %n step %one iter_args({given}) -> ({types}) : i32 {{",
            *self.lines, f"scf.yield {', '.join(self.yielded)} : {types}", "}", "tt.return", "}",
        ])  # fmt: skip

    def rounds(self, count: int) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        state = [start % WORD for start in self.starts]
        for _ in range(count):
            known = {f"%c{n}": value for n, value in enumerate(state)}
            for name, value in self.steps:
                known[name] = value(known)
            found.append((known[self.wanted[0]], known[self.wanted[1]]))
            state = [known[name] for name in self.yielded]
        return found


def drawn(random: Random) -> Loop:
    """Counters that wrap around, stop, or turn back, and others that follow one."""
    loop = Loop([random.randrange(-3, 6) for _ in range(random.randint(1, 5))])
    for number in range(len(loop.starts)):
        own, most = f"%c{number}", loop.constant(random.randrange(1, 9))
        step = loop.constant(random.choice([1, 1, 1, 2, -1]))
        following = loop.counted("addi" if random.random() < 0.8 else "subi", own, step)
        kind = random.choice(["wraps", "stops", "masked", "turns", "follows"])
        if kind == "masked":
            following = loop.counted("andi", following, loop.constant(random.choice([1, 3, 7])))
        elif kind == "turns":
            following = loop.counted("xori", own, most)
        elif kind == "follows":
            following = f"%c{random.randrange(len(loop.starts))}"
        else:
            other = loop.constant(random.randrange(-2, 3)) if kind == "wraps" else own
            predicate = random.choice(list(COMPARED))
            sides = random.sample([following, other], 2)
            following = loop.chosen(predicate, random.choice([own, following]), most, *sides)
        loop.yielded.append(following)
    names = [f"%c{n}" for n in range(len(loop.starts))] + loop.yielded
    loop.wanted = random.choice(names), random.choice(names)
    return loop


def both_stop(behind: int, last: int) -> Loop:
    """A counter and another that runs some rounds behind it; both stay where they end."""
    loop = Loop([0, -behind])
    one = loop.constant(1)
    for own, end in (("%c0", last), ("%c1", last - 1)):
        loop.yielded.append(loop.chosen("slt", own, loop.constant(end), loop.counted("addi", own, one), own))
    loop.wanted = "%c0", "%c1"
    return loop


HORIZON = 120


@pytest.mark.parametrize("behind", [1, 2, 3, 9])
def test_rounds_before_all_repeats(behind: int) -> None:
    """They meet in rounds that never come again, and not in those that do."""
    check(both_stop(behind, 20), False, f"{behind} behind")


@pytest.mark.parametrize("draw", range(60))
def test_rounds_between(draw: int) -> None:
    """The next round with the same number, from any round on, of counters that wrap around, stay, or count on."""
    random = Random(SEED * 1000 + draw)
    check(drawn(random), random.random() < 0.5, f"seed {SEED * 1000 + draw}")


def check(loop: Loop, same_round: bool, what: str) -> None:
    text = loop.text()
    (op,) = [op for op in parse_module(text).walk() if isinstance(op, scf.ForOp)]
    body = op.body.block
    results = [value for one in body.ops for value in one.results]
    values = dict(zip([name for name, _ in loop.steps], results, strict=True))
    values |= {f"%c{n}": value for n, value in enumerate(body.args[1:])}
    found = rounds_between(op, values[loop.wanted[0]], values[loop.wanted[1]], same_round=same_round)
    soonest, rounds = 0 if same_round else 1, loop.rounds(HORIZON)
    apart = [
        then - first
        for first, (one, _) in enumerate(rounds)
        for then in range(first + soonest, HORIZON)
        if rounds[then][1] == one
    ]
    if found == soonest and max(map(max, rounds)) >= HORIZON // 2:
        return  # one counts on without end: not known
    assert found == min(apart, default=None), f"{what}, {loop.wanted}:\n{text}"


LARGE, SMALL, ONE, LESS = (
    f"!ttg.memdesc<{shape}xf16, #a, #m, mutable>" for shape in ("2x64x16", "2x32x16", "64x16", "32x16")
)
TWO_BUFFERS = f"""
#a = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}}>
#b = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}}>
#m = #ttg.shared_memory
module attributes {{"ttg.num-warps" = 4 : i32}} {{
  tt.func @f(%n: i32) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %large = ttg.local_alloc : () -> {LARGE}
    %small = ttg.local_alloc : () -> {SMALL}
    %end = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> (i32) : i32 {{
      %next = arith.xori %s, %c1 : i32
      %0 = ttg.memdesc_index %large[%s] : {LARGE} -> {ONE}
      %1 = ttg.memdesc_index %large[%next] : {LARGE} -> {ONE}
      %2 = ttg.memdesc_index %small[%next] : {SMALL} -> {LESS}
      %3 = ttg.memdesc_index %large[%c1] : {LARGE} -> {ONE}
      %4 = ttg.memdesc_trans %1 {{order = array<i32: 1, 0>}} : {ONE} -> !ttg.memdesc<16x64xf16, #b, #m, mutable>
      scf.yield %next : i32
    }}
    tt.return
  }}
}}
"""


def test_slots_are_apart_within_one_buffer() -> None:
    """And of what is named otherwise; not of two buffers, nor where a number is none of the loop's."""
    module = parse_module(TWO_BUFFERS)
    views = [op.results[0] for op in module.walk() if op.name in ("ttg.memdesc_index", "ttg.memdesc_trans")]
    now, following, of_small, fixed, turned = map(Slot.of, views)
    assert now.is_apart(following) and following.is_apart(now) and now.is_apart(turned)
    assert not following.is_apart(turned) and not now.is_apart(now)
    assert not now.is_apart(of_small) and not now.is_apart(fixed) and not fixed.is_apart(now)
    assert turned == following and fixed.loop is None
    loop = now.loop
    assert loop is not None
    assert now.rounds_until(following, loop, same_round=True) == 1
    assert now.rounds_until(now, loop, same_round=False) == 2
