"""`describe_loads` on 9.0: regular loads for products become copies of the copy engine, executed by the machine pass
by pass, and nothing else copies them."""

from __future__ import annotations

import os
import re
from random import Random
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tests.unit.transforms.gpu.test_executed import Program
from tests.unit.transforms.tile.random_regular import RandomRegular, fresh, random_regular
from tests.unit.transforms.tile.regular_kernels import REGULAR, matmul, matmul_kernel
from tritonx.analysis.launch_bounds import questions_of
from tritonx.backends.compiler import GPUTarget
from tritonx.backends.nvidia.passes.describe_loads import DescribeLoads
from tritonx.compiler import ASTSource
from tritonx.dialects import tile
from tritonx.interpreter.ir_launch import bind, launch
from tritonx.ir.pipeline import pass_context
from tritonx.transforms.tile.pipeline import TILE_PIPELINE
from tritonx_testing.emulators.ptx.device import PtxDevice

SEED = int(os.environ["TRITONX_SEED"])
DRAWS = max(1, int(os.environ.get("TRITONX_RANDOM_KERNELS", "10")) // 10)


@pytest.mark.parametrize("draw", range(DRAWS))
@pytest.mark.parametrize("name", REGULAR)
def test_what_is_executed_is_the_same(name: str, draw: int) -> None:
    random = Random(f"described {SEED} {name} {draw}")
    one, warps = REGULAR[name](random), random.choice((1, 4, 8))
    at_launch = random.random() < 0.5
    options = {"launch_maps" if at_launch else "describe_loads": True, "num_stages": random.choice((1, 2, 3))}
    where = f"seed {SEED}, draw {draw}, {warps} warps, {options}, {one.constants}, {one.args}"
    program = Program(one.kernel, one.args, one.constants, "cuda:90", warps, one.grid, options)
    for _ in program.through():
        pass
    arrays, found = program.run()
    assert not found, "\n".join(map(str, (*found, where)))
    place = [n for n, each in enumerate(one.args) if isinstance(each, np.ndarray)].index(one.output)
    np.testing.assert_array_equal(arrays[place], one.expected.astype(arrays[place].dtype), err_msg=where)
    names = [op.name for op in program.bound.module.walk()]
    described = not at_launch or "ttng.tensormap_at_launch" in names
    assert ("ttng.async_tma_copy_global_to_local" in names) == described


@pytest.mark.parametrize("flatten", [False, True])
@pytest.mark.parametrize("draw", range(3 * DRAWS))
def test_random_kernels_are_executed(draw: int, flatten: bool) -> None:
    """Those of which the copy engine loads something; nests of loops, and flattened ones."""
    random = Random(f"random {SEED} {draw} {flatten}")
    at_launch = draw % 2 == 1
    drawn = (random_regular(random, flatten=flatten) for _ in range(100))
    one, warps = next(each for each in drawn if _is_described(each, at_launch)), random.choice((1, 4, 8))
    options = {"num_stages": random.choice((1, 2, 3, 4)), "pipeline": at_launch or random.random() < 0.9}
    options["launch_maps" if at_launch else "describe_loads"] = True
    where = f"seed {SEED}, draw {draw}, {warps} warps, {options}, {one.args[4:]}\n{one.source}"
    expected = fresh(one)
    launch(one.kernel, one.grid, *expected)
    program = Program(one.kernel, one.args, {}, "cuda:90", warps, one.grid, options)
    for _ in program.through():
        pass
    arrays, found = program.run()
    assert not found, "\n".join(map(str, (*found, where)))
    np.testing.assert_array_equal(arrays[2], expected[2], err_msg=where)


def _is_described(one: RandomRegular, at_launch: bool) -> bool:
    """In a launch of what was drawn."""
    bound = bind(one.kernel, one.args, {})
    for each in (*TILE_PIPELINE, DescribeLoads(at_launch=at_launch)):
        each.apply(pass_context(), bound.module)
    (function,) = bound.module.ops
    assert isinstance(function, tile.FuncOp)
    numbers = {n: value for n, value in enumerate(bound.arguments) if isinstance(value, int)}
    asked = all(each.holds(numbers, (*one.grid, 1, 1)) for each in questions_of(function))
    return asked and any(isinstance(op, tile.DescriptorLoadOp) for op in bound.module.walk())


def ptx(constants: dict[str, Any], **options: Any) -> str:
    """Of the product kernel, for extents and strides that are multiples of 16."""
    drawn = matmul(Random(0)).constants | {"M_BLOCK": 64, "N_BLOCK": 64, "K_BLOCK": 32} | constants
    given = dict.fromkeys(matmul_kernel.arg_names, "i32")
    given |= {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp32"}
    known = drawn | {"stride_ak": 1, "stride_bn": 1}
    given |= dict.fromkeys(known, "constexpr")
    aligned = ("a_ptr", "b_ptr", "c_ptr", "N", "K", "stride_am", "stride_bk", "stride_cm")
    places = matmul_kernel.arg_names
    attributes = {(places.index(name),): [["tt.divisibility", 16]] for name in aligned}
    constant = {(places.index(name),): value for name, value in known.items()}
    source = ASTSource(matmul_kernel, given, constexprs=constant, attrs=attributes)
    return tritonx.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 4, **options}).asm["ptx"]


@pytest.mark.parametrize("how", ["remainder", "mask"])
def test_the_code_has_copies_of_blocks_alone(how: str) -> None:
    """Where strides and extents are known to be positive; else there are both, and without the option pointers."""
    constants = {"HOW": how, "MOVING": True, "SPLIT": 1}
    blocks, pointers = "cp.async.bulk.tensor.2d.shared", r"cp\.async\.c[ag]"
    known = ptx({**constants, "ASSUMED": 2}, describe_loads=True)
    asked = ptx({**constants, "ASSUMED": 0}, describe_loads=True)
    without = ptx({**constants, "ASSUMED": 2})
    launched = ptx({**constants, "ASSUMED": 1}, launch_maps=True)
    found = [(blocks in text, re.search(pointers, text) is not None) for text in (known, asked, without, launched)]
    assert found == [(True, False), (True, True), (False, True), (True, False)]


@tritonx.jit
def strided_kernel(a_ptr, b_ptr, c_ptr, offset, stride, steps):
    rows, columns = tl.arange(0, 16)[:, None], tl.arange(0, 16)[None, :]
    a_ptrs, b_ptrs = a_ptr + offset + rows * stride + columns, b_ptr + rows * 16 + columns
    total = tl.zeros((16, 16), tl.float32)
    for _ in range(steps):
        total = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), total)
        a_ptrs += 16
        b_ptrs += 16 * 16
    tl.store(c_ptr + rows * 16 + columns, total)


@pytest.mark.parametrize(("first", "step"), [(0, 1), (3, 2), (20, 0), (20, -1)])
def test_a_launch_chooses_the_code(first: int, step: int) -> None:
    """By the stride that it is given: rows that go down, or do not move, are no tensor map's."""
    rng = np.random.default_rng(SEED)
    a, b = rng.integers(-3, 4, (40, 48)).astype(np.float16), rng.integers(-3, 4, (48, 16)).astype(np.float16)
    c = np.full((16, 16), np.nan, np.float32)
    text = PtxDevice("90", SEED).launch(strided_kernel, (a, b, c, first * 48, step * 48, 3), {}, 1, {})
    np.testing.assert_array_equal(c, a[first + step * np.arange(16)].astype(np.float32) @ b.astype(np.float32))
    assert ("cp.async.bulk.tensor" in text) == (step > 0) and ("cp.async.c" in text) == (step <= 0)
