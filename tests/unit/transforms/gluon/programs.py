"""Random programs on automatic layouts."""

from __future__ import annotations

from random import Random

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tritonx.dialects.gpu_layout import attribute_of
from tritonx.ir.text import parse_module
from tritonx.layouts.encodings import BlockedEncoding
from tritonx.layouts.samples import split

AUTO = "#gluon.auto_encoding"
HEAD = '"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32'
ELEMENTS = 512

Shape = tuple[int, ...]


def blocked(rng: Random, rank: int) -> str:
    """The text of a layout for four warps."""
    order = tuple(rng.sample(range(rank), rank))
    return str(attribute_of(BlockedEncoding(split(rng, 2, rank), split(rng, 5, rank), split(rng, 2, rank), order)))


class Program:
    """A chain of ops on automatic layouts; one value of it is asked for in a layout."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.count = 0
        self.shape: Shape = (ELEMENTS,)
        self.value = self.add(f"tt.make_range {{end = {ELEMENTS} : i32, start = 0 : i32}} : {self.type()}")
        length = rng.randrange(3, 9)
        asked = rng.randrange(length)
        for step in range(length):
            rng.choice([self.compute, self.reshape, self.permute, self.widen, self.reduce, self.pair, self.loop])()
            if step == asked:
                layout = blocked(rng, len(self.shape))
                self.add(f"gluon.set_auto_layout {self.value} : {self.type()} -> {self.type(layout=layout)}")

    def type(self, shape: Shape | None = None, layout: str = AUTO, element: str = "i32") -> str:
        return f"tensor<{'x'.join(map(str, self.shape if shape is None else shape))}x{element}, {layout}>"

    def add(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"%v{self.count} = {text}")
        return f"%v{self.count}"

    def become(self, text: str, shape: Shape) -> None:
        self.value = self.add(f"{text} : {self.type()} -> {self.type(shape)}")
        self.shape = shape

    def compute(self) -> None:
        number = self.add(f"arith.constant dense<{self.rng.randrange(3, 99)}> : {self.type()}")
        op = self.rng.choice(["addi", "muli", "xori"])
        self.value = self.add(f"arith.{op} {self.value}, {number} : {self.type()}")

    def reshape(self) -> None:
        bits = int(np.prod(self.shape)).bit_length() - 1
        self.become(f"tt.reshape {self.value}", split(self.rng, bits, self.rng.randrange(1, 4)))

    def permute(self) -> None:
        order = self.rng.sample(range(len(self.shape)), len(self.shape))
        text = f"tt.trans {self.value} {{order = array<i32: {', '.join(map(str, order))}>}}"
        self.become(text, tuple(self.shape[d] for d in order))

    def widen(self) -> None:
        if len(self.shape) > 3 or np.prod(self.shape) > 1024:
            return
        axis = self.rng.randrange(len(self.shape) + 1)
        narrow = (*self.shape[:axis], 1, *self.shape[axis:])
        self.become(f"tt.expand_dims {self.value} {{axis = {axis} : i32}}", narrow)
        self.become(f"tt.broadcast {self.value}", (*narrow[:axis], 2, *narrow[axis + 1 :]))

    def reduce(self) -> None:
        if len(self.shape) < 2:
            return
        axis = self.rng.randrange(len(self.shape))
        shape = (*self.shape[:axis], *self.shape[axis + 1 :])
        body = "({\n^bb0(%a: i32, %b: i32):\n%s = arith.addi %a, %b : i32\ntt.reduce.return %s : i32\n})"
        self.value = self.add(
            f'"tt.reduce"({self.value}) <{{axis = {axis} : i32}}> {body} : ({self.type()}) -> {self.type(shape)}'
        )
        self.shape = shape

    def pair(self) -> None:
        pair = self.add(f"tt.join {self.value}, {self.value} : {self.type()} -> {self.type((*self.shape, 2))}")
        self.lines.append(
            f"%l{self.count}, %r{self.count} = tt.split {pair} : {self.type((*self.shape, 2))} -> {self.type()}"
        )
        self.value = self.add(f"arith.addi %l{self.count}, %r{self.count} : {self.type()}")

    def loop(self) -> None:
        step = self.add(f"arith.constant dense<5> : {self.type()}")
        body = f"%y = arith.muli %x, {step} : {self.type()}\nscf.yield %y : {self.type()}\n}}"
        self.value = self.add(
            f"scf.for %i = %c0 to %c3 step %c1 iter_args(%x = {self.value}) -> ({self.type()}) : i32 {{\n{body}"
        )

    def module(self) -> ModuleOp:
        elements = int(np.prod(self.shape))
        self.become(f"tt.reshape {self.value}", (elements,))
        layout = blocked(self.rng, 1)
        flat, pointers = self.type(layout=layout), self.type(layout=layout, element="!tt.ptr<i32>")
        lines = [
            *(f"%c{n} = arith.constant {n} : i32" for n in (0, 1, 3)),
            *self.lines,
            f"%stored = ttg.convert_layout {self.value} : {self.type()} -> {flat}",
            f"%numbers = tt.make_range {{end = {elements} : i32, start = 0 : i32}} : {flat}",
            f"%bases = tt.splat %p : !tt.ptr<i32> -> {pointers}",
            f"%pointers = tt.addptr %bases, %numbers : {pointers}, {flat}",
            f"tt.store %pointers, %stored : {pointers}",
            "tt.return",
        ]
        body = "\n".join(lines)
        text = f"module attributes {{{HEAD}}} {{\ntt.func public @f(%p: !tt.ptr<i32>) {{\n{body}\n}}\n}}"
        return parse_module(text, "random")
