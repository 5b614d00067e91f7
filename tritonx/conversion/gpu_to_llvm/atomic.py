"""Atomic operations on global memory, each element by one of the threads that own it: neighbours in one instruction
where the machine has one that takes them.

Where the old value is used and several threads hold copies of an element, the one that did the operation hands it to
the others through scratch memory."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from tritonx.conversion.gpu_to_llvm.exchange import squeeze
from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.indices import apply_columns
from tritonx.conversion.gpu_to_llvm.memory import Guard, cut, ownership, part
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.dialects import tile
from tritonx.ir.dispatch import case
from tritonx.ir.types import is_tensor, pointee_of
from tritonx.layouts.dims import LANE, WARP


def pointee(f: FunctionEmitter, pointer: SSAValue) -> str:
    return f.type(pointee_of(pointer.type))


def read_modify_write(op: tile.AtomicRMWOp, f: FunctionEmitter) -> None:
    kind, sem, scope = (p.value.data for p in (op.atomic_rmw_op, op.sem, op.scope))
    plan = cut(op, f, op.ptr, op.mask, f.machine.memory.atomic_width(kind, pointee(f, op.ptr)))
    pointers, values = f.scalars(f.get(op.ptr)), f.get(op.val)
    masks = None if op.mask is None else f.scalars(f.get(op.mask))
    _, owner = ownership(f, op.ptr)
    guard = Guard(f, owner)
    access, made = plan.access, dict[int, str]()
    for group in plan.groups:
        mask = guard(None if masks is None else masks[group[0]])
        value = part(f, values, group)
        old = f.machine.memory.atomic(f, kind, pointers[group[0]], value, access, sem, scope, mask)
        if access.width == 1:
            made[group[0]] = old
        elif op.results[0].first_use is not None:
            made |= {r: f.inst(f"extractelement {access.type} {old}, i32 {i}") for i, r in enumerate(group)}
    finish(op, f, access.elem, [made.get(r, "poison") for r in plan.repeats])


def compare_and_swap(op: tile.AtomicCASOp, f: FunctionEmitter) -> None:
    pointers, compare, values = (f.scalars(f.get(v)) for v in (op.ptr, op.cmp, op.val))
    skip, owner = ownership(f, op.ptr)
    elem = pointee(f, op.ptr)
    sem, scope = op.sem.value.data, op.scope.value.data
    old: list[str] = []
    for i, (pointer, expected, value) in enumerate(zip(pointers, compare, values, strict=True)):
        if i & skip:
            old.append(old[i & ~skip])
            continue
        old.append(f.machine.memory.compare_and_swap(f, pointer, expected, value, elem, sem, scope, owner))
    finish(op, f, elem, old)


def finish(op: tile.AtomicRMWOp | tile.AtomicCASOp, f: FunctionEmitter, elem: str, old: list[str]) -> None:
    """Bind the old values, given to all threads that hold the element."""
    result = op.results[0]
    if result.first_use is None:
        f.set(result, Tile.of(elem, ["poison"] * len(old)))
        return
    if not is_tensor(result.type):
        f.set(result, Tile.of(elem, share(op, f, elem, old, 0, [], [])))
        return
    free = f.layout(result.type).free_masks()
    lanes = f.machine.warp_size.bit_length() - 1
    warps = f.threads.group.warps.bit_length() - 1
    if free.get("lane", 0) or free.get("warp", 0):
        lane = squeeze(~free.get("lane", 0) & (1 << lanes) - 1, lanes, 0)
        used = sum(1 for c in lane if c)
        warp = squeeze(~free.get("warp", 0) & (1 << warps) - 1, warps, used)
        old = share(op, f, elem, old, free.get("register", 0), lane, warp)
    f.set(result, Tile.of(elem, old))


def share(
    op: tile.AtomicRMWOp | tile.AtomicCASOp,
    f: FunctionEmitter,
    elem: str,
    old: list[str],
    skip: int,
    lane: list[int],
    warp: list[int],
) -> list[str]:
    """Write each owner's values to scratch memory and read them in every thread.

    ``lane`` and ``warp`` are the columns that map the thread to the slot of its element; none for a scalar.
    """
    _, owner = ownership(f, op.ptr)
    assert owner is not None
    slot = apply_columns(f, {LANE: lane, WARP: warp})
    slots = 1 << sum(1 for c in (*lane, *warp) if c)
    base = f.scratch_offset(op)
    registers = [i for i in range(len(old)) if not i & skip]
    places = {r: f.shared_element(base, elem, slot, k * slots) for k, r in enumerate(registers)}
    with f.where(owner):
        for r in registers:
            f.line(f"store {elem} {old[r]}, {f.shared} {places[r]}, align {f.bits(elem) // 8}")
    f.threads.barrier()
    read = {r: f.inst(f"load {elem}, {f.shared} {places[r]}, align {f.bits(elem) // 8}") for r in registers}
    return [read[i & ~skip] for i in range(len(old))]


TABLE: dict[type[Operation], Emit] = {
    **case(tile.AtomicRMWOp, read_modify_write),
    **case(tile.AtomicCASOp, compare_and_swap),
}
