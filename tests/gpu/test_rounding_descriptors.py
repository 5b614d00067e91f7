"""Descriptors that round f32 to tf32 as it is read: behind a load where they are their parts, in the copy engine where
they are tensor maps (9.0)."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import tritonx
from tests.unit.runtime.test_rounding_descriptors import M, N, bits, nearest, numbers, of_two, rows_of, sum_of_blocks
from tritonx.runtime.arrays import to_device
from tritonx.runtime.driver import get_active
from tritonx.tools.tensor_descriptor import TensorDescriptor

SEED = int(os.environ["TRITONX_SEED"])


def rounded_bits(x: Any) -> Any:
    """The words of rounded numbers, NaN as one: the copy engine writes 0x7fffe000 for every NaN (H200), and the code
    behind a load keeps its upper bits."""
    return bits(np.where(np.isnan(x), np.float32(np.nan), x))


def options() -> list[dict[str, Any]]:
    here = str(get_active().get_current_target())
    return [{}, {"warp_group_dots": True}] if here == "cuda:90" else [{}]


@tritonx.jit
def copied(source, target, ROWS: int):
    for row in range(0, ROWS, 16):
        target.store([row, 0], source.load([row, 0]))


@pytest.mark.parametrize("rounds", [False, True])
def test_a_copy(rounds: bool) -> None:
    """Of whole blocks, which the engine moves."""
    x = numbers(SEED, rows=32)
    for given in options():
        out = to_device(np.zeros_like(x))
        source = TensorDescriptor.from_tensor(to_device(x), [M, N], round_f32_to_tf32=rounds)
        kernel: Any = copied
        compiled = kernel[(1,)](source, TensorDescriptor.from_tensor(out, [M, N]), 32, **given)
        if rounds:
            np.testing.assert_array_equal(rounded_bits(out.numpy()), rounded_bits(nearest(x)), str(given))
        else:
            np.testing.assert_array_equal(bits(out.numpy()), bits(x), str(given))
        if given:
            assert "cp.async.bulk.tensor" in compiled.asm["ptx"] and "0x1fff" not in compiled.asm["ptx"]


def test_what_is_written_is_not_rounded() -> None:
    x = numbers(SEED)
    for given in options():
        out = to_device(np.zeros_like(x))
        source = TensorDescriptor.from_tensor(to_device(x), [M, N])
        kernel: Any = copied
        kernel[(1,)](source, TensorDescriptor.from_tensor(out, [M, N], round_f32_to_tf32=True), 16, **given)
        np.testing.assert_array_equal(bits(out.numpy()), bits(x), str(given))


@pytest.mark.parametrize("rounding", [(True, False), (False, True)])
def test_one_of_two(rounding: tuple[bool, bool]) -> None:
    """Which one is decided by the kernel."""
    x, y = numbers(SEED), numbers(SEED + 1)
    for first in (True, False):
        out = to_device(np.zeros_like(x))
        both = [
            TensorDescriptor.from_tensor(to_device(a), [M, N], "zero", r) for a, r in zip((x, y), rounding, strict=True)
        ]
        kernel: Any = of_two
        kernel[(1,)](*both, out, int(first), M=M, N=N)
        one, is_rounded = (x, rounding[0]) if first else (y, rounding[1])
        if is_rounded:
            np.testing.assert_array_equal(rounded_bits(out.numpy()), rounded_bits(nearest(one)))
        else:
            np.testing.assert_array_equal(bits(out.numpy()), bits(one))


def test_sums_and_rows() -> None:
    x = np.where(np.isfinite(x := numbers(SEED)), x, 1.5)
    source = to_device(x)
    for kernel, block, index in ((sum_of_blocks, [M, N], 0), (rows_of, [1, N], 3)):
        out = to_device(np.zeros_like(x))
        launched: Any = kernel
        launched[(1,)](TensorDescriptor.from_tensor(source, block, round_f32_to_tf32=True), out, index, M=M, N=N)
        wanted = nearest(x) if kernel is sum_of_blocks else nearest(x)[(np.arange(M) * index) % M]
        np.testing.assert_array_equal(out.numpy(), wanted)
