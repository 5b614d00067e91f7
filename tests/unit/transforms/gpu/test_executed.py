"""Every pass on the way to a `ttg` that can be emitted keeps what a kernel does: executed before it and after it.

Programs are executed by the machine of `interpreter/asynchronous`: tiles in shared memory where the types and offsets
say, and from the placing of barriers on every warp by itself, so that a barrier too few, or a buffer in another one's
place, is reported whatever the values are. `TRITONX_RANDOM_KERNELS=500` runs more of them.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tests.unit.transforms.gpu.kernels import ACTS_ON
from tritonx.backends.amd import passes as amd_passes
from tritonx.backends.api import PassStage
from tritonx.backends.nvidia import passes as nvidia_passes
from tritonx.backends.registry import get_backend
from tritonx.dialects.tile import FuncOp, TensorDescType
from tritonx.interpreter.asynchronous import Report, Setting, Warps, execute
from tritonx.interpreter.asynchronous.reports import Kind
from tritonx.interpreter.ir_launch import Bound, bind
from tritonx.interpreter.values import Descriptor
from tritonx.ir.pipeline import pass_context
from tritonx.ir.verify import verify
from tritonx.tools.tensor_descriptor import TensorDescriptor
from tritonx.transforms import gpu as passes_of_the_level
from tritonx.transforms import pipelining
from tritonx.transforms.gpu.make_room import MakeRoom
from tritonx.transforms.gpu.remade_offsets import remake_offsets
from tritonx.transforms.gpu.remade_sums import remake_sums
from tritonx.transforms.gpu.remade_tiles import remake_tiles
from tritonx.transforms.gpu.rematerialise import Rematerialise
from tritonx.transforms.gpu.split_dots import SplitDots
from tritonx_testing.generate import random_kernel

SEED = int(os.environ["TRITONX_SEED"])
KERNELS = int(os.environ.get("TRITONX_RANDOM_KERNELS", "10"))
DRAWS = max(1, KERNELS // 10)
FROM_FILES = {
    "allocate-warp-groups",
    "allocate-global-scratch",
    "allocate-tensor-memory",
    "insert-fences",
    "schedule-loops",
}
"""Passes for what no kernel of the language has, but files have: FileCheck tests hold them."""

DESCRIBED = {"view-transposed", "map-at-launch"}
"""Passes for products of warp groups and descriptors: `test_block_copies.py` and `test_launch_maps.py` of
`tests/unit/backends/nvidia`."""

PIPELINES = {
    "buffer-values", "expand-pipeline", "late-store-waits", "order-copies", "share-counters", "start-products",
    "wait-for-products",
}  # fmt: skip
"""Passes for loops with a schedule: `test_pipelines` and `test_expand_pipeline`."""

HELD_BY_BACKENDS = {
    "copy-blocks", "describe-loads", "encode-descriptors", "fence-stores", "hoist-descriptors", "transpose-dots",
    "block-pingpong", "carry-scalar-pointers", "copy-first-again", "hoist-strides", "narrow-range-checks",
    "pointers-for-buffer-atomics", "remake-loop-offsets", "use-buffer-accesses",
}  # fmt: skip
"""Passes for one vendor's instructions: tests of `tests/unit/backends`."""

TRANSPOSED = {"multiply-in-parts"}
"""Passes for products that are computed transposed: `tests/unit/backends/nvidia/passes/test_transpose_dots.py`."""

WITH_PIPELINES = ("carry-scalars",)
"""Passes of kernels that are there where loops are pipelined; of the others, some leave what is copied ahead alone."""

TARGETS = ("cuda:75", "cuda:80", "cuda:90", "hip:gfx942", "hip:gfx1100")


def snapshot(module: ModuleOp) -> list[Any]:
    """Equal for equal modules: a pass that changed something left another one."""
    return [
        (id(op), [*map(id, op.operands)], {**op.attributes}, [result.type for result in op.results])
        for op in module.walk()
    ]


def with_parts(bound: Bound) -> Bound:
    """Descriptors among the arguments as their parts, where the module has these (`rewrite-descriptors`)."""
    (kernel,) = (op for op in bound.module.ops if isinstance(op, FuncOp) and str(op.sym_visibility) == '"public"')
    types = kernel.function_type.inputs.data
    arguments: list[object] = []
    names: list[str] = []
    for argument, name in zip(bound.arguments, bound.names, strict=True):
        parts = [argument]
        if isinstance(argument, Descriptor) and not isinstance(types[len(arguments)], TensorDescType):
            parts = [argument.base, *argument.shape, *argument.strides, int(argument.pad_with_nan)]
        arguments += parts
        names += [name] * len(parts)
    return replace(bound, arguments=arguments, names=names)


