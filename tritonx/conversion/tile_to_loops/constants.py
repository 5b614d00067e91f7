"""Constants of a module as numbers and as LLVM text."""

from __future__ import annotations

import struct
from typing import Any, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute, Operation

from tritonx.conversion.llvm_text import float_constant
from tritonx.conversion.tile_to_loops.types import integer_bits
from tritonx.dialects import arith
from tritonx.ir.fold.constants import scalar_of
from tritonx.ir.splat import SplatAttr
from tritonx.ir.types import FLOAT_BITS, PointerType, element_type, f16, f32, f64


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
    return cast("list[int | float]", list(cast(Any, value).get_values()))


def literal(value: int | float, type_: Attribute) -> str:
    """`value` as LLVM writes it for an element of `type_`, in the representation of `types.py`."""
    element = element_type(type_)
    if element in (f32, f64):
        return float_constant(float(value), double=element == f64)
    if element == f16:
        return f"0xH{_bits(float(value), element):04X}"
    if element in FLOAT_BITS:
        return str(_bits(float(value), element))
    if isinstance(element, PointerType):
        return "null" if value == 0 else f"inttoptr (i64 {int(value)} to ptr)"
    return str(int(value) & 1 if integer_bits(element) == 1 else int(value))


def _bits(value: float, element: Attribute) -> int:
    """The bit pattern of `value` rounded to a narrow float format."""
    if element == f16:
        try:
            return int(struct.unpack("<H", struct.pack("<e", value))[0])
        except OverflowError:
            return 0x7C00 if value > 0 else 0xFC00
    import ml_dtypes
    import numpy as np

    dtypes = {
        "bf16": ml_dtypes.bfloat16,
        "f8E5M2": ml_dtypes.float8_e5m2,
        "f8E4M3FN": ml_dtypes.float8_e4m3fn,
        "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
        "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
        "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz,
    }
    rounded = np.array([value]).astype(dtypes[element.name])
    return int(rounded.view(np.uint16 if FLOAT_BITS[element] == 16 else np.uint8)[0])
