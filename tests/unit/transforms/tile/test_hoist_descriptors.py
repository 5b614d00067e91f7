"""Descriptors that are made of arguments: made at the beginning, whatever loops and branches they were in, with what
they are made of; on random kernels, executed before and after."""

from __future__ import annotations

import os
from random import Random

import numpy as np
import pytest

from tritonx.analysis.launch_values import launch_values
from tritonx.backends.nvidia.passes.hoist_descriptors import HoistDescriptors
from tritonx.dialects import tile
from tritonx.interpreter.compare import same_behaviour
from tritonx.ir.pipeline import pass_context
from tritonx.ir.text import parse_module
from tritonx.ir.verify import verify

SEED = int(os.environ["TRITONX_SEED"])
BLOCK = 16


class Nested:
    """A kernel whose loops and branches make descriptors, of the arguments alone or not, and add through them."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.count = self.made = 0
        self.known = ["%n", "%m", "%c4"]
        self.lines = ["%c0 = arith.constant 0 : i32", "%c1 = arith.constant 1 : i32", "%c4 = arith.constant 4 : i32",
                      "%one = arith.constant 1 : i64", "%pid = tt.get_program_id x : i32"]  # fmt: skip
        self.values = [*self.known, "%pid"]
        self.body(3)

    def new(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"%v{self.count} = {text}")
        return f"%v{self.count}"

    def body(self, depth: int) -> None:
        inside = list(self.values)
        for _ in range(self.random.randint(2, 4)):
            match self.random.randrange(4 if depth else 2):
                case 0:
                    kind = self.random.choice(("addi", "minsi", "maxsi", "divsi"))
                    self.values.append(self.new(f"arith.{kind} {self.any()}, {self.any()} : i32"))
                case 1:
                    self.use()
                case 2:
                    self.count += 1
                    counter = f"%i{self.count}"
                    self.lines.append(f"scf.for {counter} = %c0 to %c4 step %c1 : i32 {{")
                    self.values.append(counter)
                    self.body(depth - 1)
                    self.lines.append("}")
                    self.values.remove(counter)
                case _:
                    sign = self.new(f"arith.cmpi slt, {self.any()}, {self.any()} : i32")
                    self.lines.append(f"scf.if {sign} {{")
                    self.body(depth - 1)
                    self.lines.append("}")
        self.values = inside

    def any(self) -> str:
        return self.random.choice(self.values)

    def use(self) -> None:
        """Reads at one place, adds at another."""
        extent = self.new(f"arith.minsi {self.any()}, %most : i32")
        base = self.new("tt.addptr %p, %c4 : !tt.ptr<i32>, i32")
        type_ = f"tensor<{BLOCK}xi32>"
        made = self.new(f"tt.make_tensor_descriptor {base}, [{extent}], [%one] : <i32>, <{type_}>")
        self.made += 1
        block = self.new(f"tt.descriptor_load {made}[{self.any()}] : !tt.tensordesc<{type_}> -> {type_}")
        self.lines.append(f"tt.descriptor_reduce add, {made}[{self.any()}], {block} : !tt.tensordesc<{type_}>, {type_}")

    def text(self) -> str:
        body = "\n".join(self.lines)
        return f"tt.func public @nested(%p: !tt.ptr<i32>, %n: i32, %m: i32, %most: i32) {{\n{body}\ntt.return\n}}"


@pytest.mark.parametrize("draw", range(25))
def test_random_kernels(draw: int) -> None:
    every = (Nested(Random(f"{SEED} {draw} {number}")) for number in range(100))
    text = next(made for made in every if 2 <= made.made <= 20).text()
    before, after = (parse_module(f"module {{\n{text}\n}}") for _ in range(2))
    HoistDescriptors().apply(pass_context(), after)
    verify(after)
    (function,) = (op for op in after.ops if isinstance(op, tile.FuncOp))
    known = launch_values(function)
    for op in function.walk():
        if isinstance(op, tile.MakeTensorDescOp) and all(operand in known for operand in op.operands):
            assert op.parent is function.body.blocks[0]
    random = Random(f"{SEED} {draw}")
    for _ in range(3):
        array = np.arange(80, dtype=np.int32)
        args = [array, random.randrange(-9, 40), random.choice((0, 3, 64)), 64]
        same_behaviour(before, after, 2, args=args)
