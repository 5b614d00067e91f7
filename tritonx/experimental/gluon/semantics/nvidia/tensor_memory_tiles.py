"""Tiles of tensor memory in the IR, and the registers that threads read them to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.dialects.gpu_layout.types import MemDescType, memdesc
from tritonx.dialects.nvidia import TENSOR_MEMORY, TensorMemoryEncodingAttr, TensorMemoryScalesEncodingAttr
from tritonx.dialects.nvidia.tensor_memory import tensor_memory_layout
from tritonx.experimental.gluon.layouts import DistributedLinearLayout, TensorMemoryLayout
from tritonx.experimental.gluon.layouts.tensor_memory_registers import register_layout
from tritonx.frontend.semantics.types import ir_type

if TYPE_CHECKING:
    from tritonx.experimental.gluon.language.nvidia.blackwell.tensor_memory import tensor_memory_descriptor_type


def tensor_memory_tile(type_: tensor_memory_descriptor_type) -> MemDescType:
    """`!ttg.memdesc<..., #ttng.tensor_memory, mutable>`. Raises LayoutError for a layout that no attribute says."""
    layout = type_.layout
    encoding = (
        TensorMemoryEncodingAttr(layout.encoding())
        if isinstance(layout, TensorMemoryLayout)
        else TensorMemoryScalesEncodingAttr(layout.encoding())
    )
    return memdesc(
        tuple(type_.shape),
        ir_type(type_.element_ty),
        encoding,
        space=TENSOR_MEMORY,
        mutable=True,
        alloc_shape=tuple(type_.alloc_shape),
    )


def registers_in(type_: tensor_memory_descriptor_type, warps: object, variant: object) -> DistributedLinearLayout:
    """The layout in registers by which ``warps`` warps load and store a tile. Raises ValueError where no instruction of
    the ``variant`` moves it."""
    if len(type_.shape) != 2:
        raise ValueError(f"expected a tile of two dimensions, got {type_.shape}: take one of several by index")
    if not isinstance(warps, int) or not isinstance(variant, str):
        raise ValueError(f"num_warps is an int and instr_variant a str, got {warps!r} and {variant!r}")
    memory = tensor_memory_layout(tensor_memory_tile(type_))
    return register_layout(memory, type_.shape, type_.element_ty.primitive_bitwidth, warps, variant)
