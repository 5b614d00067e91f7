"""Elements of shared memory at places that are computed: gathered to a tile, scattered from one."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.effects import Effects, effects, reads_memory, writes_memory
from tritonx.dialects.gpu_layout.rules import MEMDESC, check_mutable, mem_desc
from tritonx.dialects.layout_constraints import LayoutConstraint, SameLayout
from tritonx.dialects.tile.rules import check_axis, tensor_type
from tritonx.ir.define import define
from tritonx.ir.spelling import Spellings, TextLevel, spellings
from tritonx.ir.types import is_integer, shape_of


def _check(memory: Attribute, indices: Attribute, values: Attribute, axis: int) -> None:
    held, where, moved = mem_desc(memory), tensor_type(indices), tensor_type(values)
    if not is_integer(where):
        raise VerifyException(f"'indices' must hold integers, got {where}")
    if shape_of(where) != shape_of(moved):
        raise VerifyException(f"indices and values must agree in shape, got {where} and {moved}")
    if held.element_type != moved.element_type:
        raise VerifyException(f"the element types of memory and values differ: {held} and {moved}")
    rank = len(held.shape)
    if len(shape_of(where)) != rank:
        raise VerifyException(f"memory and indices must have the same rank, got {held} and {where}")
    check_axis(axis, rank)
    for dim, (size, count) in enumerate(zip(held.shape, shape_of(where), strict=True)):
        if dim != axis and count > size:
            raise VerifyException(f"dimension {dim} of the memory has {size} elements, that of the indices {count}")


MEMORY = "!ttg.memdesc<128xf32, #shared, #smem, mutable>"


@define
class LocalGatherOp(IRDLOperation):
    """`result[i, j] = src[indices[i, j], j]` for axis 0, and likewise for others."""

    name = "ttg.local_gather"
    src = operand_def(MEMDESC)
    indices = operand_def()
    axis = prop_def(IntegerAttr.constr(i32))
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = SameLayout()
    EFFECTS: ClassVar[Effects] = effects(reads_memory("src"))
    SPELLINGS: ClassVar[Spellings] = spellings(
        {
            TextLevel.V3_6: None,
            TextLevel.V3_8: "%r = ttg.local_gather %memory[%offsets] {axis = 0 : i32} :"
            f" {MEMORY}, tensor<128xi32, #blocked> -> tensor<128xf32, #blocked>",
        }
    )
    FORMAT: ClassVar[str] = "$src `[` $indices `]` attr-dict `:` type($src) `,` type($indices) `->` type($result)"

    def verify_(self) -> None:
        _check(self.src.type, self.indices.type, self.result.type, self.axis.value.data)


@define
class LocalScatterOp(IRDLOperation):
    """`dst[indices[i, j], j] = values[i, j]` for axis 0, and likewise for others. Of several values for one place any
    is there."""

    name = "ttg.local_scatter"
    dst = operand_def(MEMDESC)
    values = operand_def()
    indices = operand_def()
    axis = prop_def(IntegerAttr.constr(i32))
    LAYOUTS: ClassVar[LayoutConstraint] = SameLayout()
    EFFECTS: ClassVar[Effects] = effects(writes_memory("dst"))
    SPELLINGS: ClassVar[Spellings] = spellings(
        {
            TextLevel.V3_6: None,
            TextLevel.V3_8: "ttg.local_scatter %memory[%offsets], %data {axis = 0 : i32} :"
            f" {MEMORY}, tensor<128xi32, #blocked>, tensor<128xf32, #blocked>",
        }
    )
    FORMAT: ClassVar[str] = (
        "$dst `[` $indices `]` `,` $values attr-dict `:` type($dst) `,` type($indices) `,` type($values)"
    )

    def verify_(self) -> None:
        check_mutable(self.dst.type)
        _check(self.dst.type, self.indices.type, self.values.type, self.axis.value.data)
