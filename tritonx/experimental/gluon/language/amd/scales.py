"""Numbers with scales (OCP microscaling formats): e8m0 codes in bytes, of which 127 is 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.experimental.gluon.language.guard import amd_builtin
from tritonx.language.builtins.builtin import INJECTED
from tritonx.language.types.dtypes import dtype
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor

if TYPE_CHECKING:
    from tritonx.experimental.gluon.semantics import GluonSemantics


@amd_builtin
def scaled_upcast(
    src: tensor, scale: tensor, elem_type: dtype, axis: object = None, _semantic: GluonSemantics = INJECTED
) -> tensor:
    """8-bit floats, or pairs of 4-bit floats (e2m1) in the bytes of ``src``, times powers of two, as float16 or
    bfloat16. ``scale`` has a code for each element of the result, in its layout: that of ``src``, or of what
    `fp4_to_fp` makes of it, which is twice as long along ``axis``. Raises AssertionError for scales that are no bytes,
    ValueError for other types, shapes and layouts, and for scales that several elements share."""
    return _semantic.scaled_upcast(src, scale, unwrap(elem_type), unwrap(axis))
