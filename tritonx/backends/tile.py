"""What a backend outside this package imports that takes kernels at `tt`, beside `tritonx.backends.api`, or that knows
ops: the dialects, how an op is declared, types, text, what the interpreter says that an op means, what marks a function
of ``tl.extra``, errors.

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
    from tritonx.dialects.effects import Completion as Completion
    from tritonx.dialects.effects import Effect as Effect
    from tritonx.dialects.effects import Effects as Effects
    from tritonx.dialects.effects import Kind as Kind
    from tritonx.dialects.effects import Resource as Resource
    from tritonx.dialects.effects import asynchronous as asynchronous
    from tritonx.dialects.effects import effects as effects
    from tritonx.dialects.effects import effects_of as effects_of
    from tritonx.dialects.effects import reads as reads
    from tritonx.dialects.effects import waits as waits
    from tritonx.dialects.layout_constraints import ELEMENTWISE as ELEMENTWISE
    from tritonx.dialects.layout_constraints import FROM_SCALARS as FROM_SCALARS
    from tritonx.dialects.layout_constraints import NO_TENSORS as NO_TENSORS
    from tritonx.dialects.layout_constraints import LayoutConstraint as LayoutConstraint
    from tritonx.dialects.tile.rules import loaded_from as loaded_from
    from tritonx.dialects.tile.rules import mask_of as mask_of
    from tritonx.interpreter.errors import UnsupportedInInterpreter as UnsupportedInInterpreter
    from tritonx.interpreter.execution import Execution as Execution
    from tritonx.interpreter.execution import Meaning as Meaning
    from tritonx.interpreter.execution import always as always
    from tritonx.interpreter.extern import EXTERN_FUNCTIONS as EXTERN_FUNCTIONS
    from tritonx.interpreter.meanings import MEANINGS as MEANINGS
    from tritonx.interpreter.meanings import meaning_of as meaning_of
    from tritonx.interpreter.memory import Memory as Memory
    from tritonx.interpreter.values import dtype_of as dtype_of
    from tritonx.ir.contract import Contract as Contract
    from tritonx.ir.declaration import TypeRules as TypeRules
    from tritonx.ir.declaration import same as same
    from tritonx.ir.define import define as define
    from tritonx.ir.edit import erase as erase
    from tritonx.ir.edit import insert_before as insert_before
    from tritonx.ir.edit import replace as replace
    from tritonx.ir.failure import PassError as PassError
    from tritonx.ir.failure import PassFailure as PassFailure
    from tritonx.ir.source import source_of as source_of
    from tritonx.ir.splat import SplatAttr as SplatAttr
    from tritonx.ir.text import parse_module as parse_module
    from tritonx.ir.text import print_module as print_module
    from tritonx.ir.types import element_type as element_type
    from tritonx.ir.types import is_pointer as is_pointer
    from tritonx.ir.types import is_tensor as is_tensor
    from tritonx.ir.types import pointee_of as pointee_of
    from tritonx.ir.types import shape_of as shape_of
    from tritonx.ir.verify import verify as verify
    from tritonx.language.builtins.builtin import builtin_of as builtin_of
    from tritonx.runtime.devices.host_driver import HostDriver as HostDriver
    from tritonx.runtime.devices.host_driver import host_address as host_address
    from tritonx.runtime.errors import NoDevice as NoDevice
    from tritonx.runtime.errors import OutOfResources as OutOfResources
    from tritonx.runtime.errors import TritonError as TritonError
    from tritonx.runtime.launch.copies import on_copies as on_copies
    from tritonx.runtime.launch.descriptor_parameters import FlatParameters as FlatParameters
    from tritonx.runtime.launch.spans import Span as Span
    from tritonx.transforms.tile.pipeline import TILE_PIPELINE as TILE_PIPELINE

API_VERSION = STABLE_VERSION

HOMES = {
    "tritonx.dialects": "arith math scf tile",
    "tritonx.dialects.control_flow": "ControlFlow",
    "tritonx.dialects.effects": (
        "asynchronous Completion Effect Effects effects effects_of Kind PURE reads Resource waits"
    ),
    "tritonx.dialects.layout_constraints": "ELEMENTWISE FROM_SCALARS LayoutConstraint NO_TENSORS",
    "tritonx.dialects.tile.rules": "loaded_from mask_of",
    "tritonx.interpreter.errors": "UnsupportedInInterpreter",
    "tritonx.interpreter.execution": "always Execution Meaning",
    "tritonx.interpreter.extern": "EXTERN_FUNCTIONS",
    "tritonx.interpreter.meanings": "meaning_of MEANINGS",
    "tritonx.interpreter.memory": "Memory",
    "tritonx.interpreter.values": "dtype_of",
    "tritonx.ir.contract": "Contract",
    "tritonx.ir.declaration": "TypeRules same",
    "tritonx.ir.define": "define",
    "tritonx.ir.edit": "erase insert_before replace",
    "tritonx.ir.failure": "PassError PassFailure",
    "tritonx.ir.source": "source_of",
    "tritonx.ir.splat": "SplatAttr",
    "tritonx.ir.text": "parse_module print_module",
    "tritonx.ir.types": "element_type is_pointer is_tensor pointee_of shape_of",
    "tritonx.ir.verify": "verify",
    "tritonx.language.builtins.builtin": "builtin_of",
    "tritonx.runtime.launch.copies": "on_copies",
    "tritonx.runtime.launch.descriptor_parameters": "FlatParameters",
    "tritonx.runtime.errors": "NoDevice OutOfResources TritonError",
    "tritonx.runtime.devices.host_driver": "HostDriver host_address",
    "tritonx.runtime.launch.spans": "Span",
    "tritonx.transforms.tile.pipeline": "TILE_PIPELINE",
}
"""Module → names."""

_TABLE, __getattr__ = exporting(__name__, HOMES)


def __dir__() -> list[str]:
    return sorted(_TABLE)
