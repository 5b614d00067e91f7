"""Where masks change: once in a run, as its ends tell. What is claimed of random masks is true of their elements."""

from __future__ import annotations

import operator
import os
import random
from typing import Any

import numpy as np
import pytest

from tritonx.analysis.axis_info import analyze_axes
from tritonx.analysis.mask_edges import mask_edges
from tritonx.ir.text import parse_module

SEED = int(os.environ["TRITONX_SEED"])
ROWS, COLUMNS = 8, 32
COMPARE: dict[str, Any] = {
    "slt": operator.lt, "sle": operator.le, "sgt": operator.gt, "sge": operator.ge, "eq": operator.eq,
    "ne": operator.ne, "ult": operator.lt, "ule": operator.le, "ugt": operator.gt, "uge": operator.ge,
}  # fmt: skip
JOIN: dict[str, Any] = {"andi": operator.and_, "ori": operator.or_, "xori": operator.xor}


class Masks:
    """Text of masks of `ROWS` by `COLUMNS`, their elements beside: comparisons of rows and columns, that begin
    somewhere, with numbers, and what is joined of them."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.masks: dict[str, np.ndarray] = {}
        self.arguments: dict[str, int] = {}
        for _ in range(6):
            self.compared()
        for _ in range(6):
            self.joined()

    def argument(self, near: int) -> tuple[str, int]:
        name = f"%a{len(self.arguments)}"
        self.arguments[name] = value = self.rng.randint(-4, near)
        return name, value

    def compared(self) -> None:
        rng, k = self.rng, len(self.masks)
        extent, axis = rng.choice([(ROWS, 1), (COLUMNS, 0)])
        begin = rng.choice([0, 0, 3, 4, 16])
        base, at = self.argument(100) if rng.random() < 0.2 else (None, 0)
        times = rng.choice([1, 1, 1, 2])
        bound, n = self.argument(2 * extent)
        predicate = rng.choice(list(COMPARE))
        shape = f"{ROWS}x1" if axis == 1 else f"1x{COLUMNS}"
        one = f"tensor<{extent}xi32>"
        self.lines += [
            f"%r{k} = tt.make_range {{end = {begin + extent} : i32, start = {begin} : i32}} : {one}",
            f"%t{k} = arith.constant dense<{times}> : {one}",
            f"%m{k} = arith.muli %r{k}, %t{k} : {one}",
            f"%o{k} = tt.splat {base or bound} : i32 -> {one}",
            f"%s{k} = arith.{'addi' if base else 'subi'} %m{k}, %o{k} : {one}",
            f"%v{k} = tt.expand_dims %{'s' if base else 'm'}{k} {{axis = {axis} : i32}} : {one} -> tensor<{shape}xi32>",
            f"%b{k} = tt.splat {bound} : i32 -> tensor<{shape}xi32>",
        ]
        values, n_of = times * np.arange(begin, begin + extent) + at, np.int64(n)
        if predicate.startswith("u"):
            values, n_of = values % (1 << 32), n_of % (1 << 32)
        sides, texts = [values, n_of], [f"%v{k}", f"%b{k}"]
        if rng.random() < 0.3:
            sides.reverse()
            texts.reverse()
        self.lines += [
            f"%c{k} = arith.cmpi {predicate}, {', '.join(texts)} : tensor<{shape}xi32>",
            f"%k{k} = tt.broadcast %c{k} : tensor<{shape}xi1> -> tensor<{ROWS}x{COLUMNS}xi1>",
        ]
        found = np.expand_dims(COMPARE[predicate](*sides), axis)
        self.masks[f"%k{k}"] = np.broadcast_to(found, (ROWS, COLUMNS))

    def joined(self) -> None:
        a, b = self.rng.choices(list(self.masks), k=2)
        kind = self.rng.choice(["andi", "andi", "ori", "xori"])
        name = f"%k{len(self.masks)}"
        self.lines.append(f"{name} = arith.{kind} {a}, {b} : tensor<{ROWS}x{COLUMNS}xi1>")
        self.masks[name] = JOIN[kind](self.masks[a], self.masks[b])

    def text(self) -> str:
        arguments = ", ".join(f"{name}: i32" for name in self.arguments)
        return f"tt.func public @f({arguments}) {{\n" + "\n".join(self.lines) + "\n  tt.return\n}\n"


@pytest.mark.parametrize("number", range(20))
def test_a_run_has_one_change(number: int) -> None:
    longer = 0
    for draw in range(10):
        masks = Masks(random.Random(1000 * SEED + 10 * number + draw))
        module = parse_module(masks.text())
        facts = analyze_axes(module)
        for op in module.walk():
            for result in op.results:
                elements = masks.masks.get(f"%{result.name_hint}")
                if elements is None:
                    continue
                edges = mask_edges(facts, result)
                longer += edges != facts.of(result).constancy
                for dim, run in enumerate(edges):
                    runs = np.moveaxis(elements, dim, -1).reshape(-1, run)
                    changes = np.diff(runs, axis=1).sum(axis=1)
                    assert (changes <= 1).all(), (masks.text(), masks.arguments, result.name_hint, edges)
    assert longer > 5


def edges(text: str) -> tuple[int, ...]:
    module = parse_module(f"""
      tt.func public @f(%n: i32, %lo: i32, %rows: i32, %pid: i32, %big: i64) {{
        %i = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32>
        %ns = tt.splat %n : i32 -> tensor<64xi32>
        %los = tt.splat %lo : i32 -> tensor<64xi32>
        {text}
        tt.return
      }}
    """)
    facts = analyze_axes(module)
    found = [r for op in module.walk() for r in op.results if r.name_hint == "mask"]
    return mask_edges(facts, found[0])


def test_offsets_below_a_number_have_one_edge() -> None:
    for predicate in ("slt", "sle", "sgt", "sge", "ult"):
        assert edges(f"%mask = arith.cmpi {predicate}, %i, %ns : tensor<64xi32>") == (64,)
    assert edges("%mask = arith.cmpi slt, %ns, %i : tensor<64xi32>") == (64,)


def test_equal_and_different_have_two() -> None:
    for predicate in ("eq", "ne"):
        assert edges(f"%mask = arith.cmpi {predicate}, %i, %ns : tensor<64xi32>") == (1,)


def test_two_edges_are_not_one() -> None:
    """Both ends of a run may be left out and its middle not."""
    two = """
      %below = arith.cmpi slt, %i, %ns : tensor<64xi32>
      %above = arith.cmpi sge, %i, %los : tensor<64xi32>
      %mask = arith.{} %below, %above : tensor<64xi1>
    """
    assert edges(two.format("andi")) == edges(two.format("ori")) == (1,)


def test_offsets_that_may_wrap_within_a_run() -> None:
    """Of numbers that begin anywhere the last may be the least: `i + n < m` holds, then not, then again."""
    assert edges("%s = arith.addi %i, %los : tensor<64xi32>\n%mask = arith.cmpi slt, %s, %ns : tensor<64xi32>") == (1,)


def test_an_edge_stays_under_a_mask_of_whole_runs() -> None:
    assert edges("""
      %c = arith.cmpi slt, %lo, %rows : i32
      %every = tt.splat %c : i1 -> tensor<64xi1>
      %below = arith.cmpi slt, %i, %ns : tensor<64xi32>
      %mask = arith.andi %every, %below : tensor<64xi1>
    """) == (64,)  # fmt: skip


@pytest.mark.parametrize("shared", [False, True])
def test_long_chains(shared: bool) -> None:
    """Each link joins the one before with a mask of whole runs, or with itself."""
    links = [f"%m{n + 1} = arith.andi %m{n}, {f'%m{n}' if shared else '%every'} : tensor<64xi1>" for n in range(3000)]
    assert edges(
        "\n".join(
            [
                "%c = arith.cmpi slt, %lo, %rows : i32",
                "%every = tt.splat %c : i1 -> tensor<64xi1>",
                f"%m0 = arith.cmpi {'slt' if not shared else 'eq'}, %i, %ns : tensor<64xi32>",
                *links,
                "%mask = arith.andi %m3000, %every : tensor<64xi1>",
            ]
        )
    ) == ((1,) if shared else (64,))
