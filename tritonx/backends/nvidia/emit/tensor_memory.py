"""Tensor memory: a block's columns, tiles between them and registers, and views.

PTX ISA 9.0, sections 9.7.16.7 (allocation) and 9.7.16.8 (ld, st, wait). An address is 32 bits, the row in the upper
half and the column in the lower; a view is held as what a buffer's is, a pointer of 32 bits. The first warp of a kernel
allocates the columns for the block at its beginning, and frees them at its end, behind a barrier.

An instruction that loads is over with a wait only, so that one piece of assembly has all of a tile's and the wait:
nothing reads the registers between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.backends.nvidia.emit.mbarrier import CONVERGENT, assembly
from tritonx.backends.nvidia.passes.allocate_tensor_memory import SIZE
from tritonx.backends.nvidia.targets import GRANULE, MAX_REGISTERS
from tritonx.backends.nvidia.tensor_memory.messages import MOST_REGISTERS, Transfer, transfer
from tritonx.conversion.gpu_to_llvm import shared
from tritonx.conversion.gpu_to_llvm.indices import apply_columns
from tritonx.conversion.gpu_to_llvm.types import bits
from tritonx.conversion.gpu_to_llvm.values import SharedView, Tile
from tritonx.dialects.gpu_layout import MemDescIndexOp, MemDescSubsliceOp, MemDescType
from tritonx.dialects.nvidia import TMEMAllocOp, TMEMLoadOp, TMEMStoreOp, TMEMSubsliceOp, TMEMWaitOp
from tritonx.dialects.nvidia.dot import TMEMWaitKind
from tritonx.dialects.nvidia.tensor_memory import (
    FIRST_COLUMN,
    FIRST_ROW,
    address_of,
    extent_of,
    is_tensor_memory,
    tensor_memory_layout,
)
from tritonx.ir.dispatch import case
from tritonx.ir.failure import PassError
from tritonx.ir.properties import stated_number
from tritonx.ir.types import bit_width, type_as, type_of
from tritonx.layouts import LayoutError
from tritonx.layouts.dims import WARP

if TYPE_CHECKING:
    from xdsl.ir import Attribute, Operation, SSAValue

    from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter

BASE = "%tensor_memory"
"""The address of the block's first column, an i32 that the whole kernel has."""

_FIRST_WARP = "%allocates"


# ---- the block's columns


def begin(f: FunctionEmitter) -> list[str]:
    """What all warps of a kernel run first: the first one allocates, and all read where. The address passes through
    shared memory, which nothing else is in yet."""
    size = _size(f)
    if not size or not f.is_kernel:
        return []
    f.module.attributes[CONVERGENT] = "convergent nounwind"
    f.module.attributes["#0"] = "convergent nounwind"
    thread = f.module.declare("i32", "@llvm.nvvm.read.ptx.sreg.tid.x", [])
    barrier = f.module.declare("void", "@llvm.nvvm.barrier.cta.sync.aligned.all", ["i32"], " #0")
    alloc = f"@$0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [$1], {size};"
    give_up = "@$0 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"
    address = f"{f.shared} {f.shared_base(0)}"
    return [
        f"  {_FIRST_WARP}.thread = call i32 {thread}()",
        f"  {_FIRST_WARP} = icmp ult i32 {_FIRST_WARP}.thread, 32",
        f'  call void asm sideeffect "{alloc}", "b,r,~{{memory}}"(i1 {_FIRST_WARP}, {address}) {CONVERGENT}',
        f"  call void {barrier}(i32 0)",
        f"  {BASE} = load volatile i32, {address}, align 4",
        f"  call void {barrier}(i32 0)",
        f'  call void asm sideeffect "{give_up}", "b,~{{memory}}"(i1 {_FIRST_WARP}) {CONVERGENT}',
    ]


def end(f: FunctionEmitter) -> None:
    """What a kernel's own warps run last."""
    size = _size(f)
    if size and f.is_kernel:
        f.threads.barrier()
        text = f"@$0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 $1, {size};"
        assembly(f, text, "b,r", f"i1 {_FIRST_WARP}, i32 {BASE}")


