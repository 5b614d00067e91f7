"""The steps in which a product takes K, and how many registers its operands take meanwhile.

Which elements of K make a step is free as long as both operands agree: those of a row that a lane has are numbered, and
any order of the numbers is right. It is not free how operands in the LDS come: a vector load brings what lies side by
side there, and that need not be neighbours in K. B of a product is stored by threads that have some of a row's columns
for every eighth k, say, so that a load brings the elements k, k + 8, k + 16 and so on of a column. A product that took
them in the order of K would begin all loads in its first step and need each until its last: of a head of 128 in flash
attention 256 registers, all that there are.

So elements that one load brings are taken together. Those of both operands, and all that lie between them, make a
*group*: the combinations of the bits of an element's number in which the elements of a load differ. Where a group takes
more registers than ``OPERAND_REGISTERS`` and is more than a step, the wider loads are cut in halves, which halves it.

The scheduler would move the loads of all steps to the front, so it is held back between steps, and inside a step where
more than ``OPERAND_REGISTERS`` would be loaded. Where two steps or more have room in ``ahead`` registers, loads are
placed that many steps less one before the products that need them: they arrive meanwhile. Where all steps have room all
loads are in front of the products, and are held there: LLVM would move each to its product, to wait for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tritonx.conversion.gpu_to_llvm.dot import Position, Rows
from tritonx.conversion.gpu_to_llvm.transfer import VectorLoads
from tritonx.conversion.gpu_to_llvm.types import bits

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter

OPERAND_REGISTERS = 64
"""A step of a wave's 64 by 64 tile of a product of 16-bit floats takes as many on RDNA 3, a quarter of a wave's
registers, and the results half of them. With 96 such products spill, with 32 no kernel of
docs/history/measurements.md takes fewer than by a dozen."""


def numbers_together(rows: Rows) -> tuple[int, ...]:
    """The bits of an element's number in its row in which the elements of a load differ, in the order of memory."""
    if rows.staged is None:
        return ()
    row = next(iter(rows.registers.values()))
    brought = rows.staged.brought_with(row[0])
    number = {r: i for i, r in enumerate(row) if r in brought}
    steps = (number.get(brought[1 << bit], 0) for bit in range(len(brought).bit_length() - 1))
    return tuple(step for step in steps if step and not step & step - 1) if number.get(brought[0]) == 0 else ()


def group_registers(rows: Rows, elements: int) -> int:
    """How many registers ``elements`` of every row take that are loaded."""
    return 0 if rows.staged is None else -(-len(rows.registers) * elements * bits(rows.elem) // 32)


def arrange(left: Rows, right: Rows, depth: int, per_step: int) -> None:
    """Order the ``depth`` elements that a lane has of every row so that ``per_step`` at a time are those that loads
    bring together, and narrow the loads where that would take too many registers."""
    while True:
        wide, narrow = sorted((left, right), key=lambda rows: -len(numbers_together(rows)))
        group = tuple(dict.fromkeys(numbers_together(wide) + numbers_together(narrow)))
        elements = 1 << len(group)
        taken = sum(group_registers(rows, elements) for rows in (left, right))
        if elements <= per_step or taken <= OPERAND_REGISTERS or not isinstance(wide.staged, VectorLoads):
            break
        wide.staged = wide.staged.halved()
    order = [0]
    for bit in (*group, *(1 << i for i in range(depth.bit_length() - 1) if 1 << i not in group)):
        order += [number | bit for number in order]
    for rows in (left, right):
        rows.registers = {row: [registers[i] for i in order] for row, registers in rows.registers.items()}


def steps(
    f: FunctionEmitter,
    left: Rows,
    right: Rows,
    tiles: list[tuple[Position, Position]],
    depth: int,
    per_step: int,
    *,
    ahead: int,
) -> Iterator[tuple[int, int]]:
    """(number of the first element, tile) of a product's instructions, in order; each is written before the next one is
    asked for. A tile is the rows of both operands that it needs. ``ahead`` is how many registers steps may
    take whose loads run ahead."""
    firsts = range(0, depth, per_step)
    most = max((_wanted(left, right, tiles, first, per_step) for first in firsts), default=0)
    if 2 * most <= ahead:
        distance = ahead // max(most, 1) - 1
        yield from _steps_ahead(f, left, right, tiles, firsts, per_step, distance)
        return
    loading = 0
    for first in firsts:
        held = first == 0
        for tile, pair in enumerate(tiles):
            sides = zip((left, right), pair, strict=True)
            wanted = sum(rows.missing(rows.registers[row][first : first + per_step]) for rows, row in sides)
            if wanted and (not held or loading + wanted > OPERAND_REGISTERS):
                f.machine.keep_order(f)
                held, loading = True, 0
            loading += wanted
            yield first, tile


Sides = tuple[tuple[Rows, list[int]], ...]


def _operands(left: Rows, right: Rows, pair: tuple[Position, Position], first: int, per_step: int) -> Sides:
    """The registers of both operands that an instruction takes."""
    sides = zip((left, right), pair, strict=True)
    return tuple((rows, rows.registers[row][first : first + per_step]) for rows, row in sides)


def _wanted(left: Rows, right: Rows, tiles: list[tuple[Position, Position]], first: int, per_step: int) -> int:
    """The registers that the loads of a step fill."""
    found: dict[Rows, list[int]] = {left: [], right: []}
    for pair in tiles:
        for rows, registers in _operands(left, right, pair, first, per_step):
            found[rows] += registers
    return sum(rows.missing(registers) for rows, registers in found.items())


def _steps_ahead(
    f: FunctionEmitter,
    left: Rows,
    right: Rows,
    tiles: list[tuple[Position, Position]],
    firsts: range,
    per_step: int,
    distance: int,
) -> Iterator[tuple[int, int]]:
    """``steps`` with each one's loads in front of the products of the step that is ``distance`` steps before it."""

    def load(first: int, fenced: bool) -> None:
        if _wanted(left, right, tiles, first, per_step):
            if fenced:
                f.machine.keep_order(f)
            for pair in tiles:
                for rows, registers in _operands(left, right, pair, first, per_step):
                    rows.bring(registers)

    for first in firsts[:distance]:
        load(first, first == 0)
    if 1 < len(firsts) <= distance:
        f.machine.keep_order(f)
    for number, first in enumerate(firsts):
        if number + distance < len(firsts):
            load(firsts[number + distance], True)
        for tile in range(len(tiles)):
            yield first, tile
