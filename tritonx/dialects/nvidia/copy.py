"""Copies of blocks between global and shared memory by the tensor memory accelerator, and the descriptors they need."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar, cast

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, IntegerAttr, IntegerType, UnitAttr, i1, i32, i64
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.effects import (
    PURE,
    SCRATCH_EFFECTS,
    Completion,
    Effect,
    Effects,
    Kind,
    Proxy,
    Resource,
    arrives,
    asynchronous,
    effects,
    reads,
    reads_memory,
    waits,
    writes,
    writes_memory,
)
from tritonx.dialects.gpu_layout.rules import MEMDESC, check_mutable, mem_desc
from tritonx.dialects.interfaces import ScratchMemory
from tritonx.dialects.layout_constraints import ANY_LAYOUTS, NO_TENSORS, LayoutConstraint
from tritonx.dialects.nvidia.rules import check_barrier, check_within_block
from tritonx.dialects.tile.atomic import combines_signed_bits
from tritonx.dialects.tile.cache_policy import EVICTION, cached
from tritonx.dialects.tile.descriptor import check_reduction
from tritonx.dialects.tile.enums import CacheModifier, DescriptorReduceKind, EvictionPolicy
from tritonx.dialects.tile.memory import MODIFIERS
from tritonx.dialects.tile.rules import check_global
from tritonx.dialects.tile.types import PointerType, TensorDescType
from tritonx.ir.declaration import SEGMENTS, enum_prop, sizes_of_segments
from tritonx.ir.define import define
from tritonx.ir.spelling import Spellings, TextLevel, spellings
from tritonx.ir.types import bit_width, is_integer, is_tensor, shape_of

WRITTEN_PIECE = 16
"""Bytes of global memory of which the accelerator writes all or none. A row that ends within a piece is read to its
own end, but what is stored or combined there goes on to the piece's, for elements of any size (measured on 9.0). A
block that begins within a piece, to read or to write, is an illegal instruction."""


def _product(shape: tuple[int, ...]) -> int:
    product = 1
    for size in shape:
        product *= size
    return product


def check_block(descriptor: Attribute, memory: Attribute, indices: int | None = None) -> None:
    """Memory that holds one block of a descriptor."""
    assert isinstance(descriptor, TensorDescType)
    block = mem_desc(memory)
    # A descriptor may say whether its integers are signed; memory descriptors never do.
    if bit_width(block.element_type) != bit_width(descriptor.element_type):
        raise VerifyException(f"the element types of descriptor and memory differ: {descriptor} and {memory}")
    if _product(block.shape) != _product(descriptor.shape):
        raise VerifyException(f"descriptor and memory differ in size: {descriptor} and {memory}")
    if bit_width(block.element_type) not in (8, 16, 32, 64):
        raise VerifyException(f"blocks are copied of elements of 8 to 64 bits, got {descriptor}")
    if indices is not None and indices != len(descriptor.shape):
        raise VerifyException(f"{descriptor} needs {len(descriptor.shape)} coordinates, got {indices}")


def _check_rows(offsets: Attribute, memory: Attribute) -> None:
    shape = mem_desc(memory).shape
    if not is_tensor(offsets) or not is_integer(offsets) or len(shape_of(offsets)) != 1:
        raise VerifyException(f"'x_offsets' must be a one-dimensional tensor of integers, got {offsets}")
    if len(shape) != 2 or shape_of(offsets)[0] != shape[0]:
        raise VerifyException(f"'x_offsets' needs one entry for each row of {memory}, got {offsets}")


def _counted(effect: Effect) -> Effect:
    """Over when the barrier that is given has completed its phase."""
    return asynchronous(effect, Completion.MBARRIER, "barrier")


def _stored(effect: Effect) -> Effect:
    """Over when the group that the copy makes is waited for."""
    return asynchronous(effect, Completion.STORE_GROUP)


BLOCK_IN = effects(
    _counted(reads("desc")), _counted(writes_memory("result")), asynchronous(arrives("barrier"), Completion.AT_ONCE)
)
BLOCK_OUT = effects(
    _stored(reads_memory("src")), _stored(writes("desc")), Effect(Kind.COMMIT, completion=Completion.STORE_GROUP)
)


def _with_segments(example: str) -> Spellings:
    """A copy that caches. Since 3.8 its operands come in segments, of which one, `offsets`, is for im2col copies."""
    declared = cached(example)
    assert declared.read is not None and declared.write is not None
    read, write = declared.read, declared.write

    def without(op: AsyncTMACopyGlobalToLocalOp) -> Operation:
        segments = op.properties.pop(SEGMENTS, None)
        if segments is not None and cast("DenseArrayBase[IntegerType]", segments).get_values()[2]:
            raise VerifyException("copies of im2col blocks are not supported")
        return read(op)

    def with_(op: AsyncTMACopyGlobalToLocalOp, level: TextLevel) -> None:
        if level >= TextLevel.V3_9:  # which refuses modifiers of what the copy engine reads
            op.properties.pop("cache", None)
        write(op, level)
        if level >= TextLevel.V3_8:
            op.properties[SEGMENTS] = sizes_of_segments((1, len(op.coord), 0, 1, 1, 1))

    return spellings(declared.texts, read=without, write=with_)


@define
class AsyncTMACopyGlobalToLocalOp(IRDLOperation):
    """Copies the block at `coord` to shared memory; the bytes count for the barrier."""

    name = "ttng.async_tma_copy_global_to_local"
    desc = operand_def(TensorDescType)
    coord = var_operand_def(i32)
    barrier = operand_def(MEMDESC)
    result = operand_def(MEMDESC)
    pred = operand_def(i1)
    cache = enum_prop(CacheModifier, default=CacheModifier.NONE)
    evict = enum_prop(EvictionPolicy, default=EvictionPolicy.NORMAL)
    isVolatile = prop_def(BoolAttr, default_value=BoolAttr.from_bool(False))
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = BLOCK_IN
    PREDICATE: ClassVar[str] = "pred"
    SPELLINGS: ClassVar[Spellings] = _with_segments(
        f"ttng.async_tma_copy_global_to_local %shared_desc[%i, %i] %block, %mbarrier, %true {EVICTION[0]}"
        " : !tt.tensordesc<tensor<8x32xf32, #nvmma>>, !ttg.memdesc<1xi64, #shared, #smem, mutable>"
        " -> !ttg.memdesc<8x32xf32, #nvmma, #smem, mutable>"
    )
    FORMAT: ClassVar[str] = (
        f"$desc `[` $coord `]` $result `,` $barrier `,` $pred {MODIFIERS} attr-dict"
        " `:` type($desc) `,` type($barrier) `->` type($result)"
    )

    def verify_(self) -> None:
        check_within_block(self)
        check_barrier(self.barrier.type)
        check_mutable(self.result.type)
        check_block(self.desc.type, self.result.type)


@define
class AsyncTMACopyLocalToGlobalOp(IRDLOperation):
    """Copies shared memory to the block at `coord`."""

    name = "ttng.async_tma_copy_local_to_global"
    desc = operand_def(TensorDescType)
    coord = var_operand_def(i32)
    src = operand_def(MEMDESC)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = BLOCK_OUT
    FORMAT: ClassVar[str] = "$desc `[` $coord `]` $src attr-dict `:` type($desc) `,` type($src)"

    def verify_(self) -> None:
        check_block(self.desc.type, self.src.type, len(self.coord))


@define
class AsyncTMAReduceOp(IRDLOperation):
    """Combines the block at `coord` with shared memory. Bits of 64-bit numbers are combined of unsigned ones only: on
    signed ones that is an illegal instruction."""

    name = "ttng.async_tma_reduce"
    kind = enum_prop(DescriptorReduceKind)
    desc = operand_def(TensorDescType)
    coord = var_operand_def(i32)
    src = operand_def(MEMDESC)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(BLOCK_OUT.effects, _stored(reads("desc")))
    FORMAT: ClassVar[str] = "$kind `,` $desc `[` $coord `]` $src attr-dict `:` type($desc) `,` type($src)"

    def verify_(self) -> None:
        check_block(self.desc.type, self.src.type, len(self.coord))
        check_reduction(self.kind.value.data, self.desc.type)
        assert isinstance(self.desc.type, TensorDescType)
        kind = DescriptorReduceKind(self.kind.value.data)
        if combines_signed_bits(kind, self.desc.type.element_type):
            raise VerifyException(f"{kind.name.lower()} of 64-bit numbers needs unsigned ones, got {self.desc.type}")


@define
class AsyncTMAGatherOp(IRDLOperation):
    """Copies the rows `x_offsets` from column `y_offset` on to shared memory."""

    name = "ttng.async_tma_gather"
    desc = operand_def(TensorDescType)
    x_offsets = operand_def()
    y_offset = operand_def(i32)
    barrier = operand_def(MEMDESC)
    result = operand_def(MEMDESC)
    pred = operand_def(i1)
    LAYOUTS: ClassVar[LayoutConstraint] = ANY_LAYOUTS
    EFFECTS: ClassVar[Effects] = BLOCK_IN
    FORMAT: ClassVar[str] = (
        "$desc `[` $x_offsets `,` $y_offset `]` $result `,` $barrier `,` $pred attr-dict `:` type(operands)"
    )

    def verify_(self) -> None:
        check_within_block(self)
        check_barrier(self.barrier.type)
        check_mutable(self.result.type)
        _check_rows(self.x_offsets.type, self.result.type)


@define
class AsyncTMAScatterOp(IRDLOperation):
    """Copies shared memory to the rows `x_offsets` from column `y_offset` on."""

    name = "ttng.async_tma_scatter"
    desc = operand_def(TensorDescType)
    x_offsets = operand_def()
    y_offset = operand_def(i32)
    src = operand_def(MEMDESC)
    LAYOUTS: ClassVar[LayoutConstraint] = ANY_LAYOUTS
    EFFECTS: ClassVar[Effects] = BLOCK_OUT
    FORMAT: ClassVar[str] = "$desc `[` $x_offsets `,` $y_offset `]` $src attr-dict `:` type(operands)"

    def verify_(self) -> None:
        _check_rows(self.x_offsets.type, self.src.type)


def _wait_of_reads(op: TMAStoreWaitOp, level: TextLevel) -> None:
    if level < TextLevel.V3_9:
        op.properties.pop("read_only", None)


@define
class TMAStoreWaitOp(IRDLOperation):
    """Waits until at most `pendings` groups of copies to global memory are under way; under `read_only` until no others
    still read shared memory, whose writes may come later.

    Versions before 3.9 have the wait for reads only, which they write without `read_only`. Read here that is a wait for
    all, which is more. Printed at their level a wait for all is the one that they would have written."""

    name = "ttng.async_tma_store_wait"
    pendings = prop_def(IntegerAttr.constr(i32))
    read_only = opt_prop_def(UnitAttr)
    SPELLINGS: ClassVar[Spellings] = spellings(
        {
            TextLevel.V3_6: "ttng.async_tma_store_wait {pendings = 0 : i32}",
            TextLevel.V3_9: "ttng.async_tma_store_wait {pendings = 0 : i32, read_only}",
        },
        write=_wait_of_reads,
    )
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(waits(Completion.STORE_GROUP, "pendings"))
    FORMAT: ClassVar[str] = "attr-dict"


TENSOR_MAP_BYTES = 128
"""Of the descriptor by which block copies find their block, and what its address is a multiple of where it is copied
from (PTX ISA, "Tensor-map", tensormap.cp_fenceproxy)."""


def _warp_that_writes(op: Operation) -> tuple[Hashable, ...]:
    """Whose scratch memory it is."""
    assert isinstance(op, TensormapCreateOp)
    return "warp", 0 if op.warp is None else op.warp.value.data


DRIVER_ENUMS = {"elem_type": 15, "interleave_layout": 2, "swizzle_mode": 4, "fill_mode": 1}
"""The largest number of each enumeration (CUDA driver API 13.0, CUtensorMapDataType and those behind it)."""


@define
class TensormapCreateOp(IRDLOperation):
    """Writes a descriptor to global memory, by one warp: the first, or `warp`. The enumerations are those of the
    driver's `cuTensorMapEncodeTiled`, but for `elem_type`, which PTX numbers otherwise from f64 on
    (`tensormap.replace`)."""

    name = "ttng.tensormap_create"
    desc_ptr = operand_def(PointerType)
    global_address = operand_def(PointerType)
    box_dim = var_operand_def(i32)
    global_dim = var_operand_def(i32)
    global_stride = var_operand_def(i64)
    element_stride = var_operand_def(i32)
    elem_type = prop_def(IntegerAttr.constr(i32))
    interleave_layout = prop_def(IntegerAttr.constr(i32))
    swizzle_mode = prop_def(IntegerAttr.constr(i32))
    fill_mode = prop_def(IntegerAttr.constr(i32))
    warp = opt_prop_def(IntegerAttr.constr(i32))
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(writes("desc_ptr"), SCRATCH_EFFECTS)
    SCRATCH_MEMORY: ClassVar[ScratchMemory] = ScratchMemory(TENSOR_MAP_BYTES, TENSOR_MAP_BYTES, _warp_that_writes)
    FORMAT: ClassVar[str] = (
        "$desc_ptr `,` $global_address `,` `[` $box_dim `]` `,` `[` $global_dim `]` `,` `[` $global_stride `]` `,`"
        " `[` $element_stride `]` attr-dict `:` functional-type(operands, results)"
    )

    @staticmethod
    def segment_sizes(count: int) -> tuple[int, ...] | None:
        rank, rest = divmod(count - 1, 4)
        return (1, 1, rank, rank, rank - 1, rank) if rest == 0 and rank > 0 else None

    def verify_(self) -> None:
        check_global(self.desc_ptr.type)
        check_global(self.global_address.type)
        numbers = (self.elem_type, self.interleave_layout, self.swizzle_mode, self.fill_mode)
        for (name, most), number in zip(DRIVER_ENUMS.items(), numbers, strict=True):
            if not 0 <= (value := number.value.data) <= most:
                raise VerifyException(f"'{name}' must be one of the driver's numbers, 0 to {most}, got {value}")
        rank = len(self.box_dim)
        if not 1 <= rank <= 5:
            raise VerifyException(f"a tensor map has one to five dimensions, got {rank}")
        if len(self.global_dim) != rank or len(self.element_stride) != rank or len(self.global_stride) != rank - 1:
            raise VerifyException(
                f"a box of rank {rank} needs {rank} extents and element strides and {rank - 1} strides, got"
                f" {len(self.global_dim)}, {len(self.element_stride)} and {len(self.global_stride)}"
            )


@define
class TensormapFenceproxyAcquireOp(IRDLOperation):
    """Makes a descriptor that was written in this kernel visible to the copies that use it. One warp does, the first or
    `warp`, and all threads that run it meet.
    """

    name = "ttng.tensormap_fenceproxy_acquire"
    desc_ptr = operand_def(PointerType)
    warp = opt_prop_def(IntegerAttr.constr(i32))
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(
        Effect(Kind.FENCE, Resource.GLOBAL, "desc_ptr", Proxy.ASYNC), Effect(Kind.BARRIER, Resource.THREADS)
    )
    FORMAT: ClassVar[str] = "$desc_ptr attr-dict `:` type($desc_ptr)"

    def verify_(self) -> None:
        check_global(self.desc_ptr.type)


def warp_of(op: TensormapCreateOp | TensormapFenceproxyAcquireOp, warps: int) -> int:
    """Which of so many warps does it: where there are fewer, they begin again with the first."""
    return 0 if op.warp is None else op.warp.value.data % warps


@define
class ReinterpretTensorDescOp(IRDLOperation):
    """The descriptor that lies at an address."""

    name = "ttng.reinterpret_tensor_descriptor"
    rawDesc = operand_def(PointerType)
    result = result_def(TensorDescType)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "$rawDesc attr-dict `:` type($rawDesc) `to` type($result)"

    def verify_(self) -> None:
        check_global(self.rawDesc.type)
