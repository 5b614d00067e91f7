"""Regular loads for products by the copy engine (`describe_loads`), on a GPU: ragged matrices of either order in larger
memory, split sums, batches, two loops, convolutions, block pointers; strides that no tensor map has. Each where the
kernel asks what it must know, with its own tensor maps and the launch's, and as launches are where nothing is said."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.gpu.where import TORCH_DEVICE, draws
from tests.unit.transforms.tile.random_regular import fresh, random_regular
from tests.unit.transforms.tile.regular_kernels import REGULAR, Regular, matrix
from tests.unit.transforms.tile.test_describe_loads import bounded_kernel, rows_kernel
from tritonx.interpreter.ir_launch import launch
from tritonx.runtime import driver

SEED = int(os.environ["TRITONX_SEED"])
DRAWS = draws(10)

torch = pytest.importorskip("torch")

WAYS: dict[str, dict[str, Any]] = {
    "the kernel's maps": {"describe_loads": True, "launch_maps": False},
    "the launch's maps": {"describe_loads": True, "launch_maps": True},
    "nothing said": {},
}


@pytest.fixture(autouse=True)
def _on_a_chip_that_copies_blocks() -> None:
    if str(driver.get_active().get_current_target()) != "cuda:90":
        pytest.skip("no copy engine here takes descriptors")


def on_device(array: Any) -> Any:
    """The array where it lies in a copy of all that it is a part of."""
    whole = array
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    offset = (array.__array_interface__["data"][0] - whole.__array_interface__["data"][0]) // array.itemsize
    steps = [step // array.itemsize for step in array.strides]
    return torch.from_numpy(whole).to(TORCH_DEVICE).as_strided(array.shape, steps, offset)


def launched(one: Regular, **options: Any) -> tuple[Any, Any]:
    args = [on_device(each) if isinstance(each, np.ndarray) else each for each in one.args]
    made = one.kernel[one.grid](*args, **one.constants, **options)
    return args[one.output].cpu().numpy(), made


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", REGULAR)
@pytest.mark.parametrize("draw", range(DRAWS))
def test_products(name: str, draw: int, way: str) -> None:
    random = Random(f"{SEED} {name} {draw}")
    one = REGULAR[name](random)
    options = {"num_warps": random.choice((1, 4, 8)), "num_stages": random.choice((1, 2, 3))}
    got, made = launched(one, **WAYS[way], **options)
    where = f"seed {SEED}, {way}, {options}, {one.constants}"
    np.testing.assert_array_equal(got, one.expected.astype(got.dtype), err_msg=where)
    described = way != "nothing said" or hasattr(made.metadata, "otherwise")
    assert ("cp.async.bulk.tensor" in made.asm["ptx"]) == described, where


@pytest.mark.parametrize("draw", range(DRAWS))
def test_random_kernels(draw: int) -> None:
    """As they are launched where nothing is said: nests of loops, and strides that are no map's."""
    random = Random(f"random {SEED} {draw}")
    one = random_regular(random, flatten=draw % 2 == 1)
    expected, args = fresh(one), [on_device(each) if isinstance(each, np.ndarray) else each for each in fresh(one)]
    launch(one.kernel, one.grid, *expected)
    one.kernel[one.grid](*args, num_warps=random.choice((1, 4, 8)), num_stages=random.choice((1, 2, 3)))
    np.testing.assert_array_equal(args[2].cpu().numpy(), expected[2], err_msg=f"seed {SEED}\n{one.source}")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", ["upwards", "the same", "in front"])
def test_what_no_tensor_map_has(case: str, way: str) -> None:
    random = Random(f"{SEED} {case}")
    held, b = matrix(random, 64, 32), matrix(random, 32, 16)
    stride, first, rows = {
        "upwards": (held.strides[0] // 2, 0, held[:16]),
        "the same": (0, 0, held[[0] * 16]),
        "in front": (held.strides[0] // 2, -16, held[16:32]),
    }[case]
    a, c = on_device(held[32:] if case == "in front" else held), torch.full((16, 16), torch.nan, device=TORCH_DEVICE)
    rows_kernel[(1,)](a, on_device(b), c, 2, stride, b.strides[0] // 2, first, M=16, N=16, **WAYS[way])
    np.testing.assert_array_equal(c.cpu().numpy(), rows.astype(np.float32) @ b.astype(np.float32))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("n", [-1, 0, 2, 16, 33, 48])
def test_where_a_tensor_ends_before_it_begins(n: int, way: str) -> None:
    random = Random(f"{SEED} {n}")
    a, b, c = matrix(random, 16, 48), matrix(random, 48, 16), torch.full((16, 16), torch.nan, device=TORCH_DEVICE)
    args = on_device(a), on_device(b), c, 3, n, a.strides[0] // 2, b.strides[0] // 2
    bounded_kernel[(1,)](*args, **WAYS[way])
    inside = max(n, 0)
    expected = a[:, :inside].astype(np.float32) @ b[:inside].astype(np.float32) + 3
    np.testing.assert_array_equal(c.cpu().numpy(), expected)


@pytest.mark.parametrize("way", WAYS)
def test_what_is_nowhere(way: str) -> None:
    """PyTorch's empty tensors begin at address 0."""
    a, b = (torch.empty(shape, dtype=torch.float16, device=TORCH_DEVICE) for shape in ((16, 0), (0, 16)))
    assert a.data_ptr() == 0
    c = torch.full((16, 16), torch.nan, device=TORCH_DEVICE)
    rows_kernel[(1,)](a, b, c, 0, 32, 16, 0, M=16, N=16, **WAYS[way])
    assert not c.any()
