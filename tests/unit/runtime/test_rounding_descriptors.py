"""`TensorDescriptor(round_f32_to_tf32=True)`: on the CPU and in both interpreters."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.interpreter import interpreted
from tritonx.interpreter import launch as ir_launch
from tritonx.runtime import driver
from tritonx.runtime.errors import IrregularArgument, UnsupportedArgument
from tritonx.tools.tensor_descriptor import ImpossibleDescriptor, TensorDescriptor

M = N = 16
SEED = int(os.environ["TRITONX_SEED"])
SPECIAL = (0x3F801000, 0x3F803000, 0x3F800FFF, 0x3F801001, 0x00001000, 0x80001001, 0x7F7FF000, 0x7F7FEFFF, 0x7F800000,
           0xFF800000, 0x7FC00000, 0x7FC00001, 0x80000000, 0x00000FFF)  # fmt: skip
"""Halfway to an odd and to an even number, beside these, subnormal, rounded to infinity and not, infinities, NaNs."""


def numbers(seed: int, rows: int = M) -> Any:
    made = np.random.default_rng(seed).standard_normal((rows, N)).astype(np.float32)
    made.view(np.uint32)[0, : len(SPECIAL)] = SPECIAL
    return made


def nearest(x: Any) -> Any:
    """In double precision: a multiple of the last place of tf32, of 11 significant bits and of 2^-136 at least."""
    wide = x.astype(np.float64)
    with np.errstate(all="ignore"):
        place = np.exp2(np.maximum(np.floor(np.log2(np.abs(wide))), -126) - 10)
        rounded = (np.rint(wide / place) * place).astype(np.float32)
    return np.where(np.isfinite(x) & (x != 0), rounded, x)


def bits(x: Any) -> Any:
    return np.ascontiguousarray(x).view(np.uint32)


@tritonx.jit
def of_two(first, second, out, choice, M: tl.constexpr, N: tl.constexpr):
    chosen = first
    if choice == 0:
        chosen = second
    tl.store(out + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], chosen.load([0, 0]))


@tritonx.jit(noinline=True)
def block_at(source, row):
    return source.load([row, 0])


@tritonx.jit
def sum_of_blocks(source, out, row, M: tl.constexpr, N: tl.constexpr):
    """The block, and one outside the tensor, through a function of its own."""
    total = block_at(source, row) + block_at(source, row + M)
    tl.store(out + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], total)


@tritonx.jit
def rows_of(source, out, step, M: tl.constexpr, N: tl.constexpr):
    rows = source.gather(tl.arange(0, M) * step % M, 0)
    tl.store(out + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], rows)


@pytest.fixture(params=["compiled", "interpreted", "text interpreted"], autouse=True)
def how(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    driver.set_active("cpu")
    yield request.param
    driver.reset_active()


def launch(how: str, kernel: Any, *args: Any) -> None:
    if how == "text interpreted":
        ir_launch(kernel, (1,), *args, M=M, N=N)
    else:
        (kernel if how == "compiled" else interpreted(kernel))[(1,)](*args, M=M, N=N)


@pytest.mark.parametrize("rounding", [(True, False), (False, True), (True, True)])
def test_one_of_two(how: str, rounding: tuple[bool, bool]) -> None:
    x, y = numbers(SEED), numbers(SEED + 1)
    both = [TensorDescriptor.from_tensor(a, [M, N], "zero", r) for a, r in zip((x, y), rounding, strict=True)]
    for first in (True, False):
        out = np.zeros_like(x)
        launch(how, of_two, *both, out, int(first))
        one, is_rounded = (x, rounding[0]) if first else (y, rounding[1])
        np.testing.assert_array_equal(bits(out), bits(nearest(one) if is_rounded else one))


def test_sums_and_rows(how: str) -> None:
    x = np.where(np.isfinite(x := numbers(SEED)), x, 1.5)
    for rounds in (True, False):
        for kernel, block, index in ((sum_of_blocks, [M, N], 0), (rows_of, [1, N], 3)):
            out = np.zeros_like(x)
            source = TensorDescriptor.from_tensor(x, block, round_f32_to_tf32=rounds)
            launch(how, kernel, source, out, index)
            read = nearest(x) if rounds else x
            np.testing.assert_array_equal(out, read if kernel is sum_of_blocks else read[np.arange(M) * index % M])


def test_a_launch_follows_the_field(how: str) -> None:
    """Which may be set between launches."""
    x, out = numbers(SEED), np.zeros((M, N), np.float32)
    source = TensorDescriptor.from_tensor(x, [M, N])
    for rounds in (False, True, False, True):
        source.round_f32_to_tf32 = rounds
        launch(how, of_two, source, source, out, 1)
        np.testing.assert_array_equal(bits(out), bits(nearest(x) if rounds else x))


def test_of_f32_alone() -> None:
    for dtype in (np.float16, np.int32, np.float64):
        with pytest.raises(ImpossibleDescriptor, match="round_f32_to_tf32 is only supported for float32 tensors"):
            TensorDescriptor.from_tensor(np.zeros((M, N), dtype), [M, N], round_f32_to_tf32=True)


def test_a_kernel_that_rounds_nothing_is_as_it_was(how: str) -> None:
    if how == "compiled":
        source = TensorDescriptor.from_tensor(numbers(SEED), [M, N])
        compiled = of_two.warmup(source, source, np.zeros((M, N), np.float32), 1, M=M, N=N, grid=(1,))
        assert "tt.round" not in compiled.asm["ttir"] and "rounded" not in compiled.asm["ttir"]


@tritonx.jit
def copy_of(source, out, M: tl.constexpr, N: tl.constexpr):
    tl.store(out + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], source.load([0, 0]))


@pytest.mark.parametrize("dtype", [np.float16, np.int32, np.float64])
def test_a_field_that_is_set_on_another_dtype(how: str, dtype: Any) -> None:
    """What cannot be made so cannot become so: one error, on every target."""
    x = np.ones((M, N), dtype)
    source = TensorDescriptor.from_tensor(x, [M, N])
    launch(how, copy_of, source, np.zeros_like(x))
    source.round_f32_to_tf32 = True
    with pytest.raises(UnsupportedArgument, match="round_f32_to_tf32 is only supported for float32 tensors"):
        launch(how, copy_of, source, np.zeros_like(x))


@pytest.mark.parametrize("rounds", [False, True])
def test_a_compiled_kernel_is_launched_with_what_it_was_made_for(how: str, rounds: bool) -> None:
    if how != "compiled":
        pytest.skip("nothing is compiled")
    x, out = numbers(SEED), np.zeros((M, N), np.float32)
    source, other = (TensorDescriptor.from_tensor(x, [M, N], round_f32_to_tf32=r) for r in (rounds, not rounds))
    compiled: Any = copy_of.warmup(source, out, M=M, N=N, grid=(1,))
    compiled[(1,)](source, out)
    np.testing.assert_array_equal(bits(out), bits(nearest(x) if rounds else x))
    for given in ((other, out), (other, out, M, N)):
        with pytest.raises(IrregularArgument, match=r"argument 'source' of copy_of\(\): the descriptor .* to tf32"):
            compiled[(1,)](*given)
