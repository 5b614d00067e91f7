"""What is transposed on its way to shared memory is stored as it is, and read transposed.

A product's operand that is written `k.T` comes out of assign-layouts as a tile whose transpose is stored. Stored as it
is, in the encoding whose transposed view that is, every byte lies where it lay, and what remains of the transposition
is a name. But now the loaded tile itself is what the buffer holds: a copy can bring it there without threads, and where
a loop needs the tile in both ways, as the gradients of attention do, one buffer serves both."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from tritonx.analysis.buffers import is_shared_memory
from tritonx.dialects import tile
from tritonx.dialects.gpu_layout import LocalAllocOp, MemDescTransOp, MemDescType, attribute_of, encoding_value, memdesc
from tritonx.ir.builder import Builder
from tritonx.ir.edit import erase, move_before, replace
from tritonx.ir.types import i32, shape_of, type_of
from tritonx.layouts import LayoutError
from tritonx.layouts.lookup import is_shared
from tritonx.layouts.shared import transposed_memory


@dataclass(frozen=True)
class TransposeInMemory(ModulePass):
    """A `ttg.local_alloc` of a `tt.trans` becomes a `ttg.memdesc_trans` of the `ttg.local_alloc` of what is transposed,
    of one that there is already where the types agree. Memory that is written again stays as it is."""

    name = "transpose-in-memory"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            if isinstance(inner, LocalAllocOp) and inner.src is not None and is_shared_memory(inner.result):
                made = inner.src.owner
                if isinstance(made, tile.TransOp):
                    _store_as_it_is(inner, made)


def _store_as_it_is(alloc: LocalAllocOp, trans: tile.TransOp) -> None:
    order = [int(axis) for axis in trans.order.get_values()]
    type_ = _stored(type_of(alloc.result), order, trans.src)
    if type_ is None:
        return
    stored = _there_already(alloc, trans.src, type_)
    if stored is None:
        stored = Builder.before(alloc).create(LocalAllocOp, (trans.src,), (type_,), alloc.properties)
        stored.result.name_hint = alloc.result.name_hint
    properties = {"order": DenseArrayBase.from_list(i32, order)}
    view = Builder.before(alloc).create(MemDescTransOp, (stored.result,), (type_of(alloc.result),), properties)
    replace(alloc, view.results)
    if trans.result.first_use is None:
        erase(trans)


def _stored(view: object, order: list[int], source: SSAValue) -> MemDescType | None:
    """The type of the memory of which that is the transposed view; None where there is none."""
    assert isinstance(view, MemDescType)
    encoding = encoding_value(view.encoding)
    if view.mutable or not is_shared(encoding):
        return None
    try:
        found = transposed_memory(encoding, order, view.shape)
    except LayoutError:
        return None
    return None if found is None else memdesc(shape_of(type_of(source)), view.element_type, attribute_of(found))


def _there_already(alloc: LocalAllocOp, source: SSAValue, type_: MemDescType) -> LocalAllocOp | None:
    """The allocation in the same block that holds the tile in the same way, brought to where it is needed first."""
    block = alloc.parent
    assert block is not None
    for use in source.uses:
        other = use.operation
        if isinstance(other, LocalAllocOp) and other.parent is block and type_of(other.result) == type_:
            if not other.is_before_in_block(alloc):
                move_before(other, alloc)
            return other
    return None
