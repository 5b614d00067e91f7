"""What the compile options of AMD targets do to the code, and what they refuse."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.unit.backends.amd.shared_kernels import matmul, precise_matmul, softmax
from tests.unit.transforms.pipelining.pipelined_kernels import matmul as loop_of_products
from tritonx.backends.amd import BACKEND
from tritonx.backends.amd.options import IgnoredHint
from tritonx.ir.text import print_module

Compile = Callable[..., Any]


def product(compiled: Compile, target: str, shape: tuple[int, int, int] = (64, 64, 64), **options: Any) -> Any:
    m, n, k = shape
    arrays = [np.zeros((m, k), np.float16), np.zeros((k, n), np.float16), np.zeros((m, n), np.float32)]
    return compiled(target, matmul, arrays, {"M": m, "N": n, "K": k}, num_warps=4, **options)


@pytest.mark.parametrize("side, shape", [(0, "32x32x8"), (16, "16x16x16"), (32, "32x32x8")])
def test_the_side_of_mfma_tiles(compiled: Compile, side: int, shape: str) -> None:
    made = product(compiled, "gfx942", matrix_instr_nonkdim=side)
    assert set(re.findall(r"v_mfma_f32_(\w+)_f16", made.stages["amdgcn"])) == {shape}


def test_tf32_is_a_permission(compiled: Compile) -> None:
    """Of gfx942, which multiplies 19 bits of f32, and does so where nothing is said."""
    arrays = [np.zeros((64, 64), np.float32) for _ in range(3)]
    for precision, instruction in (("tf32", "32x32x4_xf32"), (None, "32x32x4_xf32"), ("ieee", "32x32x2_f32")):
        sizes = {"N": 64, "PRECISION": precision}
        made = compiled("gfx942", precise_matmul, arrays, sizes, num_warps=4)
        assert set(re.findall(r"v_mfma_f32_(\w+)", made.stages["amdgcn"])) == {instruction}
    sizes = {"N": 64, "PRECISION": "tf32"}
    with pytest.raises(Exception, match="input_precision must be one of"):
        compiled("gfx90a", precise_matmul, arrays, sizes, num_warps=4)


def test_a_side_that_the_product_has_not(compiled: Compile) -> None:
    with pytest.raises(Exception, match=r"shared_kernels\.py:\d+:\d+: .*no 32x32 instruction for a 16x64x64 product"):
        product(compiled, "gfx942", (16, 64, 64), matrix_instr_nonkdim=32)


def test_a_wide_row_waits_as_it_was_loaded(compiled: Compile) -> None:
    """`rematerialise` keeps halves of more registers than two blocks have by assembly without text."""
    arrays = [np.zeros(1 << 15, np.float16) for _ in range(2)]
    made = compiled("gfx942", softmax, arrays, {"n_cols": 1 << 15, "BLOCK": 1 << 15}, num_warps=4)
    assert "elementwise_inline_asm" in print_module(made.stages["ttgir"])
    assert made.stages["amdgcn"].count("#ASMSTART") >= 32


@pytest.mark.parametrize("target, width", [("gfx942", 8), ("gfx1100", 16)])
def test_steps_of_k_side_by_side(compiled: Compile, target: str, width: int) -> None:
    """Twice as wide on CDNA 3; WMMA's operands are whole steps already."""
    text = print_module(product(compiled, target, kpack=2).stages["ttgir"])
    assert set(re.findall(r"kWidth = (\d+)", text)) == {str(width)}


def test_cdna4_takes_one_step_with_a_warning(compiled: Compile) -> None:
    with pytest.warns(UserWarning, match="kpack is deprecated on hip:gfx950"):
        options = BACKEND.parse_options(BACKEND.parse_target("gfx950"), {"kpack": 2})
    assert options == BACKEND.parse_options(BACKEND.parse_target("gfx950"), {})


def test_buffers_or_not(compiled: Compile, monkeypatch: pytest.MonkeyPatch) -> None:
    buffers = ("buffer_load", "buffer_store")
    assert all(each in product(compiled, "gfx942").stages["amdgcn"] for each in buffers)
    assert not any(each in product(compiled, "gfx942", buffer_ops=False).stages["amdgcn"] for each in buffers)
    monkeypatch.setenv("AMDGCN_USE_BUFFER_OPS", "0")
    assert not any(each in product(compiled, "gfx942").stages["amdgcn"] for each in buffers)


def test_schedulers_and_subnormal_numbers(compiled: Compile) -> None:
    plain = product(compiled, "gfx942").stages
    hinted = product(compiled, "gfx942", schedule_hint="none,memory-bound-attention").stages
    assert "iterative-ilp" in hinted["llir"] and "iterative-ilp" not in plain["llir"]
    for hint in ("", "none"):
        assert product(compiled, "gfx942", schedule_hint=hint).stages["amdgcn"] == plain["amdgcn"]
    flushing = product(compiled, "gfx942", allow_flush_denorm=True).stages
    assert ".amdhsa_float_denorm_mode_32 3" in plain["amdgcn"]
    assert ".amdhsa_float_denorm_mode_32 0" in flushing["amdgcn"]


