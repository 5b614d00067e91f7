"""The shared memory that a function uses: its buffers, the scratch of its ops, when each is alive, and who reads and
writes it.

A *buffer* is what a ``ttg.local_alloc`` makes; memory descriptors are views of buffers, and a value that control flow
joins may be a view of several. *Scratch* is memory that an op needs while it runs. Both are ``Area``s here, with an
interval of op numbers in which they must keep their contents. """

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Block, Operation, Region, SSAValue

from tritonx.analysis.scratch import copies_bytes, reduce_bytes, scan_bytes, table_bytes
from tritonx.dialects import gpu_layout, scf, tile
from tritonx.dialects.gpu_layout import MemDescType
from tritonx.ir.failure import PassError
from tritonx.ir.types import bit_width, element_type, is_pointer, is_tensor, shape_of
from tritonx.layouts import LayoutError, LinearLayout, linear_layout, plan_conversion, scratch_bytes
from tritonx.layouts.encodings import NvmmaSharedEncoding, PaddedSharedEncoding
from tritonx.layouts.shared import padded_size


@dataclass(eq=False)
class Area:
    """``nbytes`` of shared memory that ``op`` makes or needs, alive in ``start <= number < end``."""

    op: Operation
    nbytes: int
    alignment: int
    start: int
    end: int
    is_scratch: bool
    offset: int = 0

    def overlaps(self, other: Area) -> bool:
        """Whether both occupy a common byte (offsets must have been given)."""
        return self.offset < other.offset + other.nbytes and other.offset < self.offset + self.nbytes


def layout_of(type_: Any) -> LinearLayout:
    """The linear layout of a tensor type of the layout dialect."""
    return linear_layout(type_.encoding.data, shape_of(type_))


def storage_bytes(type_: Any) -> int:
    """Bytes that one element of a tensor type takes in shared memory."""
    element = element_type(type_)
    if is_pointer(element):
        return 8
    return max(8, bit_width(element)) // 8


def scratch_of(op: Any) -> int:
    """Bytes of scratch that ``op`` needs; 0 for most ops. ``PassError`` where its layouts cannot be handled."""
    try:
        match op:
            case gpu_layout.ConvertLayoutOp():
                bits = 8 * storage_bytes(op.src.type)
                plan = plan_conversion(layout_of(op.src.type), layout_of(op.results[0].type), bits)
                return scratch_bytes(plan, bits)
            case tile.ReduceOp():
                return reduce_bytes(
                    layout_of(op.srcs[0].type), op.axis.value.data, [storage_bytes(v.type) for v in op.srcs]
                )
            case tile.ScanOp():
                return scan_bytes(
                    layout_of(op.srcs[0].type), op.axis.value.data, [storage_bytes(v.type) for v in op.srcs]
                )
            case tile.AtomicRMWOp() | tile.AtomicCASOp():
                result = op.results[0]
                if result.first_use is None:
                    return 0
                layout = layout_of(result.type) if is_tensor(result.type) else None
                return copies_bytes(layout, storage_bytes(result.type))
            case tile.GatherOp():
                return table_bytes(elements(shape_of(op.src.type)), storage_bytes(op.src.type))
            case tile.HistogramOp():
                return table_bytes(shape_of(op.results[0].type)[0], 4)
            case _:
                return 0
    except LayoutError as error:
        raise PassError(op, str(error), "convert the operand to a blocked layout first") from error


def elements(shape: Iterable[int]) -> int:
    total = 1
    for n in shape:
        total *= n
    return total


def buffer_bytes(type_: MemDescType) -> tuple[int, int]:
    """(bytes, alignment) of a buffer of this type."""
    encoding: Any = getattr(type_.encoding, "data", None)
    bits = max(8, bit_width(type_.element_type))
    count = elements(type_.alloc_shape)
    if isinstance(encoding, PaddedSharedEncoding):
        return padded_size(encoding, count) * bits // 8, 16
    if isinstance(encoding, NvmmaSharedEncoding):
        return count * bits // 8, {128: 1024, 64: 512, 32: 256}.get(encoding.swizzling_byte_width, 128)
    return count * bits // 8, 16


