"""Tiles that are transposed on their way to memory lie there as they are, and the memory is viewed transposed.

What brings a tile to memory is then the load itself, which an asynchronous copy can stand for. And where a loop needs a
tile in both ways, as the gradients of attention do, one buffer serves both: every byte lies where it lay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from tritonx.analysis.buffers import is_shared_memory
from tritonx.dialects import tile
from tritonx.dialects.gpu_layout import (
    LocalAllocOp,
    LocalDeallocOp,
    MemDescTransOp,
    MemDescType,
    attribute_of,
    memdesc,
    shared_encoding,
)
from tritonx.ir.contract import Contract
from tritonx.ir.edit import erase, move_before
from tritonx.ir.edit import replace as replace_op
from tritonx.ir.types import shape_of, type_as, type_of
from tritonx.ir.walk import ops_in
from tritonx.layouts import LayoutError
from tritonx.layouts.shared import transposed_memory


@dataclass(frozen=True)
class ViewTransposed(ModulePass):
    """Stores what a transposition is of, and views the memory transposed.

    Replaces a `ttg.local_alloc` of a `tt.trans` by one of what is transposed, laid out so that the bytes are the
    same, and a `ttg.memdesc_trans`. Is there such an allocation already, in the same block, that one is viewed: of
    memory that is written once."""

    name = "view-transposed"
    contract = Contract(
        ("ttg",), on=("tt.trans",), creates=("ttg.local_alloc", "ttg.memdesc_trans"), after=("stage-dot-operands",)
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in ops_in(op):
            if isinstance(inner, LocalAllocOp) and inner.src is not None and is_shared_memory(inner.result):
                made = inner.src.owner
                if isinstance(made, tile.TransOp):
                    _view(inner, made)


def _view(alloc: LocalAllocOp, trans: tile.TransOp) -> None:
    given = type_as(alloc.result, MemDescType)
    described = _described(given, [int(axis) for axis in trans.order.get_values()], trans.src)
    block = alloc.parent
    if described is None or block is None:
        return
    stored = _stored_already(alloc, trans.src, described)
    if stored is None:
        stored = LocalAllocOp.create(
            operands=(trans.src,), result_types=(described,), properties=alloc.properties, location=alloc.location
        )
        stored.result.name_hint = alloc.result.name_hint
        block.insert_op_before(stored, alloc)
    view = MemDescTransOp.create(
        operands=stored.results, result_types=(given,), properties={"order": trans.order}, location=alloc.location
    )
    block.insert_op_before(view, alloc)
    replace_op(alloc, (view.result,))
    if trans.result.first_use is None:
        erase(trans)


def _described(view: MemDescType, order: Sequence[int], source: SSAValue) -> MemDescType | None:
    """The memory of which that is the transposed view; None where there is no name for it."""
    try:
        encoding = transposed_memory(shared_encoding(view), order, view.shape)
    except LayoutError:
        return None
    if encoding is None:
        return None
    return memdesc(shape_of(type_of(source)), view.element_type, attribute_of(encoding), mutable=view.mutable)


def _stored_already(alloc: LocalAllocOp, source: SSAValue, described: MemDescType) -> LocalAllocOp | None:
    """The allocation in the same block that holds the tile in this way, brought to where it is needed first."""
    block = alloc.parent
    for use in source.uses:
        other = use.operation
        if isinstance(other, LocalAllocOp) and other.parent is block and type_of(other.result) == described:
            if described.mutable or any(isinstance(each.operation, LocalDeallocOp) for each in other.result.uses):
                return None
            if not other.is_before_in_block(alloc):
                move_before(other, alloc)
            return other
    return None
