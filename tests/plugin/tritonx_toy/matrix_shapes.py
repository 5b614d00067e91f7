"""Which products the matrix unit has an instruction for."""

from __future__ import annotations

from xdsl.ir import Attribute

from tritonx.backends.tile import dtype_of, shape_of
from tritonx_toy.units import DEPTH, SIDE

SUMMED_IN = {"float16": "float32", "bfloat16": "float32", "int8": "int32"}
"""dtype of the operands → dtype of the sums."""

WIDENED = ("float8_e5m2", "float8_e4m3fn")
"""dtypes of which float16 holds every number: products of such are products of float16."""


def misfit(a: Attribute, b: Attribute, d: Attribute) -> str:
    """Why the unit cannot multiply tiles of the types ``a`` and ``b`` to one of the type ``d``; "" where it can."""
    left, right, sums = (dtype_of(type_).name for type_ in (a, b, d))
    if left != right or SUMMED_IN.get(left) != sums:
        return f"the matrix unit has no products of {left} and {right} summed in {sums}"
    (*batch, rows, depth), columns = shape_of(a), shape_of(b)[-1]
    if batch or rows % SIDE or columns % SIDE or depth % DEPTH:
        whole = f"{SIDE}x{SIDE}x{DEPTH}"
        return f"the matrix unit multiplies {whole} at a time; {rows}x{columns}x{depth} is no multiple of that"
    return ""
