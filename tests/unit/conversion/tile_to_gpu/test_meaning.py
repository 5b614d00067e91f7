"""Assigning layouts changes nothing that can be seen: random kernels, laid out and with the layouts taken off again,
give what they gave before. `TRITONX_RANDOM_KERNELS=500` runs more of them."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import pytest
from xdsl.dialects.builtin import FunctionType

from tritonx.backends.amd.matrix_units import WaveMatrixCore, WaveMatrixMultiply
from tritonx.backends.nvidia.matrix_units import WarpMatrixUnit
from tritonx.conversion.tile_to_gpu.pipeline import layout_pipeline, memory_pipeline
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.dialects import arith, gpu, gpu_layout, tile
from tritonx.interpreter.launch import launch
from tritonx.ir.edit import erase, replace, set_type
from tritonx.ir.pipeline import pass_context
from tritonx.ir.splat import SplatAttr
from tritonx.ir.types import encoding_of, is_tensor, type_of, with_encoding
from tritonx.ir.verify import verify
from tritonx.testing.generate import random_kernel
from tritonx.transforms.tile.pipeline import TILE_PIPELINE

KERNELS = int(os.environ.get("TRITONX_RANDOM_KERNELS", "30"))
TARGETS = [
    GpuTarget("plain", 32, 4),
    GpuTarget("mma", 32, 2, units=(WarpMatrixUnit(80),)),
    GpuTarget("mfma", 64, 4, units=(WaveMatrixCore(3),)),
    GpuTarget("wmma", 32, 8, units=(WaveMatrixMultiply(2),)),
]


def take_layouts_off(module: Any) -> None:
    """The tiles of a laid-out module without their encodings; conversions and staging through memory become
    nothing.
    """
    for op in list(module.walk()):
        match op:
            case gpu_layout.ConvertLayoutOp():
                replace(op, (op.src,))
            case gpu_layout.LocalLoadOp():
                replace(op, (op.src.owner.src,))
            case _:
                pass
    for op in list(module.walk()):
        if isinstance(op, gpu_layout.LocalAllocOp | gpu_layout.LocalBarrierOp | gpu.BarrierOp):
            erase(op)
            continue
        arguments = [a for region in op.regions for block in region.blocks for a in block.args]
        for value in (*op.results, *arguments):
            if is_tensor(type_of(value)) and encoding_of(type_of(value)) is not None:
                set_type(value, with_encoding(type_of(value), None))
        if isinstance(op, arith.ConstantOp) and isinstance(op.value, SplatAttr):
            op.properties["value"] = SplatAttr(op.value.element, type_of(op.results[0]))
        if isinstance(op, tile.FuncOp):
            types = op.function_type
            plain = [
                [with_encoding(t, None) if is_tensor(t) else t for t in part.data]
                for part in (types.inputs, types.outputs)
            ]
            op.properties["function_type"] = FunctionType.from_lists(*plain)


def laid_out(module: Any, target: GpuTarget) -> None:
    context = pass_context()
    for one in (*TILE_PIPELINE, *layout_pipeline(target), *memory_pipeline(target)):
        one.apply(context, module)
    verify(module)


@pytest.mark.parametrize("seed", range(KERNELS))
def test_layouts_change_nothing(seed: int) -> None:
    kernel = random_kernel(Random(seed))
    target = TARGETS[seed % len(TARGETS)]
    expected, got = kernel.arrays(seed), kernel.arrays(seed)
    launch(kernel.function(), kernel.grid, *expected, *kernel.scalars)

    def through(module: Any) -> None:
        laid_out(module, target)
        take_layouts_off(module)
        verify(module)

    launch(kernel.function(), kernel.grid, *got, *kernel.scalars, transform=through)
    difference = kernel.difference(expected, got)
    assert difference is None, f"{difference}\n{kernel.source}"
