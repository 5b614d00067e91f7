"""Layouts as text: who holds each element, and which element each holder has. The notation is Triton's."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tritonx.layouts.dims import BLOCK, LANE, OFFSET, REGISTER, WARP
from tritonx.layouts.encodings import Ints
from tritonx.layouts.index_math import all_xors
from tritonx.layouts.linear import LinearLayout


def tensor_view(layout: LinearLayout) -> str:
    """A line for each row of the last dim, nested brackets for the dims before.

    In registers an element has its holders: ``T5:2`` is register 2 of thread 5, ``B1:T5:2`` the same in block 1.
    In shared memory the elements stand in the order of offsets, ``(row:column)``.
    """
    shape = _shape(layout)
    if OFFSET in layout.in_dims:
        count = math.prod(shape)
        elements = [element for block in _offsets(layout) for element in block][:count]
        return _nested([f"({':'.join(_aligned(element, shape))})" for element in elements], shape, ",")
    holders: dict[int, list[str]] = {}
    for label, packed in _holders(layout):
        holders.setdefault(packed, []).append(label)
    width = max(len(label) for labels in holders.values() for label in labels)
    packed = {layout.unpack(index): labels for index, labels in holders.items()}
    cells = ["|".join(label.rjust(width) for label in packed[element]) for element in _row_major(shape)]
    return _nested(cells, shape, ", ")


def hardware_view(layout: LinearLayout) -> str:
    """For each warp a line for each register, with the elements of its lanes; of memory a line for each offset."""
    shape = _shape(layout)
    if OFFSET in layout.in_dims:
        lines: list[str] = []
        for block, elements in enumerate(_offsets(layout)):
            lines.append(f"Block: {block}:")
            lines += [f"Offset: {at} -> ({','.join(_aligned(e, shape))})" for at, e in enumerate(elements)]
        return "\n".join([*lines, ""])
    lines = []
    lanes, registers = all_xors(layout.columns(LANE)), all_xors(layout.columns(REGISTER))
    for block, of_block in enumerate(all_xors(layout.columns(BLOCK))):
        lines += [f"Block{block}:"] if layout.in_bits(BLOCK) else []
        for warp, of_warp in enumerate(all_xors(layout.columns(WARP))):
            lines.append(f"Warp{warp}:")
            for register in registers:
                row = [layout.unpack(of_block ^ of_warp ^ lane ^ register) for lane in lanes]
                lines.append(", ".join(f"({','.join(_aligned(element, shape))})" for element in row))
    return "\n".join([*lines, ""])


def _shape(layout: LinearLayout) -> Ints:
    return tuple(layout.out_size(dim) for dim in layout.out_dims)


def _aligned(element: Ints, shape: Ints) -> list[str]:
    """Each coordinate as wide as the last one of its dim."""
    return [str(at).rjust(len(str(size - 1))) for at, size in zip(element, shape, strict=True)]


def _row_major(shape: Ints) -> Iterator[Ints]:
    for index in range(math.prod(shape)):
        element: list[int] = []
        for size in reversed(shape):
            index, at = divmod(index, size)
            element.insert(0, at)
        yield tuple(element)


def _holders(layout: LinearLayout) -> Iterator[tuple[str, int]]:
    """Each register of each thread, with the packed index of its element."""
    lanes = layout.in_size(LANE)
    for block, of_block in enumerate(all_xors(layout.columns(BLOCK))):
        prefix = f"B{block}:" if layout.in_bits(BLOCK) else ""
        for warp, of_warp in enumerate(all_xors(layout.columns(WARP))):
            for lane, of_lane in enumerate(all_xors(layout.columns(LANE))):
                for register, of_register in enumerate(all_xors(layout.columns(REGISTER))):
                    label = f"{prefix}T{warp * lanes + lane}:{register}"
                    yield label, of_block ^ of_warp ^ of_lane ^ of_register


def _offsets(layout: LinearLayout) -> list[list[Ints]]:
    """By block, the elements at a block's offsets: as many as are its part of the tensor, without further copies."""
    blocks = all_xors(layout.columns(BLOCK))
    part = math.prod(_shape(layout)) // len(blocks)
    offsets = all_xors(layout.columns(OFFSET))[:part]
    return [[layout.unpack(block ^ offset) for offset in offsets] for block in blocks]


def _nested(cells: list[str], shape: Ints, separator: str) -> str:
    """Rows in brackets, one bracket for each dim that begins or ends with the row."""
    rank, row = len(shape), shape[-1]
    sizes = [math.prod(shape[dim : rank - 1]) for dim in range(rank)]
    lines: list[str] = []
    for at in range(len(cells) // row):
        begun, ended = (sum(index % size == 0 for size in sizes) for index in (at, at + 1))
        text = separator.join(cells[at * row : (at + 1) * row])
        lines.append(f"{('[' * begun).ljust(rank)}{text}{']' * ended}")
    return "\n".join([*lines, ""])