class Buffers:
    """The areas of one function, with the buffers that each memory descriptor may be a view of."""

    def __init__(self, function: tile.FuncOp) -> None:
        self.numbers: dict[Operation, tuple[int, int]] = {}
        self.views: dict[SSAValue, frozenset[Operation]] = {}
        self.areas: dict[Operation, Area] = {}
        self._count = 0
        self._number(function.body)
        self._follow(function.body)
        self._measure(function.body)

    # ---- numbering: an op's (first, last) numbers cover what is inside it

    def _number(self, region: Region) -> None:
        for block in region.blocks:
            for op in block.ops:
                first = self._count
                self._count += 1
                for inner in op.regions:
                    self._number(inner)
                self.numbers[op] = first, self._count

    # ---- which buffers a memory descriptor may be

    def _follow(self, region: Region) -> None:
        """Until nothing changes: loops carry descriptors around."""
        changed = True
        while changed:
            changed = False
            for op in region.walk():
                for value, found in self._flows(op):
                    if not isinstance(value.type, MemDescType):
                        continue
                    merged = self.views.get(value, frozenset()) | found
                    if merged != self.views.get(value):
                        self.views[value] = merged
                        changed = True

    def _flows(self, op: Any) -> Iterable[tuple[SSAValue, frozenset[Operation]]]:
        def of(value: SSAValue) -> frozenset[Operation]:
            return self.views.get(value, frozenset())

        match op:
            case gpu_layout.LocalAllocOp():
                yield op.results[0], frozenset((op,))
            case scf.ForOp():
                last = op.body.block.last_op
                for arg, init, back, result in zip(
                    op.body.block.args[1:], op.iter_args, last.operands if last else (), op.results, strict=True
                ):
                    yield arg, of(init) | of(back)
                    yield result, of(init) | of(back)
            case scf.IfOp():
                for inner in op.regions:
                    last = inner.block.last_op if inner.blocks else None
                    if last is not None:
                        for result, value in zip(op.results, last.operands, strict=False):
                            yield result, of(value)
            case scf.WhileOp():
                before, after = op.before_region.block, op.after_region.block
                for args, values in (
                    (before.args, op.operands),
                    (before.args, after.last_op.operands if after.last_op else ()),
                    (after.args, before.last_op.operands[1:] if before.last_op else ()),
                    (op.results, before.last_op.operands[1:] if before.last_op else ()),
                ):
                    for arg, value in zip(args, values, strict=True):
                        yield arg, of(value)
            case _:
                sources = frozenset[Operation]().union(*(of(v) for v in op.operands))
                for result in op.results:
                    yield result, sources

    # ---- areas and their lives

    def _measure(self, region: Region) -> None:
        for op in region.walk():
            if isinstance(op, gpu_layout.LocalAllocOp):
                nbytes, alignment = buffer_bytes(op.results[0].type)  # pyright: ignore[reportArgumentType]  # verified
                first, end = self.numbers[op]
                self.areas[op] = Area(op, nbytes, alignment, first, end, is_scratch=False)
            elif needed := scratch_of(op):
                first, end = self.numbers[op]
                self.areas[op] = Area(op, needed, 16, first, end, is_scratch=True)
        for value, makers in self.views.items():
            for use in value.uses:
                for maker in makers:
                    self._extend(self.areas[maker], use.operation)

    def _extend(self, area: Area, user: Operation) -> None:
        """Keep the area alive through ``user``; through all of a loop that the use is in and the area is not."""
        around = ancestors(area.op)
        place: Operation | None = user
        while place is not None:
            if place.parent is not None and place.parent in around:
                maker = around[place.parent]
                area.start = min(area.start, self.numbers[maker][0])
                area.end = max(area.end, self.numbers[place][1])
                return
            place = place.parent_op()


def ancestors(op: Operation) -> dict[Block, Operation]:
    """For every block around ``op``, the op of that block that is or contains it."""
    out: dict[Block, Operation] = {}
    place: Operation | None = op
    while place is not None and place.parent is not None:
        out[place.parent] = place
        place = place.parent_op()
    return out
