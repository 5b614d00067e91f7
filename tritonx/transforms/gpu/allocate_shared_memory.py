"""Giving every buffer and every op's scratch its place in shared memory."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.passes import ModulePass

from tritonx.analysis.buffers import Area, Buffers
from tritonx.dialects import tile
from tritonx.ir.failure import PassError
from tritonx.ir.places import source_of


@dataclass(frozen=True)
class AllocateSharedMemory(ModulePass):
    """Every op that needs shared memory gets ``allocation.offset`` (bytes), the module ``ttg.shared`` (bytes in all).

    Areas whose lives do not meet may share memory. The largest are placed first, each at the lowest offset that is
    free for all of its life. Functions that are called get memory of their own behind their callers'. With ``limit``
    (bytes, 0 for none) a kernel that needs more is refused, and the report lists the largest areas with their source
    lines. """

    name = "allocate-shared-memory"

    limit: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        total = 0
        for function in op.ops:
            if not isinstance(function, tile.FuncOp):
                continue
            areas = list(Buffers(function).areas.values())
            base = -(-total // 1024) * 1024 if areas else total
            total = max(total, place(areas, base))
            for area in areas:
                area.op.attributes["allocation.offset"] = IntegerAttr(area.offset, 32)
            if self.limit and total > self.limit:
                raise PassError(
                    max(areas, key=lambda a: a.nbytes).op,
                    f"out of shared memory: {total} bytes are needed, the device has {self.limit}\n{describe(areas)}",
                    "use smaller blocks or fewer stages",
                )
        op.attributes["ttg.shared"] = IntegerAttr(total, 32)


def place(areas: list[Area], base: int) -> int:
    """Set the offsets of ``areas`` from ``base`` up; returns the end of the highest."""
    placed: list[Area] = []
    for area in sorted(areas, key=lambda a: (-a.nbytes, a.start)):
        busy = sorted(
            (other.offset, other.offset + other.nbytes)
            for other in placed
            if other.start < area.end and area.start < other.end
        )
        area.offset = first_gap(busy, area.nbytes, area.alignment, base)
        placed.append(area)
    return max((a.offset + a.nbytes for a in areas), default=base)


def first_gap(busy: list[tuple[int, int]], nbytes: int, alignment: int, base: int) -> int:
    """The lowest aligned offset from ``base`` at which ``nbytes`` are free; ``busy`` is sorted."""
    offset = -(-base // alignment) * alignment
    for start, end in busy:
        if offset + nbytes <= start:
            break
        offset = max(offset, -(-end // alignment) * alignment)
    return offset


def describe(areas: list[Area]) -> str:
    """The largest areas, one a line, with where the kernel asks for them."""
    lines: list[str] = []
    for area in sorted(areas, key=lambda a: -a.nbytes)[:5]:
        where = next(iter(source_of(area.op)), None)
        lines.append(f"  {area.nbytes} bytes for {area.op.name} at {where or 'an unknown line'}")
    return "\n".join(lines)
