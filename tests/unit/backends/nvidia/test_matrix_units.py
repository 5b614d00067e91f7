"""What the matrix units of compute capability 9.0 take, and how they want it."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import pytest

from tritonx.backends.api import Compilation, run_stages
from tritonx.backends.nvidia.matrix_units import WarpGroupUnit, WarpMatrixUnit
from tritonx.backends.registry import parse_target
from tritonx.conversion.tile_to_gpu.matrix_unit import Product, Threads
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.dialects.nvidia import WarpGroupDotOp
from tritonx.interpreter.ir_launch import bind
from tritonx.layouts import linear_layout
from tritonx.layouts.dims import OFFSET, WARP
from tritonx.layouts.encodings import DotOperandEncoding, NvidiaMmaEncoding, NvmmaSharedEncoding
from tritonx_testing.conformance.device import host_arguments
from tritonx_testing.conformance.suite import cases

SEED = int(os.environ["TRITONX_SEED"])
GROUPS = WarpGroupUnit()
BITS = {"f16": 16, "bf16": 16, "f32": 32, "i8": 8, "f8E4M3FN": 8, "f8E5M2": 8}


def drawn(rng: Random) -> tuple[Product, Threads]:
    name = rng.choice(list(BITS))
    shape = rng.choice([64, 128, 256]), rng.choice([8, 16, 64, 256, 512])
    orders = [rng.choice([(0, 1), (1, 0)]) for _ in "ab"]
    made = rng.random() < 0.3
    k = max(rng.choice([16, 32, 128]), 256 // BITS[name])
    sums = "i32" if name == "i8" else "f32"
    product = Product(shape, k, name, name, sums, BITS[name], False, made, made, BITS[name], *orders)
    return product, Threads(rng.choice([4, 8, 16]), 32)


@pytest.mark.parametrize("draw", range(60))
def test_operands_and_results_are_as_the_instruction_wants_them(draw: int) -> None:
    product, threads = drawn(Random(SEED * 100 + draw))
    what = f"{product}, {threads}"
    groups = threads.num_warps // 4
    if not GROUPS.takes(product, threads):
        assert product.columns < 8 * groups, what
        return
    layout = GROUPS.layout(product, threads)
    assert layout.op is WarpGroupDotOp
    assert isinstance(layout.result, NvidiaMmaEncoding) and layout.result.version_major == 3
    columns = layout.result.instr_shape[1]
    assert columns % 8 == 0 and columns <= 256, what
    result = linear_layout(layout.result, product.shape)
    assert result.is_surjective, what
    assert result.bases(WARP)[:2] == ((16, 0), (32, 0)), what
    shapes = (product.rows, product.k), (product.k, product.columns)
    for operand, shape, k in zip((layout.a, layout.b), shapes, (1, 0), strict=True):
        if isinstance(operand, DotOperandEncoding):
            assert k == 1 and product.a_is_made
            continue
        assert isinstance(operand, NvmmaSharedEncoding)
        assert linear_layout(operand, shape).in_bits(OFFSET) == (shape[0] * shape[1]).bit_length() - 1
        inner = 0 if operand.transposed else 1
        assert inner == k or product.bits == 16, f"K is not contiguous: {what}"
        assert operand.swizzling_byte_width == min(128, shape[inner] * product.bits // 8) >= 32, what


@pytest.mark.parametrize(
    ("product", "threads"),
    [
        (Product((64, 64), 64, "f16", "f16", "f32", 16), Threads(2, 32)),
        (Product((32, 64), 64, "f16", "f16", "f32", 16), Threads(4, 32)),
        (Product((4, 64, 64), 64, "f16", "f16", "f32", 16), Threads(4, 32)),
        (Product((64, 64), 64, "f32", "f32", "f32", 32, exact=True), Threads(4, 32)),
        (Product((64, 64), 64, "f64", "f64", "f64", 64), Threads(4, 32)),
        (Product((64, 64), 8, "f16", "f16", "f32", 16), Threads(4, 32)),
        (Product((64, 64), 64, "f16", "f16", "f32", 16), Threads(4, 32, num_ctas=2)),
    ],
)
def test_what_warp_groups_do_not_take(product: Product, threads: Threads) -> None:
    assert not GROUPS.takes(product, threads)


@pytest.mark.parametrize("chained", [False, True])
@pytest.mark.parametrize(
    ("rows", "warps", "over"), [(64, 4, (4, 1)), (64, 8, (4, 2)), (64, 16, (4, 4)), (128, 8, (8, 1))]
)
def test_no_group_multiplies_rows_of_another(rows: int, warps: int, over: tuple[int, int], chained: bool) -> None:
    product = Product((rows, 64), 64, "f16", "f16", "f32", 16, chained=chained, a_is_made=chained)
    result = GROUPS.layout(product, Threads(warps, 32)).result
    assert isinstance(result, NvidiaMmaEncoding) and result.warps_per_cta == over


def test_the_cheapest_unit_multiplies() -> None:
    product = Product((64, 64), 64, "f16", "f16", "f32", 16)
    warps = WarpMatrixUnit(90)
    assert GpuTarget("t", units=(warps, GROUPS)).unit_for(product) == GROUPS
    assert GpuTarget("t", num_warps=2, units=(warps, GROUPS)).unit_for(product) == warps


def compiled(case: Any, **options: Any) -> str:
    """PTX of a case of the conformance suite."""
    backend, target = parse_target("cuda:90")
    parsed = backend.parse_options(target, {**case.options, **options})
    trial = case.trial(SEED)
    module = bind(case.kernel, host_arguments(trial), dict(trial.constants), parsed, target).module
    return run_stages(module, backend.stages(target, parsed)[:4], Compilation(target, parsed))["ptx"]


TAKEN = (
    "fp16-ieee-fp16-64x16x128", "int8-ieee-int32-64x16x128", "fp16-ieee-fp32-64x64x64", "bf16-ieee-fp32-128x64x32",
    "fp32-tf32-fp32-128x64x32", "matmul-fp16-256x128x96", "matmul-bf16-64x64x256", "chain-64x32x16", "chain-128x64x64",
)  # fmt: skip
"""What of the conformance suite's products is for warp groups, in four warps."""


def test_a_share_of_the_conformance_suites_products_is_multiplied_by_warp_groups() -> None:
    found = [case for case in cases() if case.name.startswith(tuple(f"dot/{name}" for name in TAKEN))]
    assert len(found) >= len(TAKEN)
    for case in Random(SEED).sample(found, 3):
        text = compiled(case, num_warps=4, warp_group_dots=True)
        assert "wgmma.mma_async" in text and "mma.sync" not in text, f"{case.name} (seed {SEED})"
