"""Plans executed on NumPy: the meaning of every conversion plan, and the oracle of its tests.

A tensor in a layout is an array [warp, lane, register] of elements, those of one block of a cluster. The functions do
exactly what a plan says, instruction by instruction, so that an emitter can be read beside them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tritonx.layouts.access import SharedAccess
from tritonx.layouts.convert import ConversionPlan, NoMove, RegisterMove, SharedMemoryPlan
from tritonx.layouts.dims import BLOCK, LANE, REGISTER, WARP
from tritonx.layouts.index_math import all_xors
from tritonx.layouts.linear import LinearLayout
from tritonx.layouts.matrix_access import MatrixAccess
from tritonx.layouts.shuffle import SelectStage, ShufflePlan

Array = NDArray[Any]


def packed_indices(layout: LinearLayout, block: int = 0) -> Array:
    """[warp, lane, register] → packed index of the element held there."""
    register, lane, warp = (np.array(all_xors(layout.columns(dim)), dtype=np.int64) for dim in (REGISTER, LANE, WARP))
    return warp[:, None, None] ^ lane[None, :, None] ^ register[None, None, :] ^ all_xors(layout.columns(BLOCK))[block]


def distribute(values: Array, layout: LinearLayout, block: int = 0) -> Array:
    """A flat tensor, indexed by packed index, spread over a layout."""
    return values[packed_indices(layout, block)]


def run(plan: ConversionPlan, held: Array, target: LinearLayout, block: int = 0) -> Array:
    """What each thread holds after the plan."""
    match plan:
        case NoMove():
            return held
        case RegisterMove(sources):
            return held[:, :, list(sources)]
        case ShufflePlan():
            return _run_shuffles(plan, held)
        case SharedMemoryPlan():
            return _run_through_memory(plan, held, target, block)


def _run_shuffles(plan: ShufflePlan, held: Array) -> Array:
    warps, lanes, _ = held.shape
    elements = 1 << plan.pack
    words = held[:, :, list(plan.before)].reshape(warps, lanes, -1, elements)
    for stage in plan.source_stages:
        words = _select(words, stage)
    numbers: Array = np.arange(lanes, dtype=np.int64)
    slots = words[:, :, [step.source for step in plan.rounds]]
    handled = 0
    for swap in plan.swaps:
        handled |= swap.mask
        upper = numbers & swap.mask != 0
        moved = slots.copy()
        for low in (step.slot for step in plan.rounds if not step.lane_xor & swap.mask):
            moved[:, upper, low] = slots[:, ~upper, low ^ swap.xor]
            moved[:, ~upper, low ^ swap.xor] = slots[:, upper, low]
        slots = moved
    read = np.empty_like(slots)
    for step in plan.rounds:
        for warp in range(warps):
            base = numbers & ~sum(plan.spread)
            if plan.lane_map is not None and not plan.spread:
                base = np.array([plan.lane_map.apply(lane=lane, warp=warp)[0] for lane in range(lanes)])
            read[warp, :, step.slot] = slots[warp, base ^ step.lane_xor & ~handled, step.slot]
    slots = read
    for stage in plan.target_stages:
        slots = _select(slots, stage)
    return slots.reshape(warps, lanes, -1)[:, :, list(plan.after)]


def _select(words: Array, stage: SelectStage) -> Array:
    warps, lanes, count, _ = words.shape
    taken = np.empty((warps, lanes), dtype=bool)
    for warp in range(warps):
        for lane in range(lanes):
            taken[warp, lane] = ((lane & stage.lane_mask).bit_count() + (warp & stage.warp_mask).bit_count()) & 1
    swapped = words[:, :, np.arange(count) ^ stage.xor]
    return np.where(taken[:, :, None, None], swapped, words)


def _run_through_memory(plan: SharedMemoryPlan, held: Array, target: LinearLayout, block: int) -> Array:
    result = np.zeros((target.in_size(WARP), target.in_size(LANE), target.in_size(REGISTER)), dtype=held.dtype)
    for part in plan.parts:
        memory = np.zeros(plan.elements, dtype=held.dtype)
        store(part.write, held, memory)
        load(part.read, memory, result, block)
    return result[:, :, list(plan.parts[0].read.repeats)]


def addresses(access: SharedAccess, offset: int, block: int = 0) -> Array:
    """[warp, lane] → element offset of one vector access."""
    lane, warp = (np.array(all_xors(access.threads.columns(dim)), dtype=np.int64) for dim in (LANE, WARP))
    threads = warp[:, None] ^ lane[None, :]
    if own := access.threads.columns(BLOCK):
        threads = threads ^ all_xors(own)[block]
    return threads + offset if access.additive else threads ^ offset


def store(access: SharedAccess, held: Array, memory: Array) -> None:
    """Every thread's registers into memory."""
    for vector in access.accesses:
        start = addresses(access, vector.offset)
        assert not (start % access.vec).any(), "an access is not aligned to its vector"
        for i, register in enumerate(vector.registers):
            memory[start + i] = held[:, :, register]


def load(access: SharedAccess, memory: Array, held: Array, block: int = 0) -> None:
    """Memory into every thread's distinct registers."""
    for vector in access.accesses:
        start = addresses(access, vector.offset, block)
        assert not (start % access.vec).any(), "an access is not aligned to its vector"
        for i, register in enumerate(vector.registers):
            held[:, :, register] = memory[start + i]


def load_matrices(access: MatrixAccess, memory: Array, held: Array, bits: int) -> None:
    """`ldmatrix` on elements of `bits` bits: memory into each thread's distinct registers."""
    for warp, lane, registers, places in _matrix_words(access, held.shape[0], bits):
        held[warp, lane, registers] = memory[places]


def store_matrices(access: MatrixAccess, held: Array, memory: Array, bits: int) -> None:
    """`stmatrix` on elements of `bits` bits: each thread's distinct registers into memory."""
    for warp, lane, registers, places in _matrix_words(access, held.shape[0], bits):
        memory[places] = held[warp, lane, registers]


def _matrix_words(access: MatrixAccess, warps: int, bits: int) -> Iterator[tuple[int, int, list[int], Array]]:
    """(warp, lane, registers, their element offsets) for each word that moves, as the PTX ISA describes it."""
    per_word, per_row = 32 // bits, 128 // bits
    for transfer in access.transfers:
        for warp in range(warps):
            rows = np.empty((access.matrices, 8, per_row), dtype=np.int64)
            for lane in range(8 * access.matrices):
                base = access.rows.apply(lane=lane, warp=warp)[0]
                start = base + transfer.offset if access.additive else base ^ transfer.offset
                assert start % per_row == 0, "a row is not 16-byte aligned"
                rows[lane // 8, lane % 8] = range(start, start + per_row)
            for number, registers in enumerate(transfer.matrices):
                matrix = rows[number].T if access.transposed else rows[number]
                for lane in range(32):
                    word = matrix[lane // 4, per_word * (lane % 4) : per_word * (lane % 4 + 1)]
                    yield warp, lane, list(registers), word