class Program:
    """A kernel on its way through the passes of a target, executed on the same arguments again and again."""

    def __init__(
        self,
        kernel: Any,
        args: Sequence[Any],
        constants: dict[str, Any],
        target: str,
        warps: int,
        grid: Any = 1,
        options: dict[str, Any] | None = None,
    ) -> None:
        name, _, arch = target.partition(":")
        backend = get_backend(name)
        chip = backend.parse_target(arch)
        parsed = backend.parse_options(chip, {"num_warps": warps, "enable_fp_fusion": False, **(options or {})})
        bases = [a.base if isinstance(a, TensorDescriptor) else a for a in args]
        self.arrays = [a for a in bases if isinstance(a, np.ndarray)]
        self.fresh = [a.copy() for a in self.arrays]
        self.bound: Bound = bind(kernel, args, constants, parsed, chip)
        stages = [stage for stage in backend.stages(chip, parsed) if isinstance(stage, PassStage)]
        for one in stages[0].passes:  # the tile passes have tests of their own
            one.apply(pass_context(), self.bound.module)
        self.bound = with_parts(self.bound)
        self.passes: list[ModulePass] = [one for stage in stages[1:] for one in stage.passes]
        self.grid = grid
        self.warps = Warps.TOGETHER

    def apply(self, one: ModulePass) -> bool:
        """Apply a pass; whether it changed anything."""
        module = self.bound.module
        before = snapshot(module)
        one.apply(pass_context(), module)
        if one.name == "insert-barriers":
            self.warps = Warps.APART
        return snapshot(module) != before

    def run(self) -> tuple[list[Any], tuple[Report, ...]]:
        """What is in the arrays after an execution of the module as it is now, and what was reported."""
        for array, fresh in zip(self.arrays, self.fresh, strict=True):
            array[...] = fresh
        bound, setting = self.bound, Setting(warps=self.warps, poison=False)
        found = execute(
            bound.module, self.grid, bound.arguments, setting, memory=bound.host.memory, arg_names=bound.names
        )
        bound.host.write_back()
        return [array.copy() for array in self.arrays], found

    def through(self, last: str | None = None) -> Iterator[tuple[ModulePass, bool]]:
        """Apply the passes one by one, up to the one called `last`; each, and whether it changed anything."""
        for one in self.passes:
            yield one, self.apply(one)
            if one.name == last:
                return


@pytest.mark.parametrize("draw", range(KERNELS))
def test_random_kernels(draw: int) -> None:
    """Pass by pass to what is emitted, on a target of the draw's."""
    seed = SEED + draw
    kernel = random_kernel(Random(seed))
    args = (*kernel.arrays(seed), *kernel.scalars)
    warps = Random(seed).choice((1, 2, 4, 8))
    program = Program(kernel.function(), args, {}, TARGETS[draw % len(TARGETS)], warps, kernel.grid)
    expected, found = program.run()
    assert not found
    for one, changed in program.through():
        if changed:
            got, found = program.run()
            difference = kernel.difference(expected, got)
            where = f"{one.name}, seed {seed}, {program.passes}\n{kernel.source}"
            assert difference is None, f"{difference} after {where}"
            assert not found, "\n".join(map(str, (*found, f"after {where}")))
    verify(program.bound.module)


def acting(one: ModulePass, part: str) -> ModulePass:
    """The pass with limits at which it, or a part of it, acts on a small kernel."""
    match one.name:
        case "split-dots":
            return SplitDots(shared_memory=8 << 10)
        case "rematerialise":
            return Rematerialising(part=part)
        case "make-room":
            return MakeRoom(shared_memory=10 << 10)
        case _:
            return one


@dataclass(frozen=True)
class Rematerialising(Rematerialise):
    """The pass as if it did one of the three things alone, in a thread without registers."""

    part: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        match self.part:
            case "tiles":
                remake_tiles(op, least=16, room=0)
            case "sums":
                remake_sums(op, room=0)
            case _:
                remake_offsets(op, room=0)


@pytest.mark.parametrize("draw", range(DRAWS))
@pytest.mark.parametrize("what", ACTS_ON)
def test_each_pass(what: str, draw: int) -> None:
    """A kernel that the pass is for: it acts, and what the kernel does stays."""
    random = Random(f"{SEED} {what} {draw}")
    made = ACTS_ON[what](random)
    name, _, part = what.partition(" ")
    target = "cuda:90" if part == "tiles" else random.choice(("cuda:80", "cuda:90"))
    pipeline = {"pipeline": name in WITH_PIPELINES}
    program = Program(made.kernel, made.args, made.constants, target, made.num_warps, options=pipeline)
    program.passes = [acting(one, part) if one.name == name else one for one in program.passes]
    before, _ = program.run()
    acted = False
    for one, changed in program.through(name):
        if one.name == name:
            acted = changed
    after, found = program.run()
    if name in WITH_PIPELINES:
        found = tuple(each for each in found if each.kind is not Kind.UNFENCED)  # what fences is a later pass
    where = f"seed {SEED}, draw {draw}, {target}, {made.num_warps} warps, {made.constants}"
    assert acted, f"{name} did nothing: {where}"
    for a, b in zip(before, after, strict=True):
        np.testing.assert_array_equal(a, b, err_msg=where)
    assert not found, "\n".join(map(str, (*found, where)))


def test_every_pass_has_a_kernel() -> None:
    """Those that backends share, and those that only one has."""
    folders = (
        Path(package.__file__).parent for package in (passes_of_the_level, pipelining, amd_passes, nvidia_passes)
    )
    names = {
        value.value
        for folder in folders
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Assign) and [ast.unparse(t) for t in node.targets] == ["name"]
        for value in [node.value]
        if isinstance(value, ast.Constant)
    }
    acting_on = {what.partition(" ")[0] for what in ACTS_ON}
    assert names == acting_on | FROM_FILES | PIPELINES | DESCRIBED | TRANSPOSED | HELD_BY_BACKENDS
