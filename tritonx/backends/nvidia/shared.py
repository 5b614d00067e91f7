"""ldmatrix and stmatrix: moving the operands of matrix instructions between shared memory and registers, a warp at a
time.

PTX ISA 9.0, sections 9.7.15.5.15 (ldmatrix, from 7.5) and 9.7.15.5.16 (stmatrix, from 9.0). When they fit and which
registers they fill is decided by ``tritonx.layouts.matrix_access``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tritonx.conversion.gpu_to_llvm.indices import apply_layout
from tritonx.conversion.gpu_to_llvm.transfer import Place
from tritonx.conversion.gpu_to_llvm.types import bits, llvm_type
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.dialects import gpu_layout
from tritonx.layouts import MatrixAccess, matrix_access
from tritonx.layouts.dims import OFFSET

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter


def access_for(f: FunctionEmitter, registers: Any, memory: Any, elem: str, place: Place) -> MatrixAccess | None:
    """The matrix transfers between a tile and a buffer, transposed or not; None where neither fits."""
    from tritonx.conversion.gpu_to_llvm.shared import placement

    if place.padding or elem == "i1":
        return None
    places = placement(f, registers, memory)
    for transposed in (False, True):
        found = matrix_access(places, bits(elem), transposed=transposed)
        if found is not None:
            return found
    return None


def row_addresses(f: FunctionEmitter, place: Place, elem: str, access: MatrixAccess) -> list[str]:
    """For each transfer the address of the row that this lane passes."""
    memory = elem
    f.touch_thread()
    with f.in_prologue():
        thread, reach = apply_layout(f, access.rows, OFFSET)
    out: list[str] = []
    for transfer in access.transfers:
        constant = transfer.offset ^ place.start
        if thread == "0":
            index = str(constant)
        elif reach & constant:
            with f.in_prologue():
                index = f.inst(f"xor i32 {thread}, {constant}")
        else:
            base = f.inst(f"getelementptr inbounds {memory}, ptr addrspace(3) {place.pointer}, i32 {thread}")
            out.append(
                f.inst(f"getelementptr inbounds {memory}, ptr addrspace(3) {base}, i32 {constant}")
                if constant
                else base
            )
            continue
        out.append(f.inst(f"getelementptr inbounds {memory}, ptr addrspace(3) {place.pointer}, i32 {index}"))
    return out


def matrix_load(f: FunctionEmitter, capability: int, op: Any) -> bool:
    """A ``ttg.local_load`` by ldmatrix; False where it does not fit."""
    result = op.results[0]
    elem, place = llvm_type(result.type), f.memory[op.src]
    access = access_for(f, result.type, op.src.type, elem, place)
    if access is None:
        return False
    per = 32 // bits(elem)
    count = access.matrices
    suffix = ".trans" if access.transposed else ""
    struct = "i32" if count == 1 else "{ " + ", ".join(["i32"] * count) + " }"
    symbol = f.module.declare(
        struct, f"@llvm.nvvm.ldmatrix.sync.aligned.m8n8.x{count}{suffix}.b16.p3", ["ptr addrspace(3)"]
    )
    filled: dict[int, str] = {}
    for transfer, address in zip(access.transfers, row_addresses(f, place, elem, access), strict=True):
        called = f.inst(f"call {struct} {symbol}(ptr addrspace(3) {address})")
        for i, registers in enumerate(transfer.matrices):
            word = called if count == 1 else f.inst(f"extractvalue {struct} {called}, {i}")
            if per == 1:
                filled[registers[0]] = word if elem == "i32" else f.inst(f"bitcast i32 {word} to {elem}")
                continue
            vector = f.inst(f"bitcast i32 {word} to <{per} x {elem}>")
            for k, r in enumerate(registers):
                filled[r] = f.inst(f"extractelement <{per} x {elem}> {vector}, i32 {k}")
    names = [filled[r] for r in access.repeats]
    f.set(result, Tile.wide(elem, len(names), f.pack(elem, names)))
    return True


def matrix_store(f: FunctionEmitter, capability: int, op: Any) -> bool:
    """A ``ttg.local_store`` or ``ttg.local_alloc`` with a value by stmatrix; False where it does not fit."""
    if capability < 90:
        return False
    source: SSAValue = op.operands[0]
    memory: SSAValue = op.results[0] if isinstance(op, gpu_layout.LocalAllocOp) else op.dst
    value = f.get(source)
    access = access_for(f, source.type, memory.type, value.elem, f.memory[memory])
    if access is None or bits(value.elem) > 16:
        return False
    per = 32 // bits(value.elem)
    count = access.matrices
    suffix = ".trans" if access.transposed else ""
    symbol = f.module.declare(
        "void",
        f"@llvm.nvvm.stmatrix.sync.aligned.m8n8.x{count}{suffix}.b16.p3",
        ["ptr addrspace(3)", *["i32"] * count],
    )
    names = f.scalars(value)
    for transfer, address in zip(access.transfers, row_addresses(f, f.memory[memory], value.elem, access), strict=True):
        words: list[str] = []
        for registers in transfer.matrices:
            vector = f.pack(value.elem, [names[r] for r in registers])
            words.append("i32 " + f.inst(f"bitcast <{per} x {value.elem}> {vector} to i32"))
        f.line(f"call void {symbol}(ptr addrspace(3) {address}, {', '.join(words)})")
    return True
