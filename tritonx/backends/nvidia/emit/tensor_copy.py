"""Copies of blocks between global and shared memory by the tensor memory accelerator, as PTX.

PTX ISA 9.0, sections 9.7.9.27 (cp.async.bulk.tensor) and 9.7.9.28 (cp.reduce.async.bulk.tensor). One instruction moves
one box: as much of a block as the swizzle width and the limit of 256 elements along a dim allow (``tma_box``). The
group's warps share out the boxes, and of each warp one lane issues."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonx.backends.nvidia.emit.mbarrier import CONVERGENT, assembly, shared_address
from tritonx.conversion.gpu_to_llvm.encodings import type_encoding
from tritonx.conversion.gpu_to_llvm.indices import apply_columns
from tritonx.conversion.gpu_to_llvm.shared import memory_layout
from tritonx.dialects.gpu_layout import MemDescType
from tritonx.dialects.nvidia import (
    AsyncTMACopyGlobalToLocalOp,
    AsyncTMACopyLocalToGlobalOp,
    AsyncTMAReduceOp,
    TMAStoreWaitOp,
)
from tritonx.dialects.tile.enums import DescriptorReduceKind
from tritonx.ir.dispatch import case
from tritonx.ir.failure import PassError
from tritonx.ir.types import bit_width, type_as
from tritonx.layouts.dims import BLOCK, OFFSET, WARP
from tritonx.layouts.encodings import NvmmaSharedEncoding
from tritonx.layouts.shared import tma_box
from tritonx.layouts.tiling import shape_per_cta

if TYPE_CHECKING:
    from xdsl.ir import Operation, SSAValue

    from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter


@dataclass(frozen=True)
class Step:
    """What one bit of a box's number adds: elements along ``dim`` of the block, and bytes of shared memory."""

    dim: int
    elements: int
    nbytes: int


def steps_of(op: Operation, memory: MemDescType) -> list[Step]:
    """How a block is cut into boxes, from the lowest bit of a box's number; raises where memory is no box's form."""
    encoding = type_encoding(memory)
    if not isinstance(encoding, NvmmaSharedEncoding) or encoding.fp4_padded:
        raise PassError(op, "a tensor copy needs memory of #ttg.nvmma_shared without padding")
    shape = shape_per_cta(encoding.cga, tuple(memory.shape))
    box = tma_box(encoding, shape)
    inverse = memory_layout(memory).pseudo_inverse()
    nbytes = bit_width(memory.element_type) // 8
    steps: list[Step] = []
    for dim in reversed(range(len(shape))):
        size = box[dim]
        while size < shape[dim]:
            at = inverse.apply_packed({name: size if i == dim else 0 for i, name in enumerate(inverse.in_dims)})
            steps.append(Step(dim, size, inverse.coordinate(at, OFFSET) * nbytes))
            size *= 2
    return steps


def boxes(
    f: FunctionEmitter,
    op: AsyncTMACopyGlobalToLocalOp | AsyncTMACopyLocalToGlobalOp | AsyncTMAReduceOp,
    memory: SSAValue,
) -> list[tuple[str, str, list[str]]]:
    """For each box that a warp issues: the i1 that holds in the lane that does, its address, its coordinates from the
    innermost dim on."""
    type_ = type_as(memory, MemDescType)
    steps = steps_of(op, type_)
    view = f.view(memory)
    if view.start or view.padding:
        raise PassError(op, "a window of a buffer cannot be copied by boxes")
    coordinates = [f.scalar(v) for v in op.coord]
    # A descriptor may have leading dims of one element that the memory has not.
    lead = len(coordinates) - len(type_.shape)
    shared = min(len(steps), f.threads.group.warps.bit_length() - 1)
    offset = apply_columns(f, {WARP: [step.nbytes for step in steps[:shared]]})
    blocks = memory_layout(type_).bases(BLOCK)
    moved = [
        apply_columns(
            f,
            {
                WARP: [step.elements if step.dim == dim else 0 for step in steps[:shared]],
                BLOCK: [basis[dim] for basis in blocks],
            },
        )
        for dim in range(len(coordinates) - lead)
    ]
    issuer = elected(f, 1 << shared)
    out: list[tuple[str, str, list[str]]] = []
    for rest in range(1 << len(steps) - shared):
        more = [step for bit, step in enumerate(steps[shared:]) if rest >> bit & 1]
        at = view.pointer
        if offset != "0":
            at = f.inst(f"getelementptr i8, ptr addrspace(3) {at}, i32 {offset}")
        if nbytes := sum(step.nbytes for step in more):
            at = f.inst(f"getelementptr i8, ptr addrspace(3) {at}, i32 {nbytes}")
        where: list[str] = []
        for number, coordinate in enumerate(coordinates):
            dim = number - lead
            if dim >= 0 and (part := moved[dim]) != "0":
                coordinate = f.inst(f"add i32 {coordinate}, {part}")
            if elements := sum(step.elements for step in more if step.dim == dim):
                coordinate = f.inst(f"add i32 {coordinate}, {elements}")
            where.append(coordinate)
        out.append((issuer, at, where[::-1]))
    return out


