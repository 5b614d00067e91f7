"""Ops that put a table into scratch memory and look into it: gather and histogram."""

from __future__ import annotations

from xdsl.ir import Operation

from tritonx.conversion.gpu_to_llvm.elementwise import scalar_ops
from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.memory import Guard
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.conversion.scalar.integers import bin_of, resized
from tritonx.dialects import tile
from tritonx.ir.dispatch import case
from tritonx.ir.types import shape_of


def row_major(f: FunctionEmitter, coordinates: list[str], shape: tuple[int, ...]) -> str:
    """The row-major number of an element, as an i32; extents are powers of two."""
    total = ""
    for x, n in zip(coordinates, shape, strict=True):
        if not total:
            total = x
            continue
        moved = f.inst(f"shl i32 {total}, {n.bit_length() - 1}")
        total = f.inst(f"add i32 {moved}, {x}")
    return total or "0"


def gather(op: tile.GatherOp, f: FunctionEmitter) -> None:
    source, index = op.src.type, op.indices.type
    elem = f.type(source)
    memory = "i8" if elem == "i1" else elem
    base, align_ = f.scratch_offset(op), f.bits(elem) // 8
    made: set[str] = set()
    layout = f.threads.indices(f.layout(source))
    for r, name in enumerate(f.scalars(f.get(op.src))):
        slot = row_major(f, [layout.dim(d)[r] for d in range(len(shape_of(source)))], shape_of(source))
        if slot in made:
            continue
        made.add(slot)
        stored = f.inst(f"zext i1 {name} to i8") if elem == "i1" else name
        f.line(f"store {memory} {stored}, {f.shared} {f.shared_element(base, memory, slot, 0)}, align {align_}")
    f.threads.local_barrier()
    axis = op.axis.value.data
    layout = f.threads.indices(f.layout(index))
    numbers = f.get(op.indices)
    names: list[str] = []
    for r, number in enumerate(f.scalars(numbers)):
        at = resized(scalar_ops(f), numbers.elem, number, "i32")
        coordinates = [at if d == axis else layout.dim(d)[r] for d in range(len(shape_of(index)))]
        place = f.shared_element(base, memory, row_major(f, coordinates, shape_of(source)), 0)
        name = f.inst(f"load {memory}, {f.shared} {place}, align {align_}")
        names.append(f.inst(f"trunc i8 {name} to i1") if elem == "i1" else name)
    f.result(op, Tile.of(elem, names))


def histogram(op: tile.HistogramOp, f: FunctionEmitter) -> None:
    """Clear the bins, count with shared-memory atomics, read the bins in the result's layout."""
    result = op.results[0].type
    bins = shape_of(result)[0]
    base = f.scratch_offset(op)
    threads = f.threads.count
    for first in range(0, bins, threads):
        place = f.shared_element(base, "i32", f.threads.thread, first)
        inside = f.inst(f"icmp ult i32 {f.threads.thread}, {bins - first}") if bins - first < threads else None
        with f.where(inside):
            f.line(f"store i32 0, {f.shared} {place}, align 4")
    f.threads.local_barrier()
    layout = f.layout(op.src.type)
    skip, owner = layout.free_masks().get("register", 0), f.threads.indices(layout).owner
    guard = Guard(f, owner)
    values = f.get(op.src)
    masks = None if op.mask is None else f.scalars(f.get(op.mask))
    for i, value in enumerate(f.scalars(values)):
        if i & skip:
            continue
        number, inside = bin_of(scalar_ops(f), values.elem, value, bins, "i32")
        mask = guard(None if masks is None else masks[i])
        counted = inside if mask is None else f.inst(f"and i1 {inside}, {mask}")
        with f.where(counted):
            f.line(f"atomicrmw add {f.shared} {f.shared_element(base, 'i32', number, 0)}, i32 1 monotonic")
    f.threads.local_barrier()
    names = [
        f.inst(f"load i32, {f.shared} {f.shared_element(base, 'i32', bin_, 0)}, align 4")
        for bin_ in f.threads.indices(f.layout(result)).dim(0)
    ]
    elem = f.type(result)
    f.result(op, Tile.of(elem, [resized(scalar_ops(f), "i32", name, elem) for name in names]))


TABLE: dict[type[Operation], Emit] = {
    **case(tile.GatherOp, gather),
    **case(tile.HistogramOp, histogram),
}
