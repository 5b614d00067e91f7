"""The types of the IR that types of Gluon have."""

from __future__ import annotations

from xdsl.ir import Attribute

from tritonx.dialects.gluon import AUTO, CoalescedEncodingAttr
from tritonx.dialects.gpu_layout import attribute_of
from tritonx.dialects.gpu_layout.types import MemDescType, memdesc
from tritonx.experimental.gluon.layouts import AutoLayout, CoalescedLayout, DistributedLayout, SharedLayout
from tritonx.experimental.gluon.values import distributed_type, shared_memory_descriptor_type
from tritonx.frontend.semantics.types import OTHER_TYPES, ir_type
from tritonx.ir import types as ir


def encoding_attribute(layout: DistributedLayout | SharedLayout) -> Attribute:
    """The encoding that a layout is in the types of the IR."""
    if isinstance(layout, AutoLayout):
        return AUTO
    if isinstance(layout, CoalescedLayout):
        return CoalescedEncodingAttr()
    return attribute_of(layout.encoding())


def tile_type(type_: distributed_type) -> Attribute:
    """`tensor<...>` with the layout's encoding."""
    return ir.tensor(ir_type(type_.element_ty), type_.storage, encoding_attribute(type_.layout))


def memory_tile(type_: shared_memory_descriptor_type) -> MemDescType:
    """`!ttg.memdesc<...>`, mutable, as all of Gluon's is."""
    return memdesc(
        tuple(type_.shape),
        ir_type(type_.element_ty),
        encoding_attribute(type_.layout),
        mutable=True,
        alloc_shape=tuple(type_.alloc_shape),
    )


OTHER_TYPES[distributed_type] = tile_type
OTHER_TYPES[shared_memory_descriptor_type] = memory_tile
