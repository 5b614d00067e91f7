"""Which memory accesses may share a loop, and which must keep their order.

A kernel loads a whole tile before it stores; in a fused loop the store of one chunk precedes the load of the next. That
is the same program unless the tiles overlap at different positions. Two accesses may share a group if they have the
same base pointer and equal offsets, or bases that are different arguments and strides that agree (a stride known to be
1 against one known to be -1 or unknown does not). So `store(out + i, load(x + i))` fuses, and in-place reversals and
transpositions go through a buffer, as does all that is reached through one argument in two ways or through pointers
from memory. That two pointer *arguments* are not into one array, a partial overlap apart, is an assumption, which each
launch looks at (`disjoint.py`); code of the CPU's option `irregular`, which runs where it does not hold, is without it.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, SSAValue

from tritonx.conversion.tile_to_loops.families import LOADS, is_inline
from tritonx.conversion.tile_to_loops.groups import Anchor, Effect, Group, Materialise, anchor_operands, pointer_root
from tritonx.conversion.tile_to_loops.index import IndexAnalysis
from tritonx.dialects import tile
from tritonx.ir.types import is_tensor, shape_of

_ACCESSES = (tile.LoadOp, tile.StoreOp)


class Accesses:
    """The accesses of the anchors of one block. ``buffered``, which grows, holds the tiles that are in memory."""

    def __init__(self, block: Block, index: IndexAnalysis, buffered: set[SSAValue]) -> None:
        self.block = block
        self.index = index
        self.buffered = buffered
        self._known: dict[int, tuple[Anchor, int, tuple[list[Operation], list[Operation]]]] = {}
        """What an anchor does, by identity, as long as as many tiles are in memory."""

    def of(self, anchor: Anchor) -> tuple[list[Operation], list[Operation]]:
        """(loads, stores) that an anchor performs when it runs."""
        known = self._known.get(id(anchor))
        if known is None or known[0] is not anchor or known[1] != len(self.buffered):
            known = self._known[id(anchor)] = anchor, len(self.buffered), self._found(anchor)
        return known[2]

    def _found(self, anchor: Anchor) -> tuple[list[Operation], list[Operation]]:
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
        if not _stores(anchor) and not any(map(_stores, group.anchors)):
            return True  # loads alone need no order
        loads, stores = self.of(anchor)
        pairs = [(s, x) for s in stores for x in loads]
        for other in group.anchors:
            other_loads, other_stores = self.of(other)
            pairs += [(s, x) for s in stores for x in other_loads + other_stores]
            pairs += [(s, x) for s in other_stores for x in loads]
        return self.rely_on(pairs)

    def rely_on(self, pairs: Sequence[tuple[Operation, Operation]]) -> bool:
        """Whether accesses agree, a store first in each pair; if all do, the code is right for arguments that are apart
        where that made them agree."""
        if not all(self.agree(a, b) for a, b in pairs):
            return False
        for a, b in pairs:
            if isinstance(a, _ACCESSES) and isinstance(b, _ACCESSES) and not self._same_root(a.ptr, b.ptr):
                self.index.separation.relied[a.ptr, b.ptr] = None
        return True

    def _same_root(self, a: SSAValue, b: SSAValue) -> bool:
        fa, fb = self.index.form(a), self.index.form(b)
        return fa is not None and fb is not None and pointer_root(fa.base) is pointer_root(fb.base)

    def ordered(self, anchor: Anchor, group: Group) -> bool:
        """Whether the anchor must stay behind `group` because of memory."""
        group_stores = any(map(_stores, group.anchors))
        if _stores(anchor):
            return group_stores or any(self.of(a)[0] for a in group.anchors)
        return group_stores and bool(self.of(anchor)[0])

    def agree(self, a: Operation, b: Operation) -> bool:
        """Whether two accesses, one of them a store, touch the same address at the same position only."""
        if a is b:
            return True
        if not (isinstance(a, _ACCESSES) and isinstance(b, _ACCESSES)):
            return False
        if not (is_tensor(a.ptr.type) and is_tensor(b.ptr.type)):
            return False
        fa, fb = self.index.form(a.ptr), self.index.form(b.ptr)
        if fa is None or fb is None or shape_of(a.ptr.type) != shape_of(b.ptr.type):
            return False
        if self._same_root(a.ptr, b.ptr):
            return fa == fb
        for dim in range(len(shape_of(a.ptr.type))):
            sa, sb = fa.offset.stride(dim), fb.offset.stride(dim)
            if (
                sa is None
                or sb is None
                or (sa != sb and not (sa.constant_value() is None and sb.constant_value() is None))
            ):
                return False
        if fa.base is None or fb.base is None:
            return False
        return self.index.separation.holds(fa.base, fb.base)


def _stores(anchor: Anchor) -> bool:
    return isinstance(anchor, Effect)
