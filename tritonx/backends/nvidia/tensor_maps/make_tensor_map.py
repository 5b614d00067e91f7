"""A descriptor that a kernel makes becomes a tensor map, written to global memory of its own.

A block copy takes a descriptor as 128 bytes in memory. Those of a kernel's arguments the launch encodes; for one that
the kernel makes itself, a warp writes them and acquires them for all its threads, and every copy behind is given their
address.

That takes long, mostly of waiting: for each field, which is changed in shared memory, and for global memory. So
descriptors that are made one behind the other are written by a warp each, and acquired when all are under way."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, SSAValue

from tritonx.backends.nvidia.tensor_maps.tensor_map import DATA_TYPES_IN_KERNELS, NBYTES, recipe
from tritonx.dialects import arith, tile
from tritonx.dialects.control_flow import loop_around
from tritonx.dialects.effects import effects_of
from tritonx.dialects.gpu_layout import GlobalScratchAllocOp, LocalBarrierOp
from tritonx.dialects.nvidia import ReinterpretTensorDescOp, TensormapCreateOp, TensormapFenceproxyAcquireOp
from tritonx.dialects.tile import TensorDescType
from tritonx.dialects.tile.enums import PaddingOption
from tritonx.ir.builder import Builder
from tritonx.ir.declaration import SEGMENTS, sizes_of_segments
from tritonx.ir.edit import replace
from tritonx.ir.failure import PassError
from tritonx.ir.types import i8, i32, i64, pointer, type_as, type_of

ADDRESS_MULTIPLE = 128
"""Of a map in memory, as Triton places it; 64 would do (PTX ISA 9.0, tensormap)."""


def make_tensor_maps(ops: Sequence[tile.MakeTensorDescOp]) -> None:
    """Replaces the ops, of which the blocks have an encoding, by a `ttng.tensormap_create` in global scratch memory
    each, and acquires those there. In a loop they are written again when all threads have waited for the copies of the
    iteration before, each where it issued them: no such loop is pipelined."""
    for together in runs(ops):
        if loop_around(together[0]) is not None:
            Builder.before(together[0]).create(LocalBarrierOp, (), ())
        memories = [_make_tensor_map(op, _by(warp)) for warp, op in enumerate(together)]
        builder = Builder.before(together[-1])
        for warp, memory in enumerate(memories):
            builder.create(TensormapFenceproxyAcquireOp, (memory,), (), _by(warp))
        for op, memory in zip(together, memories, strict=True):
            replace(op, (Builder.before(op).emit(ReinterpretTensorDescOp, (memory,), (type_of(op.result),)),))


def runs(ops: Sequence[tile.MakeTensorDescOp]) -> list[list[tile.MakeTensorDescOp]]:
    """The ops of each block that have only such between them as do nothing but compute a value."""
    found: list[list[tile.MakeTensorDescOp]] = []
    wanted = set(ops)
    for block in dict.fromkeys(op.parent for op in ops if op.parent is not None):
        together: list[tile.MakeTensorDescOp] = []
        for op in block.ops:
            if isinstance(op, tile.MakeTensorDescOp) and op in wanted:
                together.append(op)
            elif effects_of(op) != ():
                found.append(together)
                together = []
        found.append(together)
    return [together for together in found if together]


def _by(warp: int) -> dict[str, Attribute]:
    """The properties of an op that a warp does: the first is meant where none is named."""
    return {"warp": IntegerAttr(warp, i32)} if warp else {}


def _make_tensor_map(op: tile.MakeTensorDescOp, by: dict[str, Attribute]) -> SSAValue:
    """Writes the map in front of the op; where it lies."""
    type_, builder = type_as(op.result, TensorDescType), Builder.before(op)
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
    given: dict[str, Attribute] = {**by, **{name: IntegerAttr(number, i32) for name, number in numbers.items()}}
    given[SEGMENTS] = sizes_of_segments((1, 1, rank, rank, rank - 1, rank))
    builder.create(TensormapCreateOp, (memory, op.base, *box, *reversed(op.shape), *strides, *ones), (), given)
    return memory
