"""Choosing layouts: one analysis of a function, before anything is written.

Some values have a layout by nature, their *native* one: loads and atomics the coalesced one, products that of the
unit that multiplies, and whatever is computed from these inherits it through `propagation`. The rest
(indices, masks, pointers, constants) has none: it can be made where and as it is wanted.

Then the wants are followed backwards from what has effects. An op that stores wants its operands in its own layout,
and so on. Where a value is wanted in a layout that is not its native one there are several ways, and the cheapest is
taken (`costs`):

- convert it, or store it in shared memory where a matrix unit wants to read it there;
- compute it again in the wanted layout, from operands that are then wanted in other layouts in turn;
- of what has no layout by nature, and is wanted as a product's operand: make it once in a plain layout, and convert;
- of what other blocks of a cluster want: compute it again in those, and convert there (`clusters`).

A value may so be rematerialised in several layouts, each where the original stood; pointer arithmetic usually exists
only in the layout of the access that it serves. Values that loops carry have one layout (`carried`): their native
one, or the first that is wanted, innermost uses first.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from functools import partial

from xdsl.ir import Block, Operation, SSAValue

from tritonx.analysis.axis_info import AxisFacts
from tritonx.conversion.tile_to_gpu.assignment import Assignment, operand_encodings
from tritonx.conversion.tile_to_gpu.carried import Group, carried_groups
from tritonx.conversion.tile_to_gpu.clusters import Reread, in_blocks_of
from tritonx.conversion.tile_to_gpu.coalesce import coalesced_encodings
from tritonx.conversion.tile_to_gpu.costs import (
    IMPOSSIBLE,
    INDEX_COST,
    MADE_IN_PLACE,
    conversion_cost,
    is_index,
    loop_weight,
    registers,
    rematerialisation_cost,
)
from tritonx.conversion.tile_to_gpu.descriptors import descriptor_key, stored_key
from tritonx.conversion.tile_to_gpu.dots import dot_layouts
from tritonx.conversion.tile_to_gpu.propagation import plain, propagation_of
from tritonx.conversion.tile_to_gpu.stores import result_encoding, store_cost, store_encodings
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.dialects import cf, scf, tile
from tritonx.dialects.control_flow import is_per_element
from tritonx.dialects.layout_constraints import LookedUp, constraint_of
from tritonx.ir.effects import has_effects, is_terminator, may_read, may_write
from tritonx.ir.types import is_tensor, shape_of, type_of
from tritonx.ir.walk import ops_in
from tritonx.layouts import LayoutError
from tritonx.layouts.encodings import BlockedEncoding, DistributedEncoding, DotOperandEncoding, Encoding, SharedEncoding

ROUNDS = 12
"""Of the forward analysis: layouts settle after as many iterations as loops are nested, and one more."""

DEPTH = 40
"""How far back recomputation is considered."""

CONTROL = frozenset((scf.ForOp, scf.WhileOp, scf.IfOp, scf.ExecuteRegionOp, cf.BranchOp, cf.ConditionalBranchOp))
NOT_REMATERIALISED = frozenset((tile.ReduceOp, tile.ScanOp, tile.HistogramOp, tile.DotOp, tile.DotScaledOp, tile.CatOp))
"""Ops that are worth a conversion rather than to compute them twice."""

NOT_ANY_LAYOUT = frozenset((tile.JoinOp, tile.SplitOp))
"""Ops whose results cannot be given every layout, so that they are not left to what is wanted of them."""


Step = Callable[[], None]
"""Something that is still to be wanted."""


def solve(function: tile.FuncOp, facts: AxisFacts, target: GpuTarget) -> Assignment:
    """The layouts of all tensors of a function."""
    return _Solver(function, facts, target).run()


class _Solver:
    def __init__(self, function: tile.FuncOp, facts: AxisFacts, target: GpuTarget) -> None:
        self.target = target
        self.facts = facts
        self.function = function
        self.ops = [op for op in ops_in(function) if op is not function and not _in_combine_region(op)]
        self.reread = Reread(self.ops)
        accesses = coalesced_encodings(self.ops, facts, target)
        self.dots = dot_layouts(self.ops, target, accesses)
        self.results = set[DistributedEncoding]()
        if target.stores_results:
            found = {layout.result for layout in self.dots.values()}
            self.results.update(layout for layout in found if not isinstance(layout, BlockedEncoding))
        self.fixed: dict[Operation, DistributedEncoding] = {}
        self.fixed.update(accesses)
        self.fixed.update({op: layout.result for op, layout in self.dots.items()})
        for op in self.ops:
            key = descriptor_key(op, target)
            if key is not None:
                self.fixed[op] = key
        self.groups = carried_groups(self.ops)
        self.group_of = {value: group for group in self.groups for value in group.values}
        self.native: dict[SSAValue, DistributedEncoding] = {}
        self.natural: Container[SSAValue] = self.native  # until something gets its layout from what wants it
        self.key: dict[Operation, DistributedEncoding] = {}
        self.costs: dict[tuple[SSAValue, Encoding], int] = {}
        self.keys: dict[Operation, list[DistributedEncoding]] = {}
        self.converted: dict[tuple[SSAValue, DistributedEncoding], list[Encoding]] = {}
        self.wanted: dict[SSAValue, list[DistributedEncoding]] = {}
        self.weights: dict[Operation, int] = {}
        self.pending: list[Step] = []

    def run(self) -> Assignment:
        self._forward()
        roots = [op for op in self.ops if self._is_root(op)]
        for op in sorted(roots, key=lambda op: -self._weight(op)):
            self._want_root(op)
            self._follow()
        for group in self.groups:
            value = group.values[0]
            self._want(value, self.native.get(value) or self._plain(value))
            self._follow()
        return Assignment(self.keys, self.native, self.converted, self.dots, tuple(self.groups), self.target)

    # --- forward: what has a layout by nature
    # -------------------------------------------------------------------------

    def _forward(self) -> None:
        block = self.function.body.blocks.first
        for argument in block.args if block is not None else ():
            if is_tensor(type_of(argument)):
                self.native[argument] = self._plain(argument)
        # An op whose operands have no layout yet gets a default one only when nothing else decides: the result of an
        # `scf.if` has its layout after an iteration.
        self._spread(defaults=False)
        self._spread(defaults=True)
        self.natural = frozenset(self.native)
        self.costs.clear()

    def _spread(self, *, defaults: bool) -> None:
        """Propagate native layouts through the ops and the values that control flow joins, to a fixed point."""
        for _ in range(ROUNDS):
            before = dict(self.native)
            self.costs.clear()
            for op in self.ops:
                if any(is_tensor(type_of(r)) for r in op.results) and op.__class__ not in CONTROL:
                    self._set_native(op, defaults=defaults)
            for group in self.groups:
                # The loop-carried operand says more than the initial value.
                known = [self.native[v] for v in group.operands() if v in self.native]
                if known:
                    self.native.update(dict.fromkeys(group.values, known[-1]))
            if self.native == before:
                break

    def _set_native(self, op: Operation, *, defaults: bool) -> None:
        if isinstance(op, tile.CallOp):
            for result in op.results:
                if is_tensor(type_of(result)):
                    self.native[result] = self._plain(result)
            return
        propagation = propagation_of(op)
        key = self.fixed.get(op)
        if key is None:
            key = self._key_from_operands(op)
        if key is None and defaults and (not self._may_rematerialise(op) or op.__class__ in NOT_ANY_LAYOUT):
            key = propagation.default_key(op, self.target)
        if key is None:
            return
        self.key[op] = key
        for result, encoding in zip(op.results, propagation.results(op, key), strict=True):
            if encoding is not None:
                self.native[result] = encoding

    def _key_from_operands(self, op: Operation) -> DistributedEncoding | None:
        """The key that its operands' native layouts suggest, the cheapest where they differ."""
        propagation = propagation_of(op)
        given = [self.native.get(v) if is_tensor(type_of(v)) else None for v in op.operands]
        keys = propagation.keys_from_operands(op, given)
        keys = [k for k in keys if not isinstance(k, DotOperandEncoding) and propagation.fits(op, k)]
        if len(keys) > 1:
            keys.sort(key=lambda k: self._operands_cost(op, k, 0))
        return keys[0] if keys else None

    def _plain(self, value: SSAValue) -> DistributedEncoding:
        return plain(shape_of(type_of(value)), self.target)

    # --- costs
    # --------------------------------------------------------------------------------------------------------

    def _weight(self, op: Operation) -> int:
        weight = self.weights.get(op)
        if weight is None:
            weight = self.weights[op] = loop_weight(op)
        return weight

    def _may_rematerialise(self, op: Operation) -> bool:
        """Whether an op may be computed again for another key than its native one."""
        if op.__class__ in NOT_REMATERIALISED or isinstance(constraint_of(op), LookedUp):
            return False
        if op.__class__ in CONTROL or op.__class__ is tile.CallOp:
            return False
        if op.__class__ is tile.LoadOp:
            return may_read(op) and not may_write(op)
        return not has_effects(op)

    def _cost(self, value: SSAValue, encoding: Encoding, depth: int = 0) -> int:
        """The least cost of having a value in an encoding."""
        native = self.native.get(value)
        if native == encoding or (native is None and (value in self.group_of or self._in_any_layout(value))):
            return 0
        found = self.costs.get((value, encoding))
        if found is None:
            self.costs[value, encoding] = IMPOSSIBLE  # while it is being computed
            found = self._convert_cost(value, encoding)
            if found:
                made = self._rematerialisation_cost(value, encoding, depth)
                found = min(found, made, self._made_first_cost(value, encoding, depth))
            self.costs[value, encoding] = found
        return found

    def _in_any_layout(self, value: SSAValue) -> bool:
        """Whether the value is a result that its op can make in any layout, whatever the others have."""
        owner = value.owner
        if not isinstance(owner, Operation) or owner.__class__ in CONTROL or isinstance(owner, tile.CallOp):
            return False
        return propagation_of(owner).leaves_out(owner, value)

    def _made_first_cost(self, value: SSAValue, encoding: Encoding, depth: int) -> int:
        other = self._made_first(value, encoding)
        if other is None or depth > DEPTH:
            return IMPOSSIBLE
        return min(IMPOSSIBLE, self._cost(value, other, depth + 1) + self._moving_cost(value, other, encoding))

    def _made_first(self, value: SSAValue, encoding: Encoding) -> DistributedEncoding | None:
        """The layout in which a value may be made to be converted from there."""
        if value in self.group_of or isinstance(encoding, SharedEncoding):
            return None
        native = self.native.get(value)
        if native is None:
            return self._made_plain(value, encoding)
        if self.target.num_ctas == 1 or self._convert_cost(value, encoding) < IMPOSSIBLE:
            return None
        other = in_blocks_of(encoding, native, shape_of(type_of(value)), self.target)
        return None if other in (native, encoding) else other

    def _made_plain(self, value: SSAValue, encoding: DistributedEncoding) -> DistributedEncoding | None:
        """A plain layout for an operand of a product that has none by nature: in the product's own each thread, or each
        warp, makes what others make as well."""
        if not isinstance(encoding, DotOperandEncoding):
            return None
        return self._plain(value) if registers(encoding, shape_of(type_of(value))) > MADE_IN_PLACE else None

    def _convert_cost(self, value: SSAValue, encoding: Encoding) -> int:
        native = self.native.get(value)
        return IMPOSSIBLE if native is None else self._moving_cost(value, native, encoding)

    def _moving_cost(self, value: SSAValue, source: DistributedEncoding, encoding: Encoding) -> int:
        type_ = type_of(value)
        cost = conversion_cost(type_, source, encoding)
        if cost and value not in self.natural and is_index(type_) and not isinstance(encoding, SharedEncoding):
            cost += INDEX_COST * registers(encoding, shape_of(type_))
        owner = value.owner
        weight = self._weight(owner) if isinstance(owner, Operation) else _block_weight(owner)
        return min(IMPOSSIBLE, cost * weight)

    def _rematerialisation_cost(self, value: SSAValue, encoding: Encoding, depth: int) -> int:
        key = self._rematerialisation_key(value, encoding)
        owner = value.owner
        if key is None or depth > DEPTH or not isinstance(owner, Operation):
            return IMPOSSIBLE
        try:
            cost = rematerialisation_cost(owner, key) * self._weight(owner)
            return min(IMPOSSIBLE, cost + self._operands_cost(owner, key, depth + 1))
        except LayoutError:
            return IMPOSSIBLE

    def _rematerialisation_key(self, value: SSAValue, encoding: Encoding) -> DistributedEncoding | None:
        """The key of the defining op that gives the value this encoding, where it may be rematerialised."""
        owner = value.owner
        if (
            isinstance(encoding, SharedEncoding)
            or not isinstance(owner, Operation)
            or not self._may_rematerialise(owner)
        ):
            return None
        if isinstance(owner, tile.LoadOp) and isinstance(encoding, DotOperandEncoding):
            return None  # operands of products are staged through shared memory
        if isinstance(owner, tile.LoadOp) and self._is_elsewhere(value, encoding) and not self.reread.allows(owner):
            return None
        index = owner.results.index(value)
        try:
            return propagation_of(owner).key_of_result(owner, index, encoding)
        except LayoutError:
            return None

    def _is_elsewhere(self, value: SSAValue, encoding: DistributedEncoding) -> bool:
        """Whether other blocks of a cluster want a value than those that have it."""
        return self.target.num_ctas > 1 and self._convert_cost(value, encoding) >= IMPOSSIBLE

    def _operands_cost(self, op: Operation, key: DistributedEncoding, depth: int) -> int:
        total = 0
        for operand, encoding in zip(op.operands, self._operand_encodings(op, key), strict=True):
            if encoding is not None:
                total += self._cost(operand, encoding, depth)
            if total >= IMPOSSIBLE:
                return IMPOSSIBLE
        return total

    def _operand_encodings(self, op: Operation, key: DistributedEncoding) -> Sequence[Encoding | None]:
        return operand_encodings(op, key, self.dots)

    # --- backward: what is wanted
    # -------------------------------------------------------------------------------------

    # A want leads to others, depth first, as deep as a kernel's data flow: what is still to do is a stack of its own,
    # not Python's.

    def _follow(self) -> None:
        """All that is wanted because of what was wanted."""
        pending = self.pending
        while pending:
            pending.pop()()

    def _next(self, *steps: Step) -> None:
        """Do these, one after another, with all that each leads to, before what was to be done next."""
        self.pending.extend(reversed(steps))

    def _is_root(self, op: Operation) -> bool:
        if op.__class__ in CONTROL or is_terminator(op):
            return op.__class__ is tile.ReturnOp
        if not any(is_tensor(type_of(v)) for v in (*op.operands, *op.results)):
            return False
        # Effects, calls, and scalars made of tensors, which have no layout that anyone could want.
        return isinstance(op, tile.CallOp) or may_write(op) or not any(is_tensor(type_of(r)) for r in op.results)

    def _want_root(self, op: Operation) -> None:
        if isinstance(op, tile.ReturnOp | tile.CallOp):
            tensors = [v for v in op.operands if is_tensor(type_of(v))]
            self._next(*(partial(self._want, v, self._plain(v)) for v in tensors))
            if isinstance(op, tile.CallOp):
                self.keys.setdefault(op, [])
            return
        self._add_key(op, self._store_key(op) if isinstance(op, tile.StoreOp) else self._native_key(op))

    def _store_key(self, op: tile.StoreOp) -> DistributedEncoding:
        """Where what is stored comes from another layout than the one that all accesses of its shape have, that of a
        product's result if it may stay, or the cheapest of those that a store may have."""
        key, native = self._native_key(op), self.native.get(op.value)
        if not isinstance(key, BlockedEncoding) or native == key:
            return key
        if native is not None and native in self.results:
            own = result_encoding(op, native, key.order[0], self.facts, self.target.swapped_lanes)
            if own is not None:
                return own
        weight = self._weight(op)

        def cost(encoding: BlockedEncoding) -> int:
            return weight * store_cost(op, encoding, self.facts) + self._operands_cost(op, encoding, 0)

        return min(self._store_keys(op, key), key=cost)

    def _store_keys(self, op: tile.StoreOp, key: BlockedEncoding) -> tuple[BlockedEncoding, ...]:
        """The layouts in which a store may be made; where other blocks have what is stored, in those."""
        native, shape = self.native.get(op.value), shape_of(type_of(op.ptr))
        if native is not None and self._is_elsewhere(op.value, key):
            key = in_blocks_of(native, key, shape, self.target) or key
        return store_encodings(op, key, self.facts)

    def _native_key(self, op: Operation) -> DistributedEncoding:
        key = self.fixed.get(op) or self.key.get(op)
        if key is None:
            key = self._key_from_operands(op) or stored_key(op, self.target)
            key = self.key[op] = key or propagation_of(op).default_key(op, self.target)
        return key

    def _add_key(self, op: Operation, key: DistributedEncoding) -> None:
        keys = self.keys.setdefault(op, [])
        if key in keys:
            return
        keys.append(key)
        steps: list[Step] = []
        for operand, encoding in zip(op.operands, self._operand_encodings(op, key), strict=True):
            if encoding is not None:
                steps.append(partial(self._want, operand, encoding))
            elif is_tensor(type_of(operand)) and not propagation_of(op).free_source:
                steps.append(partial(self._want_any, operand))
        self._next(*steps)

    def _want_any(self, value: SSAValue) -> None:
        """The value in whatever layout is at hand."""
        encoding = self.native.get(value)
        if encoding is None:
            encoding = next(iter(self.wanted.get(value, ())), None)
        self._want(value, encoding or self._plain(value))

    def _want(self, value: SSAValue, encoding: Encoding) -> None:
        if isinstance(encoding, SharedEncoding):
            if value in self.native:
                self._convert(value, encoding)
            else:
                self._next(partial(self._want_any, value), partial(self._convert, value, encoding))
            return
        wanted = self.wanted.setdefault(value, [])
        if encoding in wanted:
            return
        wanted.append(encoding)
        group = self.group_of.get(value)
        if group is not None:
            self._want_carried(group, value, encoding)
            return
        owner = value.owner
        if isinstance(owner, tile.CallOp) or not isinstance(owner, Operation):
            if self.native[value] != encoding:
                self._convert(value, encoding)
            return
        if value not in self.native and self._in_any_layout(value):
            self.native[value] = encoding  # whoever asks first decides; later ones may convert
            self.costs.clear()
        native = self.native.get(value)
        if native == encoding:
            self._add_key(owner, self._native_key(owner))
            return
        converting = self._convert_cost(value, encoding)
        is_source = propagation_of(owner).free_source  # made anew rather than converted
        first = None if is_source else self._made_first(value, encoding)
        if first is not None and (
            self._made_first_cost(value, encoding, 0) < self._rematerialisation_cost(value, encoding, 0)
        ):
            self._next(partial(self._want, value, first), partial(self._convert, value, encoding, first))
            return
        if (
            native is not None
            and not is_source
            and (not converting or converting <= self._rematerialisation_cost(value, encoding, 0))
        ):
            self._convert(value, encoding)
            return
        key = self._rematerialisation_key(value, encoding)
        if key is None:
            raise LayoutError(f"no way to give a result of {owner.name} the layout {encoding}")
        results = propagation_of(owner).results(owner, key)
        made = results[owner.results.index(value)]
        if made is not None and made != encoding:  # the same by another name
            if native is None:
                self._next(partial(self._want, value, made), partial(self._convert, value, encoding))
            else:
                self._convert(value, encoding)
            return
        if native is None:
            self.native[value] = encoding  # the first of a value without a nature; later ones may convert
            self.key[owner] = key
            for result, other in zip(owner.results, results, strict=True):
                if other is not None:
                    self.native.setdefault(result, other)
            self.costs.clear()
        self._add_key(owner, key)

    def _want_carried(self, group: Group, value: SSAValue, encoding: DistributedEncoding) -> None:
        native = self.native.get(value)
        if native is None:
            native = encoding
            self.native.update(dict.fromkeys(group.values, native))
            self.costs.clear()
        steps: list[Step] = [partial(self._want, operand, native) for operand in group.operands()]
        if native != encoding:
            steps.append(partial(self._convert, value, encoding))
        self._next(*steps)

    def _convert(self, value: SSAValue, encoding: Encoding, source: DistributedEncoding | None = None) -> None:
        """From the native layout, where no other is named."""
        source = source or self.native[value]
        found = self.converted.setdefault((value, source), [])
        if encoding not in found:
            found.append(encoding)
            self._next(partial(self._want, value, source))


def _in_combine_region(op: Operation) -> bool:
    """Whether an op is in the region of a reduction or its like, where there are only scalars."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, tile.FuncOp):
        if is_per_element(parent):
            return True
        parent = parent.parent_op()
    return False


def _block_weight(block: Block) -> int:
    """Weight of the ops at the start of a block."""
    first = block.first_op
    return loop_weight(first) if first is not None else 1
