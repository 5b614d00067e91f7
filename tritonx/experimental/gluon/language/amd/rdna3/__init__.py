"""Gluon for RDNA 3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.experimental.gluon.language.amd.products import check_waves
from tritonx.experimental.gluon.language.guard import amd_builtin
from tritonx.language.builtins.builtin import INJECTED
from tritonx.language.values.tensor import tensor

if TYPE_CHECKING:
    from tritonx.experimental.gluon.semantics import GluonSemantics

__all__ = ["wmma"]


@amd_builtin
def wmma(a: tensor, b: tensor, acc: tensor, _semantic: GluonSemantics = INJECTED) -> tensor:
    """``a @ b + acc`` by `v_wmma`: ``acc`` has an `AMDWMMALayout` of version 1, ``a`` and ``b`` that of its operands.
    Raises ValueError for other layouts."""
    check_waves(a, b, acc, 1)
    return _semantic.matrix_product(a, b, acc, None)
