"""Microscaling formats hold the codes that Triton's hold, on every number between codes too. Needs PyTorch."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest

pytestmark = pytest.mark.peer
torch = pytest.importorskip("torch")
if find_spec("triton") is None:
    pytest.skip("the Triton wheel is not installed", allow_module_level=True)

from triton.tools import mxfp as theirs  # noqa: E402

from tritonx.tools import mxfp as ours  # noqa: E402

SEED = int(os.environ["TRITONX_SEED"])


def numbers() -> object:
    """Every code, every middle of two and what lies beside it, and drawn numbers of every size."""
    torch.manual_seed(SEED)
    middles = [(a + b) / 2 for a, b in zip(ours.E2M1, ours.E2M1[1:], strict=False)]
    edges = torch.tensor([*ours.E2M1, *middles, 6.1, 100.0, 1e-30])
    beside = torch.cat([torch.nextafter(edges, edges + 1), torch.nextafter(edges, edges - 1), edges])
    drawn = torch.randn(200) * torch.exp2(torch.randint(-3, 4, (200,)).float())
    return torch.cat([beside, -beside, drawn])


def test_elements_are_rounded_alike() -> None:
    """Triton breaks ties by adding 1e-6 to distances, so what is nearer than that to a middle is its own affair."""
    values = numbers()
    magnitude = values.abs()
    middles = torch.tensor([(a + b) / 2 for a, b in zip(ours.E2M1, ours.E2M1[1:], strict=False)])
    distance = (magnitude[:, None] - middles).abs().min(dim=1).values
    values = values[(distance == 0) | (distance > 1e-5)]
    mine, other = ours.MXFP4Tensor(data=values.clone()), theirs.MXFP4Tensor(data=values.clone())
    assert torch.equal(mine.data, other.data)
    assert torch.equal(mine.to(torch.float32), other.to(torch.float32))


def test_what_is_no_number_is_the_largest() -> None:
    values = torch.tensor([float("inf"), -float("inf"), float("nan"), 7.0])
    assert ours.MXFP4Tensor(data=values).to(torch.float32).tolist() == [6.0, -6.0, 6.0, 6.0]


def test_every_code_means_the_same() -> None:
    mine, other = ours.MXFP4Tensor(size=(16,)), theirs.MXFP4Tensor(size=(16,))
    mine.data = other.data = torch.arange(16, dtype=torch.uint8)
    assert torch.equal(mine.to(torch.float32), other.to(torch.float32))
    mine, other = ours.MXScaleTensor(size=(256,)), theirs.MXScaleTensor(size=(256,))
    mine.data = other.data = torch.arange(256).to(torch.uint8)
    assert torch.equal(mine.to(torch.float32).nan_to_num(-1), other.to(torch.float32).nan_to_num(-1))


@pytest.mark.parametrize("shape", [(4, 6), (5, 3), (2, 3, 7)])
def test_packing(shape: tuple[int, ...]) -> None:
    torch.manual_seed(SEED)
    for dim in range(len(shape)):
        mine, other = ours.MXFP4Tensor(size=shape).random(), theirs.MXFP4Tensor(size=shape)
        other.data = mine.data
        packed = mine.to_packed_tensor(dim)
        assert torch.equal(packed, other.to_packed_tensor(dim))
        assert torch.equal(mine.unpack_packed_tensor(packed, dim, shape), mine.data)


def test_scales() -> None:
    values = torch.cat([numbers(), torch.tensor([0.0, float("inf"), float("nan"), 1e-40, 3e38])])
    assert torch.equal(ours.MXScaleTensor(data=values).data, theirs.MXScaleTensor(data=values).data)
    drawn = ours.MXScaleTensor(size=(1000,)).random(0.25, 8.0).to(torch.float32)
    assert drawn.min() >= 0.25 and drawn.max() <= 8.0 and len(drawn.unique()) == 6


def test_there_is_no_such_dimension() -> None:
    for made in (ours.MXFP4Tensor(size=(4, 4)), theirs.MXFP4Tensor(size=(4, 4))):
        with pytest.raises(AssertionError, match="not within the range of tensor dimensions"):
            made.random().to_packed_tensor(2)


def test_scales_as_numbers() -> None:
    """Against the definition: Triton has the function since 3.9."""
    codes = torch.arange(256, dtype=torch.uint8)
    found = ours.fp8e8m0_to_float32(codes).tolist()
    assert found[:255] == [2.0 ** (code - 127) for code in range(255)] and found[255] != found[255]
