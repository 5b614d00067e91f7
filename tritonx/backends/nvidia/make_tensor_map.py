"""A descriptor that a kernel makes becomes a tensor map, written to global memory of its own.

A block copy takes a descriptor as 128 bytes in memory. Those of a kernel's arguments the launch encodes; for one that
the kernel makes itself, its first warp writes them, all its threads acquire them, and every copy behind is given their
address."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, SSAValue

from tritonx.backends.nvidia.tensor_map import DATA_TYPES_IN_KERNELS, NBYTES, recipe
from tritonx.dialects import arith, tile
from tritonx.dialects.control_flow import loop_around
from tritonx.dialects.gpu_layout import GlobalScratchAllocOp, LocalBarrierOp
from tritonx.dialects.nvidia import ReinterpretTensorDescOp, TensormapCreateOp, TensormapFenceproxyAcquireOp
from tritonx.dialects.tile import TensorDescType
from tritonx.dialects.tile.enums import PaddingOption
from tritonx.ir.builder import Builder
from tritonx.ir.declaration import SEGMENTS, sizes_of_segments
from tritonx.ir.edit import replace
from tritonx.ir.failure import PassError
from tritonx.ir.types import i8, i32, i64, pointer, type_as

ADDRESS_MULTIPLE = 128
"""Of a map in memory, as Triton places it; 64 would do (PTX ISA 9.0, tensormap)."""


def make_tensor_map(op: tile.MakeTensorDescOp) -> None:
    """Replaces the op, of which the blocks have an encoding, by a `ttng.tensormap_create` in global scratch memory, and
    acquires that there. In a loop it is written again when all threads have waited for the copies of the round before,
    each where it issued them: no such loop is pipelined."""
    type_, builder = type_as(op.result, TensorDescType), Builder.before(op)
    if loop_around(op) is not None:
        builder.create(LocalBarrierOp, (), ())
    try:
        known, rank = recipe(type_, DATA_TYPES_IN_KERNELS), len(type_.shape)
    except ValueError as error:
        raise PassError(op, str(error)) from None
    properties: dict[str, Attribute] = {
        "nbytes": IntegerAttr(NBYTES, i32),
        "alignment": IntegerAttr(ADDRESS_MULTIPLE, i32),
    }
    memory = builder.emit(GlobalScratchAllocOp, (), (pointer(i8),), properties)
    size = builder.constant(known["elem_size"], i64)
    box = [builder.constant(extent, i32) for extent in reversed(known["block_size"])]
    strides = [builder.emit(arith.MuliOp, (stride, size), (i64,)) for stride in reversed(op.strides[:-1])]
    ones: list[SSAValue] = [builder.constant(1, i32)] * rank
    numbers = {
        "elem_type": known["elem_type"],
        "interleave_layout": 0,
        "swizzle_mode": known["swizzle"],
        "fill_mode": int(op.padding.value.data == PaddingOption.PAD_NAN),
    }
    given: dict[str, Attribute] = {name: IntegerAttr(number, i32) for name, number in numbers.items()}
    given[SEGMENTS] = sizes_of_segments((1, 1, rank, rank, rank - 1, rank))
    builder.create(TensormapCreateOp, (memory, op.base, *box, *reversed(op.shape), *strides, *ones), (), given)
    builder.create(TensormapFenceproxyAcquireOp, (memory,), ())
    replace(op, (builder.emit(ReinterpretTensorDescOp, (memory,), (type_,)),))
