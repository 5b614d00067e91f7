"""Elements of a buffer at places that are computed: each register on its own.

A layout of shared memory is linear over GF(2), swizzled or not: an element's offset is the exclusive or of what the
bits of its coordinates add, of which one coordinate is a register of the indices here."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue

from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.indices import apply_to_values
from tritonx.conversion.gpu_to_llvm.shared import memory_layout
from tritonx.conversion.gpu_to_llvm.transfer import memory_type, padded
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.dialects.gpu_layout import LocalGatherOp, LocalScatterOp, MemDescType
from tritonx.ir.dispatch import case
from tritonx.ir.failure import PassError
from tritonx.ir.types import type_as
from tritonx.layouts.dims import BLOCK, OFFSET
from tritonx.layouts.redundancy import redundancy


def _places(
    op: LocalGatherOp | LocalScatterOp, f: FunctionEmitter, memory: SSAValue, elem: str
) -> Iterator[tuple[int, str]]:
    """Each register, with the address of its element."""
    layout, type_ = f.layout(op.indices.type), type_as(memory, MemDescType)
    held = memory_layout(type_)
    if any(any(basis) for basis in held.bases(BLOCK)):
        raise PassError(op, f"{op.name} in clusters is not supported", "launch it with num_ctas=1")
    inverse, axis = held.pseudo_inverse(), op.axis.value.data
    indices, view = f.get(op.indices), f.view(memory)
    bits = f.bits(indices.elem)
    where = f.scalars(indices)
    coordinates = [f.threads.indices(layout).dim(dim) for dim in range(len(type_.shape)) if dim != axis]
    for register in range(len(where)):
        index = where[register]
        if bits != 32:
            index = f.inst(f"{'zext' if bits < 32 else 'trunc'} {indices.elem} {index} to i32")
        at = [names[register] for names in coordinates]
        at.insert(axis, index)
        offset = apply_to_values(f, inverse, OFFSET, dict(zip(inverse.in_dims, at, strict=True)))
        if view.start:
            offset = f.inst(f"xor i32 {offset}, {view.start}")
        place = padded(f, offset, view.padding)
        yield register, f.inst(f"getelementptr {memory_type(elem)}, {f.shared} {view.pointer}, i32 {place}")


def local_gather(op: LocalGatherOp, f: FunctionEmitter) -> None:
    elem = f.type(op.result.type)
    memory = memory_type(elem)
    align = max(8, f.bits(elem)) // 8
    names: list[str] = []
    for _, place in _places(op, f, op.src, elem):
        value = f.inst(f"load {memory}, {f.shared} {place}, align {align}{f.machine.scope_of_tiles}")
        names.append(value if memory == elem else f.inst(f"trunc {memory} {value} to {elem}"))
    f.result(op, Tile.of(elem, names))


def local_scatter(op: LocalScatterOp, f: FunctionEmitter) -> None:
    """Threads that have the same element all store it; of its copies in a thread's registers one is enough."""
    values = f.get(op.values)
    elem, names = values.elem, f.scalars(values)
    memory = memory_type(elem)
    align = max(8, f.bits(elem)) // 8
    copies = redundancy(f.layout(op.values.type)).registers
    for register, place in _places(op, f, op.dst, elem):
        if register & copies:
            continue
        value = names[register] if memory == elem else f.inst(f"zext {elem} {names[register]} to {memory}")
        f.line(f"store {memory} {value}, {f.shared} {place}, align {align}{f.machine.scope_of_tiles}")


TABLE: dict[type[Operation], Emit] = {
    **case(LocalGatherOp, local_gather),
    **case(LocalScatterOp, local_scatter),
}
