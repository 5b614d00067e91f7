"""Loops whose products make more than a thread has registers for, if they are begun as early as they can be."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.transforms.pipelining.pipelined_kernels import two_chains_kernel
from tritonx.backends.nvidia.assembler.assemble import find_ptxas

SIGNATURE = {**dict.fromkeys("abc", "*fp16"), "o": "*fp32", "steps": "i32"}


@pytest.mark.skipif(find_ptxas() is None, reason="no ptxas")
@pytest.mark.parametrize("stages", [2, 3])
def test_nothing_is_spilled_and_no_product_waits_for_the_one_before(compiler: Any, stages: int) -> None:
    """Two sums and two results are 256 registers. C7511 is ptxas' word for products of warp groups in turn."""
    options = {"num_warps": 4, "num_stages": stages, "pipeline": True}
    made = compiler(two_chains_kernel, "90", SIGNATURE, {"M": 128, "N": 64}, **options)
    assert made.metadata["spills"] == 0 and "C75" not in made.metadata["assembler_log"]
