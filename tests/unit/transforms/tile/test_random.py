"""Every pass, and all of them, on random kernels: the interpreter cannot tell the module before from the one after.

Others with every run's seed; `TRITONX_RANDOM_KERNELS=300` draws so many for each pass."""

from __future__ import annotations

import os

import pytest

from tritonx.interpreter.compare import Inputs, same_behaviour
from tritonx.ir.pipeline import PassHooks, run_passes
from tritonx.ir.text import parse_module
from tritonx.ir.verify import verify
from tritonx.transforms.registry import find_pass
from tritonx.transforms.tile.pipeline import TILE_PIPELINE
from tritonx_testing.random_kernels import ELEMENTS, random_kernel

SEED = int(os.environ["TRITONX_SEED"])
COUNT = int(os.environ.get("TRITONX_RANDOM_KERNELS", "6"))
PASSES = {
    **{name: (find_pass(name)(),) for name in dict.fromkeys(p.name for p in TILE_PIPELINE)},
    "all": TILE_PIPELINE,
}


@pytest.mark.parametrize("number", range(COUNT))
@pytest.mark.parametrize("name", PASSES)
def test_behaviour_is_kept(name: str, number: int) -> None:
    seed = SEED + number
    text = random_kernel(seed, length=20, depth=3)
    before, after = parse_module(text), parse_module(text)
    verify(before)
    run_passes(after, PASSES[name], PassHooks(verify=True))
    same_behaviour(before, after, seed=seed, inputs=Inputs(elements=ELEMENTS, integers=(-50, 50)))


def test_a_wrong_rewrite_is_noticed() -> None:
    """The comparison above means something: taking one operand of every sum and product twice shows in most kernels."""
    from tritonx.dialects import arith
    from tritonx.interpreter.compare import BehaviourDiffers

    noticed = 0
    for seed in range(6):
        text = random_kernel(seed, length=20, depth=3)
        before, after = parse_module(text), parse_module(text)
        for op in after.walk():
            if isinstance(
                op,
                arith.SubiOp | arith.MuliOp | arith.OrIOp | arith.AddfOp | arith.SubfOp | arith.MulfOp | arith.XOrIOp,
            ):
                op.operands = [op.operands[0], op.operands[0]]
        try:
            same_behaviour(before, after, seed=seed, inputs=Inputs(elements=ELEMENTS))
        except BehaviourDiffers:
            noticed += 1
    assert noticed >= 4
