"""The types of the IR that tiles in tensor memory have, and the layouts in registers that load and store them."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute

from tritonx.dialects.nvidia.launch_control import RESPONSE
from tritonx.experimental.gluon.language.nvidia.blackwell.clc import clc_result_type
from tritonx.experimental.gluon.language.nvidia.blackwell.tensor_memory import tensor_memory_descriptor_type
from tritonx.experimental.gluon.layouts import DistributedLinearLayout
from tritonx.experimental.gluon.semantics.nvidia.tensor_memory_tiles import registers_in, tensor_memory_tile
from tritonx.frontend.semantics.types import OTHER_TYPES


def registers_of(type_: object, warps: object, variant: object) -> DistributedLinearLayout:
    """The layout in registers of a tile. Raises TypeError for what is none, ValueError where nothing moves it so."""
    if not isinstance(type_, tensor_memory_descriptor_type):
        raise TypeError(f"expected a tensor_memory_descriptor_type but got {type(type_)!r}")
    return registers_in(type_, warps, variant)


def _response(type_: object) -> Attribute:
    assert isinstance(type_, clc_result_type)
    return IntegerType(RESPONSE.width.data)


OTHER_TYPES[tensor_memory_descriptor_type] = tensor_memory_tile
OTHER_TYPES[clc_result_type] = _response
