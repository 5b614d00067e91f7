"""Where a pointer comes from: one step back through the ops that compute it and the edges of control flow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.ir import BlockArgument, Operation, SSAValue

from tritonx.dialects import tile
from tritonx.dialects.control_flow import comes_from, ends_of, is_per_element
from tritonx.dialects.effects import Kind, declared_by
from tritonx.ir.types import is_pointer, type_of


def sources(value: SSAValue) -> Sequence[SSAValue]:
    """Values that ``value`` may point into the same array as; none for an argument of a function, a call's result, a
    loaded pointer and one made of an integer."""
    op = value.block.parent_op() if isinstance(value, BlockArgument) else value.owner
    if not isinstance(op, Operation) or isinstance(op, tile.CallOp):
        return ()
    if is_per_element(op):
        return [*pointers_of(op), *(v for end in ends_of(op) for v in pointers_of(end))]
    if isinstance(value, BlockArgument) or op.regions:
        return comes_from(value)
    declared = declared_by(type(op))
    if declared is not None and any(effect.kind in (Kind.READ, Kind.ALLOCATE) for effect in declared.own(op)):
        return ()  # it was in memory, or is new
    return pointers_of(op)


def pointers_of(op: Operation) -> list[SSAValue]:
    """The operands through which memory can be reached."""
    return [v for v in op.operands if is_pointer(type_of(v)) or isinstance(type_of(v), tile.TensorDescType)]


Roots = frozenset[SSAValue] | None


def roots_of(values: Iterable[SSAValue], known: dict[SSAValue, Roots] | None = None) -> Roots:
    """The arguments of the function whose arrays pointers may point into; None where there may be another array.

    ``known`` keeps the answer for each of ``values``, and ends later walks: as long as the IR does not change.
    """
    if known is None:
        return _roots(values, {})
    found: set[SSAValue] = set()
    for value in values:
        if value not in known:
            known[value] = _roots((value,), known)
        roots = known[value]
        if roots is None:
            return None
        found |= roots
    return frozenset(found) or None


def _roots(values: Iterable[SSAValue], known: Mapping[SSAValue, Roots]) -> Roots:
    work, seen, roots = list(values), set[SSAValue](), set[SSAValue]()
    while work:
        value = work.pop()
        if value in seen:
            continue
        seen.add(value)
        if value in known:
            found = known[value]
            if found is None:
                return None
            roots |= found
            continue
        further = sources(value)
        work += further
        if not further:
            if not (isinstance(value, BlockArgument) and isinstance(value.block.parent_op(), tile.FuncOp)):
                return None
            roots.add(value)
    return frozenset(roots) or None
