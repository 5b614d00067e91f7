"""What the backend writes, executed: the conformance suite's kernels as PTX, on the host (``ptx``), so that a wrong
instruction, operand, guard, address or width gives a wrong number or a fault.

A share of each family's cases on each compute capability, and random kernels on blocks, others with every seed;
``TRITONX_CONFORMANCE=full`` runs all of them, about four minutes a capability, ``TRITONX_RANDOM_KERNELS=200`` so many
random kernels."""

from __future__ import annotations

import os
from collections import defaultdict
from random import Random
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tests.unit.backends.nvidia.products import drawn, product
from tests.unit.transforms.gpu.test_executed import Program
from tests.unit.transforms.pipelining.pipelined_kernels import PIPELINED, STAGES
from tritonx.backends.nvidia import matrix_units
from tritonx.conversion.tile_to_gpu.matrix_unit import Product
from tritonx.layouts.encodings import NvmmaSharedEncoding
from tritonx.transforms.pipelining.loads_ahead import SMALL_BYTES
from tritonx_testing.conformance import cases
from tritonx_testing.conformance.device import check
from tritonx_testing.conformance.isolated import is_refusal, is_too_long
from tritonx_testing.conformance.random_blocks import random_case
from tritonx_testing.conformance.suite import random_names
from tritonx_testing.conformance.values import DTYPES
from tritonx_testing.emulators.ptx.device import PtxDevice

SEED = int(os.environ["TRITONX_SEED"])
FULL = os.environ.get("TRITONX_CONFORMANCE") == "full"
SHARES = {"75": 40, "80": 14, "89": 40, "90": 10, "100": 24}
"""Compute capability → one case of how many of a family runs, and one at least."""


