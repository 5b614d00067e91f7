"""Accesses through tensor descriptors become copies between global and shared memory by the copy engine."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import BoolAttr, IntegerAttr, ModuleOp
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass

from tritonx.analysis.buffers import copied_bytes, copied_encoding
from tritonx.backends.nvidia.passes.store_waits import wait_for_reads
from tritonx.backends.nvidia.tensor_maps.make_tensor_map import make_tensor_maps
from tritonx.dialects import tile
from tritonx.dialects.gpu_layout import LocalAllocOp, LocalLoadOp, MemDescType, attribute_of, memdesc
from tritonx.dialects.nvidia import (
    AsyncTMACopyGlobalToLocalOp,
    AsyncTMACopyLocalToGlobalOp,
    AsyncTMAReduceOp,
    BarrierExpectOp,
    FenceAsyncSharedOp,
    InitBarrierOp,
    InvalBarrierOp,
    TMAStoreWaitOp,
    WaitBarrierOp,
)
from tritonx.dialects.tile import TensorDescType
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.declaration import SEGMENTS, sizes_of_segments
from tritonx.ir.edit import erase, replace, set_type
from tritonx.ir.types import element_type, encoding_of, i1, i32, i64, shape_of, type_as, type_of
from tritonx.ir.walk import ops_in
from tritonx.layouts.encodings import SwizzledSharedEncoding

BARRIER = memdesc((1,), i64, attribute_of(SwizzledSharedEncoding(1, 1, 1, (0,))), mutable=True)


@dataclass(frozen=True)
class CopyBlocks(ModulePass):
    """Has the copy engine move the blocks of descriptors.

    Replaces `tt.descriptor_load`, `_store` and `_reduce` of descriptors whose blocks have an encoding: a load by a
    copy to a buffer and a wait for it, a store by a buffer, a fence, a copy and a wait: until the buffer is free, and
    until the block is in global memory where the kernel may read it there afterwards or tell others of it.

    A load whose tile goes to a buffer of the descriptor's own encoding is that buffer. The descriptors that the kernel
    makes itself become tensor maps in memory (`make_tensor_map`), where `map-at-launch` has not taken them."""

    name = "copy-blocks"
    contract = Contract(
        ("ttg",),
        on=("tt.descriptor_load", "tt.descriptor_store", "tt.descriptor_reduce", "tt.make_tensor_descriptor"),
        creates=(
            "arith",
            "scf",
            "ttg.global_scratch_alloc",
            "ttg.local_alloc",
            "ttg.local_barrier",
            "ttg.local_load",
            "ttg.local_store",
            "ttng",
        ),
        needs=("encode-descriptors",),
        after=("buffer-values", "map-at-launch"),
        written=True,
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        inside = ops_in(op)
        make_tensor_maps(
            [each for each in inside if isinstance(each, tile.MakeTensorDescOp) and _is_copied(each.result)]
        )
        waits: list[TMAStoreWaitOp] = []
        for inner in inside:
            match inner:
                case tile.DescriptorLoadOp() if _is_copied(inner.desc):
                    _load(inner)
                case tile.DescriptorStoreOp() | tile.DescriptorReduceOp() if _is_copied(inner.desc):
                    waits.append(_store(inner))
                case _:
                    pass
        for function in op.ops if waits else ():
            if isinstance(function, tile.FuncOp) and function.is_kernel:
                wait_for_reads(function, [wait for wait in waits if function.is_ancestor(wait)])


def _is_copied(descriptor: SSAValue) -> bool:
    return encoding_of(type_as(descriptor, TensorDescType).block_type) is not None


def buffer_type(descriptor: SSAValue, element: Attribute) -> MemDescType:
    """The memory of one block. `element`: memory has integers without a sign."""
    block = type_as(descriptor, TensorDescType).block_type
    encoding = encoding_of(block)
    assert encoding is not None
    return memdesc(shape_of(block), element, encoding)


def _load(op: tile.DescriptorLoadOp) -> None:
    builder = Builder.before(op)
    result = type_of(op.result)
    encoding = copied_encoding(op)
    assert encoding is not None
    wanted = memdesc(shape_of(result), element_type(result), encoding, mutable=True)
    true = builder.constant(1, i1)
    buffer = builder.create(LocalAllocOp, (), (wanted,), {}).results[0]
    barrier = builder.create(LocalAllocOp, (), (BARRIER,), {}).results[0]
    builder.create(InitBarrierOp, (barrier,), (), {"count": IntegerAttr(1, i32)})
    builder.create(BarrierExpectOp, (barrier, true), (), {"size": IntegerAttr(copied_bytes(wanted), i32)})
    copy_properties = {name: op.properties[name] for name in ("cache", "evict") if name in op.properties}
    builder.create(AsyncTMACopyGlobalToLocalOp, (op.desc, *op.indices, barrier, buffer, true), (), copy_properties)
    segments = sizes_of_segments((1, 1, 0, 0))
    builder.create(WaitBarrierOp, (barrier, builder.constant(0, i32)), (), {SEGMENTS: segments})
    builder.create(InvalBarrierOp, (barrier,), (), {})
    for use in list(op.result.uses):
        reader = use.operation
        if isinstance(reader, LocalAllocOp) and type_as(reader.result, MemDescType).encoding == wanted.encoding:
            _make_mutable(reader.result)
            replace(reader, (buffer,))
    if op.result.first_use is None:
        erase(op)
    else:
        replace(op, (builder.create(LocalLoadOp, (buffer,), (result,), {}).results[0],))


def _make_mutable(value: SSAValue) -> None:
    """Views of memory that copies write say so, like the memory."""
    given = type_as(value, MemDescType)
    if not given.mutable:
        set_type(
            value, memdesc(given.shape, given.element_type, given.encoding, mutable=True, alloc_shape=given.alloc_shape)
        )
        for use in value.uses:
            for result in use.operation.results:
                if isinstance(type_of(result), MemDescType):
                    _make_mutable(result)


def _store(op: tile.DescriptorStoreOp | tile.DescriptorReduceOp) -> TMAStoreWaitOp:
    builder = Builder.before(op)
    described = buffer_type(op.desc, element_type(type_of(op.src)))
    buffer = builder.create(LocalAllocOp, (op.src,), (described,), {}).results[0]
    builder.create(FenceAsyncSharedOp, (), (), {"bCluster": BoolAttr.from_bool(False)})
    operands = (op.desc, *op.indices, buffer)
    if isinstance(op, tile.DescriptorReduceOp):
        builder.create(AsyncTMAReduceOp, operands, (), {"kind": op.kind})
    else:
        builder.create(AsyncTMACopyLocalToGlobalOp, operands, (), {})
    wait = builder.create(TMAStoreWaitOp, (), (), {"pendings": IntegerAttr(0, i32)})
    erase(op)
    return wait
