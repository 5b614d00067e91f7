"""The fusion plan: which tiles become memory, and which loops share an iteration.

A tile need not exist. `exp(x - m)` over 1024 elements is a loop that computes sixteen elements at a time in vector
registers; only some tiles have to lie in memory, because they are read in another order or in a later loop. For
one block of straight-line code the planner decides:

* **inline** ops compute nothing by themselves: they are evaluated, for the chunk of elements at hand, wherever they are
  used. Loads are inline too. *Cheap* ones (index arithmetic, comparisons of it, constants, and their broadcasts) are
  recomputed at every use; others are computed once.
* **anchors** make loops: a store, a reduction, an assertion, or writing a tile to a buffer (`Materialise`).
* a **group** is a list of anchors over one iteration space that share a loop nest. A reduction fixes how the axis is
  walked (see reduce.py), so two reductions share a group only if they agree on the axis.

An anchor joins an earlier group unless it needs a result which that group only has at its end, or unless moving it
there would reorder conflicting memory accesses. A tile is materialised if it is read out of order (broadcast,
transposed, reshaped, gathered from, a dot operand), if it enters or leaves a region or block, or if two groups need it
and it is not trivial to recompute. A load of whole vectors is: a copy of the row would be in the same cache beside it.

Whether accesses of memory conflict is what accesses.py decides.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue, Use

from tritonx.conversion.tile_to_loops.accesses import Accesses
from tritonx.conversion.tile_to_loops.families import (
    CHEAP,
    EFFECT_ANCHORS,
    LOADS,
    TRIVIAL,
    VIEW_SOURCES,
    is_inline,
    reads_memory,
    writes_memory,
)
from tritonx.conversion.tile_to_loops.groups import (
    Anchor,
    Compute,
    Effect,
    Group,
    Item,
    Materialise,
    Plan,
    Reduction,
    anchor_operands,
    nested_operands,
    opaque,
)
from tritonx.conversion.tile_to_loops.index import IndexAnalysis
from tritonx.conversion.tile_to_loops.loops import last_wide_dimension
from tritonx.dialects import tile
from tritonx.ir.types import PointerType, element_type, is_tensor, shape_of

RECOMPUTE_COST = 3
"""Most instructions that a tile needed by two loops may take to compute again rather than be written and read."""

GROUPS_TRIED = 64
"""Pending groups, the last ones, that an anchor may join: planning must not take time in the square of the block."""

CHEAP_COST = 14
"""Most ops that a tile may take to recompute and still count as cheap."""


class Planner:
    """Plans one block. ``buffered`` holds the tiles that enclosing and earlier blocks have in memory; it grows."""

    def __init__(self, block: Block, index: IndexAnalysis, buffered: set[SSAValue]) -> None:
        self.block = block
        self.index = index
        self.buffered = buffered
        self.accesses = Accesses(block, index, buffered)
        self.items: list[Item] = []
        self.pending: list[Group] = []
        self._cost: dict[SSAValue, int | None] = {}
        self._settled: set[SSAValue] = set()
        """The values whose sources are in memory as far as they must be: no walk goes below one of them again."""
        self._needs: dict[tuple[SSAValue, bool], Group | None] = {}
        """The last pending group that must come before the reader (element by element or not) of a value."""
        self._makers: dict[SSAValue, tuple[Group, bool]] = {}
        """The pending group that makes a value, and whether it has it element by element."""
        self._last_use: dict[SSAValue, int] = {}
        self._position: dict[Operation, int] = {}

    def plan(self) -> Plan:
        ops = list(self.block.ops)
        self._position = {op: i for i, op in enumerate(ops)}
        self._find_last_uses(ops)
        loads: list[Operation] = []
        for op in ops:
            if is_inline(op) and op.results and is_tensor(op.results[0].type):
                if type(op) in LOADS:
                    loads.append(op)
                if self._escapes(op):
                    for value in op.results:
                        self.force(value)
                continue
            if writes_memory(op):
                self._settle_loads(loads, op)
            if isinstance(op, tile.ReduceOp):
                shape = shape_of(op.operands[0].type)
                self._add(Reduction(op), shape, op.axis.value.data)
            elif type(op) in EFFECT_ANCHORS and is_tensor(op.operands[0].type):
                self._add(Effect(op), shape_of(op.operands[0].type), None)
            else:
                self._opaque(op)
        self._flush()
        self._materialise_shared()
        self._keep_in_registers()
        return Plan(self.items, self.buffered)

    # ---- facts about values

    def cheap(self, value: SSAValue) -> bool:
        """Whether to recompute the tile at every use."""
        return self._cheap_cost(value) is not None

    def _cheap_cost(self, value: SSAValue) -> int | None:
        if not is_tensor(value.type):
            return 0
        if value in self.buffered:
            return 1
        if value not in self._cost:
            self._cost[value] = None
            self._cost[value] = self._compute_cost(value)
        return self._cost[value]

    def _compute_cost(self, value: SSAValue) -> int | None:
        op = value.owner
        if isinstance(op, Operation) and not is_inline(op):
            return 1  # its producer writes it to memory
        if isinstance(op, Block) or type(op) not in CHEAP:
            form = self.index.form(value) if _indexlike(value.type) else None
            return 1 if form is not None and not opaque(form, value) else None
        if isinstance(op, tile.ReshapeOp):
            form = self.index.form(value)
            return 1 if form is not None and not opaque(form, value) else None
        total = 1
        for operand in op.operands:
            cost = self._cheap_cost(operand)
            if cost is None:
                return None
            total += cost
        return total if total <= CHEAP_COST else None

    def _find_last_uses(self, ops: list[Operation]) -> None:
        """For each value the last op of this block that needs it, directly or through inline ops."""
        for i in range(len(ops) - 1, -1, -1):
            op = ops[i]
            at = i
            if is_inline(op) and op.results and is_tensor(op.results[0].type):
                at = max((self._last_use.get(r, -1) for r in op.results), default=-1)
                if self._escapes(op):
                    at = len(ops)
            for value in nested_operands(op):
                self._last_use[value] = max(self._last_use.get(value, -1), at)

    def _escapes(self, op: Operation) -> bool:
        """Whether a result is used in another block that is not nested in this one."""
        for result in op.results:
            for use in result.uses:
                if self.ancestor(use.operation) is None and not self.cheap(result):
                    return True
        return False

    def ancestor(self, op: Operation) -> Operation | None:
        """The op of this block that is or contains `op`."""
        current: Operation | None = op
        while current is not None and current.parent is not self.block:
            current = current.parent_op()
        return current

    # ---- adding

    def force(self, value: SSAValue, *, strictly: bool = False) -> None:
        """See that a tile is in memory; or, unless `strictly`, cheap."""
        if not is_tensor(value.type) or value in self.buffered or (not strictly and self.cheap(value)):
            return
        if not is_inline(value.owner):
            return  # its producer writes it to memory
        self._add(Materialise(value), shape_of(value.type), None)
        self.buffered.add(value)

    def _add(self, anchor: Anchor, shape: tuple[int, ...], axis: int | None) -> None:
        operands = anchor_operands(anchor)
        for value in operands:
            self._force_sources(value)
        lower = max(self._first_after_sources(operands), len(self.pending) - GROUPS_TRIED)
        alone = isinstance(anchor, Effect) and not isinstance(anchor.op, tile.StoreOp)
        if not alone:
            for i in range(len(self.pending) - 1, lower - 1, -1):
                group = self.pending[i]
                if self._compatible(group, shape, axis) and self.accesses.may_share(anchor, group):
                    group.anchors.append(anchor)
                    self._joined(anchor, group)
                    group.axis = axis if group.axis is None else group.axis
                    return
                if self.accesses.ordered(anchor, group):
                    lower = max(lower, i + 1)
                    break
        at = len(self.pending) if isinstance(anchor, Effect) else self._earliest(anchor, lower)
        group = Group(shape, axis, [anchor])
        self.pending.insert(at, group)
        self._joined(anchor, group)

    def _earliest(self, anchor: Anchor, lower: int) -> int:
        for i in range(len(self.pending) - 1, lower - 1, -1):
            if self.accesses.ordered(anchor, self.pending[i]):
                return i + 1
        return lower

    @staticmethod
    def _compatible(group: Group, shape: tuple[int, ...], axis: int | None) -> bool:
        if any(isinstance(a, Effect) and not isinstance(a.op, tile.StoreOp) for a in group.anchors):
            return False
        return group.shape == shape and (axis is None or group.axis is None or group.axis == axis)

    def _force_sources(self, value: SSAValue) -> None:
        """Force what inline ops below `value` read out of order."""
        if value in self._settled or not is_tensor(value.type) or value in self.buffered or self.cheap(value):
            return
        self._settled.add(value)
        op = value.owner
        if not is_inline(op) or op.parent is not self.block:
            return
        sources = VIEW_SOURCES.get(type(op), ())
        for i, operand in enumerate(op.operands):
            if i in sources:
                self._force_sources(operand)
                self.force(operand, strictly=isinstance(op, tile.ReshapeOp))
            else:
                self._force_sources(operand)

    def _first_after_sources(self, operands: list[SSAValue]) -> int:
        """The first pending group that comes after all those which make, and only at their end have, what is needed."""
        if not self.pending:
            return 0
        position = {id(group): i for i, group in enumerate(self.pending)}
        found = [self._needed(value, True, position) for value in operands]
        return max((position[id(group)] + 1 for group in found if group is not None), default=0)

    def _needed(self, value: SSAValue, in_order: bool, position: Mapping[int, int]) -> Group | None:
        """The last pending group that must come before what reads `value`, element by element if `in_order`."""
        key = value, in_order
        if key in self._needs:
            return self._needs[key]
        last: Group | None = None
        made = self._makers.get(value)
        if made is not None:
            group, aligned = made
            last = None if aligned and in_order and shape_of(value.type) == group.shape else group
        elif value not in self.buffered:
            op = value.owner
            if is_inline(op) and op.parent is self.block:
                sources = VIEW_SOURCES.get(type(op), ())
                for i, v in enumerate(op.operands):
                    group = self._needed(v, in_order and i not in sources, position)
                    if group is not None and (last is None or position[id(group)] > position[id(last)]):
                        last = group
        self._needs[key] = last
        return last

    def _joined(self, anchor: Anchor, group: Group) -> None:
        """An anchor is in a pending group from now on."""
        if isinstance(anchor, Materialise):
            self._makers.setdefault(anchor.value, (group, True))
            self._forget_needs(anchor.value)
        elif not isinstance(anchor, Compute):
            for result in anchor.op.results:
                self._makers[result] = group, False

    def _forget_needs(self, value: SSAValue) -> None:
        """Forget what is known of a value and of what is computed from it."""
        work = [value]
        while work:
            current = work.pop()
            known = [self._needs.pop((current, order), self) for order in (True, False)]
            if current is value or any(each is not self for each in known):
                work.extend(result for use in current.uses for result in use.operation.results)

    # ---- memory

    def _settle_loads(self, loads: list[Operation], effect: Operation) -> None:
        """Before a write: tiles loaded earlier and needed later must be read now; those this op uses, unless they may
        fuse.
        """
        at = self._position[effect]
        fusable = isinstance(effect, tile.StoreOp) and is_tensor(effect.operands[0].type)
        for load in loads:
            value = load.results[0]
            last = self._last_use.get(value, -1)
            if last > at or (last == at and not (fusable and self.accesses.rely_on([(effect, load)]))):
                self.force(value)
        loads.clear()

    # ---- everything else

    def _opaque(self, op: Operation) -> None:
        """An op that is emitted on its own: scalars, regions, dots, scans, …"""
        for value in nested_operands(op):
            if is_tensor(value.type) and self.ancestor_defines(value):
                owner = value.owner
                if isinstance(op, tile.DotOp) and isinstance(owner, tile.TransOp) and owner.parent is self.block:
                    value = owner.src  # a product reads a transposed operand through its strides
                self._force_sources(value)
                self.force(value)
        tensors = any(is_tensor(v.type) for v in nested_operands(op)) or any(is_tensor(r.type) for r in op.results)
        stores = any(isinstance(a, Effect) for g in self.pending for a in g.anchors)
        terminator = op.next_op is None
        if (
            tensors
            or op.regions
            or terminator
            or writes_memory(op)
            or (reads_memory(op) and stores)
            or any(v in self._makers for v in op.operands)
        ):
            self._flush()
        self.items.append(op)
        for result in op.results:
            if is_tensor(result.type):
                self.buffered.add(result)

    def ancestor_defines(self, value: SSAValue) -> bool:
        """Whether the value is made by this block (values of enclosing blocks were settled there)."""
        return isinstance(value, OpResult) and value.op.parent is self.block

    def _flush(self) -> None:
        self.items.extend(self.pending)
        for group in self.pending:
            for anchor in group.anchors:
                if not isinstance(anchor, Materialise | Compute):
                    self.buffered.update(r for r in anchor.op.results if is_tensor(r.type))
        self.pending = []
        self._makers.clear()
        self._needs.clear()

    def _materialise_shared(self) -> None:
        """Tiles that two groups compute are written by the first, unless they are trivial to compute again."""
        first: dict[SSAValue, Group] = {}
        for group in [item for item in self.items if isinstance(item, Group)]:
            seen: set[SSAValue] = set()
            written = {a.value for a in group.anchors if isinstance(a, Materialise)}
            for value in group.operands():
                self._visit_shared(value, group, first, seen, written)

    def _recompute_cost(self, value: SSAValue) -> int:
        """Instructions to compute a tile again from what is in memory; beyond the limit, some larger number."""
        if not is_tensor(value.type) or value in self.buffered or self.cheap(value):
            return 0
        op = value.owner
        if self._reads_again(op):
            return 1
        if type(op) not in TRIVIAL or not is_inline(op):
            return RECOMPUTE_COST + 1
        total = 1
        for operand in op.operands:
            total += self._recompute_cost(operand)
            if total > RECOMPUTE_COST:
                break
        return total

    def _reads_again(self, op: object) -> bool:
        """Whether a load may be made in each loop that needs the tile: it is one of whole vectors, which are still in
        the cache that a copy would take its place in. Nothing is stored meanwhile that the tile would see, as loads are
        where their tiles are used for all who ask `accesses`, and `_settle_loads` has dealt with the others."""
        if not isinstance(op, tile.LoadOp) or op.parent is not self.block or op.isVolatile.value.data:
            return False
        if not all(operand is None or self.cheap(operand) for operand in (op.mask, op.other)):
            return False
        form, lane = self.index.form(op.ptr), last_wide_dimension(shape_of(op.ptr.type))
        step = form.offset.stride(lane) if form is not None and lane >= 0 else None
        return step is not None and step.constant_value() == 1

    def _visit_shared(
        self,
        value: SSAValue,
        group: Group,
        first: dict[SSAValue, Group],
        seen: set[SSAValue],
        written: Container[SSAValue],
    ) -> None:
        """``written``: the tiles that the group writes."""
        if value in seen or not is_tensor(value.type):
            return
        seen.add(value)
        op = value.owner
        written_here = value in written
        if (value in self.buffered and not written_here) or (not written_here and self.cheap(value)):
            return
        if not is_inline(op) or op.parent is not self.block:
            return
        owner = first.setdefault(value, group)
        if owner is not group and not written_here and self._recompute_cost(value) > RECOMPUTE_COST:
            owner.anchors.insert(0, Materialise(value))
            self.buffered.add(value)
            return
        sources = VIEW_SOURCES.get(type(op), ())
        for i, operand in enumerate(op.operands):
            if i not in sources:
                self._visit_shared(operand, group, first, seen, written)

    def _keep_in_registers(self) -> None:
        """A tile that is only read in the loop that writes it, element by element, need not be written."""
        groups: dict[Operation, Group] = {}
        writers: dict[SSAValue, Group] = {}
        for group in [item for item in self.items if isinstance(item, Group)]:
            for anchor in group.anchors:
                if isinstance(anchor, Effect | Reduction):
                    groups[anchor.op] = group
                elif isinstance(anchor, Materialise):
                    writers[anchor.value] = group
        readers = self._readers(groups, writers)
        for value, group in writers.items():
            if readers[value] <= {group}:
                at = group.anchors.index(Materialise(value))
                group.anchors[at] = Compute(value)
                self.buffered.discard(value)

    def _readers(
        self, groups: dict[Operation, Group], writers: dict[SSAValue, Group]
    ) -> dict[SSAValue, frozenset[Group | None]]:
        """The groups that read each written tile element by element, directly or through inline ops; None stands for
        readers of other kinds.

        One pass over the block, from its end: each use is looked at once. A set of two says as much as a larger one.
        """
        readers: dict[SSAValue, frozenset[Group | None]] = {}

        def of_use(use: Use) -> frozenset[Group | None]:
            user = use.operation
            if user in groups:
                return frozenset((groups[user],))
            if not is_inline(user) or user.parent is not self.block or use.index in VIEW_SOURCES.get(type(user), ()):
                return _ELSEWHERE
            found: frozenset[Group | None] = frozenset()
            for result in user.results:
                found |= frozenset((writers[result],)) if result in writers else readers[result]
            return found

        def of_value(value: SSAValue) -> frozenset[Group | None]:
            found: frozenset[Group | None] = frozenset()
            for use in value.uses:
                found |= of_use(use)
                if len(found) > 1:
                    break
            return found

        op = self.block.last_op
        while op is not None:
            for result in op.results:
                readers[result] = of_value(result)
            op = op.prev_op
        return {value: readers[value] if value in readers else of_value(value) for value in writers}


_ELSEWHERE: frozenset[Group | None] = frozenset((None,))


def _indexlike(type_: Attribute) -> bool:
    return isinstance(element_type(type_), IntegerType | PointerType)