@pytest.mark.parametrize(
    "target, hint, given, reason",
    [
        ("gfx942", "local-prefetch", {}, "do not read it either"),
        ("gfx950", "none, LLVM-iglp-1", {}, "'llvm-iglp-1' changes nothing"),
        ("gfx942", "attention", {"num_warps": 8}, "on hip:gfx942 operands are not copied"),
        ("gfx950", "attention", {"num_warps": 4}, "4 warps are no two groups"),
        ("gfx950", "attention", {"num_warps": 8, "block_pingpong": False}, "block_pingpong is off"),
    ],
)
def test_hints_without_effect(target: str, hint: str, given: dict[str, Any], reason: str) -> None:
    with pytest.warns(IgnoredHint, match=reason):
        BACKEND.parse_options(BACKEND.parse_target(target), {"schedule_hint": hint, **given})


def test_hints_with_an_effect_do_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for hint in ("", "none", "memory-bound-attention", "attention"):
            BACKEND.parse_options(BACKEND.parse_target("gfx950"), {"schedule_hint": hint, "num_warps": 8})


@pytest.mark.parametrize(
    "target, given, reason",
    [
        ("gfx942", {"matrix_instr_nonkdim": 4}, "one of 0, 16, 32 on hip:gfx942, got 4"),
        ("gfx1100", {"matrix_instr_nonkdim": 32}, "one of 0, 16 on hip:gfx1100, got 32"),
        ("gfx942", {"kpack": 3}, "kpack is 1 or 2, got 3"),
        ("gfx942", {"schedule_hint": "none,fast"}, "got 'fast'"),
        ("gfx942", {"num_ctas": 2}, "has no clusters"),
        ("gfx942", {"num_warps": 32}, "threads, Required: 2048, Hardware limit: 1024"),
    ],
)
def test_impossible_values(target: str, given: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        BACKEND.parse_options(BACKEND.parse_target(target), given)


def test_pingpong_or_not(compiled: Compile, monkeypatch: pytest.MonkeyPatch) -> None:
    """On gfx942 and gfx950, where copies past the registers have three stages, and elsewhere on CDNA if it is asked
    for. With 4 warps a product of what threads store has a priority."""
    a, c = np.zeros(1, np.float16), np.zeros(1, np.float32)

    def priorities(target: str, n: int = 128, warps: int = 8, **options: Any) -> tuple[int, ...]:
        constants = {"M": 2 * n, "N": n, "K": 64, "MASKED": True, "BY_COLUMNS": True}
        made = compiled(target, loop_of_products, (a, a, c, 4096), constants, until="llir", num_warps=warps, **options)
        return tuple(len(re.findall(rf"s.setprio\(i16 {each}\)", made.stages["llir"])) for each in (1, 0))

    assert priorities("gfx942") == (2, 2) and priorities("gfx942", 64, 4) == (1, 1)
    assert priorities("gfx942", 64) == priorities("gfx942", block_pingpong=False) == (0, 0)
    assert priorities("gfx950") == priorities("gfx950", 64, 4) == priorities("gfx950", 64, 4, num_stages=3) == (0, 0)
    assert priorities("gfx950", num_stages=3) == (1, 1)
    assert priorities("gfx950", num_stages=3, block_pingpong=False) == priorities("gfx950", 64, num_stages=3) == (0, 0)
    assert priorities("gfx950", async_copy=False) == (2, 2)
    assert priorities("gfx90a") == (0, 0) and priorities("gfx90a", block_pingpong=True) == (2, 2)
    assert priorities("gfx1201", 64, block_pingpong=True) == (0, 0)
    monkeypatch.setenv("TRITON_HIP_USE_BLOCK_PINGPONG", "0")
    assert priorities("gfx942") == (0, 0) and priorities("gfx942", block_pingpong=True) == (2, 2)


def test_copies_past_the_registers_or_not(compiled: Compile, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the LDS transposes what it is read for, and elsewhere if they are asked for and there are some."""
    a, c = np.zeros(1, np.float16), np.zeros(1, np.float32)
    constants = {"M": 64, "N": 64, "K": 32, "MASKED": True, "BY_COLUMNS": True}

    def copies(target: str, **options: Any) -> bool:
        made = compiled(target, loop_of_products, (a, a, c, 4096), constants, until="llir", num_warps=4, **options)
        return "load.lds" in made.stages["llir"]

    assert copies("gfx950", async_copy=True) and copies("gfx942", async_copy=True, small=False)
    assert not copies("gfx942") and not copies("gfx90a", async_copy=True) and not copies("gfx1201", async_copy=True)
    assert copies("gfx950") and not copies("gfx950", async_copy=False)
    monkeypatch.setenv("TRITON_HIP_USE_ASYNC_COPY", "0")
    assert not copies("gfx950") and copies("gfx950", async_copy=True)