def _size(f: FunctionEmitter) -> int:
    return stated_number(f.module.op.attributes, SIZE) or 0


# ---- addresses


def address(f: FunctionEmitter, value: SSAValue) -> str:
    """Of a view (i32)."""
    return f.inst(f"ptrtoint {f.shared} {f.view(value).pointer} to i32")


def _view(f: FunctionEmitter, address: str) -> SharedView:
    return SharedView(f.inst(f"inttoptr i32 {address} to {f.shared}"))


def _moved(f: FunctionEmitter, value: SSAValue, by: str) -> SharedView:
    return _view(f, f.inst(f"add i32 {address(f, value)}, {by}"))


def alloc(op: TMEMAllocOp, f: FunctionEmitter) -> None:
    column, row = (stated_number(op.attributes, name) for name in (FIRST_COLUMN, FIRST_ROW))
    if column is None or row is None:
        raise PassError(op, f"{op.name} has no columns", "run the pass allocate-tensor-memory first")
    f.set(op.result, _view(f, f.inst(f"add i32 {BASE}, {row << 16 | column}")))
    if op.src is not None:
        _write(op, f, op.src, op.result, "true")


def subslice(op: TMEMSubsliceOp, f: FunctionEmitter) -> None:
    by = address_of(type_as(op.src, MemDescType), 0, op.N.value.data)
    f.set(op.result, _moved(f, op.src, str(by)))


def index(op: MemDescIndexOp, f: FunctionEmitter) -> None:
    """One of several tiles that lie one after another in columns."""
    if not is_tensor_memory(type_of(op.src)):
        shared.memdesc_index(op, f)
        return
    columns = extent_of(type_as(op.result, MemDescType)).columns
    f.set(op.result, _moved(f, op.src, f.inst(f"mul i32 {f.scalar(op.index)}, {columns}")))


def window(op: MemDescSubsliceOp, f: FunctionEmitter) -> None:
    if is_tensor_memory(type_of(op.src)):
        raise PassError(op, "a window of tensor memory is one of its columns", "ttng.tmem_subslice is that")
    shared.memdesc_subslice(op, f)


# ---- registers


def load(op: TMEMLoadOp, f: FunctionEmitter) -> None:
    plan, base = _access(op, f, op.result.type, op.src)
    count = len(plan.words)
    lines: list[str] = []
    for number, offset in enumerate(plan.offsets):
        mine = ", ".join(f"${number * plan.registers + i}" for i in range(plan.registers))
        packs = ".pack::16b" if plan.packs else ""
        lines.append(f"tcgen05.ld.{_shape(plan)}{packs}.b32 {{{mine}}}, [${count} + {offset}]{_second(plan)};")
    lines.append("tcgen05.wait::ld.sync.aligned;")
    struct = "i32" if count == 1 else f.module.structure(["i32"] * count)
    constraints = ",".join([*["=&r"] * count, "r", "~{memory}"])
    f.module.attributes[CONVERGENT] = "convergent nounwind"
    text = "\\0A\\09".join(lines)
    called = f.inst(f'call {struct} asm sideeffect "{text}", "{constraints}"(i32 {base}) {CONVERGENT}')
    held = [called] if count == 1 else [f.inst(f"extractvalue {struct} {called}, {i}") for i in range(count)]
    elem = f.elem(op.result)
    names = [""] * f.registers(op.result.type)
    for word, registers in zip(held, plan.words, strict=True):
        for register, name in zip(registers, _elements(f, elem, word, len(registers)), strict=True):
            names[register] = name
    f.set(op.result, f.gathered(elem, [names[register] for register in plan.spare]))


def store(op: TMEMStoreOp, f: FunctionEmitter) -> None:
    _write(op, f, op.src, op.dst, f.scalar(op.pred))


