"""The operands of a warp group's product: buffers that the matrix unit reads itself, or registers of A.

A buffer is named by a *matrix descriptor* (PTX ISA 9.0, section 9.7.15.5.1.2.2), 64 bits that hold the address of the
operand's corner, two strides and the swizzle. Which strides they are depends on the dim that is contiguous in memory.
With K contiguous ("K-major") rows come in eights, one swizzle width apart from each other, and the *stride* is from one
eight to the next. With M or N contiguous, eight ks lie one swizzle width apart: the *stride* is from one eight of ks to
the next, and the *leading* stride is from one swizzle width of rows to the next. Where nothing is swizzled these two
change places.

Addresses are read off the buffer's linear layout. An instruction's corner is a multiple of eight rows, where no
swizzle moves anything, so that corners are a constant apart."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tritonx.conversion.gpu_to_llvm.dot import Rows
from tritonx.conversion.gpu_to_llvm.encodings import type_encoding
from tritonx.conversion.gpu_to_llvm.indices import apply_columns
from tritonx.conversion.gpu_to_llvm.product import Factor
from tritonx.conversion.gpu_to_llvm.shape import positions
from tritonx.conversion.gpu_to_llvm.shared import memory_layout
from tritonx.conversion.gpu_to_llvm.types import bits
from tritonx.dialects.gpu_layout import MemDescType
from tritonx.ir.failure import PassError
from tritonx.ir.types import bit_width
from tritonx.layouts.dims import OFFSET, WARP
from tritonx.layouts.encodings import NvmmaSharedEncoding

if TYPE_CHECKING:
    from xdsl.ir import Operation, SSAValue

    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter
    from tritonx.dialects.nvidia import WarpGroupDotOp

_SWIZZLE = {128: 1, 64: 2, 32: 3, 0: 0}
"""Swizzle width in bytes → its code in a descriptor."""


@dataclass(frozen=True)
class InMemory:
    """An operand that the matrix unit reads from shared memory. ``k`` is the dim of K in its type; ``groups`` are the
    coordinates along the other dim that the warp groups' bits add. ``extent``: rows and ks of an instruction, beyond
    which no stride goes; all of the operand if it is None. ``version``: bits of the descriptor that say who reads
    it."""

    f: FunctionEmitter
    op: Operation
    value: SSAValue
    k: int
    groups: tuple[int, ...]
    extent: tuple[int, int] | None = None
    version: int = 0

    @cached_property
    def type(self) -> MemDescType:
        assert isinstance(self.value.type, MemDescType)
        return self.value.type

    @cached_property
    def encoding(self) -> NvmmaSharedEncoding:
        encoding = type_encoding(self.type)
        if not isinstance(encoding, NvmmaSharedEncoding) or encoding.fp4_padded:
            raise PassError(self.op, "a warp group reads operands from memory of #ttg.nvmma_shared only")
        return encoding

    @property
    def nbytes(self) -> int:
        """Of an element."""
        return bit_width(self.type.element_type) // 8

    @property
    def is_k_major(self) -> bool:
        return self.encoding.transposed == (self.k == 0)

    def offset(self, row: int, k: int) -> int:
        """The byte at which the element of ``row`` (of A, or column of B) and ``k`` lies in the buffer."""
        inverse = memory_layout(self.type).pseudo_inverse()
        where = dict(zip(inverse.in_dims, (row, k) if self.k == 1 else (k, row), strict=True))
        start = self.f.view(self.value).start
        return (inverse.coordinate(inverse.apply_packed(where), OFFSET) ^ start) * self.nbytes

    def _distance(self, row: int, k: int) -> int:
        """From the first element to that of ``row`` and ``k``; 0 beyond the end."""
        rows, depth = self.extent or (self.type.shape[1 - self.k], self.type.shape[self.k])
        return 0 if row >= rows or k >= depth else self.offset(row, k) - self.offset(0, 0)

    @cached_property
    def strides(self) -> tuple[int, int]:
        """The leading stride and the stride, in bytes."""
        width = self.encoding.swizzling_byte_width
        if width == 0 and self._distance(1, 0) != 16 and self._distance(0, 1) != 16:
            raise PassError(self.op, "rows of unswizzled memory must be 16 bytes apart for a warp group to read them")
        run = max(width, 16) // self.nbytes
        if self.is_k_major:
            return (0 if width else self._distance(0, run)), self._distance(8, 0)  # one swizzle width holds all of K
        along_rows, along_k = self._distance(run, 0), self._distance(0, 8)
        return (along_rows, along_k) if width else (along_k, along_rows)

    @cached_property
    def base(self) -> str:
        """The descriptor of the operand's first element, for this warp group (i64)."""
        f = self.f
        view = f.view(self.value)
        if view.padding:
            raise PassError(self.op, "a warp group reads no padded memory")
        leading, stride = (n >> 4 for n in self.strides)
        fields = _SWIZZLE[self.encoding.swizzling_byte_width] << 62 | stride << 32 | leading << 16 | self.version
        pointer = view.pointer
        moved = apply_columns(f, {WARP: [0, 0, *(self._distance(row, 0) for row in self.groups)]})

        def make() -> str:
            address = f.inst(f"ptrtoint ptr addrspace(3) {pointer} to i32")
            if moved != "0":
                address = f.inst(f"add i32 {address}, {moved}")
            # Assembly, of which LLVM knows no bit: it would write the additions of `descriptor` as ors of the low half,
            # and ptxas then needs two uniform instructions a product where one adds 64 bits.
            field = f.inst(f'call i32 asm "bfe.u32 $0, $1, 4, 14;", "=r,r"(i32 {address})')
            signed = fields - (1 << 64) if fields >> 63 else fields
            return f.inst(f"or disjoint i64 {f.inst(f'zext i32 {field} to i64')}, {signed}")

        # LLVM takes no assembly out of loops.
        fixed = not pointer.startswith("%")
        return f.threads.once(f"descriptor {pointer} {moved} {fields}", make) if fixed else make()

    @cached_property
    def _made(self) -> dict[int, str]:
        return {0: self.base}

    def beyond(self, row: int, k: int) -> int:
        """What the descriptor of that corner is more than ``base``."""
        return self.offset(row, k) >> 4

    def descriptor(self, row: int, k: int) -> str:
        """Of the corner at ``row`` and ``k``."""
        beyond = self.beyond(row, k)
        if beyond not in self._made:
            self._made[beyond] = self.f.inst(f"add i64 {self.base}, {beyond}")
        return self._made[beyond]


