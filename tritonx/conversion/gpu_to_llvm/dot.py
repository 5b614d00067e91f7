"""``tt.dot`` and ``ttg.local_dot``: the machine's matrix instructions where the result has one of their layouts,
otherwise fused multiply-adds."""

from __future__ import annotations

from xdsl.ir import Operation

from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.multiply_add import multiply_add
from tritonx.conversion.gpu_to_llvm.product import DotProduct, Factor
from tritonx.conversion.gpu_to_llvm.shape import positions
from tritonx.conversion.gpu_to_llvm.transfer import SharedRegisters
from tritonx.conversion.gpu_to_llvm.types import bits
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.dialects import tile
from tritonx.dialects.gpu_layout import LocalDotOp
from tritonx.ir.dispatch import case
from tritonx.ir.failure import PassError


def dot(op: tile.DotOp | LocalDotOp, f: FunctionEmitter) -> None:
    product = DotProduct.of(op, f)
    if not f.machine.dot(f, product):
        multiply_add(product, f)


Position = tuple[int, ...]


class Rows:
    """An operand of matrix instructions: the thread's registers by the row (column, for B) they belong to, each row in
    the order of k. Which k a thread's elements are does not matter as long as A and B agree, so those of a row are
    numbered. ``along`` is the dim of k: -1 for A, -2 for B. What lies in shared memory is loaded when it is asked for.
    """

    def __init__(self, f: FunctionEmitter, operand: Factor, along: int) -> None:
        self.f = f
        held = operand.held
        self.staged = held if isinstance(held, SharedRegisters) else None
        self.value = held if isinstance(held, Tile) else None
        self.elem = f.type(operand.type)
        by_row: dict[Position, dict[int, int]] = {}
        for r, p in enumerate(positions(f.layout(operand.type))):
            row = (*p[:-2], p[-2] if along == -1 else p[-1])
            by_row.setdefault(row, {}).setdefault(p[along], r)
        self.registers = {row: [by_k[k] for k in sorted(by_k)] for row, by_k in by_row.items()}

    def depth(self, op: Operation) -> int:
        """How many elements of every row the thread holds."""
        counts = {len(registers) for registers in self.registers.values()}
        if len(counts) != 1:
            raise PassError(op, "the lanes hold different amounts of the rows of an operand")
        return counts.pop()

    def together(self) -> int:
        """How many elements of a row, from the first on, reach to the last one that comes with the first one's load: a
        power of two. 1 where nothing is loaded."""
        if self.staged is None:
            return 1
        row = next(iter(self.registers.values()))
        brought = set(self.staged.brought_with(row[0]))
        return 1 << max(i for i, r in enumerate(row) if i == 0 or r in brought).bit_length()

    def missing(self, registers: list[int]) -> int:
        """How many 32-bit registers the loads fill that ``registers`` still need."""
        if self.staged is None:
            return 0
        loads = {self.staged.brought_with(r) for r in registers if not self.staged.is_loaded(r)}
        return sum(-(-len(brought) * bits(self.elem) // 32) for brought in loads)

    def bring(self, registers: list[int]) -> None:
        """Load here what is not loaded of ``registers``."""
        if self.staged is not None:
            for register in registers:
                self.staged.bring(register)

    def load(self) -> None:
        """Load all of it here."""
        if self.staged is not None:
            self.staged.load_all()

    def packed(self, registers: list[int]) -> str:
        """``registers`` as one vector."""
        f, value, count = self.f, self.value, len(registers)
        if value is None:
            assert self.staged is not None
            return self.staged.vector(registers)
        if value.prefers_vector and registers == list(range(registers[0], registers[0] + count)):
            return f.slice(self.elem, value.n, f.wide(value), registers[0], count)
        names = f.scalars(value)
        return f.pack(self.elem, [names[r] for r in registers])


TABLE: dict[type[Operation], Emit] = {**case((tile.DotOp, LocalDotOp), dot)}
