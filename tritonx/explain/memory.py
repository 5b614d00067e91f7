"""Shared memory and registers over the lines of a function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation

from tritonx.analysis.buffers import OFFSET, allocates_memory
from tritonx.analysis.lifetimes import buffers_of
from tritonx.analysis.program_points import ProgramPoints
from tritonx.analysis.registers import Pressure
from tritonx.dialects import tile
from tritonx.explain.facts import BufferFacts, RegisterPoint
from tritonx.explain.places import Places


def buffers(function: tile.FuncOp, lines: Mapping[Operation, int], places: Places) -> Iterator[BufferFacts]:
    """The pieces of shared memory that were given an offset, by when they are made."""
    points = ProgramPoints(function)
    for buffer in buffers_of(function):
        offset = buffer.op.attributes.get(OFFSET)
        if isinstance(offset, IntegerAttr):
            first, last = (_line(lines, points.ops[point]) for point in (buffer.first, buffer.last))
            yield BufferFacts(
                buffer.op.name,
                lines[buffer.op],
                places.of(buffer.op),
                offset.value.data,
                buffer.size,
                first,
                last,
                not allocates_memory(buffer.op),
            )


def registers(function: tile.FuncOp, lines: Mapping[Operation, int], places: Places) -> Iterator[RegisterPoint]:
    """What tiles take at each op, those that are held across the loops and branches around it with them."""
    for block in function.body.blocks:
        yield from _of_block(block, 0, lines, places)


def _of_block(block: Block, held: int, lines: Mapping[Operation, int], places: Places) -> Iterator[RegisterPoint]:
    pressure = Pressure(block)
    words = pressure.at_each()
    for op, here in zip(pressure.ops, words, strict=True):
        yield RegisterPoint(_line(lines, op), places.of(op), held + here)
        if isinstance(op, tile.ReduceOp | tile.ScanOp):
            continue  # its region combines scalars
        around = pressure.around(op) if op.regions else 0
        for region in op.regions:
            for inner in region.blocks:
                yield from _of_block(inner, held + around, lines, places)


def _line(lines: Mapping[Operation, int], op: Operation) -> int:
    """The line of an op; of one that the text leaves out, the end of a region, that of the op with the region."""
    while op not in lines:
        outer = op.parent_op()
        assert outer is not None, "a module has a line"
        op = outer
    return lines[op]
