"""Atomic operations on global memory, each element by one of the threads that own it: neighbours in one instruction
where the machine has one that takes them.

Where the result is used and several threads hold copies of an element, the one that did the operation hands it to the
others through scratch memory.

A release of a program is one of all its threads: they meet in front of an atomic store that releases, and behind an
atomic load or a poll that acquires; from level 3.9 on so they do at a read-modify-write. No op declares that (a loop
with one stays a pipeline): barriers that other passes insert do not count on it. A thread reads relaxed while it polls,
and one fence behind its last read acquires (PTX ISA 9.0, "Acquire Pattern"; LLVM, "Atomic Memory Ordering
Constraints")."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from tritonx import level
from tritonx.conversion.gpu_to_llvm.exchange import squeeze
from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.indices import apply_columns
from tritonx.conversion.gpu_to_llvm.memory import Guard, cut, ownership, part
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.dialects import tile
from tritonx.dialects.tile.enums import MemSemantic
from tritonx.ir.dispatch import case
from tritonx.ir.failure import PassError
from tritonx.ir.types import is_tensor, pointee_of
from tritonx.layouts.dims import LANE, WARP

_Giving = tile.AtomicRMWOp | tile.AtomicCASOp | tile.AtomicLoadOp | tile.AtomicPollOp
"""The ops with a result."""


def pointee(f: FunctionEmitter, pointer: SSAValue) -> str:
    return f.type(pointee_of(pointer.type))


def read_modify_write(op: tile.AtomicRMWOp, f: FunctionEmitter) -> None:
    kind, sem, scope = (p.value.data for p in (op.atomic_rmw_op, op.sem, op.scope))
    plan = cut(op, f, op.ptr, op.mask, f.machine.memory.atomic_width(kind, pointee(f, op.ptr)))
    pointers, values = f.scalars(f.get(op.ptr)), f.get(op.val)
    masks = None if op.mask is None else f.scalars(f.get(op.mask))
    _, owner = ownership(f, op.ptr)
    guard = Guard(f, owner)
    _meet_to_release(f, sem, scope)
    access, made = plan.access, dict[int, str]()
    for group in plan.groups:
        mask = guard(None if masks is None else masks[group[0]])
        value = part(f, values, group)
        old = f.machine.memory.atomic(f, kind, pointers[group[0]], value, access, sem, scope, mask)
        if access.width == 1:
            made[group[0]] = old
        elif op.results[0].first_use is not None:
            made |= {r: f.inst(f"extractelement {access.type} {old}, i32 {i}") for i, r in enumerate(group)}
    has_met = finish(op, f, access.elem, [made.get(r, "poison") for r in plan.repeats])
    _meet_to_acquire(f, sem, has_met)


def _meet_to_release(f: FunctionEmitter, sem: int, scope: int) -> None:
    """In front of a read-modify-write."""
    if sem in (MemSemantic.RELEASE, MemSemantic.ACQUIRE_RELEASE) and level.active().meets_at_updates:
        f.machine.barrier_to_release(f, scope)


def _meet_to_acquire(f: FunctionEmitter, sem: int, has_met: bool) -> None:
    """Behind a read-modify-write."""
    if sem in (MemSemantic.ACQUIRE, MemSemantic.ACQUIRE_RELEASE) and level.active().meets_at_updates and not has_met:
        f.threads.barrier()


def compare_and_swap(op: tile.AtomicCASOp, f: FunctionEmitter) -> None:
    pointers, compare, values = (f.scalars(f.get(v)) for v in (op.ptr, op.cmp, op.val))
    skip, owner = ownership(f, op.ptr)
    elem = pointee(f, op.ptr)
    sem, scope = op.sem.value.data, op.scope.value.data
    _meet_to_release(f, sem, scope)
    old: list[str] = []
    for i, (pointer, expected, value) in enumerate(zip(pointers, compare, values, strict=True)):
        if i & skip:
            old.append(old[i & ~skip])
            continue
        old.append(f.machine.memory.compare_and_swap(f, pointer, expected, value, elem, sem, scope, owner))
    _meet_to_acquire(f, sem, finish(op, f, elem, old))


def load(op: tile.AtomicLoadOp, f: FunctionEmitter) -> None:
    pointers = f.scalars(f.get(op.ptr))
    masks = None if op.mask is None else f.scalars(f.get(op.mask))
    skip, owner = ownership(f, op.ptr)
    guard, elem = Guard(f, owner), pointee(f, op.ptr)
    sem, scope = op.sem.value.data, op.scope.value.data
    found: list[str] = []
    for i, pointer in enumerate(pointers):
        if i & skip:
            found.append(found[i & ~skip])
            continue
        mask = guard(None if masks is None else masks[i])
        found.append(f.machine.memory.atomic_load(f, pointer, elem, sem, scope, mask))
    if not finish(op, f, elem, found) and sem != MemSemantic.RELAXED:
        f.threads.barrier()


def store(op: tile.AtomicStoreOp, f: FunctionEmitter) -> None:
    pointers, values = (f.scalars(f.get(v)) for v in (op.ptr, op.val))
    masks = None if op.mask is None else f.scalars(f.get(op.mask))
    skip, owner = ownership(f, op.ptr)
    guard, elem = Guard(f, owner), pointee(f, op.ptr)
    sem, scope = op.sem.value.data, op.scope.value.data
    if sem != MemSemantic.RELAXED:
        f.machine.barrier_to_release(f, scope)
    for i, (pointer, value) in enumerate(zip(pointers, values, strict=True)):
        if not i & skip:
            mask = guard(None if masks is None else masks[i])
            f.machine.memory.atomic_store(f, pointer, value, elem, sem, scope, mask)


def poll(op: tile.AtomicPollOp, f: FunctionEmitter) -> None:
    skip, owner = ownership(f, op.ptr)
    pointers, expected = (f.scalars(f.get(v)) for v in (op.ptr, op.expected))
    deadline = None if op.timeout is None else _Deadline.of(op, f, f.scalar(op.timeout))
    scope, elem = op.scope.value.data, pointee(f, op.ptr)
    equal: dict[int, str] = {}
    before = f.block
    with f.where(owner):
        for i, (pointer, value) in enumerate(zip(pointers, expected, strict=True)):
            if not i & skip:
                equal[i] = _polled(f, pointer, value, elem, scope, deadline)
        if op.sem.value.data != MemSemantic.RELAXED:
            f.machine.memory.acquire(f, scope)
        after = f.block
    if deadline is None:  # every thread knows the result
        f.set(op.results[0], Tile.of("i1", ["true"] * len(pointers)))
        f.threads.barrier()
        return
    if owner is not None:
        equal = {i: f.inst(f"phi i1 [ {name}, %{after} ], [ false, %{before} ]") for i, name in equal.items()}
    bytes_ = {i: f.inst(f"zext i1 {name} to i8") for i, name in equal.items()}
    result = op.results[0]
    met = finish(op, f, "i8", [bytes_[i & ~skip] for i in range(len(pointers))])
    if result.first_use is not None:
        f.set(result, Tile.of("i1", [f.inst(f"trunc i8 {name} to i1") for name in f.scalars(f.get(result))]))
    if not met:
        f.threads.barrier()


@dataclass(frozen=True)
class _Deadline:
    """``limit`` nanoseconds after ``start``, both i64."""

    start: str
    limit: str

    @staticmethod
    def of(op: Operation, f: FunctionEmitter, limit: str) -> _Deadline:
        start = f.machine.nanoseconds(f)
        if start is None:
            raise PassError(op, "a poll with a timeout needs a clock, and this target has none")
        return _Deadline(start, limit)

    def is_over(self, f: FunctionEmitter) -> str:
        now = f.machine.nanoseconds(f)
        return f.inst(f"icmp uge i64 {f.inst(f'sub i64 {now}, {self.start}')}, {self.limit}")


def _polled(f: FunctionEmitter, pointer: str, expected: str, elem: str, scope: int, deadline: _Deadline | None) -> str:
    """Read until the element is what is expected, or the time is over; i1: whether it is."""
    again, done = f.new_label("poll"), f.new_label("polled")
    f.enter(again)
    found = f.machine.memory.poll(f, pointer, elem, scope)
    equal = f.inst(f"icmp eq {elem} {found}, {expected}")
    if deadline is None:
        f.branch_if(equal, done, again)
    else:
        waits = f.new_label("wait")
        f.branch_if(equal, done, waits)
        f.label(waits)
        f.branch_if(deadline.is_over(f), done, again)
    f.label(done)
    return equal


def finish(op: _Giving, f: FunctionEmitter, elem: str, old: list[str]) -> bool:
    """Bind the results, given to all threads that hold the element; whether the threads have met for that."""
    result = op.results[0]
    if result.first_use is None:
        f.set(result, Tile.of(elem, ["poison"] * len(old)))
        return False
    if not is_tensor(result.type):
        f.set(result, Tile.of(elem, share(op, f, elem, old, 0, [], [])))
        return True
    free = f.layout(result.type).free_masks()
    lanes = f.machine.warp_size.bit_length() - 1
    warps = f.threads.group.warps.bit_length() - 1
    is_shared = bool(free.get("lane", 0) or free.get("warp", 0))
    if is_shared:
        lane = squeeze(~free.get("lane", 0) & (1 << lanes) - 1, lanes, 0)
        used = sum(1 for c in lane if c)
        warp = squeeze(~free.get("warp", 0) & (1 << warps) - 1, warps, used)
        old = share(op, f, elem, old, free.get("register", 0), lane, warp)
    f.set(result, Tile.of(elem, old))
    return is_shared


def share(
    op: _Giving,
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
    **case(tile.AtomicLoadOp, load),
    **case(tile.AtomicStoreOp, store),
    **case(tile.AtomicPollOp, poll),
}
