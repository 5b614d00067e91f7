"""Descriptors that a kernel is given, on 9.0: what the copy engine moves, executed by the machine pass by pass."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

import os
from random import Random
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tests.unit.transforms.gpu.test_executed import Program
from tritonx.interpreter.asynchronous import Kind
from tritonx.tools.tensor_descriptor import TensorDescriptor

SEED = int(os.environ["TRITONX_SEED"])
OPTIONS: dict[str, Any] = {"warp_group_dots": True}


@tritonx.jit
def moved_block(source, target, KIND: tl.constexpr, RANK: tl.constexpr, BLOCK: tl.constexpr):
    at = [tl.program_id(0) * BLOCK] + [0] * (RANK - 1)
    block = source.load(at)
    if KIND == "store":
        target.store(at, block + block)
    elif KIND == "add":
        target.atomic_add(at, block)
    elif KIND == "max":
        target.atomic_max(at, block)
    else:
        target.atomic_xor(at, block)


@tritonx.jit
def product_of_blocks(a, b, o, steps, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TURNED: tl.constexpr):
    total = tl.zeros((M, N), tl.float32)
    for step in range(steps):
        x = a.load([0, step * K])
        if TURNED:
            y = b.load([0, step * K]).T
        else:
            y = b.load([step * K, 0])
        total = tl.dot(x, y, total)
    o.store([0, 0], total.to(tl.float16))


def run(program: Program, target: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> set[str]:
    """Executes before the passes and after each that changes something; the names of those."""
    acted: set[str] = set()
    fenced = False
    for one in [None, *program.passes]:
        fenced = fenced or (one is not None and one.name == "fence-stores")
        if one is not None and not program.apply(one):
            continue
        _, found = program.run()
        found = [each for each in found if fenced or each.kind is not Kind.UNFENCED]
        assert not found, "\n".join(map(str, found))
        np.testing.assert_array_equal(target, expected, err_msg=f"after {one and one.name}")
        if one is not None:
            acted.add(one.name)
    return acted


@pytest.mark.parametrize("draw", range(6))
def test_moved_blocks(draw: int) -> None:
    random, rng = Random(SEED + draw), np.random.default_rng(SEED + draw)
    rank = random.randint(1, 4)
    kind, dtype = random.choice(
        [("store", np.float16), ("store", ml_dtypes.bfloat16), ("store", np.float32), ("store", np.int8),
         ("add", np.float32), ("add", np.int32), ("max", np.int32), ("max", np.uint32), ("xor", np.int32)]
    )  # fmt: skip
    block = [random.choice((2, 4, 8)) for _ in range(rank - 1)] + [random.choice((16, 32, 64))]
    shape = [extent * (2 if d == 0 else 1) - random.choice((0, 1)) * (d < rank - 1) for d, extent in enumerate(block)]
    strides, step = [], 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= -(-extent // 16) * 16
    x, y = (rng.integers(-9, 9, step).astype(dtype) for _ in range(2))

    def whole(array: Any) -> Any:
        return np.lib.stride_tricks.as_strided(array, shape, [s * array.itemsize for s in strides])

    descriptors = [TensorDescriptor(array, shape, strides, block) for array in (x, y)]
    old, new = whole(y.copy()), whole(x)
    grid = -(-shape[0] // block[0])
    wanted = y.copy()
    match kind:
        case "store":
            whole(wanted)[...] = new + new
        case "add":
            whole(wanted)[...] = old + new
        case "max":
            whole(wanted)[...] = np.maximum(old, new)
        case _:
            whole(wanted)[...] = old ^ new
    constants = {"KIND": kind, "RANK": rank, "BLOCK": block[0]}
    program = Program(moved_block, descriptors, constants, "cuda:90", random.choice((1, 4)), grid, OPTIONS)
    assert "copy-blocks" in run(program, y, wanted)


@pytest.mark.parametrize("turned", [False, True])
def test_products(turned: bool) -> None:
    rng = np.random.default_rng(SEED)
    m, n, k, steps = 64, 32, 32, 3
    a = rng.integers(-3, 4, (m, k * steps)).astype(np.float16)
    b = rng.integers(-3, 4, (n, k * steps) if turned else (k * steps, n)).astype(np.float16)
    o = np.full((m, n), np.nan, np.float16)
    args = [
        TensorDescriptor.from_tensor(a, [m, k]), TensorDescriptor.from_tensor(b, [n, k] if turned else [k, n]),
        TensorDescriptor.from_tensor(o, [m, n]), steps,
    ]  # fmt: skip
    constants = {"M": m, "N": n, "K": k, "TURNED": turned}
    program = Program(product_of_blocks, args, constants, "cuda:90", 4, 1, OPTIONS)
    acted = run(program, o, (a.astype(np.float32) @ (b.T if turned else b).astype(np.float32)).astype(np.float16))
    assert {"copy-blocks"} | ({"view-transposed"} if turned else set()) <= acted
    ops = [op.name for op in program.bound.module.walk()]
    assert "ttg.local_load" not in ops and "ttg.convert_layout" not in ops, "blocks go through registers"