def elected(f: FunctionEmitter, warps: int) -> str:
    """An i1 that holds in one lane of each of the group's first ``warps`` warps."""
    f.module.attributes[CONVERGENT] = "convergent nounwind"
    symbol = f.module.declare("{ i32, i1 }", "@llvm.nvvm.elect.sync", ["i32"])
    lane = f.inst(f"extractvalue {{ i32, i1 }} {f.inst(f'call {{ i32, i1 }} {symbol}(i32 -1)')}, 1")
    if warps == f.threads.group.warps:
        return lane
    return f.inst(f"and i1 {lane}, {f.inst(f'icmp ult i32 {f.threads.warp}, {warps}')}")


def load(op: AsyncTMACopyGlobalToLocalOp, f: FunctionEmitter) -> None:
    descriptor, barrier = f.scalar(op.desc), shared_address(f, op.barrier)
    condition = f.scalar(op.pred)
    for issuer, address, where in boxes(f, op, op.result):
        guard = issuer if condition == "true" else f.inst(f"and i1 {issuer}, {condition}")
        names = ", ".join(f"${i + 4}" for i in range(len(where)))
        text = (
            f"@$0 cp.async.bulk.tensor.{len(where)}d.shared::cluster.global.mbarrier::complete_tx::bytes"
            f" [$1], [$2, {{{names}}}], [$3];"
        )
        operands = [f"i1 {guard}", f"ptr addrspace(3) {address}", f"ptr {descriptor}", barrier]
        operands += [f"i32 {x}" for x in where]
        assembly(f, text, "b,r,l,r" + ",r" * len(where), ", ".join(operands))


_REDUCE = {
    DescriptorReduceKind.ADD: "add",
    DescriptorReduceKind.MIN: "min",
    DescriptorReduceKind.MAX: "max",
    DescriptorReduceKind.INC: "inc",
    DescriptorReduceKind.DEC: "dec",
    DescriptorReduceKind.AND: "and",
    DescriptorReduceKind.OR: "or",
    DescriptorReduceKind.XOR: "xor",
}


def store(op: AsyncTMACopyLocalToGlobalOp, f: FunctionEmitter) -> None:
    leave_memory(op, f, "cp.async.bulk.tensor", "")


def reduce(op: AsyncTMAReduceOp, f: FunctionEmitter) -> None:
    kind = _REDUCE[DescriptorReduceKind(op.kind.value.data)]
    leave_memory(op, f, "cp.reduce.async.bulk.tensor", f".{kind}")


def leave_memory(
    op: AsyncTMACopyLocalToGlobalOp | AsyncTMAReduceOp, f: FunctionEmitter, name: str, suffix: str
) -> None:
    """Copies of a buffer to global memory; those of one op are a group of the lane that issued them."""
    descriptor = f.scalar(op.desc)
    for issuer, address, where in boxes(f, op, op.src):
        names = ", ".join(f"${i + 3}" for i in range(len(where)))
        text = f"@$0 {name}.{len(where)}d.global.shared::cta{suffix}.bulk_group [$2, {{{names}}}], [$1];"
        operands = [f"i1 {issuer}", f"ptr addrspace(3) {address}", f"ptr {descriptor}", *(f"i32 {x}" for x in where)]
        assembly(f, text, "b,r,l" + ",r" * len(where), ", ".join(operands))
    assembly(f, "cp.async.bulk.commit_group;")


def store_wait(op: TMAStoreWaitOp, f: FunctionEmitter) -> None:
    read = "" if op.read_only is None else ".read"
    assembly(f, f"cp.async.bulk.wait_group{read} {op.pendings.value.data};")


TABLE: dict[type[Operation], Emit] = {
    **case(AsyncTMACopyGlobalToLocalOp, load),
    **case(AsyncTMACopyLocalToGlobalOp, store),
    **case(AsyncTMAReduceOp, reduce),
    **case(TMAStoreWaitOp, store_wait),
}
