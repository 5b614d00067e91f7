"""Tiles that are transposed on their way to memory lie there as they are, and the memory is viewed transposed.

What brings a tile to memory is then the load itself, which an asynchronous copy can stand for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tritonx.dialects import tile
from tritonx.dialects.gpu_layout import (
    LocalAllocOp,
    MemDescTransOp,
    MemDescType,
    attribute_of,
    memdesc,
    shared_encoding,
)
from tritonx.ir.edit import erase
from tritonx.ir.edit import replace as replace_op
from tritonx.ir.types import element_type, shape_of, type_as, type_of
from tritonx.layouts.encodings import NvmmaSharedEncoding, SharedEncoding, SwizzledSharedEncoding


@dataclass(frozen=True)
class ViewTransposed(ModulePass):
    """Replaces a `ttg.local_alloc` of a two-dimensional `tt.trans` by one of what is transposed, laid out so that the
    bytes are the same, and a `ttg.memdesc_trans`."""

    name = "view-transposed"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            if isinstance(inner, LocalAllocOp) and inner.src is not None and isinstance(inner.src.owner, tile.TransOp):
                _view(inner, inner.src.owner)


def _view(alloc: LocalAllocOp, trans: tile.TransOp) -> None:
    order = tuple(int(axis) for axis in trans.order.get_values())
    given = type_as(alloc.result, MemDescType)
    encoding = _turned(shared_encoding(given))
    if order != (1, 0) or encoding is None:
        return
    block = alloc.parent
    assert block is not None
    source = trans.src
    described = memdesc(
        shape_of(type_of(source)), element_type(type_of(source)), attribute_of(encoding), mutable=given.mutable
    )
    made = LocalAllocOp.create(operands=(source,), result_types=(described,), location=alloc.location)
    view = MemDescTransOp.create(
        operands=made.results, result_types=(given,), properties={"order": trans.order}, location=alloc.location
    )
    block.insert_op_before(made, alloc)
    block.insert_op_before(view, alloc)
    replace_op(alloc, (view.result,))
    if trans.result.first_use is None:
        erase(trans)


def _turned(encoding: SharedEncoding) -> SharedEncoding | None:
    """The encoding of the transposed tile whose bytes lie in the same places; None where there is no name for it."""
    match encoding:
        case NvmmaSharedEncoding(rank=2, cga=()):
            return replace(encoding, transposed=not encoding.transposed)
        case SwizzledSharedEncoding(order=(first, second), cga=()):
            return replace(encoding, order=(second, first))
        case _:
            return None
