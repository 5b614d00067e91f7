"""Kernels of Gluon for AMD GPUs on the emulator of their instructions give what NumPy gives.

Run with ``TINYGRAD=<checkout of tinygrad>``."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tritonx
from tests.unit.experimental.gluon import amd_kernels
from tests.unit.experimental.gluon.emulated import emulate
from tests.unit.experimental.gluon.executed import compiled
from tritonx.experimental import gluon
from tritonx.experimental.gluon import language as gl
from tritonx.experimental.gluon.language import amd
from tritonx.experimental.gluon.language.amd import cdna3

FP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)


def on(*chips: str) -> Any:
    return pytest.mark.parametrize("emulator", chips, indirect=True)


def filled(*shape: int) -> Any:
    return np.full(shape, np.nan, np.float32)


@pytest.mark.parametrize(
    ("emulator", "version", "shape", "turned"),
    [("gfx942", 3, [32, 32, 8], False), ("gfx942", 3, [16, 16, 16], True), ("gfx950", 4, [16, 16, 32], False)],
    indirect=["emulator"],
)
def test_mfma(emulator: Any, version: int, shape: list[int], turned: bool, rng: np.random.Generator) -> None:
    a, b = rng.integers(-4, 5, (64, 32)).astype(np.float16), rng.integers(-4, 5, (32, 32)).astype(np.float16)
    c, unit = filled(64, 32), amd.AMDMFMALayout(version, shape, turned, [2, 1])
    layout = gl.BlockedLayout([1, 4], [8, 8], [2, 1], [1, 0])
    made = emulate(
        emulator, amd_kernels.mfma_product, 1, {"num_warps": 2},
        a=a, b=b, c=c, M=64, N=32, K=32, UNIT=unit, WIDTH=4, L=layout,
    )  # fmt: skip
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
    assert f"v_mfma_f32_{shape[0]}x{shape[1]}x{shape[2]}" in made.asm["amdgcn"]
    assert 'amdg.cd_regclass = "v"' in made.asm["ttgir"] and "inputPrecision" not in made.asm["ttgir"]


@pytest.mark.parametrize(("emulator", "version"), [("gfx1100", 1), ("gfx1201", 2)], indirect=["emulator"])
def test_wmma(emulator: Any, version: int, rng: np.random.Generator) -> None:
    a, b = rng.integers(-4, 5, (32, 32)).astype(np.float16), rng.integers(-4, 5, (32, 16)).astype(np.float16)
    c, layout = filled(32, 16), gl.BlockedLayout([1, 4], [8, 4], [2, 1], [1, 0])
    made = emulate(
        emulator, amd_kernels.wmma_product, 1, {"num_warps": 2},
        a=a, b=b, c=c, M=32, N=16, K=32, VERSION=version, WIDTH=16 // version, L=layout,
    )  # fmt: skip
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
    assert "v_wmma_f32_16x16x16_f16" in made.asm["amdgcn"]


@on("gfx950")
def test_copies_that_run_ahead(emulator: Any, rng: np.random.Generator) -> None:
    size, rounds = 512, 5
    x = rng.integers(-99, 99, (rounds, size)).astype(np.float32)
    out, layout = filled(size), gl.BlockedLayout([4], [64], [2], [0])
    made = emulate(
        emulator, amd_kernels.ring_of_copies, 1, {"num_warps": 2},
        x=x, out=out, SIZE=size, ROUNDS=rounds, L=layout,
    )  # fmt: skip
    np.testing.assert_array_equal(out, x.sum(0))
    assert "offen lds" in made.asm["amdgcn"] and "global_load_lds_dwordx4" in made.asm["amdgcn"]
    assert "ttg.amdg.syncedViaAsyncWait = true" in made.asm["ttgir"]


@on("gfx950")
def test_stages_of_a_loop(emulator: Any, rng: np.random.Generator) -> None:
    x, out = rng.integers(-99, 99, (4, 128)).astype(np.float32), filled(128)
    layout = gl.BlockedLayout([1], [64], [2], [0])
    made = emulate(emulator, amd_kernels.staged, 1, {"num_warps": 2}, x=x, out=out, ROUNDS=4, L=layout)
    np.testing.assert_array_equal(out, x.sum(0))
    marks = re.findall(r"rocdl.s.setprio \d|warp_pipeline[^}]*", made.asm["ttgir"])
    first = 'warp_pipeline.border = "load", triton.warp_pipeline.priority = 2 : i32'
    assert marks == ["rocdl.s.setprio 2", "rocdl.s.setprio 0", first, 'warp_pipeline.border = "cluster"']


def test_scales_of_less_than_an_instruction() -> None:
    unit = amd.AMDMFMALayout(4, [16, 16, 128], True, [1, 1])
    layout = amd.cdna4.get_mfma_scale_layout(gl.DotOperandLayout(0, unit, 16), [16, 2])
    assert layout.lane_bases == [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 0]]


@on("gfx942", "gfx1201")
def test_buffers_with_masks_and_atomics(emulator: Any, rng: np.random.Generator) -> None:
    size, n = 128, int(rng.integers(20, 120))
    x, out = rng.integers(-99, 99, size).astype(np.int32), rng.integers(-9, 9, 24).astype(np.int32)
    old, first = np.full(size, 7, np.int32), out.copy()
    layout = gl.BlockedLayout([1], [64 if emulator.arch == "gfx942" else 32], [2], [0])
    emulate(emulator, amd_kernels.masked, 1, {"num_warps": 2}, x=x, out=out, old=old, n=n, SIZE=size, L=layout)
    at = np.arange(size)
    value, added = np.where(at < n, x, 3), at % 3 > 0
    for slot in range(8):
        here = at % 8 == slot
        assert out[slot] == first[slot] + value[here & added].sum()
        assert out[8 + slot] == max(first[8 + slot], value[here].max())
        assert out[16 + slot] == first[16 + slot] | np.bitwise_or.reduce(value[here])
        lanes = [lane for lane in at[here & added] if lane < size - 2]
        sums = {int(old[lane]) for lane in lanes}
        assert int(first[slot]) in sums or len(lanes) < (here & added).sum()
    assert (old[:-2][~added[:-2]] == 0).all() and (old[-2:] == 7).all()


@on("gfx942")
def test_a_slice_of_registers(emulator: Any, rng: np.random.Generator) -> None:
    x, out = rng.standard_normal((32, 32)).astype(np.float32), filled(16, 32)
    layout = gl.BlockedLayout([1, 4], [8, 8], [2, 1], [1, 0])
    made = emulate(emulator, amd_kernels.sliced, 1, {"num_warps": 2}, x=x, out=out, L=layout)
    np.testing.assert_array_equal(out, x[16:])
    assert "amdg.extract_slice" in made.asm["ttgir"]


@on("gfx942", "gfx950")
@pytest.mark.parametrize("packed", [True, False], ids=["e2m1", "e5m2"])
def test_numbers_times_powers_of_two(emulator: Any, packed: bool, rng: np.random.Generator) -> None:
    scales = rng.integers(100, 150, (8, 64)).astype(np.uint8)
    power = np.exp2(scales.astype(np.float32) - 127)
    if packed:
        x = rng.integers(0, 256, (8, 32)).astype(np.uint8)
        value = FP4[np.stack([x & 15, x >> 4], -1).reshape(8, 64)]
    else:
        x = rng.integers(0, 0x7C, (8, 64)).astype(np.uint8)
        value = x.view(ml_dtypes.float8_e5m2).astype(np.float32)
    scales[0, :2], power[0, :2] = (0, 255), (2.0**-127, np.nan)
    out = filled(8, 64)
    codes = scales.view(np.int8)
    emulate(emulator, amd_kernels.upcast, 1, {"num_warps": 1}, x=x.view(np.int8), scales=codes, out=out, FP4=packed)
    expected = (value * power).astype(ml_dtypes.bfloat16).astype(np.float32)
    np.testing.assert_array_equal(out, expected)


@on("gfx950")
def test_a_product_with_scales(emulator: Any, rng: np.random.Generator) -> None:
    a, scales = rng.integers(0, 256, (16, 64)).astype(np.uint8), rng.integers(124, 131, (16, 4)).astype(np.uint8)
    b = rng.integers(0x38, 0x44, (128, 16)).astype(np.uint8)
    left = FP4[np.stack([a & 15, a >> 4], -1).reshape(16, 128)] * np.exp2(scales.astype(np.float32) - 127).repeat(32, 1)
    right, c = 2 * b.view(ml_dtypes.float8_e5m2).astype(np.float32), filled(16, 16)
    made = emulate(
        emulator, amd_kernels.scaled_product, 1, {"num_warps": 1},
        a=a.view(np.int8), b=b.view(np.int8), scales=scales.view(np.int8), c=c,
    )  # fmt: skip
    np.testing.assert_allclose(c, left.astype(np.float64) @ right.astype(np.float64), rtol=1e-6)
    assert "v_mfma_scale_f32_16x16x128_f8f6f4" in made.asm["amdgcn"]


@gluon.jit
def of_a_vendor(x: Any, L: gl.constexpr) -> None:
    at = gl.arange(0, 64, L)
    cdna3.buffer_store(gl.load(x + at), x, at)


def test_another_vendors_gpu_is_refused_at_the_line() -> None:
    arguments = {"x": np.zeros(64, np.float32), "L": gl.BlockedLayout([1], [32], [4], [0])}
    with pytest.raises(tritonx.CompilationError, match=r"gluon\.language\.amd\.buffer_store .* hip alone") as error:
        compiled(of_a_vendor, arguments, "cuda:90")
    assert "at 3:" in str(error.value)


@gluon.jit
def mistaken(x: Any, WHICH: gl.constexpr, L: gl.constexpr) -> None:
    at = gl.arange(0, 64, L)
    value = gl.load(x + at)
    if WHICH == 0:
        cdna3.buffer_load(x + at, at)
    elif WHICH == 1:
        cdna3.buffer_load(x, at.to(gl.int64))
    elif WHICH == 2:
        cdna3.buffer_load(x, at, other=1.0)
    elif WHICH == 3:
        cdna3.buffer_atomic_and(x, at, value)
    elif WHICH == 4:
        amd.slice(value, [16], [16])
    elif WHICH == 5:
        amd.slice(value, [64], [64])
    elif WHICH == 6:
        amd.hint.sched_barrier("valu")
    elif WHICH == 7:
        amd.rdna3.wmma(value, value, value)
    elif WHICH == 8:
        cdna3.mfma(value, value, value)
    else:
        cdna3.scaled_upcast(value, value, gl.bfloat16)


@pytest.mark.parametrize(
    ("which", "words"),
    [
        *enumerate(
            [
                "ptr must be a scalar pointer",
                "offsets must be int32 or uint32",
                "other is given without a mask",
                "no buffer_atomic_and of fp32",
                "less than a tile of the layout",
                "exceeds source shape",
                "Unsupported instruction class: 'valu'",
                "acc must have an AMDWMMALayout of version 1",
                "acc must have an AMDMFMALayout",
                "Expected scale to use raw E8M0 payload",
            ]
        )
    ],
)
def test_a_mistake_is_shown_with_its_line(which: int, words: str) -> None:
    arguments = {"x": np.zeros(64, np.float32), "WHICH": which, "L": gl.BlockedLayout([1], [64], [1], [0])}
    with pytest.raises(tritonx.CompilationError, match=re.escape(words)) as error:
        compiled(mistaken, arguments, "hip:gfx942", num_warps=1)
    assert f"at {2 * which + 5}:" in str(error.value)
