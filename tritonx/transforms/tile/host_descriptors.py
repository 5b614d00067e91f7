"""What is known of a descriptor that the host has made, by the rules that it keeps (`tools.tensor_descriptor`)."""

from __future__ import annotations

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr

from tritonx.dialects import tile
from tritonx.dialects.tile.descriptor import PARTIAL_END
from tritonx.ir.builder import Builder
from tritonx.ir.types import bit_width, i32, i64
from tritonx.transforms.tile.block_access import View, part_names
from tritonx.transforms.tile.copied_descriptors import ALIGNMENT

DIVISIBILITY = "tt.divisibility"


def part_attributes(type_: tile.TensorDescType, own: DictionaryAttr) -> list[DictionaryAttr]:
    """Of the parts of a parameter with the attributes `own`: the base and the strides but the last are multiples of 16
    bytes, and so are rows, unless it is said that they end within a piece."""
    last = len(type_.shape) - 1
    step = max(1, ALIGNMENT * 8 // bit_width(type_.element_type))
    known = {"base": ALIGNMENT, **{f"stride{d}": step for d in range(last)}}
    if PARTIAL_END not in own.data:
        known[f"shape{last}"] = step
    return [
        DictionaryAttr({DIVISIBILITY: IntegerAttr(known[name], i32)} if name in known else {})
        for name in part_names(type_)
    ]


def set_last_stride(view: View, function: tile.FuncOp) -> None:
    """Elements of a row are neighbours."""
    entry = function.body.blocks.first
    if entry is not None and entry.first_op is not None and view.strides[-1].first_use is not None:
        view.strides[-1].replace_all_uses_with(Builder.before(entry.first_op).constant(1, i64))
