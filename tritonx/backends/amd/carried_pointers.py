"""Tiles of pointers that a loop moves on as one scalar pointer that goes round.

A kernel that walks over a matrix adds a number to all pointers of a tile in every iteration. As offsets from a buffer's
base they would have to be carried, and added up without proof that they stay in range; but all of them move by the same
number, so that the base can move instead: a scalar, which is added outside of the vector registers."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.passes import ModulePass

from tritonx.analysis.axis_info import analyze_axes
from tritonx.backends.amd.buffer_accesses import Split, is_small_buffer, offsets_of, split
from tritonx.dialects import scf, tile
from tritonx.dialects.control_flow import Carried, carried_by
from tritonx.ir.builder import Builder
from tritonx.ir.edit import erase
from tritonx.ir.fold import constant_of
from tritonx.ir.types import element_type, i32, is_tensor, type_of


@dataclass(frozen=True)
class CarryScalarPointers(ModulePass):
    """Replaces each tile of pointers that an `scf.for` carries by the scalar pointer that it is made from, where before
    the loop it is an argument marked `tt.pointer_range = 32` (or a scalar offset from one) plus 32-bit offsets that are
    provably not negative, and where each iteration adds one number to all of its elements. The tile is put together
    again where it is used, so that `use-buffer-accesses` finds the scalar and the offsets. What moved the tile on is
    left without users."""

    name = "carry-scalar-pointers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in [inner for inner in op.walk() if isinstance(inner, scf.ForOp)]:
            moving = [_moving(index, carried) for index, carried in enumerate(carried_by(loop))]
            candidates = [found for found in moving if found is not None]
            if not candidates:
                continue
            facts = analyze_axes(op)
            proven = [
                found for found in candidates if all(facts.of(part.offset).non_negative for part in found.start.parts)
            ]
            if proven:
                _rewrite(loop, proven)


@dataclass(frozen=True)
class Moving:
    """The tile at ``index`` among a loop's carried values, as it is before the loop, and the numbers that an iteration
    adds to it."""

    index: int
    start: Split
    steps: tuple[SSAValue | int, ...]


def _moving(index: int, carried: Carried) -> Moving | None:
    if not is_tensor(type_of(carried.argument)) or not isinstance(_element(carried.argument), tile.PointerType):
        return None
    steps = _steps(carried.yielded.value, carried.argument)
    start = split(carried.initial.value) if steps else None
    if start is None or not start.parts or not is_small_buffer(start.base):
        return None
    return Moving(index, start, steps)


def _element(value: SSAValue) -> Attribute:
    return element_type(type_of(value))


def _steps(value: SSAValue, argument: SSAValue) -> tuple[SSAValue | int, ...]:
    """The numbers whose sum with all of ``argument`` is ``value``; none where it is computed in another way."""
    steps: list[SSAValue | int] = []
    while value is not argument:
        moved = value.owner
        if not isinstance(moved, tile.AddPtrOp):
            return ()
        added = moved.offset.owner
        number = added.src if isinstance(added, tile.SplatOp) else None
        constant = constant_of(moved.offset)
        if number is None and not isinstance(constant, int):
            return ()
        steps.append(number if number is not None else int(constant or 0))
        value = moved.ptr
    return tuple(steps)


def _rewrite(loop: scf.ForOp, found: list[Moving]) -> None:
    """The loop with scalars in the place of the tiles."""
    block: Block = loop.body.block
    end = block.last_op
    assert end is not None and block.first_op is not None
    before, head, tail = Builder.before(loop), Builder.before(block.first_op), Builder.before(end)
    initial, yielded, types = list(loop.iter_args), list(end.operands), [result.type for result in loop.results]
    tiles: dict[int, list[SSAValue]] = {}
    for one in found:
        base, old = one.start.base, block.args[one.index + 1]
        pointer = type_of(base)
        tiles[one.index] = offsets_of(before, one.start)
        scalar = block.insert_arg(pointer, one.index + 1)
        old.replace_all_uses_with(_tile(head, scalar, tiles[one.index], type_of(old)))
        block.erase_arg(old)
        moved: SSAValue = scalar
        for step in one.steps:
            number = tail.constant(step, i32) if isinstance(step, int) else step
            moved = tail.emit(tile.AddPtrOp, (moved, number), (pointer,))
        initial[one.index], yielded[one.index], types[one.index] = base, moved, pointer
    end.operands = yielded
    new = scf.ForOp.create(
        operands=(loop.lb, loop.ub, loop.step, *initial),
        result_types=types,
        properties=loop.properties,
        attributes=loop.attributes,
        regions=[loop.detach_region(loop.body)],
        location=loop.location,
    )
    before.insert(new)
    after = Builder.before(loop)
    for index, result in enumerate(loop.results):
        made = new.results[index]
        if index in tiles and result.first_use is not None:
            made = _tile(after, made, tiles[index], type_of(result))
        result.replace_all_uses_with(made)
    erase(loop)


def _tile(builder: Builder, base: SSAValue, offsets: list[SSAValue], type_: Attribute) -> SSAValue:
    """The tile of pointers of ``type_`` at ``offsets`` from ``base``."""
    value = builder.emit(tile.SplatOp, (base,), (type_,))
    for offset in offsets:
        value = builder.emit(tile.AddPtrOp, (value, offset), (type_,))
    return value
