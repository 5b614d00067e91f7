"""Which memory accesses may share a loop, and which must keep their order.

A kernel loads a whole tile before it stores; in a fused loop the store of one chunk precedes the load of the next. That
is the same program unless the tiles overlap at different positions. Two accesses may share a group if they have the
same base pointer and equal offsets, or different base pointers and strides that agree (a stride known to be 1 against
one known to be -1 or unknown does not). So `store(out + i, load(x + i))` fuses, and in-place reversals and
transpositions go through a buffer. What is excluded by assumption is two pointer *arguments* into one array, a partial
overlap apart, used with equal strides.
"""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue

from tritonx.conversion.tile_to_loops.families import LOADS, is_inline
from tritonx.conversion.tile_to_loops.groups import Anchor, Effect, Group, Materialise, anchor_operands, pointer_root
from tritonx.conversion.tile_to_loops.index import IndexAnalysis
from tritonx.dialects import tile
from tritonx.ir.types import is_tensor, shape_of


class Accesses:
    """The accesses of the anchors of one block. ``buffered``, which grows, holds the tiles that are in memory."""

    def __init__(self, block: Block, index: IndexAnalysis, buffered: set[SSAValue]) -> None:
        self.block = block
        self.index = index
        self.buffered = buffered

    def of(self, anchor: Anchor) -> tuple[list[Operation], list[Operation]]:
        """(loads, stores) that an anchor performs when it runs."""
        loads: list[Operation] = []
        seen: set[SSAValue] = set()

        def visit(value: SSAValue) -> None:
            if value in seen or (
                value in self.buffered and not (isinstance(anchor, Materialise) and value is anchor.value)
            ):
                return
            seen.add(value)
            op = value.owner
            if is_inline(op) and op.parent is self.block:
                if type(op) in LOADS:
                    loads.append(op)
                for v in op.operands:
                    visit(v)

        for v in anchor_operands(anchor):
            visit(v)
        return loads, [anchor.op] if isinstance(anchor, Effect) else []

    def may_share(self, anchor: Anchor, group: Group) -> bool:
        """Whether the anchor's accesses may be made chunk by chunk in the loop of `group`."""
        loads, stores = self.of(anchor)
        if stores and not all(self.agree(s, x) for s in stores for x in loads):
            return False
        for other in group.anchors:
            other_loads, other_stores = self.of(other)
            pairs = [(s, x) for s in stores for x in other_loads + other_stores]
            pairs += [(s, x) for s in other_stores for x in loads]
            if not all(self.agree(a, b) for a, b in pairs):
                return False
        return True

    def ordered(self, anchor: Anchor, group: Group) -> bool:
        """Whether the anchor must stay behind `group` because of memory."""
        loads, stores = self.of(anchor)
        group_stores = any(isinstance(a, Effect) for a in group.anchors)
        group_loads = any(self.of(a)[0] for a in group.anchors)
        return bool((stores and (group_loads or group_stores)) or (loads and group_stores))

    def agree(self, a: Operation, b: Operation) -> bool:
        """Whether two accesses, one of them a store, touch the same address at the same position only."""
        if a is b:
            return True
        if not (isinstance(a, tile.LoadOp | tile.StoreOp) and isinstance(b, tile.LoadOp | tile.StoreOp)):
            return False
        if not (is_tensor(a.ptr.type) and is_tensor(b.ptr.type)):
            return False
        fa, fb = self.index.form(a.ptr), self.index.form(b.ptr)
        if fa is None or fb is None or shape_of(a.ptr.type) != shape_of(b.ptr.type):
            return False
        if pointer_root(fa.base) is pointer_root(fb.base):
            return fa == fb
        for dim in range(len(shape_of(a.ptr.type))):
            sa, sb = fa.offset.stride(dim), fb.offset.stride(dim)
            if (
                sa is None
                or sb is None
                or (sa != sb and not (sa.constant_value() is None and sb.constant_value() is None))
            ):
                return False
        return True