def _write(op: Operation, f: FunctionEmitter, source: SSAValue, memory: SSAValue, predicate: str) -> None:
    tile = f.get(source)
    plan, base = _access(op, f, source.type, memory)
    names = f.scalars(tile)
    words = [_word(f, tile, [names[register] for register in registers]) for registers in plan.words]
    guard, operands, letters = "", [f"i32 {base}"], ["r"]
    if predicate != "true":
        guard, operands, letters = "@$1 ", [*operands, f"i1 {predicate}"], ["r", "b"]
    first, lines = len(operands), list[str]()
    for number, offset in enumerate(plan.offsets):
        mine = ", ".join(f"${first + number * plan.registers + i}" for i in range(plan.registers))
        packs = ".unpack::16b" if plan.packs else ""
        lines.append(f"{guard}tcgen05.st.{_shape(plan)}{packs}.b32 [$0 + {offset}]{_second(plan)}, {{{mine}}};")
    lines.append("tcgen05.wait::st.sync.aligned;")
    operands += [f"i32 {word}" for word in words]
    assembly(f, "\\0A\\09".join(lines), ",".join([*letters, *["r"] * len(words)]), ", ".join(operands))


def _access(op: Operation, f: FunctionEmitter, tile: Attribute, memory: SSAValue) -> tuple[Transfer, str]:
    """The instructions for a tile, and this warp's address."""
    type_ = type_as(memory, MemDescType)
    if f.threads.group.first_warp % 4:
        raise PassError(op, "a partition's warps begin within a group of four, which share tensor memory out")
    try:
        plan = transfer(f.layout(tile), tensor_memory_layout(type_), bit_width(type_.element_type), _limit(f))
    except LayoutError as error:
        raise PassError(op, f"{error}: {tile}") from error
    base = address(f, memory)
    f.threads.touch()
    within = apply_columns(f, {WARP: [32 << 16, 64 << 16, *plan.warps[2:]]})
    return plan, base if within == "0" else f.inst(f"add i32 {base}, {within}")


def _limit(f: FunctionEmitter) -> int:
    """The registers that a thread may have here, as far as they are stated."""
    stated = f.threads.group.registers, f.module.launch_registers
    limit = min([MOST_REGISTERS, *(each for each in stated if each)])
    return limit if limit < MAX_REGISTERS // GRANULE * GRANULE else MOST_REGISTERS  # no thread may have more


def _shape(plan: Transfer) -> str:
    return f"sync.aligned.{plan.shape}.x{plan.repeat}"


def _second(plan: Transfer) -> str:
    return "" if plan.second is None else f", {plan.second}"


def _word(f: FunctionEmitter, tile: Tile, names: list[str]) -> str:
    """Elements as one 32-bit word."""
    width = bits(tile.elem) * len(names)
    held = f.pack(tile.elem, names)
    type_ = tile.elem if len(names) == 1 else f"<{len(names)} x {tile.elem}>"
    word = held if type_ == f"i{width}" else f.inst(f"bitcast {type_} {held} to i{width}")
    return word if width == 32 else f.inst(f"zext i{width} {word} to i32")


def _elements(f: FunctionEmitter, elem: str, word: str, count: int) -> list[str]:
    """The elements of a 32-bit word, from its lowest bits on."""
    width = bits(elem) * count
    if width < 32:
        word = f.inst(f"trunc i32 {word} to i{width}")
    type_ = elem if count == 1 else f"<{count} x {elem}>"
    held = word if type_ == f"i{width}" else f.inst(f"bitcast i{width} {word} to {type_}")
    return [held] if count == 1 else [f.inst(f"extractelement {type_} {held}, i32 {i}") for i in range(count)]


def wait(op: TMEMWaitOp, f: FunctionEmitter) -> None:
    kind = "ld" if op.kind.value.data == TMEMWaitKind.LOAD else "st"
    assembly(f, f"tcgen05.wait::{kind}.sync.aligned;")


TABLE: dict[type[Operation], Emit] = {
    **case(TMEMAllocOp, alloc),
    **case(TMEMLoadOp, load),
    **case(TMEMStoreOp, store),
    **case(TMEMSubsliceOp, subslice),
    **case(TMEMWaitOp, wait),
    **case(MemDescIndexOp, index),
    **case(MemDescSubsliceOp, window),
}
