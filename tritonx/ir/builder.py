"""The builder: where the front end and the passes create ops.

``create`` always makes the op. ``emit`` makes it only if it has to: first the folding rules (``tritonx.ir.fold``) may
know the result already, then an equal pure op that dominates the insertion point may have computed it. What the front
end builds this way is what a round of canonicalisation and CSE would leave, for a fraction of their cost: creating an
op costs far more than looking it up.

Equal ops are looked for in the block that is being built and in the blocks of the ops around it, up to the function.
The blocks around are those of the enclosing ops where the block is attached. A detached block (the body of an
``scf.for`` before the op exists) has no such chain, so its builder says what it will be inside of::

    with builder.at(body, nested=True):   # the current block will hold the op that holds `body`
        ...

Without ``nested`` a detached block only sees its own ops, which is always right.

Tiles whose layouts are still to be determined (`gluon`) are not merged: two layouts may be asked of two equal ones.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar, cast

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove

from tritonx.dialects.arith import ConstantOp
from tritonx.ir.define import append
from tritonx.ir.effects import is_mergeable
from tritonx.ir.fold import Constant, attribute_for, fold_at_creation
from tritonx.ir.types import is_undetermined

OpT = TypeVar("OpT", bound=Operation)

Key = tuple[object, ...]

_NO_PROPERTIES: Mapping[str, Attribute] = {}


class _Scope:
    """One block under construction with the pure ops that were emitted into it, and the scope around it."""

    __slots__ = ("anchor", "block", "known", "outer")

    def __init__(self, block: Block | None, anchor: Operation | None, outer: _Scope | None) -> None:
        self.block = block
        self.anchor = anchor
        self.outer = outer
        self.known: dict[Key, Operation] = {}

    def find(self, key: Key) -> Operation | None:
        scope: _Scope | None = self
        while scope is not None:
            op = scope.known.get(key)
            # An op that was erased or moved since no longer stands for its value here.
            if op is not None and op.parent is scope.block:
                return op
            scope = scope.outer
        return None


class Builder:
    """Creates ops at an insertion point: the end of a block, or before an op.

    ``location`` is given to every op created; the front end sets it as it walks the kernel's source.
    """

    def __init__(self, block: Block | None = None, location: LocationAttr = UNKNOWN_LOC) -> None:
        self.location: LocationAttr = location
        self._scope = _Scope(block, None, None)

    @classmethod
    def before(cls, op: Operation) -> Builder:
        """A builder that inserts before ``op``, with its location. ``ValueError`` for a detached op."""
        if op.parent is None:
            raise ValueError(f"{op.name} is in no block, so nothing can stand before it")
        builder = cls(op.parent, op.location)
        builder._scope.anchor = op
        return builder

    @property
    def block(self) -> Block:
        """The block that ops go into. ``ValueError`` where there is none yet."""
        block = self._scope.block
        if block is None:
            raise ValueError("the builder has no insertion point: use it inside `with builder.at(block)`")
        return block

    @contextmanager
    def at(self, block: Block, *, nested: bool = False) -> Generator[Builder]:
        """Build at the end of ``block`` for the time of a ``with``. ``nested``: see the module's docstring."""
        outside = self._scope
        self._scope = _Scope(block, None, _surrounding(block, outside, nested))
        try:
            yield self
        finally:
            self._scope = outside

    def create(
        self,
        cls: type[OpT],
        operands: Sequence[SSAValue] = (),
        result_types: Sequence[Attribute] = (),
        properties: Mapping[str, Attribute] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
        successors: Sequence[Block] = (),
    ) -> OpT:
        """The op, inserted. Nothing is folded or merged."""
        op = cls.create(
            operands=operands,
            result_types=result_types,
            properties=cast("Mapping[str, Attribute]", properties),
            attributes=cast("Mapping[str, Attribute]", attributes),
            regions=regions,
            successors=successors,
            location=self.location,
        )
        self.insert(op)
        return op

    def insert(self, op: OpT) -> OpT:
        """Put a detached op at the insertion point."""
        scope = self._scope
        if scope.anchor is None:
            append(self.block, op)
        else:
            self.block.insert_op_before(op, scope.anchor)
        return op

    def emit(
        self,
        cls: type[Operation],
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        properties: Mapping[str, Attribute] | None = None,
    ) -> SSAValue:
        """The single result of such an op: a folded value, that of an equal op before, or that of a new op."""
        result_type = result_types[0]
        given = _NO_PROPERTIES if properties is None else properties
        folded = fold_at_creation(cls, operands, result_type, given)
        while folded is not None:
            if isinstance(folded, SSAValue):
                return folded
            if isinstance(folded, Constant):
                return self.constant(folded.value, result_type)
            cls, operands, given = folded.op, folded.operands, folded.properties or _NO_PROPERTIES
            folded = fold_at_creation(cls, operands, result_type, given)
        return self._merged(cls, operands, result_types, given)[0]

    def multi(
        self,
        cls: type[Operation],
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        properties: Mapping[str, Attribute] | None = None,
    ) -> tuple[SSAValue, ...]:
        """All results of an op without regions; merged with an equal pure op, never folded."""
        return self._merged(cls, operands, result_types, _NO_PROPERTIES if properties is None else properties)

    def constant(self, value: int | float | bool, type: Attribute) -> SSAValue:
        """``value`` as an ``arith.constant`` of an integer, index or float type, or a tile of such: a splat.

        An integer is taken modulo the type's width, a float is rounded to the type.
        """
        return self._merged(ConstantOp, (), (type,), {"value": attribute_for(value, type)})[0]

    def _merged(
        self,
        cls: type[Operation],
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        properties: Mapping[str, Attribute],
    ) -> tuple[SSAValue, ...]:
        if not is_mergeable(cls) or (result_types and is_undetermined(result_types[0])):
            return self.create(cls, operands, result_types, properties).results
        items = tuple(properties.items()) if len(properties) < 2 else frozenset(properties.items())
        # Types by identity: they are interned, deep to hash, and kept alive by the op that is found.
        key = (cls, *operands, *map(id, result_types), items)
        op = self._scope.find(key)
        if op is None:
            op = self._scope.known[key] = self.create(cls, operands, result_types, properties)
        return op.results


def _surrounding(block: Block, outside: _Scope, nested: bool) -> _Scope | None:
    """The scope whose ops dominate all of ``block``: that of the builder's current block, where ``block`` is inside it.

    The op that holds ``block`` has to be the last one of the block around it: the ops that a scope knows of are then
    all in front of it.
    """
    if nested:
        return outside
    child = block
    while (op := child.parent_op()) is not None and (parent := op.parent) is not None:
        if op.has_trait(IsolatedFromAbove) or parent.last_op is not op:
            return None
        scope: _Scope | None = outside
        while scope is not None:
            if scope.block is parent and scope.anchor is None:
                return scope
            scope = scope.outer
        child = parent
    return None
