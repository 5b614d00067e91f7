"""Blocks that the copy engine stores are waited for when their memory is wanted again, not at once.

A store through a descriptor puts the tile into shared memory, from which the engine copies while the program goes on.
In a loop whose own copies stay in shared memory anyway (a pipeline over several tiles, see `flatten-loops`) nothing
else wants that memory before the next such store: it is taken in front of the loop, and waited for in front of that
store.

Who reads the tensor in the loop, or writes it otherwise, relies on the wait where it is, as does who makes the
descriptor there: these waits stay.

    for …                                   %memory = local_alloc
      %buffer = local_alloc %tile           for …
      fence                          →        async_tma_store_wait
      async_tma_copy %buffer                  local_store %tile, %memory
      async_tma_store_wait                    fence
                                              async_tma_copy %memory
                                            async_tma_store_wait
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, UnitAttr
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from tritonx.analysis.pointer_sources import pointers_of, roots_of
from tritonx.analysis.shared_budget import SharedBudget, fits_around
from tritonx.dialects import scf
from tritonx.dialects.control_flow import is_per_element, repeats
from tritonx.dialects.effects import Kind, Resource, declared_by
from tritonx.dialects.gpu_layout import LocalAllocOp, LocalDeallocOp, LocalStoreOp, MemDescType, memdesc
from tritonx.dialects.nvidia import (
    AsyncTMACopyGlobalToLocalOp,
    AsyncTMACopyLocalToGlobalOp,
    AsyncTMAReduceOp,
    FenceAsyncSharedOp,
    ReinterpretTensorDescOp,
    TensormapCreateOp,
    TMAStoreWaitOp,
)
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.edit import erase, is_defined_inside, replace
from tritonx.ir.types import i32, type_as
from tritonx.ir.walk import ops_in


@dataclass(frozen=True)
class LateStoreWaits(ModulePass):
    """Moves waits for the copy engine's stores to where their memory is stored to again.

    That is a `ttng.async_tma_store_wait` behind a `ttng.async_tma_copy_local_to_global` or `ttng.async_tma_reduce` of a
    buffer that is made for it alone, in an innermost `scf.for` with copies to shared memory of its own, or in branches
    of its body, if nothing there but such stores may access the array or orders memory. Arguments are taken to be
    different arrays, as schedules take them. The memory is taken in front of the loop, if there is room, and the wait
    is after the loop; the one in the loop is for the reads of that memory (`read_only`)."""

    name = "late-store-waits"
    contract = Contract(
        ("ttg",),
        on=("ttng.async_tma_store_wait",),
        creates=("ttg.local_dealloc", "ttg.local_store"),
        after=("copy-blocks", "expand-pipeline"),
    )

    shared_memory: int = 48 * 1024
    """Bytes of shared memory that a block may have."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        stores = [found for each in ops_in(op) if (found := _store(each)) is not None]
        limit = SharedBudget(self.shared_memory).within(op).limit if stores else 0
        for store in stores:
            if not store.keep(limit):
                return


def _store(wait: Operation) -> _Store | None:
    """What a wait is for, if that may be waited for later."""
    copy = wait.prev_op
    if not isinstance(wait, TMAStoreWaitOp) or not isinstance(copy, AsyncTMACopyLocalToGlobalOp | AsyncTMAReduceOp):
        return None
    buffer = copy.src.owner
    loop = _loop_of(wait)
    if loop is None or wait.pendings.value.data or not isinstance(buffer, LocalAllocOp) or buffer.src is None:
        return None
    if buffer.parent is not copy.parent or not buffer.result.has_one_use() or is_defined_inside(copy.desc, loop):
        return None
    arrays = arrays_of(copy.desc)
    if arrays is None or any(relies_on(each, arrays) for each in loop.walk()):
        return None
    return _Store(loop, buffer, wait)


def arrays_of(descriptor: SSAValue) -> frozenset[SSAValue] | None:
    """The arguments of the function that what a descriptor describes may be reached through; None where it may be
    anything. Of one that the kernel has made in memory it is what is written there."""
    made = descriptor.owner
    if not isinstance(made, ReinterpretTensorDescOp):
        return roots_of((descriptor,))
    writers = (use.operation for use in made.rawDesc.uses)
    bases = [writer.global_address for writer in writers if isinstance(writer, TensormapCreateOp)]
    return roots_of(bases) if bases else None


def relies_on(op: Operation, arrays: frozenset[SSAValue]) -> bool:
    """Whether an op of the loop, another one than these stores, may access one of the arrays, or orders what is written
    to global memory for others."""
    if isinstance(op, AsyncTMACopyLocalToGlobalOp | AsyncTMAReduceOp | FenceAsyncSharedOp):
        return False
    declared = declared_by(type(op))
    if declared is None:
        return True
    for effect in declared.own(op):
        if effect.kind is Kind.FENCE:
            return True
        if effect.kind in (Kind.READ, Kind.WRITE) and effect.resource is Resource.GLOBAL:
            places = effect.values(op) or pointers_of(op)
            found = [arrays_of(place) for place in places] or [None]
            if any(each is None or each & arrays for each in found):
                return True
    return False


def _loop_of(op: Operation) -> scf.ForOp | None:
    """The loop around an op, with nothing but branches between and no other inside, if it keeps copies of its own in
    shared memory."""
    around = op.parent_op()
    while isinstance(around, scf.IfOp):
        around = around.parent_op()
    if not isinstance(around, scf.ForOp):
        return None
    copies = any(isinstance(each, AsyncTMACopyGlobalToLocalOp) for each in around.body.block.ops)
    inside = [each for each in ops_in(around) if each is not around and repeats(each) and not is_per_element(each)]
    return around if copies and not inside else None


@dataclass(frozen=True)
class _Store:
    """A tile that goes through a buffer within a loop."""

    loop: scf.ForOp
    buffer: LocalAllocOp
    wait: TMAStoreWaitOp

    def keep(self, limit: int) -> bool:
        """Keep its memory for the whole loop; whether there is room in so many bytes."""
        given = type_as(self.buffer.result, MemDescType)
        whole = memdesc(given.shape, given.element_type, given.encoding, mutable=True)
        memory = Builder.before(self.loop).create(LocalAllocOp, (), (whole,))
        memory.result.name_hint = self.buffer.result.name_hint
        behind = list(self._behind(memory))
        if not fits_around(self.loop, {self.buffer}, limit):
            for op in reversed(behind):
                erase(op)
            erase(memory)
            return False
        before, tile_ = Builder.before(self.buffer), self.buffer.src
        assert tile_ is not None
        before.create(TMAStoreWaitOp, (), (), {"pendings": IntegerAttr(0, i32), "read_only": UnitAttr()})
        before.create(LocalStoreOp, (tile_, memory.result))
        replace(self.buffer, (memory.result,))
        erase(self.wait)
        return True

    def _behind(self, memory: LocalAllocOp) -> Iterator[Operation]:
        """Behind the loop the memory is waited for and given back."""
        block, location = self.loop.parent, self.loop.location
        assert block is not None
        free = LocalDeallocOp.create(operands=(memory.result,), location=location)
        wait = TMAStoreWaitOp.create(properties=self.wait.properties, location=location)
        block.insert_ops_after([wait, free], self.loop)
        yield wait
        yield free
