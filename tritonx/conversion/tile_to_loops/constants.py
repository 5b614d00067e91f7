"""Constants of a module as numbers and as LLVM text."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import AnyFloat, DenseIntOrFPElementsAttr
from xdsl.ir import Attribute, Operation

from tritonx.conversion.scalar.literals import literal as scalar_literal
from tritonx.conversion.tile_to_loops.types import register_type
from tritonx.dialects import arith
from tritonx.ir.fold.constants import scalar_of
from tritonx.ir.splat import SplatAttr
from tritonx.ir.types import element_type


def splat_constant(op: object) -> int | float | None:
    """The value of a constant, or of every element of a constant tile; None for other ops and for lists of elements."""
    if not isinstance(op, arith.ConstantOp):
        return None
    value = op.value
    return value.value if isinstance(value, SplatAttr) else scalar_of(value)


def dense_elements(op: Operation) -> list[int | float] | None:
    """The elements of a constant tile that lists them, row-major."""
    value = op.properties.get("value")
    if not isinstance(value, DenseIntOrFPElementsAttr):
        return None
    return list(cast("DenseIntOrFPElementsAttr[AnyFloat]", value).get_values())


def literal(value: int | float, type_: Attribute) -> str:
    """`value` as LLVM writes it for an element of `type_`, in the representation of `types.py`."""
    element = element_type(type_)
    return scalar_literal(value, element, register_type(element))
