"""What is known in a block of a drawn graph: what its chain of only predecessors made; else what the entry did."""

from __future__ import annotations

import os
from random import Random

import pytest

from tritonx.dialects import tile
from tritonx.ir.pipeline import pass_context
from tritonx.ir.text import parse_module
from tritonx.ir.verify import verify
from tritonx.transforms.tile.cse import CommonSubexpressionElimination

SEED = int(os.environ["TRITONX_SEED"])
OPS = ("addi", "muli", "xori", "subi")


@pytest.mark.parametrize("draw", range(25))
def test_what_a_block_computes_again(draw: int) -> None:
    random = Random(SEED * 100 + draw)
    count = random.randint(2, 8)
    # A block leads to the next one, so that all are reached, and perhaps to another one behind it.
    leads = [[n + 1, *random.choices(range(n + 1, count), k=random.choice([0, 1]))] for n in range(count - 1)] + [[]]
    made = [[random.choice(OPS) for _ in range(random.randint(0, 4))] for _ in range(count)]
    lines = ["tt.func @f(%a: i32, %b: i32, %on: i1, %p: !tt.ptr<i32>) {"]
    for number, (ops, targets) in enumerate(zip(made, leads, strict=True)):
        lines += [f"^b{number}:"] if number else []
        for place, op in enumerate(ops):
            lines.append(f"%v{number}_{place} = arith.{op} %a, %b : i32")
            lines.append(f"tt.store %p, %v{number}_{place} : !tt.ptr<i32>")
        names = [f"^b{target}" for target in targets]
        branch = f"cf.cond_br %on, {', '.join(names)}" if len(names) == 2 else f"cf.br {''.join(names)}"
        lines.append(branch if names else "tt.return")
    text = "\n".join([*lines, "}"])
    module = parse_module(text)
    CommonSubexpressionElimination().apply(pass_context(), module)
    verify(module)
    (function,) = [op for op in module.ops if isinstance(op, tile.FuncOp)]
    known: list[set[str]] = []
    for number, block in enumerate(function.body.blocks):
        before = {n for n, targets in enumerate(leads) if number in targets}
        start = set[str]() if not number else known[before.pop()] if len(before) == 1 else known[0]
        left = [op.name.removeprefix("arith.") for op in block.ops if op.name.startswith("arith.")]
        assert left == [op for op in dict.fromkeys(made[number]) if op not in start], (
            f"seed {SEED * 100 + draw}:\n{text}"
        )
        known.append(start | set(made[number]))
