"""ldmatrix and stmatrix: moving the operands of matrix instructions between shared memory and registers, a warp at a
time.

PTX ISA 9.0, sections 9.7.15.5.15 (ldmatrix, from 7.5) and 9.7.15.5.16 (stmatrix, from 9.0). When they fit and which
registers they fill is decided by ``tritonx.layouts.matrix_access``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Attribute

from tritonx.conversion.gpu_to_llvm.transfer import SharedRegisters, swizzled_addresses
from tritonx.conversion.gpu_to_llvm.types import bits, llvm_type
from tritonx.dialects import gpu_layout
from tritonx.ir.types import type_as
from tritonx.layouts import MatrixAccess, matrix_transfers
from tritonx.layouts.access import VECTOR_BITS

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter
    from tritonx.conversion.gpu_to_llvm.values import SharedView


def access_for(
    f: FunctionEmitter, registers: Attribute, memory: gpu_layout.MemDescType, elem: str, view: SharedView
) -> MatrixAccess | None:
    """The matrix transfers between a tile and a buffer, transposed or not; None where neither fits."""
    from tritonx.conversion.gpu_to_llvm.shared import placement, widest

    if view.padding or elem == "i1" or widest(view, bits(elem)) < VECTOR_BITS:  # a row lies in one piece
        return None
    return matrix_transfers(placement(f, registers, memory), bits(elem))


def row_addresses(f: FunctionEmitter, view: SharedView, elem: str, access: MatrixAccess) -> list[str]:
    """For each transfer the address of the row that this lane passes."""
    return swizzled_addresses(f, view, elem, access.rows, [transfer.offset for transfer in access.transfers])


class MatrixLoads(SharedRegisters):
    """A tile that ldmatrix loads."""

    def __init__(self, f: FunctionEmitter, view: SharedView, elem: str, access: MatrixAccess) -> None:
        super().__init__(f, elem, access.repeats)
        self._source = {
            r: (transfer, address)
            for transfer, address in zip(access.transfers, row_addresses(f, view, elem, access), strict=True)
            for matrix in transfer.matrices
            for r in matrix
        }
        self._result = "i32" if access.matrices == 1 else "{ " + ", ".join(["i32"] * access.matrices) + " }"
        suffix = ".trans" if access.transposed else ""
        self._symbol = f.module.declare(
            self._result,
            f"@llvm.nvvm.ldmatrix.sync.aligned.m8n8.x{access.matrices}{suffix}.b16.p3",
            ["ptr addrspace(3)"],
        )

    def brought_with(self, register: int) -> tuple[int, ...]:
        return tuple(r for matrix in self._source[self._repeats[register]][0].matrices for r in matrix)

    def load(self, register: int) -> None:
        f, elem, result = self.f, self.elem, self._result
        transfer, address = self._source[register]
        called = f.inst(f"call {result} {self._symbol}(ptr addrspace(3) {address})")
        for i, registers in enumerate(transfer.matrices):
            word = called if result == "i32" else f.inst(f"extractvalue {result} {called}, {i}")
            type_ = elem if len(registers) == 1 else f"<{len(registers)} x {elem}>"
            self.keep(word if type_ == "i32" else f.inst(f"bitcast i32 {word} to {type_}"), registers)


def matrix_loads(f: FunctionEmitter, type_: Attribute, memory: SSAValue) -> MatrixLoads | None:
    """A tile of ``type_`` from a buffer by ldmatrix; None where it does not fit."""
    elem, view = llvm_type(type_), f.view(memory)
    access = access_for(f, type_, type_as(memory, gpu_layout.MemDescType), elem, view)
    return None if access is None else MatrixLoads(f, view, elem, access)


def matrix_store(f: FunctionEmitter, capability: int, op: gpu_layout.LocalAllocOp | gpu_layout.LocalStoreOp) -> bool:
    """A ``ttg.local_store`` or ``ttg.local_alloc`` with a value by stmatrix; False where it does not fit."""
    if capability < 90:
        return False
    source: SSAValue = op.operands[0]
    memory: SSAValue = op.results[0] if isinstance(op, gpu_layout.LocalAllocOp) else op.dst
    value = f.get(source)
    access = access_for(f, source.type, type_as(memory, gpu_layout.MemDescType), value.elem, f.view(memory))
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
    for transfer, address in zip(access.transfers, row_addresses(f, f.view(memory), value.elem, access), strict=True):
        words: list[str] = []
        for registers in transfer.matrices:
            vector = f.pack(value.elem, [names[r] for r in registers])
            words.append("i32 " + f.inst(f"bitcast <{per} x {value.elem}> {vector} to i32"))
        f.line(f"call void {symbol}(ptr addrspace(3) {address}, {', '.join(words)})")
    return True
