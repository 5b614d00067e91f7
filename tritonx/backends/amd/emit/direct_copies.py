"""Copies from global memory to the LDS that go past the registers.

A load with `lds` set writes what its lanes get to M0 plus the lane's number times the width of a lane's part (CDNA 3
ISA, 9.1.9 and 10.3). So the first address is the wave's, and only a copy whose lanes' places follow each other can be
one (`layouts/lane_order`); others go through registers. No lane is masked off, which would write nothing, and a wave
without lanes would not issue the load that waits count: where a mask is false a lane reads zeros, from memory that
has some, or from beyond the buffer's end, where there are zeros to read.

Loads arrive in order, so that a wait for all but the last n is a wait for those before (`copies_under_way`). LLVM would
wait for all of them in front of whatever reads the LDS, and in a fence of the LDS: accesses are told apart by scopes,
and barriers wait for the LDS themselves."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from tritonx.analysis.access_width import access_width
from tritonx.analysis.axis_info import AxisFacts
from tritonx.analysis.buffers import tensor_layout
from tritonx.backends.amd.emit import buffer
from tritonx.backends.amd.emit.cache_modifiers import buffer_bits
from tritonx.backends.amd.emit.copies_under_way import CopiesUnderWay
from tritonx.backends.amd.emit.machine import AmdMachine
from tritonx.backends.amd.emit.memory import zeros_where_false
from tritonx.conversion.gpu_to_llvm import asynchronous
from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.indices import apply_layout
from tritonx.conversion.gpu_to_llvm.machine import Access
from tritonx.conversion.gpu_to_llvm.shared import write_tile
from tritonx.conversion.gpu_to_llvm.transfer import element_at, memory_type
from tritonx.conversion.gpu_to_llvm.types import llvm_type
from tritonx.dialects.amd import AsyncWaitOp, BufferLoadToLocalOp
from tritonx.dialects.gpu_layout import AsyncCopyGlobalToLocalOp, MemDescType, encoding_value
from tritonx.dialects.gpu_layout import AsyncWaitOp as GroupWaitOp
from tritonx.ir.dispatch import case
from tritonx.ir.fold.constants import constant_of
from tritonx.ir.types import bit_width, is_tensor, type_as, type_of, with_element
from tritonx.layouts import LayoutError, access_vectors, linear_layout
from tritonx.layouts.access import SharedAccess, placement
from tritonx.layouts.dims import OFFSET, WARP
from tritonx.layouts.encodings import PaddedSharedEncoding
from tritonx.layouts.lane_order import consecutive_accesses

Copy = AsyncCopyGlobalToLocalOp | BufferLoadToLocalOp


def copies_directly(module: ModuleOp) -> bool:
    """Whether there is a copy that may go past the registers."""
    return any(isinstance(op, Copy) for op in module.walk())


def direct_accesses(op: Copy, facts: AxisFacts, lane_bytes: tuple[int, ...]) -> SharedAccess | None:
    """The instructions that a copy is, each of one of these numbers of bytes a lane; None where it is none."""
    target, source = (op.result, op.src) if isinstance(op, AsyncCopyGlobalToLocalOp) else (op.dest, op.offsets)
    memory, tile = type_as(target, MemDescType), type_of(source)
    encoding = encoding_value(memory.encoding)
    if isinstance(encoding, PaddedSharedEncoding) or memory.alloc_shape[-len(memory.shape) :] != memory.shape:
        return None
    bits = bit_width(memory.element_type)
    if not is_tensor(tile) or bits < 8 or (op.other is not None and constant_of(op.other) != 0):
        return None
    try:
        places = placement(tensor_layout(tile), linear_layout(encoding, memory.shape))
    except LayoutError:
        return None
    together = _together(op, facts, bits)
    for nbytes in sorted(lane_bytes, reverse=True):
        if together * bits >= 8 * nbytes:
            access = consecutive_accesses(places, bits, 8 * nbytes)
            if access is not None and 8 * nbytes == access.vec * bits and _are_neighbours(access):
                return access
    return None


def _together(op: Copy, facts: AxisFacts, bits: int) -> int:
    """How many elements of a thread are neighbours in global memory, aligned, and under one value of the mask."""
    if isinstance(op, AsyncCopyGlobalToLocalOp):
        return access_width(facts, tensor_layout(type_of(op.src)), op.src, op.mask, bits)
    layout = tensor_layout(type_of(op.offsets))
    found = buffer.width(facts, layout, op.ptr, op.offsets, op.mask, bits)
    vectors = access_vectors(layout, found.dim, found.width)
    return vectors.width if vectors.groups[0] == tuple(range(vectors.width)) else 1


def _are_neighbours(access: SharedAccess) -> bool:
    """Whether the registers of each access are those of a run that is aligned to it."""
    return all(
        one.registers == tuple(range(one.registers[0], one.registers[0] + access.vec))
        and one.registers[0] % access.vec == 0
        for one in access.accesses
    )


# --- emission


def copy(op: AsyncCopyGlobalToLocalOp, f: FunctionEmitter) -> None:
    access = _accesses(op, f)
    if access is None:
        asynchronous.copy(op, f)
        return
    parameters = ["ptr addrspace(1)", "ptr addrspace(3)", "i32 immarg", "i32 immarg", "i32 immarg"]
    symbol = f.module.declare("void", "@llvm.amdgcn.global.load.lds", parameters)
    pointers, masks = f.scalars(f.get(op.src)), _masks(f, op.mask)
    elem, size = _element(op.result), _bytes(op.result, access)
    policy = buffer_bits(_machine(f).processor, op.cache.value.data, stores=False)
    for address, register in _addresses(f, op.result, access):
        pointer = pointers[register]
        if masks is not None and masks[register] != "true":
            pointer = zeros_where_false(f, pointer, masks[register], Access(elem, access.vec, size))
        operands = f"ptr addrspace(1) {pointer}, ptr addrspace(3) {address}, i32 {size}, i32 0, i32 {policy}"
        f.line(f"call void {symbol}({operands}){_machine(f).scope_of_copies}")
    asynchronous.token(op, f)


def buffer_copy(op: BufferLoadToLocalOp, f: FunctionEmitter) -> None:
    access = _accesses(op, f)
    if access is None:
        memory = type_as(op.dest, MemDescType)
        type_ = with_element(type_of(op.offsets), memory.element_type)
        write_tile(f, buffer.loaded(f, op, buffer.cut(f, op, type_, may_split=False)), type_, f.view(op.dest), memory)
        asynchronous.token(op, f)
        return
    parameters = ["ptr addrspace(8)", "ptr addrspace(3)", "i32 immarg", "i32", "i32", "i32 immarg", "i32 immarg"]
    symbol = f.module.declare("void", "@llvm.amdgcn.raw.ptr.buffer.load.lds", parameters)
    elem, size = _element(op.dest), _bytes(op.dest, access)
    policy = buffer_bits(_machine(f).processor, op.cache.value.data, stores=False)
    masks = buffer.divided_mask(f, op.mask)
    source = buffer.Buffer(f, op, elem, masks.whole)
    for address, register in _addresses(f, op.dest, access):
        offset = source.guarded(source.place(register), masks.of(register))
        f.line(
            f"call void {symbol}(ptr addrspace(8) {source.descriptor}, ptr addrspace(3) {address}, i32 {size},"
            f" i32 {offset}, i32 0, i32 0, i32 {policy})" + _machine(f).scope_of_copies
        )
    asynchronous.token(op, f)


def _accesses(op: Copy, f: FunctionEmitter) -> SharedAccess | None:
    return direct_accesses(op, f.module.axis_info, _machine(f).processor.lane_bytes)


def _machine(f: FunctionEmitter) -> AmdMachine:
    assert isinstance(f.machine, AmdMachine)
    return f.machine


def _masks(f: FunctionEmitter, mask: SSAValue | None) -> list[str] | None:
    return None if mask is None else f.scalars(f.get(mask))


def _element(memory: SSAValue) -> str:
    return memory_type(llvm_type(type_as(memory, MemDescType).element_type))


def _bytes(memory: SSAValue, access: SharedAccess) -> int:
    return access.vec * bit_width(type_as(memory, MemDescType).element_type) // 8


def _addresses(f: FunctionEmitter, memory: SSAValue, access: SharedAccess) -> list[tuple[str, int]]:
    """Of each instruction where the wave's part begins, and the first register of a lane."""
    view, elem = f.view(memory), _element(memory)
    f.threads.touch()
    with f.in_prologue():
        warp, _ = apply_layout(f, access.threads.sublayout((WARP,), (OFFSET,)), OFFSET)
    start = element_at(f, elem, view.pointer, warp)
    return [(element_at(f, elem, start, str(one.offset)), one.registers[0]) for one in access.accesses]


def wait(op: GroupWaitOp, f: FunctionEmitter) -> None:
    """For all but the instructions that the last groups are at least."""

    def instructions(op: Operation) -> int | None:
        if not isinstance(op, Copy):
            return None
        access = _accesses(op, f)
        return 0 if access is None else len(access.accesses)

    if _machine(f).copies:
        groups = op.num.value.data
        _machine(f).wait_for_copies(f, CopiesUnderWay(instructions).since(op, groups) if groups else 0)
    asynchronous.token(op, f)


def counted_wait(op: AsyncWaitOp, f: FunctionEmitter) -> None:
    """One whose instructions were counted by another rule of which copies are some: for all."""
    f.machine.async_wait(f, 0)
    asynchronous.token(op, f)


TABLE: dict[type[Operation], Emit] = {
    **case(AsyncCopyGlobalToLocalOp, copy),
    **case(BufferLoadToLocalOp, buffer_copy),
    **case(GroupWaitOp, wait),
    **case(AsyncWaitOp, counted_wait),
}
