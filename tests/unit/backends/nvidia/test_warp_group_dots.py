"""`tl.dot` by warp groups, executed as `ttg`: shared memory as its layouts say, warps apart, and the unit reading by
the asynchronous proxy, so that a wrong layout gives wrong numbers, and a fence or barrier too few a report.
Without pipelines (`tests/unit/transforms/pipelining/test_pipelines.py` has those).

`TRITONX_RANDOM_KERNELS=100` runs more of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.unit.backends.nvidia.products import Drawn, drawn, product
from tritonx.backends.api import PassStage
from tritonx.backends.registry import parse_target
from tritonx.dialects import gpu_layout
from tritonx.dialects.nvidia import FenceAsyncSharedOp, WarpGroupDotOp
from tritonx.interpreter.asynchronous import Report, Setting, Warps, execute
from tritonx.interpreter.ir_launch import bind
from tritonx.ir.edit import erase
from tritonx.ir.pipeline import pass_context
from tritonx.ir.verify import verify
from tritonx_testing.conformance.case import Output
from tritonx_testing.conformance.device import host_arguments
from tritonx_testing.conformance.suite import cases

SEED = int(os.environ["TRITONX_SEED"])
DRAWS = max(12, int(os.environ.get("TRITONX_RANDOM_KERNELS", "0")))


def executed(one: Drawn, change: Callable[[Any], None] = lambda module: None) -> tuple[Any, tuple[Report, ...]]:
    """The result, and what was reported, of the `ttg` that is emitted, after `change`."""
    out = np.full(one.expected.shape, 77, one.expected.dtype)
    found = run(product, (one.a, one.b, out, *one.scalars), one.constants, one.grid, one.num_warps, change)
    return out, found


def run(
    kernel: Any, args: tuple[Any, ...], constants: Any, grid: Any, warps: int, change: Callable[[Any], None]
) -> tuple[Report, ...]:
    """What is reported of the kernel's `ttg`, after `change`; arrays are written in place."""
    backend, target = parse_target("cuda:90")
    options = backend.parse_options(target, {"num_warps": warps, "warp_group_dots": True, "pipeline": False})
    bound = bind(kernel, args, constants, options, target)
    for stage in backend.stages(target, options):
        if isinstance(stage, PassStage):
            for each in stage.passes:
                each.apply(pass_context(), bound.module)
    verify(bound.module)
    assert any(isinstance(op, WarpGroupDotOp) for op in bound.module.walk())
    change(bound.module)
    setting = Setting(warps=Warps.APART)
    found = execute(bound.module, grid, bound.arguments, setting, memory=bound.host.memory, arg_names=bound.names)
    bound.host.write_back()
    return found


@pytest.mark.parametrize("draw", range(DRAWS))
def test_drawn_products_are_right_and_nothing_is_reported(draw: int) -> None:
    one = drawn(SEED + draw, most=64 * 64)
    got, found = executed(one)
    assert not found, "\n".join(map(str, (*found, one.what)))
    np.testing.assert_array_equal(got, one.expected, err_msg=one.what)


@pytest.mark.parametrize("name", ["dot/chain-64x32x16", "dot/chain-128x64x64"])
@pytest.mark.parametrize("warps", [4, 8])
def test_what_one_product_made_is_an_operand_of_the_next(name: str, warps: int) -> None:
    (case,) = [case for case in cases() if case.name.startswith(name)]
    trial = case.trial(SEED)
    args = host_arguments(trial)
    found = run(case.kernel, tuple(args), dict(trial.constants), trial.grid, warps, lambda module: None)
    assert not found, "\n".join(map(str, found))
    for given, array in zip(trial.args, args, strict=True):
        if isinstance(given, Output):
            given.check(array)


def without(kind: type[Any]) -> Callable[[Any], None]:
    def change(module: Any) -> None:
        for op in list(module.walk()):
            if isinstance(op, kind):
                erase(op)

    return change


@pytest.mark.parametrize("kind", [FenceAsyncSharedOp, gpu_layout.LocalBarrierOp])
def test_one_fence_or_barrier_too_few_is_reported(kind: type[Any]) -> None:
    one = drawn(SEED, most=64 * 64)
    _, found = executed(one, without(kind))
    assert found, one.what
