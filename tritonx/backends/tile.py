"""What a backend outside this package imports that takes kernels at `tt`, beside `tritonx.backends.api`, or that knows
ops: the dialects, how an op is declared, types, text, what the interpreter says that an op means, errors.

As `tritonx.backends.gpu`, of the same ``API_VERSION``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.backends.api import STABLE_VERSION
from tritonx.backends.exports import exporting

if TYPE_CHECKING:
    from tritonx.dialects import arith as arith
    from tritonx.dialects import math as math
    from tritonx.dialects import scf as scf
    from tritonx.dialects import tile as tile
    from tritonx.dialects.control_flow import ControlFlow as ControlFlow
    from tritonx.dialects.effects import PURE as PURE
    from tritonx.dialects.effects import Effects as Effects
    from tritonx.dialects.layout_constraints import ELEMENTWISE as ELEMENTWISE
    from tritonx.dialects.layout_constraints import FROM_SCALARS as FROM_SCALARS
    from tritonx.dialects.layout_constraints import NO_TENSORS as NO_TENSORS
    from tritonx.dialects.layout_constraints import LayoutConstraint as LayoutConstraint
    from tritonx.interpreter.errors import UnsupportedInInterpreter as UnsupportedInInterpreter
    from tritonx.interpreter.execution import Execution as Execution
    from tritonx.interpreter.extern import EXTERN_FUNCTIONS as EXTERN_FUNCTIONS
    from tritonx.interpreter.meanings import MEANINGS as MEANINGS
    from tritonx.interpreter.memory import Memory as Memory
    from tritonx.interpreter.values import dtype_of as dtype_of
    from tritonx.ir.contract import Contract as Contract
    from tritonx.ir.declaration import TypeRules as TypeRules
    from tritonx.ir.declaration import same as same
    from tritonx.ir.define import define as define
    from tritonx.ir.failure import PassError as PassError
    from tritonx.ir.failure import PassFailure as PassFailure
    from tritonx.ir.splat import SplatAttr as SplatAttr
    from tritonx.ir.text import parse_module as parse_module
    from tritonx.ir.text import print_module as print_module
    from tritonx.ir.types import element_type as element_type
    from tritonx.ir.types import is_pointer as is_pointer
    from tritonx.ir.types import is_tensor as is_tensor
    from tritonx.ir.types import pointee_of as pointee_of
    from tritonx.ir.types import shape_of as shape_of
    from tritonx.ir.verify import verify as verify
    from tritonx.runtime.errors import NoDevice as NoDevice
    from tritonx.runtime.errors import OutOfResources as OutOfResources
    from tritonx.runtime.errors import TritonError as TritonError
    from tritonx.runtime.host_driver import HostDriver as HostDriver
    from tritonx.runtime.host_driver import host_address as host_address
    from tritonx.transforms.tile.pipeline import TILE_PIPELINE as TILE_PIPELINE

API_VERSION = STABLE_VERSION

HOMES = {
    "tritonx.dialects": "arith math scf tile",
    "tritonx.dialects.control_flow": "ControlFlow",
    "tritonx.dialects.effects": "Effects PURE",
    "tritonx.dialects.layout_constraints": "ELEMENTWISE FROM_SCALARS LayoutConstraint NO_TENSORS",
    "tritonx.interpreter.errors": "UnsupportedInInterpreter",
    "tritonx.interpreter.execution": "Execution",
    "tritonx.interpreter.extern": "EXTERN_FUNCTIONS",
    "tritonx.interpreter.meanings": "MEANINGS",
    "tritonx.interpreter.memory": "Memory",
    "tritonx.interpreter.values": "dtype_of",
    "tritonx.ir.contract": "Contract",
    "tritonx.ir.declaration": "TypeRules same",
    "tritonx.ir.define": "define",
    "tritonx.ir.failure": "PassError PassFailure",
    "tritonx.ir.splat": "SplatAttr",
    "tritonx.ir.text": "parse_module print_module",
    "tritonx.ir.types": "element_type is_pointer is_tensor pointee_of shape_of",
    "tritonx.ir.verify": "verify",
    "tritonx.runtime.errors": "NoDevice OutOfResources TritonError",
    "tritonx.runtime.host_driver": "HostDriver host_address",
    "tritonx.transforms.tile.pipeline": "TILE_PIPELINE",
}
"""Module → names."""

_TABLE, __getattr__ = exporting(__name__, HOMES)


def __dir__() -> list[str]:
    return sorted(_TABLE)
