"""Constants as the text of LLVM operands."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute

from tritonx.conversion.data_layout import WIDTH
from tritonx.conversion.llvm_text import float_literal, int_literal, is_float
from tritonx.ir.types import FLOAT_BITS


def literal(value: int | float, element: Attribute, held: str, pointer: int = WIDTH) -> str:
    """``value`` of the IR's type ``element``, which the LLVM type ``held`` holds: formats that LLVM does not have are
    integers of their bits. A pointer has ``pointer`` bits."""
    if is_float(held):
        return float_literal(float(value), held)
    if held.startswith("ptr"):
        return "null" if value == 0 else f"inttoptr (i{pointer} {int_literal(int(value), pointer)} to {held})"
    if element in FLOAT_BITS:
        bits = cast(AnyFloat, element).pack((float(value),))
        return int_literal(int.from_bytes(bits, "little"), int(held[1:]))
    return int_literal(int(value), int(held[1:]))
