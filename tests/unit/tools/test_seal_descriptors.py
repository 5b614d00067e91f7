"""Tensor descriptors in sealed kernels, and the other code that launches turn to."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.unit.tools.test_seal_launches import PLAIN, X, package, sealed
from tritonx.runtime import knobs
from tritonx.runtime.errors import NotSealed
from tritonx.tools import seal
from tritonx.tools.command import Mistake
from tritonx.tools.tensor_descriptor import TensorDescriptor

ADDS = """
@tritonx.jit
def k(x, y, B: tl.constexpr):
    row = tl.program_id(0) * B
    y.store([row, 0], x.load([row, 0]) + 1)
"""
BLOCK = [16, 32]


@pytest.fixture(autouse=True)
def _nothing_kept(tmp_path: Path):
    with knobs.compilation.scope(), knobs.cache.scope():
        knobs.cache.dir = str(tmp_path / "empty")
        yield


def described(array: np.ndarray, columns: int, **fields: object) -> TensorDescriptor:
    return TensorDescriptor(array, [40, columns], [32, 1], BLOCK, **fields)  # pyright: ignore[reportArgumentType]  # of the dataclass


def test_descriptors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of any extent where the package says nothing, of whole pieces of 16 bytes where it does."""
    given = {"x": "tensordesc<fp32[16, 32]>", "y": "tensordesc<fp32[16,32]>:16", "B": [16]}
    kernels, said = sealed(package(tmp_path, ADDS, given), tmp_path / "sealed", capsys)
    assert said == "k: 2 members; 1000 drawn launches have one\n"
    x = np.random.default_rng(1).random((40, 32), np.float32)
    for columns in (32, 28, 29):
        y = np.full((40, 32), -1, np.float32)
        kernels.k[(3,)](described(x, columns), described(y, 28), 16)
        want = np.where(np.arange(32) < columns, x + 1, 1)[:, :28]
        assert np.array_equal(y[:, :28], want) and (y[:, 28:] == -1).all()
    refused = [
        ((described(x, 32), described(y, 29)), "argument y = tensordesc<fp32[16, 32]>, rows end anywhere: sealed are"),
        (
            (described(x, 32, round_f32_to_tf32=True), described(y, 32)),
            "argument x = tensordesc<fp32[16, 32]>, rounded",
        ),
        ((TensorDescriptor(x, [40, 32], [32, 1], [8, 32]), described(y, 32)), "argument x = tensordesc<fp32[8, 32]>"),
        ((x, described(y, 32)), "argument x = *fp32, multiple of 16: sealed are tensordesc<fp32[16, 32]>"),
    ]
    for arguments, what in refused:
        with pytest.raises(NotSealed, match=f"k has no member in .* for {re.escape(what)}"):
            kernels.k[(3,)](*arguments, 16)


def test_descriptors_that_round(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = {"x": ["tensordesc<fp32[16, 32]>:16:tf32", "*fp32"], "y": "tensordesc<fp32[16, 32]>:16", "B": [16]}
    text = ADDS.replace("    row", "    tl.static_assert(x.dtype.is_ptr() == 0)\n    row")
    path = package(tmp_path, text, {**given, "x": given["x"][0]})
    kernels, said = sealed(path, tmp_path / "sealed", capsys)
    assert said.startswith("k: 1 member;")
    x = np.full((40, 32), 1 + 2**-12, np.float32)
    kernels.k[(3,)](described(x, 32, round_f32_to_tf32=True), described(x, 32), 16)
    assert (x == 2).all()


MISTAKES = [
    ("tensordesc<fp31[16, 32]>", "a descriptor is written tensordesc<TYPE[EXTENT, ...]>"),
    ("tensordesc<fp32[16, a]>", "a descriptor is written"),
    ("tensordesc<fp32[16, 32]>:8", "a descriptor is written"),
    ("tensordesc<fp16[16, 32]>:tf32", "round_f32_to_tf32 is only supported for float32"),
    ("tensordesc<fp32[16, 31]>", "31"),
    ("tensordesc<fp32[1, 1, 1, 1, 1, 16]>", "rank cannot be more than 5"),
]


@pytest.mark.parametrize(("text", "said"), MISTAKES)
def test_mistakes(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(Mistake, match=f"argument x: .*{re.escape(said)}"):
        seal.members(package(tmp_path, ADDS, {"x": text, "y": "tensordesc<fp32[16, 32]>", "B": [16]}))


SHIFTS = """
@tritonx.jit
def k(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)
"""


def test_arguments_that_overlap_or_are_empty(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Their code is another one on a CPU, which is sealed as well."""
    given = {"x": "*fp32", "y": "*fp32", "n": [0, 60], "B": [64]}
    kernels, _ = sealed(package(tmp_path, SHIFTS, given), tmp_path / "sealed", capsys)
    for back in (False, True):
        both = np.random.default_rng(2).random(100).astype(np.float32)
        x, y = (both[1:], both[:-1]) if back else (both[:-1], both[1:])
        want = x[:60].copy()
        kernels.k[(1,)](x, y, 60, 64)
        assert np.array_equal(y[:60], want)
    torch = pytest.importorskip("torch")
    kernels.k[(1,)](torch.empty(0), torch.empty(0), 0, 64)


def test_code_without_checks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A launch that does not tell how large its memory is runs it, in a program that is sealed with checks."""
    path = package(tmp_path, PLAIN, X | {"n": [8]}, options={"debug": [True]})
    kernels, _ = sealed(path, tmp_path / "sealed", capsys)
    x = np.zeros(8, np.float32)

    class Address:
        dtype = x.dtype

        def data_ptr(self) -> int:
            return x.ctypes.data // 16 * 16

    kernels.k[(1,)](x, 8, debug=True)
    assert x[0] == 8
