"""Copies of rows by their indices between global and shared memory by the tensor memory accelerator, as PTX.

PTX ISA 9.0, section 9.7.9.27 (cp.async.bulk.tensor, .tile::gather4 and .tile::scatter4). One instruction moves
four rows whose indices are arbitrary, as far as the box of the descriptor is wide; in shared memory they lie one behind
the other, as four rows of an ordinary box. So the thread that issues an instruction holds four neighbouring indices,
and as many threads issue as hold different ones: a group of four that several threads hold is issued by the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonx.backends.nvidia.emit.machine import NvidiaMachine
from tritonx.backends.nvidia.emit.mbarrier import assembly, shared_address
from tritonx.conversion.gpu_to_llvm.encodings import type_encoding
from tritonx.conversion.gpu_to_llvm.indices import apply_columns, register_constants
from tritonx.conversion.gpu_to_llvm.shared import memory_layout
from tritonx.dialects.gpu_layout import MemDescType
from tritonx.dialects.nvidia import AsyncTMAGatherOp, AsyncTMAScatterOp
from tritonx.ir.dispatch import case
from tritonx.ir.failure import PassError
from tritonx.ir.types import bit_width, element_type, type_as
from tritonx.layouts.dims import LANE, OFFSET, REGISTER, WARP
from tritonx.layouts.encodings import NvmmaSharedEncoding
from tritonx.layouts.redundancy import redundancy
from tritonx.layouts.shared import tma_box

if TYPE_CHECKING:
    from xdsl.ir import Operation, SSAValue

    from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter

ROWS = 4
"""Of one instruction."""
ALIGNMENT = 128
"""Of its shared memory, in bytes."""


@dataclass(frozen=True)
class Strip:
    """The rows of a buffer as far as one box is wide: elements from its first column on, and bytes in the buffer."""

    column: int
    nbytes: int


@dataclass(frozen=True)
class RowMemory:
    """Where four rows begin in a buffer: the sum (exclusive or) of what the bits of the first one's number add, and of
    a strip."""

    row_bits: tuple[int, ...]
    strips: tuple[Strip, ...]

    def nbytes(self, row: int) -> int:
        """What the bits of a row's number add."""
        total = 0
        for bit, added in enumerate(self.row_bits):
            total ^= added if row >> bit & 1 else 0
        return total


def row_memory(op: Operation, memory: MemDescType) -> RowMemory:
    """Raises where memory has not the form in which four rows are copied."""
    encoding = type_encoding(memory)
    if not isinstance(encoding, NvmmaSharedEncoding) or encoding.fp4_padded or encoding.transposed:
        raise PassError(op, "rows are copied to and from memory of #ttg.nvmma_shared, not transposed, without padding")
    shape = tuple(memory.shape)
    width = tma_box(encoding, shape)[1]
    inverse = memory_layout(memory).pseudo_inverse()
    size = bit_width(memory.element_type) // 8
    # The accelerator swizzles by the bits of the address: a copy begins where its first row would without.
    swizzled = max(encoding.swizzling_byte_width - 1, 0)

    def place(row: int, column: int) -> int:
        at = inverse.apply_packed(dict(zip(inverse.in_dims, (row, column), strict=True)))
        return inverse.coordinate(at, OFFSET) * size & ~swizzled

    row_bits = tuple(place(1 << bit, 0) for bit in range(shape[0].bit_length() - 1))
    strips = tuple(Strip(column, place(0, column)) for column in range(0, shape[1], width))
    if row_bits[:2] != (width * size, 2 * width * size):
        raise PassError(op, f"rows of {memory} do not lie one behind the other")
    if any(x % ALIGNMENT for x in (*row_bits[2:], *(strip.nbytes for strip in strips))):
        raise PassError(op, f"four rows begin at multiples of {ALIGNMENT} bytes, those of {memory} do not")
    return RowMemory(row_bits, strips)


@dataclass(frozen=True)
class RowCopy:
    """One instruction: its address and its coordinates, the column and four rows."""

    address: str
    coordinates: tuple[str, ...]


