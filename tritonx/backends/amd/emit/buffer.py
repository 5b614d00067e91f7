"""Buffer loads and stores (CDNA and RDNA ISA, "vector memory buffer instructions"; LLVM's AMDGPU guide, "buffer
resource").

A lane whose offset is not below the buffer's size reads zero and writes nothing: that is how a mask is expressed.

Offsets are unsigned. Where those of a tile may be negative, the buffer begins 2 GiB before the pointer, and offsets
count from there: they are 2^31 more, and of all 2^32 the last 16 are outside, which no allocation has that a launch
marks (`AmdBackend.pointer_specialization`). A masked lane's offset is the first of them: a whole word's, and the last
byte of 16 from there is below 2^32, so it does not matter whether the hardware compares the offset, each word's or the
access's end, and in how many bits. The descriptor is made in scalar registers, and in a loop that moves its pointer the
offsets stay as they are. Addresses are above 2 GiB: a process has its GPU's memory in the upper half of its own
addresses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.ir import Attribute, Block, Operation, SSAValue

from tritonx.analysis.access_width import Accesses, accesses
from tritonx.analysis.axis_info import AxisFacts
from tritonx.analysis.axis_value import AxisInfo
from tritonx.backends.amd.emit.cache_modifiers import buffer_bits
from tritonx.backends.amd.emit.machine import AmdMachine
from tritonx.backends.amd.emit.memory import is_zero
from tritonx.backends.amd.targets import Processor
from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.machine import Access
from tritonx.conversion.gpu_to_llvm.memory import Cut, Guard, gather_parts, load_split, part, say_if_narrow, store_split
from tritonx.conversion.gpu_to_llvm.types import bits, llvm_type
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.dialects import arith, scf, tile
from tritonx.dialects.amd import BufferLoadOp, BufferLoadToLocalOp, BufferStoreOp
from tritonx.ir.dispatch import case
from tritonx.ir.fold.constants import constant_of
from tritonx.ir.types import is_tensor, type_of
from tritonx.layouts import LinearLayout, access_vectors

_SIZE = (1 << 31) - 1
_OUTSIDE = -(1 << 31)
_BEFORE = 1 << 31
"""Bytes that a buffer of offsets of any sign begins before the pointer. (As a number to add it is negative, so LLVM
leaves none of it to an instruction's own offset, which would be added to a wrapped sum.)"""
_OUTSIDE_BOTH = -16
_SIZE_OF_BOTH = 2 * _BEFORE + _OUTSIDE_BOTH


def flags(processor: Processor) -> int:
    """Word 3 of the descriptor of a raw buffer of 32-bit data (CDNA 3 ISA, table 40; RDNA 3 ISA, table 52). RDNA needs
    bit 24 set, and the choice (bits 28 and 29) that an offset is compared with the size in bytes."""
    return 0x27000 if processor.wave == 64 else 0x31027000


def cut(
    f: FunctionEmitter, op: BufferLoadOp | BufferLoadToLocalOp | BufferStoreOp, data: Attribute, *, may_split: bool
) -> Cut:
    """The vector accesses of a tile: registers that are neighbours in memory, aligned, under one value of the mask or,
    with ``may_split``, of a mask that changes once.
    """
    elem = llvm_type(data)
    size = bits(elem)
    layout = f.layout(data)
    found = width(f.module.axis_info, layout, op.ptr, op.offsets, op.mask, size, may_split=may_split)
    vectors = access_vectors(layout, found.dim, found.width)
    access = Access(elem, vectors.width, vectors.width * size // 8, op.cache.value.data)
    return Cut(access, vectors.groups, vectors.repeats, found.split and vectors.width > 1)


def width(
    facts: AxisFacts,
    layout: LinearLayout,
    base: SSAValue,
    offsets: SSAValue,
    mask: SSAValue | None,
    size: int,
    *,
    may_split: bool = False,
) -> Accesses:
    """Along which dim elements of ``size`` bits are neighbours in memory, aligned, under one value of the mask, and how
    many."""
    info = addresses_of(facts, base, offsets, size)
    addresses = (base, offsets) if may_split else ()
    return accesses(facts, layout, info.contiguity, info.divisibility, mask, size, addresses)


def addresses_of(facts: AxisFacts, base: SSAValue, offsets: SSAValue, size: int) -> AxisInfo:
    """What is known of the addresses of elements of ``size`` bits."""
    info, start = facts.of(offsets), facts.of(base).divisibility[0]
    return replace(info, divisibility=tuple(min(start, d * size // 8) for d in info.divisibility))


class Buffer:
    """The descriptor of an op's buffer and accesses to it; places are offsets in bytes (``split_vectors.Memory``)."""

    def __init__(
        self,
        f: FunctionEmitter,
        op: BufferLoadOp | BufferLoadToLocalOp | BufferStoreOp,
        elem: str,
        exists: str | None = None,
    ) -> None:
        """Where ``exists`` is false the buffer is empty."""
        self.f = f
        pointer = f.scalar(op.ptr)
        assert isinstance(f.machine, AmdMachine)
        self.processor = f.machine.processor
        self.any_sign = not f.module.axis_info.of(op.offsets).non_negative
        size, self.outside = (_SIZE_OF_BOTH, _OUTSIDE_BOTH) if self.any_sign else (_SIZE, _OUTSIDE)
        if self.any_sign:
            pointer = f.inst(f"getelementptr i8, ptr addrspace(1) {pointer}, i64 {-_BEFORE}")
        extent = str(size) if exists is None else f.inst(f"select i1 {exists}, i64 {size}, i64 0")
        moved = isinstance(op.parent_op(), scf.ForOp) and _is_made_in(op.ptr, op.parent)
        describe = _moved_descriptor if moved else _descriptor
        self.descriptor = describe(f, pointer, extent, flags(self.processor))
        self.offsets = f.scalars(f.get(op.offsets))
        self.scale = bits(elem) // 8

    def place(self, register: int) -> str:
        """Where the element of a register is."""
        place = self.offsets[register]
        if self.any_sign:
            place = self.f.inst(f"mul i32 {place}, {self.scale}") if self.scale > 1 else place
            return self.f.inst(f"add i32 {place}, {-_BEFORE}")
        return self.f.inst(f"mul nuw i32 {place}, {self.scale}") if self.scale > 1 else place

    def behind(self, place: str, nbytes: int) -> str:
        return self.f.inst(f"add nuw i32 {place}, {nbytes}")

    def guarded(self, place: str, mask: str | None) -> str:
        """The offset of that place where the mask is true; otherwise an offset outside the buffer."""
        return place if mask is None else self.f.inst(f"select i1 {mask}, i32 {place}, i32 {self.outside}")

    def load(self, place: str, access: Access, mask: str | None, other: str | None) -> str:
        f = self.f
        type_, mangled, memory = _types(access)
        name = f"@llvm.amdgcn.raw.ptr.buffer.load.{mangled}"
        symbol = f.module.declare(type_, name, ["ptr addrspace(8)", "i32", "i32", "i32"])
        offset = self.guarded(place, mask)
        policy = buffer_bits(self.processor, access.cache, stores=False)
        operands = f"ptr addrspace(8) {self.descriptor}, i32 {offset}, i32 0, i32 {policy}"
        value = f.inst(f"call {type_} {symbol}({operands})")
        if memory.startswith("ptr"):
            value = f.inst(f"bitcast {type_} {value} to i64")
            value = f.inst(f"inttoptr i64 {value} to {access.type}")
        elif memory != type_:
            value = f.inst(f"bitcast {type_} {value} to {memory}")
        if access.elem == "i1":
            value = f.inst(f"trunc {memory} {value} to {access.type}")
        if mask is not None and other is not None and not is_zero(other):
            value = f.inst(f"select i1 {mask}, {access.type} {value}, {access.type} {other}")
        return value

    def store(self, place: str, value: str, access: Access, mask: str | None) -> None:
        f = self.f
        type_, mangled, memory = _types(access)
        name = f"@llvm.amdgcn.raw.ptr.buffer.store.{mangled}"
        symbol = f.module.declare("void", name, [type_, "ptr addrspace(8)", "i32", "i32", "i32"])
        if access.elem == "i1":
            value = f.inst(f"zext {access.type} {value} to {memory}")
        if memory != type_:
            value = f.inst(f"bitcast {memory} {value} to {type_}")
        policy = buffer_bits(self.processor, access.cache, stores=True)
        operands = f"ptr addrspace(8) {self.descriptor}, i32 {self.guarded(place, mask)}, i32 0, i32 {policy}"
        f.line(f"call void {symbol}({type_} {value}, {operands})")


def _is_made_in(value: SSAValue, block: Block | None) -> bool:
    made = value.owner
    return (made if isinstance(made, Block) else made.parent) is block


def _descriptor(f: FunctionEmitter, pointer: str, extent: str, flags: int) -> str:
    """A raw buffer of ``extent`` bytes (i64, less than 2^32) from ``pointer`` on."""
    parameters = ["ptr addrspace(1)", "i16", "i64", "i32"]
    symbol = f.module.declare("ptr addrspace(8)", "@llvm.amdgcn.make.buffer.rsrc.p8.p1", parameters)
    operands = f"ptr addrspace(1) {pointer}, i16 0, i64 {extent}, i32 {flags}"
    return f.inst(f"call ptr addrspace(8) {symbol}({operands})")


def _moved_descriptor(f: FunctionEmitter, pointer: str, extent: str, flags: int) -> str:
    """The same of a pointer that a loop moves, in whose iterations `make.buffer.rsrc` would clear what lies above the
    48 bits of an address: zeros, which is the stride that a descriptor has there."""
    address = f.inst(f"ptrtoint ptr addrspace(1) {pointer} to i64")
    lower = f.inst(f"insertelement <2 x i64> poison, i64 {address}, i64 0")
    size = f.inst(f"or disjoint i64 {extent}, {flags << 32}")
    words = f.inst(f"insertelement <2 x i64> {lower}, i64 {size}, i64 1")
    return f.inst(f"inttoptr i128 {f.inst(f'bitcast <2 x i64> {words} to i128')} to ptr addrspace(8)")


def _types(access: Access) -> tuple[str, str, str]:
    """The type that the instruction has for an access, its name there, and the type of what lies in memory."""
    nbytes = access.width * bits(access.elem) // 8
    words = nbytes // 4
    type_, mangled = (f"i{8 * nbytes}",) * 2 if nbytes <= 4 else (f"<{words} x i32>", f"v{words}i32")
    return type_, mangled, access.type.replace("i1", "i8") if access.elem == "i1" else access.type


@dataclass(frozen=True)
class Masks:
    """What a tile's mask is made of: ``whole``, one value for all of it, which may be that of a loop's iterations that
    there are not, and one for each register, ``lanes``."""

    whole: str | None
    lanes: Sequence[str] | None

    @staticmethod
    def of_lanes(f: FunctionEmitter, mask: SSAValue | None) -> Masks:
        return Masks(None, None if mask is None else f.scalars(f.get(mask)))

    def of(self, register: int) -> str | None:
        """That of a register; None where it is true."""
        return None if self.lanes is None or self.lanes[register] == "true" else self.lanes[register]


def divided_mask(f: FunctionEmitter, mask: SSAValue | None) -> Masks:
    """The mask of a load whose masked lanes read zeros, in two parts: one select for the buffer's extent does what one
    for each access would."""
    parts = (mask,) if mask is None or not isinstance(mask.owner, arith.AndIOp) else mask.owner.operands
    wholes = [part for part in parts if part is not None and _is_counted_splat(part)]
    rest = [part for part in parts if part not in wholes]
    if len(wholes) != 1:
        return Masks.of_lanes(f, mask)
    splat = wholes[0].owner
    assert isinstance(splat, tile.SplatOp)
    return replace(Masks.of_lanes(f, rest[0] if rest else None), whole=f.scalar(splat.src))


def _is_counted_splat(mask: SSAValue) -> bool:
    """Whether a mask is one comparison of integers that are no tile's: in scalar registers, as a descriptor must be."""
    compared = mask.owner.src.owner if isinstance(mask.owner, tile.SplatOp) else None
    return isinstance(compared, arith.CmpiOp) and all(map(_is_counted, compared.operands))


def _is_counted(value: SSAValue) -> bool:
    """Whether a number is computed of the function's and its loops' arguments and of the program's number alone."""
    seen, left = set[SSAValue](), [value]
    while left:
        made = (value := left.pop()).owner
        if value in seen or isinstance(made, Block):
            continue
        if is_tensor(type_of(value)) or not (made.name.startswith("arith.") or isinstance(made, tile.GetProgramIdOp)):
            return False
        seen.add(value)
        left += made.operands
    return True


def _say(f: FunctionEmitter, op: BufferLoadOp | BufferStoreOp, plan: Cut) -> None:
    info = addresses_of(f.module.axis_info, op.ptr, op.offsets, bits(plan.access.elem))
    say_if_narrow(op, f, plan, info, op.mask)


def load(op: BufferLoadOp, f: FunctionEmitter) -> None:
    plan = cut(f, op, op.result.type, may_split=f.module.has_room(op, op.result))
    _say(f, op, plan)
    if not plan.split or op.mask is None:
        f.result(op, loaded(f, op, plan))
        return
    buffer = Buffer(f, op, plan.access.elem)
    places = [buffer.place(group[0]) for group in plan.groups]
    other = None if op.other is None else f.get(op.other)
    load_split(f, buffer, op.result, plan, places, f.scalars(f.get(op.mask)), other)


def loaded(f: FunctionEmitter, op: BufferLoadOp | BufferLoadToLocalOp, plan: Cut) -> Tile:
    """The tile that an op loads, each vector under one mask."""
    masks = divided_mask(f, op.mask) if op.other is None or constant_of(op.other) == 0 else Masks.of_lanes(f, op.mask)
    buffer = Buffer(f, op, plan.access.elem, masks.whole)
    other = None if op.other is None else f.get(op.other)
    parts: list[str] = []
    for group in plan.groups:
        mask = masks.of(group[0])
        rest = None if other is None or mask is None else part(f, other, group)
        parts.append(buffer.load(buffer.place(group[0]), plan.access, mask, rest))
    return gather_parts(f, plan.access, parts, plan)


def store(op: BufferStoreOp, f: FunctionEmitter) -> None:
    """Of threads that hold copies of an element one stores it; the others' offsets are out of range."""
    plan = cut(f, op, op.value.type, may_split=f.module.has_room(op, op.value))
    _say(f, op, plan)
    buffer = Buffer(f, op, plan.access.elem)
    value = f.get(op.value)
    masks = None if op.mask is None else f.scalars(f.get(op.mask))
    guard = Guard(f, f.threads.indices(f.layout(op.value.type)).owner)
    if plan.split and masks is not None:
        places = [buffer.place(group[0]) for group in plan.groups]
        return store_split(f, buffer, plan, places, masks, guard, value)
    for group in plan.groups:
        mask = guard(None if masks is None else masks[group[0]])
        buffer.store(buffer.place(group[0]), part(f, value, group), plan.access, mask)


TABLE: dict[type[Operation], Emit] = {**case(BufferLoadOp, load), **case(BufferStoreOp, store)}
