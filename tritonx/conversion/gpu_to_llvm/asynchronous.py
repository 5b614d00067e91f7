"""Copies from global to shared memory that a thread does not wait for, and the waits.

A thread copies the elements of its registers in the pointers' layout, and of the threads of a block that have the same
ones one copies for all; one copy moves as many as are neighbours both in global and in shared memory. What the machine
has no instruction for (other than 4, 8 or 16 bytes, a value for masked-off elements that is not zero) is copied through
registers, which the waits then cover too."""

from __future__ import annotations

from dataclasses import replace

from xdsl.ir import Operation

from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.machine import Access
from tritonx.conversion.gpu_to_llvm.memory import cut, part
from tritonx.conversion.gpu_to_llvm.shared import placement, widest
from tritonx.conversion.gpu_to_llvm.transfer import addresses
from tritonx.conversion.gpu_to_llvm.types import bits
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.dialects import gpu_layout
from tritonx.dialects.gpu_layout import MemDescType
from tritonx.ir.dispatch import case
from tritonx.ir.types import type_as
from tritonx.layouts import shared_access


def copy(op: gpu_layout.AsyncCopyGlobalToLocalOp, f: FunctionEmitter) -> None:
    plan = cut(op, f, op.src, op.mask)
    elem = plan.access.elem
    pointers = f.scalars(f.get(op.src))
    masks = None if op.mask is None else f.scalars(f.get(op.mask))
    places = placement(f, op.src.type, type_as(op.result, MemDescType))
    size = f.bits(elem)
    limit = widest(f.view(op.result), size)
    access = shared_access(places, size, max_vec_bits=min(limit, plan.access.width * size))
    groups = {group[0]: group for group in plan.groups}
    together = access.vec == plan.access.width and all(
        groups.get(a.registers[0]) == a.registers for a in access.accesses
    )
    if not together:
        access = shared_access(places, size, max_vec_bits=size)
    nbytes = access.vec * size // 8
    other = None if op.other is None else f.get(op.other)
    direct = nbytes in (4, 8, 16) and size == bits(elem) and (other is None or is_zero(other))
    single = plan.access if together else narrowed(plan.access)
    owner = f.threads.indices(f.layout(op.src.type)).owner_in_block
    for one, address in zip(access.accesses, addresses(f, f.view(op.result), elem, access), strict=True):
        register = one.registers[0]
        mask = None if masks is None or masks[register] == "true" else masks[register]
        if direct and f.machine.async_copy(f, address, pointers[register], nbytes, mask, plan.access.cache, owner):
            continue
        rest = None if other is None or mask is None else part(f, other, one.registers)
        with f.where(owner):
            value = f.machine.memory.load(f, pointers[register], single, mask, rest)
            type_ = single.type
            if elem == "i1":
                type_ = single.type.replace("i1", "i8")
                value = f.inst(f"zext {single.type} {value} to {type_}")
            f.line(f"store {type_} {value}, {f.shared} {address}, align {nbytes}")
    token(op, f)


def narrowed(access: Access) -> Access:
    """One element at a time."""
    return replace(access, width=1, bytes_aligned=bits(access.elem) // 8)


def is_zero(value: Tile) -> bool:
    names = value.scalars or []
    return bool(names) and all(x in ("0", "false", "0xH0000", "0xR0000") or x.strip("0x") == "" for x in names)


def commit(op: Operation, f: FunctionEmitter) -> None:
    f.machine.async_commit(f)
    token(op, f)


def wait(op: gpu_layout.AsyncWaitOp, f: FunctionEmitter) -> None:
    f.machine.async_wait(f, op.num.value.data)
    token(op, f)


def token(op: Operation, f: FunctionEmitter) -> None:
    """Tokens only order ops in the IR; loops may carry them, as a number that is never read."""
    f.set(op.results[0], Tile.of("i32", ["0"]))


TABLE: dict[type[Operation], Emit] = {
    **case(gpu_layout.AsyncCopyGlobalToLocalOp, copy),
    gpu_layout.AsyncCommitGroupOp: commit,
    **case(gpu_layout.AsyncWaitOp, wait),
}
