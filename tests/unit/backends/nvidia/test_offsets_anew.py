"""Stores behind a crowd of registers compute their offsets anew: right in every layout, and nothing spills."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

import os
from random import Random
from typing import Any

import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.nvidia import inserts as passes
from tritonx.backends.nvidia.assembler.assemble import find_ptxas
from tritonx.transforms.gpu.rematerialise import Rematerialise
from tritonx_testing.conformance import cases
from tritonx_testing.conformance.device import check
from tritonx_testing.conformance.isolated import is_refusal, is_too_long
from tritonx_testing.emulators.ptx.device import PtxDevice

SEED = int(os.environ["TRITONX_SEED"])
POINTERS = dict.fromkeys(("a_ptr", "b_ptr", "bias_ptr", "residual_ptr", "c_ptr"), "*bf16")


@tritonx.jit
def activated(
    a_ptr, b_ptr, bias_ptr, residual_ptr, c_ptr, M, N, K,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, STEP: tl.constexpr,
):  # fmt: skip
    """C = gelu(A B + bias) + residual."""
    m = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    n = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    k = tl.arange(0, STEP)
    a_ptrs, b_ptrs = a_ptr + m[:, None] * K + k[None, :], b_ptr + k[:, None] * N + n[None, :]
    x = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for _ in range(0, K, STEP):
        x = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), x)
        a_ptrs += STEP
        b_ptrs += STEP * N
    inside, place = (m[:, None] < M) & (n[None, :] < N), N * m[:, None] + n[None, :]
    x += tl.load(bias_ptr + n, mask=n < N, other=0.0).to(tl.float32)[None, :]
    x = x * tl.sigmoid(1.5957691216 * (x + 0.044715 * x * x * x))
    x += tl.load(residual_ptr + place, mask=inside, other=0.0).to(tl.float32)
    tl.store(c_ptr + place, x.to(tl.bfloat16), mask=inside)


@pytest.mark.skipif(find_ptxas() is None, reason="no ptxas")
@pytest.mark.parametrize(("rows", "columns", "warps"), [(128, 256, 8), (256, 128, 8), (128, 128, 4)])
def test_an_epilogue_that_loads_and_stores_at_the_same_places(
    compiler: Any, rows: int, columns: int, warps: int
) -> None:
    """Kept for the store, the 16 offsets of the load were spilled."""
    constants = {"ROWS": rows, "COLUMNS": columns, "STEP": 64}
    signature = POINTERS | dict.fromkeys("MNK", "i32")
    made = compiler(activated, "90", signature, constants, num_warps=warps, num_stages=3, pipeline=True)
    assert made.metadata["spills"] == 0 and made.metadata["local"] == 0


FAMILIES = ("dot", "shape", "memory", "reduce", "control")


@pytest.mark.parametrize("draw", range(20))
def test_every_store_computes_its_offsets(draw: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cases of the conformance suite, as if registers were always short."""
    monkeypatch.setattr(passes, "Rematerialise", lambda *_, **__: Rematerialise(registers=0))
    random = Random(f"{SEED} {draw}")
    family, arch = random.choice(FAMILIES), random.choice(("80", "90"))
    device = PtxDevice(arch, SEED)
    able = [c for c in cases() if c.name.startswith(f"{family}/") and not device.unsupported(c)]
    case = random.choice(able)
    try:
        check(case, device, SEED)
    except Exception as error:
        if not (case.optional and is_refusal(error)) and not is_too_long(error):
            raise AssertionError(f"seed {SEED}: {case.name} on {arch}") from error
        pytest.skip(f"refused: {error}"[:200])
