"""Arithmetic on pairs of elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.language.builtins.builtin import INJECTED, builtin
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor

if TYPE_CHECKING:
    from tritonx.experimental.gluon.semantics import GluonSemantics


@builtin
def add2(lhs: object, rhs: object, dtype: object = None, _semantic: GluonSemantics = INJECTED) -> tensor:
    """``lhs + rhs`` of blocks, or of a block and a number; the dtype is the operands' common one for None."""
    return _semantic.packed("ADD", (lhs, rhs), unwrap(dtype))


@builtin
def sub2(lhs: object, rhs: object, dtype: object = None, _semantic: GluonSemantics = INJECTED) -> tensor:
    """``lhs - rhs``, as `add2`."""
    return _semantic.packed("SUB", (lhs, rhs), unwrap(dtype))


@builtin
def mul2(lhs: object, rhs: object, dtype: object = None, _semantic: GluonSemantics = INJECTED) -> tensor:
    """``lhs * rhs``, as `add2`."""
    return _semantic.packed("MUL", (lhs, rhs), unwrap(dtype))


@builtin
def fma2(lhs: object, rhs: object, acc: object, dtype: object = None, _semantic: GluonSemantics = INJECTED) -> tensor:
    """``lhs * rhs + acc``, rounded once, as `add2`."""
    return _semantic.packed("FMA", (lhs, rhs, acc), unwrap(dtype))


@builtin
def min2(lhs: object, rhs: object, dtype: object = None, _semantic: GluonSemantics = INJECTED) -> tensor:
    """The smaller of each two 16-bit elements; of a number and a NaN the number."""
    return _semantic.packed("MIN", (lhs, rhs), unwrap(dtype))


@builtin
def max2(lhs: object, rhs: object, dtype: object = None, _semantic: GluonSemantics = INJECTED) -> tensor:
    """The larger of each two 16-bit elements; of a number and a NaN the number."""
    return _semantic.packed("MAX", (lhs, rhs), unwrap(dtype))
