"""A barrier removed from a finished kernel, or a buffer put where another one lives, is reported.

This says how good `test_executed.py` is: what the passes could get wrong, it would see.
"""

from __future__ import annotations

import os
from random import Random

import pytest
from xdsl.ir import Operation

from tests.unit.transforms.gpu.kernels import product, transposes
from tests.unit.transforms.gpu.test_executed import Program
from tritonx.analysis.lifetimes import Buffer, buffers_of
from tritonx.dialects import gpu_layout, tile
from tritonx.interpreter.errors import KernelFault
from tritonx.ir.edit import erase

SEED = int(os.environ["TRITONX_SEED"])
DRAWS = max(2, int(os.environ.get("TRITONX_RANDOM_KERNELS", "20")) // 10)


def finished(random: Random) -> Program:
    """A kernel with all passes applied, whose loops run."""
    while True:
        made = random.choice((product, transposes))(random)
        if not any(isinstance(argument, int) and argument == 0 for argument in made.args):
            break
    program = Program(made.kernel, made.args, made.constants, random.choice(("cuda:80", "cuda:90")), made.num_warps)
    for _ in program.through():
        pass
    assert program.run()[1] == ()
    return program


def reported(program: Program) -> bool:
    """Whether running it finds something; an address that comes out of memory in disorder may fault."""
    try:
        return bool(program.run()[1])
    except KernelFault:
        return True


@pytest.mark.parametrize("draw", range(DRAWS))
def test_barriers_removed(draw: int) -> None:
    count = len(_barriers(finished(Random(f"{SEED} {draw}"))))
    assert count
    for number in range(count):
        program = finished(Random(f"{SEED} {draw}"))
        barrier = _barriers(program)[number]
        following = barrier.next_op
        erase(barrier)
        assert reported(program), f"seed {SEED}, draw {draw}: the barrier in front of {following}"


def _barriers(program: Program) -> list[Operation]:
    """Barriers but those in front of conversions, whose scratch memory may lie where each warp has only read its own
    rows: the pass looks at whole buffers."""
    found = (op for op in program.bound.module.walk() if isinstance(op, gpu_layout.LocalBarrierOp))
    return [op for op in found if not isinstance(op.next_op, gpu_layout.ConvertLayoutOp)]


def _buffers(program: Program) -> list[Buffer]:
    return [b for f in program.bound.module.ops if isinstance(f, tile.FuncOp) for b in buffers_of(f)]


@pytest.mark.parametrize("draw", range(DRAWS))
def test_buffers_moved(draw: int) -> None:
    """Each buffer onto each that is alive at the same time."""
    buffers = _buffers(finished(Random(f"{SEED} {draw}")))
    pairs = [
        (i, j)
        for i, a in enumerate(buffers)
        for j, b in enumerate(buffers)
        if i != j and a.first <= b.last and b.first <= a.last
    ]
    for i, j in pairs:
        program = finished(Random(f"{SEED} {draw}"))
        moved = _buffers(program)
        moved[i].op.attributes["allocation.offset"] = moved[j].op.attributes["allocation.offset"]
        assert reported(program), f"seed {SEED}, draw {draw}: {moved[i].op} at {moved[j].op}"