def row_copies(
    f: FunctionEmitter, op: AsyncTMAGatherOp | AsyncTMAScatterOp, memory: SSAValue
) -> tuple[str, list[RowCopy]]:
    """An i1 that holds in the threads that issue, and what each of them does."""
    assert isinstance(f.machine, NvidiaMachine)
    if f.machine.cluster > 1:
        raise PassError(op, f"{op.name} in clusters is not supported", "launch it with num_ctas=1")
    layout = f.layout(op.x_offsets.type)
    if bit_width(element_type(op.x_offsets.type)) != 32:
        raise PassError(op, f"indices of rows have 32 bits, got {op.x_offsets.type}")
    bases = {name: [basis[0] for basis in layout.bases(name)] for name in (REGISTER, LANE, WARP)}
    if not {1, 2} <= set(bases[REGISTER]):
        reason = f"{op.name} needs {ROWS} neighbouring indices in one thread, {op.x_offsets.type} has fewer"
        raise PassError(op, reason, "convert the indices to a layout with sizePerThread = [4]")
    where = row_memory(op, type_as(memory, MemDescType))
    view = f.view(memory)
    if view.start or view.padding:
        raise PassError(op, "a window of a buffer cannot be copied by boxes")
    names = f.scalars(f.get(op.x_offsets))
    of_register = register_constants(layout, 0)
    copies = redundancy(layout).registers
    register_of = {row: number for number, row in enumerate(of_register) if not number & copies}
    moved = apply_columns(f, {dim: [where.nbytes(row) for row in bases[dim]] for dim in (LANE, WARP)})
    y_offset = f.scalar(op.y_offset)
    out: list[RowCopy] = []
    for first in sorted(row for row in register_of if row % ROWS == 0):
        rows = [names[register_of[first + i]] for i in range(ROWS)]
        for strip in where.strips:
            address = view.pointer
            if moved != "0":
                address = f.inst(f"getelementptr i8, ptr addrspace(3) {address}, i32 {moved}")
            if nbytes := where.nbytes(first) ^ strip.nbytes:
                address = f.inst(f"getelementptr i8, ptr addrspace(3) {address}, i32 {nbytes}")
            column = f.inst(f"add i32 {y_offset}, {strip.column}") if strip.column else y_offset
            out.append(RowCopy(address, (column, *rows)))
    return f.threads.indices(layout).owner_in_block or "true", out


_COORDINATES = ",r" * (1 + ROWS)


def gather_rows(op: AsyncTMAGatherOp, f: FunctionEmitter) -> None:
    descriptor, barrier = f.scalar(op.desc), shared_address(f, op.barrier)
    condition = f.scalar(op.pred)
    issuer, copies = row_copies(f, op, op.result)
    guard = issuer if condition == "true" else f.inst(f"and i1 {issuer}, {condition}")
    names = ", ".join(f"${i + 4}" for i in range(1 + ROWS))
    text = (
        "@$0 cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes"
        f" [$1], [$2, {{{names}}}], [$3];"
    )
    for copy in copies:
        operands = [f"i1 {guard}", f"ptr addrspace(3) {copy.address}", f"ptr {descriptor}", barrier]
        operands += [f"i32 {x}" for x in copy.coordinates]
        assembly(f, text, f"b,r,l,r{_COORDINATES}", ", ".join(operands))


def scatter_rows(op: AsyncTMAScatterOp, f: FunctionEmitter) -> None:
    """The copies of a thread are one group; threads that issue none make an empty one, so that waits count alike."""
    descriptor = f.scalar(op.desc)
    issuer, copies = row_copies(f, op, op.src)
    names = ", ".join(f"${i + 3}" for i in range(1 + ROWS))
    text = f"@$0 cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [$2, {{{names}}}], [$1];"
    for copy in copies:
        operands = [f"i1 {issuer}", f"ptr addrspace(3) {copy.address}", f"ptr {descriptor}"]
        operands += [f"i32 {x}" for x in copy.coordinates]
        assembly(f, text, f"b,r,l{_COORDINATES}", ", ".join(operands))
    assembly(f, "cp.async.bulk.commit_group;")


TABLE: dict[type[Operation], Emit] = {
    **case(AsyncTMAGatherOp, gather_rows),
    **case(AsyncTMAScatterOp, scatter_rows),
}
