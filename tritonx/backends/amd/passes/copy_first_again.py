"""Copies to the LDS, for iterations that there are not, of the tile of the first iteration.

A copy past the registers cannot be masked off: a lane whose mask is false reads zeros from other memory, and an address
in registers of a lane takes two selects for that. Where one condition holds for all lanes, and nothing reads what is
copied if it is false, a lane may as well read what the first iteration has read: one pointer in scalar registers is
selected, for all copies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass

from tritonx.dialects import arith, scf, tile
from tritonx.dialects.arith import CmpiPredicate
from tritonx.dialects.control_flow import carried_argument
from tritonx.dialects.gpu_layout import AsyncCopyGlobalToLocalOp
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.declaration import SEGMENTS
from tritonx.ir.edit import clone, replace
from tritonx.ir.types import type_of
from tritonx.ir.walk import ops_in
from tritonx.transforms.pipelining.run_ahead import UNREAD


@dataclass(frozen=True)
class CopyFirstAgain(ModulePass):
    """Copies the first iteration's tile again where nothing reads what is copied.

    Of `ttg.async_copy_global_to_local` in a loop whose mask is one condition, marked `tritonx.unread`: the pointers are
    one that the loop carries plus offsets. In front of the loop a copy by the same offsets, from the pointer that the
    loop's was moved from, is not masked if the loop runs. Takes the marks of all copies away."""

    name = "copy-first-again"
    contract = Contract(
        ("ttg",),
        on=("ttg.async_copy_global_to_local",),
        creates=("arith.select", "tt.splat", "tt.addptr"),
        reads=(UNREAD,),
        after=("carry-scalar-pointers", "use-buffer-accesses"),
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        copies = [inner for inner in ops_in(op) if isinstance(inner, AsyncCopyGlobalToLocalOp)]
        for copy in copies:
            if UNREAD in copy.attributes and isinstance(loop := copy.parent_op(), scf.ForOp):
                _unmask(copy, loop)
        for inner in ops_in(op):
            inner.attributes.pop(UNREAD, None)


def _unmask(copy: AsyncCopyGlobalToLocalOp, loop: scf.ForOp) -> None:
    condition, made = _condition(copy), _recipe(copy.src)
    if condition is None or not made or copy.other is not None:
        return
    pointer = made[0].operands[0]
    carried = carried_argument(pointer) if isinstance(pointer, BlockArgument) else None
    if carried is None or pointer.owner is not loop.body.block:
        return
    first = _without_offsets(carried.initial.value)
    if not any(_is_read(other, first, made, loop) for other in _in_front_of(loop)):
        return
    builder = Builder.before(copy)
    selected = builder.emit(arith.SelectOp, (condition, pointer, first), (type_of(pointer),))
    values = {pointer: selected}
    for op in made:
        builder.insert(clone(op, values))
    properties = {name: value for name, value in copy.properties.items() if name != SEGMENTS}
    operands = (values[copy.src], copy.result)
    again = builder.create(AsyncCopyGlobalToLocalOp, operands, (copy.token.type,), properties)
    replace(copy, again.results)


def _condition(copy: AsyncCopyGlobalToLocalOp) -> SSAValue | None:
    """The one that the mask is for all lanes."""
    made = None if copy.mask is None else copy.mask.owner
    return made.src if isinstance(made, tile.SplatOp) else None


def _recipe(value: SSAValue) -> tuple[Operation, ...]:
    """The ops that make a tile of one pointer, `tt.splat` first; none where it is not made of one by offsets."""
    found: list[Operation] = []
    while isinstance(op := value.owner, tile.SplatOp | tile.AddPtrOp | tile.BroadcastOp | tile.ExpandDimsOp):
        found.append(op)
        if isinstance(op, tile.SplatOp):
            return tuple(reversed(found))
        value = op.operands[0]
    return ()


def _without_offsets(pointer: SSAValue) -> SSAValue:
    while isinstance(op := pointer.owner, tile.AddPtrOp):
        pointer = op.ptr
    return pointer


def _in_front_of(loop: scf.ForOp) -> Iterator[AsyncCopyGlobalToLocalOp]:
    op = loop.prev_op
    while op is not None:
        if isinstance(op, AsyncCopyGlobalToLocalOp):
            yield op
        op = op.prev_op


def _is_read(copy: AsyncCopyGlobalToLocalOp, pointer: SSAValue, recipe: tuple[Operation, ...], loop: scf.ForOp) -> bool:
    """Whether a copy reads, if the loop runs, what `recipe` makes of a pointer."""
    own = _recipe(copy.src)
    if len(own) != len(recipe) or own[0].operands[0] is not pointer or not _holds(copy, loop):
        return False
    return all(
        isinstance(one, type(other))
        and one.result_types == other.result_types
        and one.operands[1:] == other.operands[1:]
        and one.properties == other.properties
        for one, other in zip(own, recipe, strict=True)
    )


def _holds(copy: AsyncCopyGlobalToLocalOp, loop: scf.ForOp) -> bool:
    """Whether a copy is not masked if the loop runs."""
    if copy.mask is None:
        return True
    compared = None if (condition := _condition(copy)) is None else condition.owner
    return (
        isinstance(compared, arith.CmpiOp)
        and compared.predicate.value.data == CmpiPredicate.SLT
        and compared.operands[0] is loop.lb
        and compared.operands[1] is loop.ub
        and loop.unsigned is None
    )