class InRegisters:
    """A that the threads hold: of each row pairs of 32-bit words, as the instruction takes them."""

    def __init__(self, f: FunctionEmitter, op: WarpGroupDotOp, depth: int) -> None:
        self.f = f
        self.depth = depth
        self.rows = Rows(f, Factor.of(f, op.a), along=-1)
        self.per = 32 // bits(self.rows.elem)
        ks = sorted({p[-1] for p in positions(f.layout(op.a.type))})
        word = range(self.per)
        self._made: dict[tuple[int, int], list[str]] = {}
        if ks != [
            s * depth + half + i for s in range(len(ks) // (2 * self.per)) for half in (0, depth // 2) for i in word
        ]:
            raise PassError(op, "the first operand lies in registers in an order that the instruction does not take")

    def words(self, row: int, k: int) -> list[str]:
        """The four words of an instruction: rows ``row`` and 8 below, each of the first half of K and the second."""
        if (row, k) not in self._made:
            self._made[row, k] = self._words(row, k)
        return self._made[row, k]

    def _words(self, row: int, k: int) -> list[str]:
        first = k // self.depth * 2
        out: list[str] = []
        for number in (first, first + 1):
            for place in (row, row + 8):
                registers = self.rows.registers[(place,)][number * self.per : (number + 1) * self.per]
                vector = self.rows.packed(registers)
                elem = self.rows.elem
                out.append(
                    self.f.inst(f"bitcast {elem if self.per == 1 else f'<{self.per} x {elem}>'} {vector} to i32")
                )
        return out
