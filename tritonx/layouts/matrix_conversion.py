"""Arrangements of a layout conversion in shared memory for which `ldmatrix` and `stmatrix` can move one side.

A matrix instruction moves rows of 16 bytes whose words, or whose single elements, belong to different lanes. Where
the other side holds such a row in registers of one thread, it moves it in one access of 16 bytes: this is how a tile of
16-bit elements is transposed without an access of 16 bits, and how the accumulator of a product leaves in whole rows.

The candidates put into the row what one side's instruction wants there (`tritonx.layouts.matrix_access`); each is
completed to an arrangement without bank conflicts (`tritonx.layouts.swizzle.arrange`), and all are compared by what
a warp issues and what the memory serves, equals by what must be moved between registers afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from tritonx.layouts.access import BANK_BITS, BANKS, placement, shared_access
from tritonx.layouts.dims import LANE, REGISTER
from tritonx.layouts.gf2 import echelon, intersection, rank
from tritonx.layouts.linear import LinearLayout
from tritonx.layouts.matrix_access import ROW_BITS, MatrixAccess, matrix_transfers
from tritonx.layouts.swizzle import arrange, conversion_memory, phase_directions

MATRIX_LANES = 5
"""Lane bits of a warp that has such instructions."""


@lru_cache(maxsize=4096)
def matrix_conversion(
    source: LinearLayout, target: LinearLayout, bits: int, *, loads: bool, stores: bool
) -> LinearLayout | None:
    """offset → index, the cheapest arrangement that uses a matrix instruction; None where `conversion_memory`'s is as
    cheap. `source` and `target` are as there, without repeated registers; `loads` and `stores` say whether the target
    has ldmatrix and stmatrix.
    """
    if bits not in (8, 16, 32) or source.in_bits(LANE) != MATRIX_LANES:
        return None
    able = ((target, loads), (source, stores and bits <= 16))
    best, least = None, _cost(conversion_memory(source, target, bits), source, target, bits, loads, stores)
    for side, allowed in able:
        if not allowed:
            continue
        for row, selectors in _rows(side, source if side is target else target, bits):
            memory = _arranged(source, target, bits, side, row, selectors)
            if memory is None or not any(
                can and matrix_transfers(placement(layout, memory), bits) is not None for layout, can in able
            ):
                continue
            cost = _cost(memory, source, target, bits, loads, stores)
            if cost < least:
                best, least = memory, cost
    return best


def row_wavefronts(access: MatrixAccess, bits: int) -> int:
    """Cycles for the eight rows of one matrix: 1 where they lie in different banks."""
    units = [column * bits // ROW_BITS for column in access.rows.columns(LANE)[:3]]
    groups = BANKS * BANK_BITS // ROW_BITS
    return 1 << rank(units) - echelon(unit & (groups - 1) for unit in units).rank


def _rows(side: LinearLayout, other: LinearLayout, bits: int) -> Iterable[tuple[list[int], list[int]]]:
    """(directions inside a row, directions that select the rows of one matrix) that an instruction of `side` wants."""
    lanes, registers = side.columns(LANE), side.columns(REGISTER)
    steps = (BANK_BITS // bits).bit_length() - 1
    word = [*intersection(registers, other.columns(REGISTER)), *registers]
    yield [*dict.fromkeys(d for d in word if d)][:steps] + list(lanes[:2]), list(lanes[2:])
    if bits == 16 and registers:
        yield list(lanes[2:]), [registers[0], *lanes[:2]]


def _arranged(
    source: LinearLayout, target: LinearLayout, bits: int, side: LinearLayout, row: list[int], selectors: list[int]
) -> LinearLayout | None:
    """The arrangement with these rows; None where they are not eight independent rows of 16 bytes."""
    if bits << len(row) != ROW_BITS or rank((*row, *selectors)) != len(row) + len(selectors):
        return None
    other = target if side is source else source
    held = echelon(other.columns(REGISTER))
    run = next((i for i, direction in enumerate(row) if held.reduce(direction)[0]), len(row))
    phase = phase_directions(other, bits << run)
    writer, reader = (selectors, phase) if side is source else (phase, selectors)
    return arrange(source, target, bits, row, writer, reader)


def _cost(
    memory: LinearLayout, source: LinearLayout, target: LinearLayout, bits: int, loads: bool, stores: bool
) -> tuple[int, int]:
    """What a warp issues and what the memory serves, in instructions and cycles, of both sides together; and among
    equals the words that a load brings in another order than that of the registers. What is read mostly goes on to
    memory, or into an instruction, and is moved then; what is written was mostly computed where a store wants it."""
    total = moved = 0
    for layout, allowed in ((source, stores and bits <= 16), (target, loads)):
        matrices = matrix_transfers(placement(layout, memory), bits) if allowed else None
        if matrices is not None:
            total += len(matrices.transfers) * (1 + matrices.matrices * row_wavefronts(matrices, bits))
            brought = [[r for matrix in one.matrices for r in matrix] for one in matrices.transfers]
        else:
            plain = shared_access(placement(layout, memory), bits)
            total += len(plain.accesses) * (1 + plain.wavefronts)
            brought = [list(one.registers) for one in plain.accesses]
            if bits * plain.vec < BANK_BITS:  # parts of a word are put together, or taken apart, in a register
                total += len(plain.accesses) // 2
        if layout is target:
            moved = sum(len(run) * bits // BANK_BITS for run in brought if not _in_order(run))
    return total, moved


def _in_order(registers: list[int]) -> bool:
    """Whether these are neighbours, from a multiple of their number on."""
    first = registers[0]
    return first % len(registers) == 0 and registers == list(range(first, first + len(registers)))
