"""Loads and stores through pointers.

A thread's elements are accessed ``width`` at a time, where the analysis has shown that so many registers are
consecutive in memory, aligned, and under one value of the mask. Threads that hold copies of an element load it each
for itself, but only one of them stores it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from tritonx.analysis.access_width import pointer_accesses
from tritonx.analysis.axis_value import AxisInfo
from tritonx.conversion.gpu_to_llvm import split_vectors
from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.machine import Access
from tritonx.conversion.gpu_to_llvm.types import bits, is_held
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.dialects import tile
from tritonx.dialects.tile.cache_policy import policy_of
from tritonx.ir.dispatch import case
from tritonx.ir.explain import explain, is_asked
from tritonx.ir.failure import PassError
from tritonx.ir.types import element_type, is_tensor, pointee_of
from tritonx.layouts import access_vectors, redundancy

TOPIC = "accesses"

MOST = 128
"""Elements of an access: as many as there are bits."""


@dataclass(frozen=True)
class Cut:
    """An op's accesses: one ``access`` for each of ``groups``, whose registers are neighbours in memory.

    ``repeats[r]`` is the register that holds the same element as register r and is in a group. ``split``: the mask may
    change once within a group (``split_vectors``).
    """

    access: Access
    groups: tuple[tuple[int, ...], ...]
    repeats: tuple[int, ...]
    split: bool = False


def cut(
    op: Operation,
    f: FunctionEmitter,
    pointer: SSAValue,
    mask: SSAValue | None,
    most: int = MOST,
    *,
    may_split: bool = False,
) -> Cut:
    """The vector accesses, of at most ``most`` elements, that a load, store or the like through ``pointer`` is made
    of.
    """
    type_ = pointer.type
    element = element_type(pointee_of(type_))
    if f.type(type_) != f.global_:
        raise PassError(op, f"accesses are to global memory, and this one goes through {element_type(type_)}")
    if not is_held(element):
        raise PassError(op, f"no target has registers for {element}")
    elem = f.type(element)
    size = bits(elem)
    width, groups, repeats, split = 1, ((0,),), (0,), False
    if is_tensor(type_):
        layout = f.layout(type_)
        found = pointer_accesses(f.module.axis_info, layout, pointer, mask, size, may_split=may_split)
        vectors = access_vectors(layout, found.dim, min(found.width, most))
        width, groups, repeats = vectors.width, vectors.groups, vectors.repeats
        split = found.split and width > 1
    cache, evict = getattr(op, "cache", None), getattr(op, "evict", None)
    volatile = getattr(op, "isVolatile", None)
    access = Access(
        elem,
        width,
        width * size // 8,
        1 if cache is None else cache.value.data,
        1 if evict is None else evict.value.data,
        volatile is not None and bool(volatile.value.data),
        policy_of(op),
    )
    return Cut(access, groups, repeats, split)


def say_if_narrow(op: Operation, f: FunctionEmitter, plan: Cut, facts: AxisInfo, mask: SSAValue | None) -> None:
    """For who asks: why a thread's elements go one by one. ``facts`` are those of their addresses."""
    if not is_asked(TOPIC) or plan.access.width > 1 or len(plan.groups) == 1:
        return
    constancy = "" if mask is None else f", and the mask has one value in runs of {_by_dim(f, mask)}"
    explain(
        TOPIC,
        op,
        f"Warning: vectorization fails: {len(plan.groups)} elements of {bits(plan.access.elem)} bits go one by one, "
        f"since neighbours in memory are runs of {' x '.join(map(str, facts.contiguity))}, each begins at a multiple "
        f"of {' x '.join(map(str, facts.divisibility))} bytes{constancy}",
    )


def _by_dim(f: FunctionEmitter, mask: SSAValue) -> str:
    return " x ".join(map(str, f.module.axis_info.of(mask).constancy))


def load(op: tile.LoadOp, f: FunctionEmitter) -> None:
    plan = cut(op, f, op.ptr, op.mask, may_split=f.module.has_room(op, op.result))
    say_if_narrow(op, f, plan, f.module.axis_info.of(op.ptr), op.mask)
    access = plan.access
    pointers = f.scalars(f.get(op.ptr))
    masks = None if op.mask is None else f.scalars(f.get(op.mask))
    other = None if op.other is None else f.get(op.other)
    if plan.split and masks is not None:
        places = [pointers[group[0]] for group in plan.groups]
        return load_split(f, split_vectors.Pointers(f), op.result, plan, places, masks, other)
    parts: list[str] = []
    made: dict[tuple[str, str | None, str | None], str] = {}
    for group in plan.groups:
        mask = None if masks is None or masks[group[0]] == "true" else masks[group[0]]
        rest = None if other is None or mask is None else part(f, other, group)
        key = pointers[group[0]], mask, rest
        if key not in made or access.volatile:
            made[key] = f.machine.memory.load(f, pointers[group[0]], access, mask, rest)
        parts.append(made[key])
    f.result(op, gather_parts(f, access, parts, plan))