def chosen() -> list[tuple[str, Any]]:
    families: dict[str, list[Any]] = defaultdict(list)
    for case in cases():
        families[case.name.partition("/")[0]].append(case)
    random = Random(SEED)
    return [
        (arch, case)
        for arch, share in SHARES.items()
        for family in families.values()
        for case in (family if FULL else random.sample(family, -(-len(family) // share)))
    ]


@pytest.mark.parametrize(("arch", "case"), chosen(), ids=lambda x: getattr(x, "name", x))
def test_case(arch: str, case: Any) -> None:
    device = PtxDevice(arch, SEED)
    if reason := device.unsupported(case):
        pytest.skip(reason)
    try:
        check(case, device, SEED)
    except Exception as error:
        if not (case.optional and is_refusal(error)) and not is_too_long(error):
            raise
        pytest.skip(f"refused: {error}"[:200])


RANDOM = random_names(int(os.environ.get("TRITONX_RANDOM_KERNELS", "2")), SEED)


@pytest.mark.parametrize("number", range(len(RANDOM)))
@pytest.mark.parametrize("arch", SHARES)
def test_random_kernel(arch: str, number: int) -> None:
    """Others on each capability."""
    case = random_case(f"{RANDOM[number]}.{arch}")
    try:
        check(case, PtxDevice(arch, SEED), SEED)
    except Exception as error:
        raise AssertionError(f"{case.name}: {error}\n{getattr(case.kernel, 'src', '')}") from error


def executed(one: Any, kernel: Any = product, **constants: Any) -> tuple[Any, str]:
    """The result of a product by a warp group, and the PTX."""
    out = np.full(one.expected.shape, 77, one.expected.dtype)
    device = PtxDevice("90", SEED)
    options = {"num_warps": one.num_warps, "warp_group_dots": True}
    given = (one.a, one.b, out, *one.scalars)
    text = device.launch(kernel, given, {**one.constants, **constants}, one.grid, options)
    assert "wgmma.mma_async" in text
    return out, text


DRAWS = range(400 if FULL else 12)


@pytest.mark.parametrize("draw", range(40 if FULL else 3))
@pytest.mark.parametrize("name", ["product", "chain", "two chains", "gathered", "weights", "scaled", "turned"])
def test_copies_arrive_when_they_are_waited_for(name: str, draw: int) -> None:
    """Pipelined loops: what `cp.async` copies is in shared memory behind the wait for its group, and not before.
    Of kernels that load through pointers, and whose sums are exact."""
    random = Random(f"{SEED} {name} {draw}")
    stages = random.choice(STAGES)
    made = PIPELINED[name](random, stages)
    expected, _ = Program(made.kernel, made.args, made.constants, "cuda:80", made.num_warps).run()
    arch = random.choice(("80", "90"))
    device = PtxDevice(arch, SEED)
    options = {"num_warps": made.num_warps, "num_stages": stages, "describe_loads": False, "enable_fp_fusion": False}
    text = device.launch(made.kernel, made.args, made.constants, 1, options)
    if (
        name == "product"
        and 2 * made.constants["M"] * made.constants["K"] * (stages - 1) > SMALL_BYTES * made.num_warps * 32
    ):
        assert "cp.async.wait_group" in text  # of A a thread has more than may wait in its registers
    for array, right in zip((a for a in made.args if isinstance(a, np.ndarray)), expected, strict=True):
        np.testing.assert_array_equal(array, right, err_msg=f"seed {SEED}: {arch}, {stages} stages, {made.constants}")


@pytest.mark.parametrize("draw", DRAWS)
def test_products_of_warp_groups(draw: int) -> None:
    one = drawn(SEED + draw, most=64 * 64)
    np.testing.assert_array_equal(executed(one)[0], one.expected, err_msg=one.what)


@pytest.mark.parametrize("draw", DRAWS)
def test_operands_in_every_form_of_memory(draw: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows swizzled over fewer bytes than they have, either dim contiguous, and rows of 16 bytes as they are."""
    few = draw % 4 == 0  # eight columns, of 16 bytes each
    every = (drawn(SEED + draw + 1000 * n, most=64 * 64) for n in range(1000))
    one = next(o for o in every if not few or (o.a.dtype.itemsize == 2 and o.constants["N"] == 8))
    random, forms = Random(SEED + draw), dict[int, NvmmaSharedEncoding]()

    def in_memory(product: Product, order: Any, k: int) -> NvmmaSharedEncoding:
        extents = {k: product.k, 1 - k: product.columns if k == 0 else product.rows}
        inner = k if product.bits != 16 else 1 if few else random.choice([0, 1])
        nbytes = extents[inner] * product.bits // 8
        width = random.choice([w for w in (32, 64, 128) if w <= nbytes] or [0])
        return forms.setdefault(k, NvmmaSharedEncoding(width, inner == 0, product.bits))

    monkeypatch.setattr(matrix_units, "_in_memory", in_memory)
    np.testing.assert_array_equal(executed(one)[0], one.expected, err_msg=f"{one.what}, {forms}")


@tritonx.jit
def added(
    a_ptr, b_ptr, out_ptr, inner, a_row, a_k, b_k, b_column, columns,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, SUMS: tl.constexpr, FIRST: tl.constexpr, AT_ONCE: tl.constexpr,
):  # fmt: skip
    """A product that begins with numbers, in f16 or with at most ``AT_ONCE`` terms of a sum in the matrix unit."""
    m, n = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * N + tl.arange(0, N)
    k = tl.arange(0, K)
    total = tl.full((M, N), FIRST, dtype=SUMS) + (n % N).to(SUMS)[None, :] * FIRST
    for start in range(0, inner, K):
        a = tl.load(a_ptr + m[:, None] * a_row + (start + k)[None, :] * a_k)
        b = tl.load(b_ptr + (start + k)[:, None] * b_k + n[None, :] * b_column)
        total = tl.dot(a, b, total, out_dtype=SUMS, max_num_imprecise_acc=AT_ONCE)
    tl.store(out_ptr + m[:, None] * columns + n[None, :], total.to(tl.float32))


@pytest.mark.parametrize("first", [0, 3])
@pytest.mark.parametrize(("dtype", "parts"), [("fp16", 0), ("fp8e5", 1), ("fp8e4nv", 2)])
def test_accumulators(dtype: str, parts: int, first: int) -> None:
    """f16 ones, and of 8-bit numbers sums of a part of K, which the threads add up: as many commits as parts, and
    one for the whole."""
    every = (drawn(SEED + draw, most=64 * 64) for draw in range(1000))
    one = next(o for o in every if o.a.dtype == DTYPES[dtype] and o.constants["K"] >= 32 * max(parts, 1))
    k = one.constants["K"]
    sums = tl.float16 if parts == 0 else tl.float32
    at_once = None if parts == 0 else k // parts
    got, text = executed(one, added, SUMS=sums, FIRST=first, AT_ONCE=at_once)
    columns = np.arange(one.expected.shape[1]) % one.constants["N"]
    np.testing.assert_array_equal(got, one.expected + first * (1 + columns), err_msg=one.what)
    if parts:
        assert (text.count("wgmma.commit_group") - 1) % parts == 0, one.what
