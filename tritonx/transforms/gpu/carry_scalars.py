"""Tiles of pointers that a loop only moves as a whole are carried as the one pointer that they begin at.

`ptrs += BLOCK * stride` in a loop moves every pointer of a tile by the same amount. Carried as a tile, each access of
a thread takes a pair of registers for the whole loop, and two additions an iteration; and where the tile is computed
for a later iteration, as in a pipeline, as many again. As a pointer and a tile of offsets, which do not change, the
loop carries one pair, and what is left is the offsets: constants of the instructions where they are far enough known.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from tritonx.analysis.axis_info import AxisFacts, analyze_axes
from tritonx.dialects import scf, tile
from tritonx.dialects.control_flow import Carried, carried_by
from tritonx.dialects.gpu_layout import ConvertLayoutOp
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.edit import clone, erase, set_type, terminator_of
from tritonx.ir.fold.constants import constant_of
from tritonx.ir.types import element_type, is_tensor, type_of, with_element
from tritonx.ir.walk import ops_in


@dataclass(frozen=True)
class CarryScalars(ModulePass):
    """Gives `scf.for` loops a pointer in place of a tile of pointers that all move alike.

    The tile was made of that pointer, by offsets that do not change, and the body only adds the same everywhere. The
    tile is made again where it is used: in the body, and behind the loop. Outer loops come first, and those in front
    of others: then what goes into the next one is made of a pointer as well."""

    name = "carry-scalars"
    contract = Contract(("tt", "ttg"), on=("scf.for",), creates=("tt.addptr", "tt.splat", "tt.broadcast", "arith"))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        facts = cache(lambda: analyze_axes(op))
        for loop in [inner for inner in ops_in(op) if isinstance(inner, scf.ForOp)]:
            for carried in carried_by(loop):
                additions = _additions(loop, carried)
                if additions and self.is_wanted(carried.initial.value, facts):
                    recipe = _recipe(_converted_in_front(loop, carried.initial.value))
                    if recipe is not None:
                        _rewrite(loop, carried, _Moved(recipe[0].operands[0], recipe, additions))

    def is_wanted(self, tile: SSAValue, facts: Callable[[], AxisFacts]) -> bool:
        """Whether a tile of pointers should be carried as a scalar if it can be. Any that is made of one: backends
        whose accesses gain nothing by some have a pass of their own with a condition here."""
        return _recipe(tile) is not None


@dataclass(frozen=True)
class _Moved:
    """How a tile of pointers is made of `pointer` in front of a loop, and the additions of the body, in order."""

    pointer: SSAValue
    recipe: tuple[Operation, ...]
    """From the `tt.splat` of the pointer on, each op on the result of the one before."""
    additions: tuple[tile.AddPtrOp, ...]


def _additions(loop: scf.ForOp, carried: Carried) -> tuple[tile.AddPtrOp, ...] | None:
    """The ops that lead from the argument to what is yielded for it; None where something else does."""
    if not is_tensor(type_ := type_of(carried.argument)) or not isinstance(element_type(type_), tile.PointerType):
        return None
    found: list[tile.AddPtrOp] = []
    value = carried.yielded.value
    while value is not carried.argument:
        op = value.owner
        if not isinstance(op, tile.AddPtrOp) or op.parent is not loop.body.block or not _is_uniform(op.offset):
            return None
        found.append(op)
        value = op.ptr
    return tuple(reversed(found))


def _recipe(value: SSAValue) -> tuple[Operation, ...] | None:
    """The ops that make a tile of one pointer; None where it is not made of one."""
    found: list[Operation] = []
    while isinstance(op := value.owner, (*_CHANGES, tile.AddPtrOp, tile.SplatOp)):
        found.append(op)
        if isinstance(op, tile.SplatOp):
            return tuple(reversed(found))
        value = op.operands[0]
    return None


_CHANGES: tuple[type[Operation], ...] = (tile.BroadcastOp, tile.ExpandDimsOp, ConvertLayoutOp)
"""Of the shape or the layout of a tile of pointers, and of the offsets in it."""


def _converted_in_front(loop: scf.ForOp, value: SSAValue) -> SSAValue:
    """A tile of pointers that is made without conversions of their layout, which would be made again in each iteration:
    in front of the loop the offsets are converted instead."""
    recipe = _recipe(value)
    if recipe is None:
        return value
    last = max((number for number, op in enumerate(recipe) if isinstance(op, ConvertLayoutOp)), default=None)
    if last is None:
        return value
    before = Builder.before(loop)
    offsets: list[SSAValue] = []
    for op in recipe[1 : last + 1]:
        if isinstance(op, tile.AddPtrOp):
            offsets.append(op.offset)
            continue
        for number, offset in enumerate(offsets):
            type_ = with_element(type_of(op.results[0]), element_type(type_of(offset)))
            offsets[number] = before.emit(type(op), (offset,), (type_,), op.properties)
    type_ = type_of(recipe[last].results[0])
    made = before.emit(tile.SplatOp, recipe[0].operands, (type_,))
    for offset in offsets:
        made = before.emit(tile.AddPtrOp, (made, offset), (type_,))
    for op in recipe[last + 1 :]:
        made = before.insert(clone(op, {op.operands[0]: made})).results[0]
    return made


def _is_uniform(value: SSAValue) -> bool:
    return isinstance(value.owner, tile.SplatOp) or constant_of(value) is not None


def _rewrite(loop: scf.ForOp, carried: Carried, found: _Moved) -> None:
    before, argument, result = Builder.before(loop), carried.argument, carried.result
    carried.initial.set(found.pointer)
    set_type(argument, found.pointer.type)
    set_type(result, found.pointer.type)
    start = loop.body.block.first_op
    assert start is not None and loop.next_op is not None
    additions = frozenset(found.additions)
    _remake(found, argument, [*_users(argument, additions)], start)
    pointer: SSAValue = argument
    for addition in found.additions:
        behind = addition.next_op
        assert behind is not None
        pointer = Builder.before(addition).emit(tile.AddPtrOp, (pointer, _amount(addition, before)), (pointer.type,))
        users = [*_users(addition.result, additions)]
        end = terminator_of(loop.body.block)
        _remake(found, pointer, [use for use in users if use != (end, carried.yielded.number)], behind)
    carried.yielded.set(pointer)
    for addition in reversed(found.additions):
        erase(addition)
    _remake(found, result, [*_users(result, ())], loop.next_op)


def _users(value: SSAValue, without: Container[Operation]) -> Iterator[tuple[Operation, int]]:
    for use in value.uses:
        if use.operation not in without:
            yield use.operation, use.index


def _remake(found: _Moved, pointer: SSAValue, users: Sequence[tuple[Operation, int]], place: Operation) -> None:
    """In front of `place`, the tile that begins at another pointer, for its users."""
    if not users:
        return
    builder = Builder.before(place)
    made = pointer
    for op in found.recipe:
        made = builder.insert(clone(op, {op.operands[0]: made})).results[0]
    for user, index in users:
        user.operands[index] = made


def _amount(addition: tile.AddPtrOp, before: Builder) -> SSAValue:
    """What an op adds everywhere, as a scalar."""
    made = addition.offset.owner
    if isinstance(made, tile.SplatOp):
        return made.src
    value = constant_of(addition.offset)
    assert value is not None
    return before.constant(value, element_type(type_of(addition.offset)))
