"""Block pointers and descriptors are several scalars: base, extents, strides, and where the block begins or how it is
padded.
"""

from __future__ import annotations

from xdsl.ir import Attribute

from tritonx.conversion.tile_to_loops.types import register_type
from tritonx.dialects import tile
from tritonx.ir.types import PointerType, is_tensor, shape_of


def flat_types(type_: Attribute) -> list[str]:
    """The LLVM types of a scalar-like value.

    Block pointer: base; extents, strides, offsets as i64. Descriptor: base; extents, strides as i64; whether it pads
    with NaN.
    """
    if isinstance(type_, PointerType) and is_tensor(type_.pointee):
        return ["ptr"] + ["i64"] * (3 * len(shape_of(type_.pointee)))
    if isinstance(type_, tile.TensorDescType):
        return ["ptr"] + ["i64"] * (2 * len(type_.shape)) + ["i1"]
    return [register_type(type_)]
