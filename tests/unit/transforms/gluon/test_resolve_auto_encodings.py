"""Random programs whose layouts follow from one request: executed before the pass and after it, and verified after."""

from __future__ import annotations

import os
from random import Random

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tests.unit.transforms.gluon.programs import HEAD, Program
from tritonx.dialects.gluon import undetermined
from tritonx.interpreter.asynchronous import execute
from tritonx.ir.failure import PassError
from tritonx.ir.pipeline import pass_context
from tritonx.ir.text import parse_module
from tritonx.ir.types import type_of
from tritonx.ir.verify import verify
from tritonx.transforms.gluon.gluon_resolve_auto_encodings import GluonResolveAutoEncodings

SEED = int(os.environ["TRITONX_SEED"])
PROGRAMS = int(os.environ.get("TRITONX_RANDOM_KERNELS", "10")) * 4


def run(module: ModuleOp, elements: int, rng: np.random.Generator) -> np.ndarray:
    verify(module)
    out = rng.integers(-(1 << 31), 1 << 31, elements, dtype=np.int32)
    assert execute(module, 1, [out]) == ()
    return out


def resolved(module: ModuleOp) -> bool:
    """Whether a layout follows for every value; a program in which none does is refused."""
    try:
        GluonResolveAutoEncodings().apply(pass_context(), module)
    except PassError as error:
        assert "no layout follows" in error.message
        return False
    return True


def test_random_programs() -> None:
    rng, drawn = Random(SEED), np.random.default_rng(SEED)
    kept = 0
    for number in range(PROGRAMS):
        program = Program(rng)
        module = program.module()
        (elements,) = program.shape
        before = run(module, elements, drawn)
        if not resolved(module):
            continue
        kept += 1
        assert [op for op in module.walk() if any(undetermined(type_of(r)) for r in op.results)] == []
        assert not any(op.name.startswith("gluon.") for op in module.walk())
        np.testing.assert_array_equal(run(module, elements, drawn), before, err_msg=f"program {number}")
    assert kept * 4 >= PROGRAMS


TWO = """module attributes {HEAD} {
  tt.func public @f() {
    %0 = arith.constant dense<7> : tensor<16xi32, #gluon.auto_encoding> loc("kernel.py":7:3)
    %1 = gluon.set_auto_layout %0 : tensor<16xi32, #gluon.auto_encoding> -> tensor<16xi32, FIRST> loc("kernel.py":8:5)
    %2 = gluon.set_auto_layout %0 : tensor<16xi32, #gluon.auto_encoding> -> tensor<16xi32, SECOND> loc("kernel.py":9:5)
    tt.return
  }
}"""


def test_a_conflict_names_both_requests() -> None:
    first, second = (
        f"#ttg.blocked<{{sizePerThread = [{n}], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}}>"
        for n in (1, 2)
    )
    text = TWO.replace("HEAD", HEAD).replace("FIRST", first).replace("SECOND", second)
    with pytest.raises(PassError) as caught:
        GluonResolveAutoEncodings().apply(pass_context(), parse_module(text, "two"))
    assert caught.value.message == f"two layouts are asked of one value: {first} and {second}"
    assert caught.value.hint.startswith(
        "the first is asked for at kernel.py:8:5, the second at kernel.py:9:5; convert the value"
    )
    assert caught.value.op.name == "arith.constant"


def test_coalesced_layouts_are_determined_before() -> None:
    text = (
        TWO.replace("HEAD", HEAD)
        .replace("FIRST", "#gluon.coalesced_encoding")
        .replace("SECOND", "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>")
    )
    with pytest.raises(PassError, match="is not known yet"):
        GluonResolveAutoEncodings().apply(pass_context(), parse_module(text, "two"))
