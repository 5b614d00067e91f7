"""The layouts that kernels of the conformance suite get, and what is converted, as a table.

A worse choice moves more, or holds more registers, and gives the same numbers, so that only a table notices it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from importlib import import_module

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tritonx.backends.gpu_passes import gpu_passes
from tritonx.backends.registry import parse_target
from tritonx.dialects.gpu_layout import MemDescType
from tritonx.interpreter.ir_launch import bind
from tritonx.ir.pipeline import pass_context
from tritonx.ir.types import encoding_of, type_of
from tritonx.transforms.tile.pipeline import TILE_PIPELINE
from tritonx_testing.conformance import Case, cases
from tritonx_testing.conformance.device import host_arguments, options_for

TARGETS = ("cuda:90", "hip:gfx942", "cuda:90 by warp groups")
OF_INDICES = ("tt.make_range", "tt.expand_dims", "tt.broadcast", "tt.splat", "tt.addptr")
CASES = (
    "shape/trans-fp32-32x32-w4", "shape/broadcast-fp16-128x4-w8", "shape/reshape-int64-2x64-w2",
    "shape/permute-int32-4x8x16-012-w4", "shape/ranges-1x16x16-w8", "shape/join-int8-4x64-w8",
    "shape/flip-fp32-8x32-w4",
    "reduce/2d-int16-4x64-axis0-w1", "reduce/2d-int64-16x128-axis1-w2", "reduce/3d-int32-2x16x32-axis1-w2",
    "reduce/chain-int32-32x32-w4", "reduce/custom-fp32-2x512-w8", "scan/sum-int64-1x512-axis0-reverse-w2",
    "scan/affine-int32-16x16-axis0-reverse-w2", "dot/fp16-ieee-fp32-16x16x16-NN-w4",
    "dot/bf16-ieee-fp32-32x32x32-TN-w1",
    "dot/fp32-ieee-fp32-64x64x64-NT-w8", "dot/int8-ieee-int32-16x128x64-NN-w4", "dot/fp64-ieee-fp64-16x16x16-NT-w1",
    "dot/fp16-ieee-fp16-64x16x128-NN-w8", "dot/fp16-ieee-fp32-64x64x64-TN-w4", "dot/bf16-ieee-fp32-128x64x32-NT-w8",
    "dot/fp8e5-fp32-32x64x64-w4", "dot/matmul-fp16-256x128x96-w8",
    "dot/batched-fp16-4x16x32x16-w4", "dot/chain-64x32x16-w4", "dot/chain-16x64x32-w1", "dot/scaled-e5m2-bf16-32x32x64",
    "control/transposing-5-16-w4", "control/branches-128-w2", "control/for-7-256-w4", "memory/copy-fp32-1000-256+0-w1",
    "memory/copy-int64-777-128+1-w8", "atomic/add-fp16-relaxed-gpu-128-on-16-w1", "sorting/sort-int8-4x64-w8",
    "sorting/gather-fp16-64x4-to-128x4-axis0-w8", "sorting/histogram-int32-1024-16-w4", "rows/pairs-sum-fp32-16x64-w8",
    "rows/substitution-gather-16-w4", "blocks/descriptor-fp16-50x72-by-16x64", "blocks/pointer-fp32-64x64-by-32x32-w4",
)  # fmt: skip


def table() -> str:
    known = {case.name: case for case in cases()}
    return "".join(
        f"==== {name} {target}\n{told(assigned(known[name], *target.split(maxsplit=1)))}"
        for name in CASES
        for target in TARGETS[: 3 if name.startswith("dot/") else 2]
    )


def assigned(case: Case, target_name: str, more: str = "") -> ModuleOp:
    """The case's kernel with layouts, as the backend's own lists of passes make it."""
    backend, target = parse_target(target_name)
    options = options_for(case, backend, target)
    if more:
        options = replace(options, warp_group_dots=True)  # type: ignore[call-arg]  (an option of this backend)
    trial = case.make(np.random.default_rng(1))
    module = bind(case.kernel, host_arguments(trial), dict(trial.constants), options, target).module
    own = import_module(f"{type(backend).__module__}.inserts").on_layouts(target, options)
    gpu = backend.gpu_target(target, options)
    assert gpu is not None
    _, layouts, _ = gpu_passes(gpu, on_layouts=tuple(own))
    for one in (*TILE_PIPELINE, *layouts):
        one.apply(pass_context(), module)
    return module


def told(module: ModuleOp) -> str:
    """How many ops there are of each kind between which layouts, and the layouts by number."""
    numbers: dict[str, int] = {}
    counts = Counter(_line(op, numbers) for op in module.walk() if _encodings(op))
    layouts = "".join(f"#{number} = {layout}\n" for layout, number in numbers.items())
    return layouts + "".join(f"{count} {line}\n" for line, count in sorted(counts.items()))


def _line(op: Operation, numbers: dict[str, int]) -> str:
    name = "indices or elements" if op.name.startswith(("arith.", "math.")) or op.name in OF_INDICES else op.name
    return " ".join([name, *(f"#{numbers.setdefault(layout, len(numbers))}" for layout in _encodings(op))])


def _encodings(op: Operation) -> list[str]:
    """Of the operands, then of the results, each once."""
    types = [type_of(value) for value in (*op.operands, *op.results)]
    found = [t.encoding if isinstance(t, MemDescType) else encoding_of(t) for t in types]
    return list(dict.fromkeys(str(encoding).replace("#ttg.", "") for encoding in found if encoding is not None))
