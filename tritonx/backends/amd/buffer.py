"""Buffer loads and stores (CDNA and RDNA ISA, "vector memory buffer instructions"; LLVM's AMDGPU guide, "buffer
resource").

A lane whose offset is not below the buffer's size reads zero and writes nothing: that is how a mask is expressed."""

from __future__ import annotations

from xdsl.ir import Attribute, Operation, SSAValue

from tritonx.analysis.axis_info import AxisFacts
from tritonx.backends.amd.machine import AmdMachine
from tritonx.backends.amd.memory import is_zero
from tritonx.backends.amd.targets import Processor
from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.machine import Access
from tritonx.conversion.gpu_to_llvm.memory import Cut, Guard, gather_parts, part
from tritonx.conversion.gpu_to_llvm.types import bits, llvm_type
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.dialects.amd import BufferLoadOp, BufferLoadToLocalOp, BufferStoreOp
from tritonx.ir.dispatch import case
from tritonx.layouts import LinearLayout, access_vectors, memory_width

_SIZE = (1 << 31) - 1
_OUTSIDE = -(1 << 31)


def flags(processor: Processor) -> int:
    """Word 3 of the descriptor of a raw buffer of 32-bit data (CDNA 3 ISA, table 40; RDNA 3 ISA, table 52). RDNA needs
    bit 24 set, and the choice (bits 28 and 29) that an offset is compared with the size in bytes."""
    return 0x27000 if processor.wave == 64 else 0x31027000


def cut(f: FunctionEmitter, base: SSAValue, offsets: SSAValue, data: Attribute, mask: SSAValue | None) -> Cut:
    """The vector accesses of a tile: registers that are neighbours in memory, aligned, under one value of the
    mask.
    """
    elem = llvm_type(data)
    size = bits(elem)
    layout = f.layout(data)
    dim, together = width(f.module.axis_info, layout, base, offsets, mask, size)
    vectors = access_vectors(layout, dim, together)
    return Cut(Access(elem, vectors.width, vectors.width * size // 8), vectors.groups, vectors.repeats)


def width(
    facts: AxisFacts, layout: LinearLayout, base: SSAValue, offsets: SSAValue, mask: SSAValue | None, size: int
) -> tuple[int, int]:
    """Along which dim elements of ``size`` bits are neighbours in memory, aligned, under one value of the mask, and how
    many."""
    info, start = facts.of(offsets), facts.of(base).divisibility[0]
    divisibility = tuple(min(start, d * size // 8) for d in info.divisibility)
    constancy = None if mask is None else facts.of(mask).constancy
    return memory_width(layout, size, info.contiguity, divisibility, constancy)


class Buffer:
    """The descriptor of an op's buffer, and the byte offsets of its accesses."""

    def __init__(
        self, f: FunctionEmitter, op: BufferLoadOp | BufferLoadToLocalOp | BufferStoreOp, access: Access
    ) -> None:
        self.f = f
        symbol = f.module.declare(
            "ptr addrspace(8)",
            "@llvm.amdgcn.make.buffer.rsrc.p8.p1",
            ["ptr addrspace(1)", "i16", "i64", "i32"],
        )
        pointer = f.scalar(op.ptr)
        assert isinstance(f.machine, AmdMachine)
        word = flags(f.machine.processor)
        self.descriptor = f.inst(
            f"call ptr addrspace(8) {symbol}(ptr addrspace(1) {pointer}, i16 0, i64 {_SIZE}, i32 {word})"
        )
        self.offsets = f.scalars(f.get(op.offsets))
        self.scale = bits(access.elem) // 8
        nbytes = access.width * self.scale
        self.type = f"i{8 * nbytes}" if nbytes <= 4 else f"<{nbytes // 4} x i32>"
        self.mangled = self.type if nbytes <= 4 else f"v{nbytes // 4}i32"
        self.memory = access.type.replace("i1", "i8") if access.elem == "i1" else access.type

    def offset(self, register: int, mask: str | None) -> str:
        f = self.f
        place = self.offsets[register]
        if self.scale > 1:
            place = f.inst(f"mul nuw i32 {place}, {self.scale}")
        return place if mask is None else f.inst(f"select i1 {mask}, i32 {place}, i32 {_OUTSIDE}")


def load(op: BufferLoadOp, f: FunctionEmitter) -> None:
    f.result(op, loaded(f, op, op.result.type))


def loaded(f: FunctionEmitter, op: BufferLoadOp | BufferLoadToLocalOp, type_: Attribute) -> Tile:
    """The tile of ``type_`` that an op loads."""
    plan = cut(f, op.ptr, op.offsets, type_, op.mask)
    access = plan.access
    buffer = Buffer(f, op, access)
    masks = None if op.mask is None else f.scalars(f.get(op.mask))
    other = None if op.other is None else f.get(op.other)
    name = f"@llvm.amdgcn.raw.ptr.buffer.load.{buffer.mangled}"
    symbol = f.module.declare(buffer.type, name, ["ptr addrspace(8)", "i32", "i32", "i32"])
    parts: list[str] = []
    for group in plan.groups:
        mask = None if masks is None or masks[group[0]] == "true" else masks[group[0]]
        offset = buffer.offset(group[0], mask)
        value = f.inst(f"call {buffer.type} {symbol}(ptr addrspace(8) {buffer.descriptor}, i32 {offset}, i32 0, i32 0)")
        if buffer.memory.startswith("ptr"):
            value = f.inst(f"bitcast {buffer.type} {value} to i64")
            value = f.inst(f"inttoptr i64 {value} to {access.type}")
        elif buffer.memory != buffer.type:
            value = f.inst(f"bitcast {buffer.type} {value} to {buffer.memory}")
        if access.elem == "i1":
            value = f.inst(f"trunc {buffer.memory} {value} to {access.type}")
        if mask is not None and other is not None and not is_zero(instead := part(f, other, group)):
            value = f.inst(f"select i1 {mask}, {access.type} {value}, {access.type} {instead}")
        parts.append(value)
    return gather_parts(f, access, parts, plan)


def store(op: BufferStoreOp, f: FunctionEmitter) -> None:
    """Of threads that hold copies of an element one stores it; the others' offsets are out of range."""
    plan = cut(f, op.ptr, op.offsets, op.value.type, op.mask)
    access = plan.access
    buffer = Buffer(f, op, access)
    value = f.get(op.value)
    masks = None if op.mask is None else f.scalars(f.get(op.mask))
    guard = Guard(f, f.threads.indices(f.layout(op.value.type)).owner)
    name = f"@llvm.amdgcn.raw.ptr.buffer.store.{buffer.mangled}"
    symbol = f.module.declare("void", name, [buffer.type, "ptr addrspace(8)", "i32", "i32", "i32"])
    for group in plan.groups:
        offset = buffer.offset(group[0], guard(None if masks is None else masks[group[0]]))
        data = part(f, value, group)
        if access.elem == "i1":
            data = f.inst(f"zext {access.type} {data} to {buffer.memory}")
        if buffer.memory != buffer.type:
            data = f.inst(f"bitcast {buffer.memory} {data} to {buffer.type}")
        operands = f"ptr addrspace(8) {buffer.descriptor}, i32 {offset}, i32 0, i32 0"
        f.line(f"call void {symbol}({buffer.type} {data}, {operands})")


TABLE: dict[type[Operation], Emit] = {**case(BufferLoadOp, load), **case(BufferStoreOp, store)}