def load_split(
    f: FunctionEmitter,
    memory: split_vectors.Memory,
    result: SSAValue,
    plan: Cut,
    places: Sequence[str],
    masks: Sequence[str],
    other: Tile | None,
) -> None:
    """Load ``result`` by vectors that masks may divide; ``places`` are those of the groups' first elements, and
    ``other`` is what elements have whose mask does not hold."""
    rests = [None if other is None else part(f, other, group) for group in plan.groups]
    vectors = split_vectors.vectors(f, plan.groups, places, masks)

    def take(parts: list[str]) -> None:
        f.set(result, gather_parts(f, plan.access, parts, plan))

    split_vectors.load(f, memory, result, vectors, plan.access, rests, take)


def part(f: FunctionEmitter, value: Tile, group: tuple[int, ...]) -> str:
    """The registers of ``group`` as one operand."""
    if value.prefers_vector:
        first, count = group[0], len(group)
        if group == tuple(range(first, first + count)):
            return f.run(value, first, count)
        return f.wide(f.permute(value, list(group)))
    names = f.scalars(value)
    return f.pack(value.elem, [names[r] for r in group])


def gather_parts(f: FunctionEmitter, access: Access, parts: list[str], plan: Cut) -> Tile:
    """The tile whose registers were loaded group by group; data becomes a vector, single integers and pointers a
    list.
    """
    elem, width, n = access.elem, access.width, len(plan.repeats)
    order = [r for group in plan.groups for r in group]
    if width == 1 and (elem.startswith(("ptr", "i")) or len(parts) == 1):
        by_register = dict(zip(order, parts, strict=True))
        return Tile.of(elem, [by_register[r] for r in plan.repeats])
    loaded = Tile.wide(elem, len(order), f.concat(elem, parts, width))
    if order == list(range(n)):
        return loaded
    where = {r: i for i, r in enumerate(order)}
    return f.permute(loaded, [where[r] for r in plan.repeats])


def store(op: tile.StoreOp, f: FunctionEmitter) -> None:
    plan = cut(op, f, op.ptr, op.mask, may_split=f.module.has_room(op, op.value))
    say_if_narrow(op, f, plan, f.module.axis_info.of(op.ptr), op.mask)
    pointers, value = f.scalars(f.get(op.ptr)), f.get(op.value)
    masks = None if op.mask is None else f.scalars(f.get(op.mask))
    _, owner = ownership(f, op.ptr)
    guard = Guard(f, owner)
    if plan.split and masks is not None:
        places = [pointers[group[0]] for group in plan.groups]
        return store_split(f, split_vectors.Pointers(f), plan, places, masks, guard, value)
    for group in plan.groups:
        mask = guard(None if masks is None else masks[group[0]])
        f.machine.memory.store(f, pointers[group[0]], part(f, value, group), plan.access, mask)


def store_split(
    f: FunctionEmitter,
    memory: split_vectors.Memory,
    plan: Cut,
    places: Sequence[str],
    masks: Sequence[str],
    guard: Guard,
    value: Tile,
) -> None:
    """Store ``value`` by vectors that masks may divide, at ``places``, those of the groups' first elements."""
    values = [part(f, value, group) for group in plan.groups]
    vectors = split_vectors.vectors(f, plan.groups, places, [guard(mask) or "true" for mask in masks])
    split_vectors.store(f, memory, vectors, plan.access, values)


def ownership(f: FunctionEmitter, pointer: SSAValue) -> tuple[int, str | None]:
    """Register bits that only make copies, and an i1 that holds in one of the threads that own an element.

    A scalar belongs to thread 0.
    """
    if not is_tensor(pointer.type):
        thread = f.threads.thread
        with f.in_prologue():
            return 0, f.inst(f"icmp eq i32 {thread}, 0")
    layout = f.layout(pointer.type)
    return redundancy(layout).registers, f.threads.indices(layout).owner


class Guard:
    """``owner and mask``, written once for each mask."""

    def __init__(self, f: FunctionEmitter, owner: str | None) -> None:
        self.f = f
        self.owner = owner
        self.made: dict[str, str] = {}

    def __call__(self, mask: str | None) -> str | None:
        if mask is None or mask == "true":
            return self.owner
        if self.owner is None:
            return mask
        if mask not in self.made:
            self.made[mask] = self.f.inst(f"and i1 {self.owner}, {mask}")
        return self.made[mask]


TABLE: dict[type[Operation], Emit] = {
    **case(tile.LoadOp, load),
    **case(tile.StoreOp, store),
}
