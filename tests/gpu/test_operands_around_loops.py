"""Products of a loop whose A is the same in each round, beside others, in a loop that waits for the copy engine: ptxas
before 13.1 gives registers of such an A to the other product (`backends/nvidia/assembler/operands_around_loops`). So it
lies in memory; where it is in registers all the same, they are taken anew."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import pytest

import tritonx
import tritonx.language as tl
from tests.gpu.where import TORCH_DEVICE, draws
from tritonx.conversion.tile_to_gpu import dots
from tritonx.dialects import tile
from tritonx.runtime import driver

SEED = int(os.environ["TRITONX_SEED"])
DRAWS = draws(16)

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def has_warp_groups() -> None:
    if str(driver.get_active().get_current_target()) != "cuda:90":
        pytest.skip("warp groups multiply on compute capability 9.0 only")


@tritonx.jit
def rounds(x_ptr, y_ptr, z_ptr, o_ptr, n, M: tl.constexpr, N: tl.constexpr, ROW: tl.constexpr, COLUMN: tl.constexpr,
           KEPT: tl.constexpr):  # fmt: skip
    """o = sum of h(x yᵢᵀ / 8) zᵢᵀ for h(s) = s / (1 + s²); ``KEPT`` is part of the kernel's name only."""
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(x_ptr + rows[:, None] * ROW + columns[None, :] * COLUMN)
    sums = tl.zeros((M, N), tl.float32)
    for block in range(n):
        y = tl.load(y_ptr + (block * N + columns)[None, :] * N + columns[:, None])
        s = tl.dot(x, y) * 0.125
        z = tl.load(z_ptr + (block * N + columns)[None, :] * N + columns[:, None])
        sums = tl.dot((s / (1 + s * s)).to(z.dtype), z, sums)
    tl.store(o_ptr + rows[:, None] * N + columns[None, :], sums)


def in_registers(value: Any, dot: Any) -> bool:
    """Where threads load A, from outside of a loop too."""
    while isinstance(value.owner, tile.TransOp):
        value = value.owner.src
    return isinstance(value.owner, tile.LoadOp | tile.DescriptorLoadOp)


@pytest.mark.parametrize("kept", [False, True], ids=["in memory", "in registers"])
@pytest.mark.parametrize("draw", range(DRAWS))
def test_rounds(draw: int, kept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(f"{SEED} {draw}")
    if kept:
        monkeypatch.setattr(dots, "_is_loaded", in_registers)
    kind = torch.float32 if kept or random.random() < 0.4 else random.choice([torch.float16, torch.bfloat16])
    m, n = random.choice([64, 128]), random.choice([32, 64])
    warps = 4 if m == 64 else random.choice([4, 8])
    count, turned = random.choice([0, 1, 2, 3, 7]), kept or random.random() < 0.5
    torch.manual_seed(SEED + draw)
    x = torch.randn(m, n, dtype=torch.float32)
    y, z = torch.randn(count, n, n), torch.randn(count, n, n)
    x, y, z = (each.to(kind).to(TORCH_DEVICE) for each in (x, y, z))
    given = x.T.contiguous() if turned else x
    o = torch.full((m, n), float("nan"), device=TORCH_DEVICE)
    strides = (1, m) if turned else (n, 1)
    kernel: Any = rounds
    options: dict[str, Any] = {"num_warps": warps, "num_stages": random.choice([2, 3, 4])}
    if (maps := random.choice([None, True, False])) is not None:
        options["launch_maps"] = maps
    made = kernel[(1,)](given, y, z, o, count, m, n, *strides, kept, **options)
    assert "wgmma.mma_async" in made.asm["ptx"]
    wide = x.double()
    expected = torch.zeros(m, n, dtype=torch.float64, device=TORCH_DEVICE)
    for left, right in zip(y.double(), z.double(), strict=True):
        s = wide @ left.T / 8
        expected += (s / (1 + s * s)) @ right.T
    error = (o.double() - expected).norm() / expected.norm().clamp(min=1e-9)
    assert error < 6e-3 or (count == 0 and not o.any()), (kind, m, n, warps, count, turned, options, float(error))
