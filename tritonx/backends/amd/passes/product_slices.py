"""A product of operands in shared memory as products of slices of K.

The order of K is free as long as both operands agree. It decides how a slice comes: a load brings elements that lie
side by side in memory, which may be far apart in K, and registers that one instruction takes must be neighbours. So the
bits of k that tell apart a lane's registers are put into another order: first those in which the elements of a load
differ, of the operand with more registers first, and last those that number the slices. A *view* is the same memory
under a layout whose k is permuted, of which a slice is a box (`ttg.memdesc_subslice`).

    B of 64×256 halves, where a load brings the elements k, k + 1, k + 32, k + 33 of a column, and bit 2 is a lane's:

    bit of the view   0  1  2  3  4  5
    bit of k          0  5  2  1  3  4     bits 4 and 5 number four slices of 16

Bits that tell lanes apart stay where they are: a slice is laid out over lanes as the whole operand is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DenseArrayBase, TensorType
from xdsl.ir import Attribute, SSAValue

from tritonx.analysis.buffers import tensor_layout
from tritonx.dialects.gpu_layout import (
    LocalDotOp,
    LocalLoadOp,
    MemDescReinterpretOp,
    MemDescSubsliceOp,
    MemDescType,
    attribute_of,
    encoding_value,
    memdesc,
)
from tritonx.ir.builder import Builder
from tritonx.ir.types import bit_width, encoding_of, i32, is_tensor, shape_of, tensor, type_of
from tritonx.layouts import LinearLayout, linear_layout
from tritonx.layouts.dims import OFFSET, REGISTER
from tritonx.layouts.encodings import AmdMfmaEncoding, PaddedSharedEncoding, SharedLinearEncoding

VECTOR_BITS = 128
"""The widest access of a lane to shared memory (CDNA 3 ISA, DS_READ_B128)."""


@dataclass(frozen=True)
class Operand:
    """An operand of a product: its number, the tile that is multiplied, and the memory that it is read from."""

    number: int
    tile: TensorType[Attribute]
    memory: MemDescType
    value: SSAValue

    @property
    def axis(self) -> int:
        """The dimension of k."""
        return 1 - self.number

    @property
    def depth(self) -> int:
        return shape_of(self.tile)[self.axis]

    def _bits(self, layout: LinearLayout, dim: str) -> list[int]:
        """The k of each basis."""
        return [basis[self.axis] for basis in layout.bases(dim)] if dim in layout.in_dims else []

    def register_bits(self) -> list[int]:
        """Bits of k that tell apart the registers of a lane."""
        return sorted(_bit(k) for k in self._bits(tensor_layout(self.tile), REGISTER) if k and not k & k - 1)

    def loaded_bits(self) -> list[int]:
        """Bits of k in which elements of one load differ, in the order of memory."""
        registers = tensor_layout(self.tile).bases(REGISTER)
        found: list[int] = []
        most = VECTOR_BITS // max(8, bit_width(self.tile.element_type))
        for basis in self._offsets()[: most.bit_length() - 1]:
            if basis not in registers:
                break
            if basis[self.axis]:
                found.append(_bit(basis[self.axis]))
        return found

    @property
    def count(self) -> int:
        """Elements of a lane."""
        return tensor_layout(self.tile).in_size(REGISTER)

    def _offsets(self) -> tuple[tuple[int, ...], ...]:
        encoding = encoding_value(self.memory.encoding)
        return linear_layout(encoding, self.memory.shape).bases(OFFSET)

    def view(self, builder: Builder, order: Sequence[int]) -> SSAValue:
        """The memory with bit `order[i]` of k as bit i."""
        if list(order) == sorted(order):
            return self.value
        bases = tuple(
            tuple(_permuted(part, order) if axis == self.axis else part for axis, part in enumerate(basis))
            for basis in self._offsets()
        )
        type_ = memdesc(self.memory.shape, self.memory.element_type, attribute_of(SharedLinearEncoding(bases)))
        return builder.create(MemDescReinterpretOp, (self.value,), (type_,)).results[0]

    def slice(self, builder: Builder, view: SSAValue, number: int, depth: int) -> SSAValue:
        """The tile of slice `number` of a view."""
        whole = type_of(view)
        assert isinstance(whole, MemDescType)
        shape = tuple(depth if axis == self.axis else size for axis, size in enumerate(whole.shape))
        box = memdesc(shape, whole.element_type, whole.encoding, alloc_shape=whole.shape, mutable=whole.mutable)
        offsets = DenseArrayBase.from_list(i32, [number * depth if axis == self.axis else 0 for axis in range(2)])
        part = builder.create(MemDescSubsliceOp, (view,), (box,), {"offsets": offsets}).results[0]
        type_ = tensor(whole.element_type, shape, encoding_of(self.tile))
        return builder.create(LocalLoadOp, (part,), (type_,)).results[0]


def _bit(k: int) -> int:
    return k.bit_length() - 1


def _permuted(k: int, order: Sequence[int]) -> int:
    return sum((k >> bit & 1) << position for position, bit in enumerate(order))


def operands_of(op: LocalDotOp) -> tuple[Operand, Operand] | None:
    """Both operands of a product by the matrix cores; None where one is in registers, or its memory is no linear
    layout."""
    unit = encoding_value(encoding_of(type_of(op.d)))
    if not isinstance(unit, AmdMfmaEncoding):
        return None
    found: list[Operand] = []
    for number, (value, tile) in enumerate(zip((op.a, op.b), op.operand_types, strict=True)):
        memory = type_of(value)
        if is_tensor(memory) or not isinstance(memory, MemDescType) or len(memory.shape) != 2:
            return None
        if isinstance(encoding_value(memory.encoding), PaddedSharedEncoding) or memory.alloc_shape != memory.shape:
            return None
        found.append(Operand(number, tile, memory, value))
    return found[0], found[1]


def k_order(a: Operand, b: Operand, count: int) -> tuple[int, ...] | None:
    """The bit of k that each bit of a view is, where the last ones number `count` slices; None where there are not so
    many slices."""
    slots, total, needed = a.register_bits(), a.depth.bit_length() - 1, count.bit_length() - 1
    if slots != b.register_bits() or slots[len(slots) - needed :] != list(range(total - needed, total)):
        return None
    first, second = sorted((a, b), key=lambda operand: -operand.count)
    wanted = dict.fromkeys((*first.loaded_bits(), *second.loaded_bits(), *slots))
    order = list(range(total))
    for slot, bit in zip(slots, wanted, strict=True):
        order[slot] = bit
    return tuple(order)
