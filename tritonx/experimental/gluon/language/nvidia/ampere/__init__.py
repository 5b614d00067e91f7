"""Gluon for NVIDIA GPUs from 8.0 on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tritonx.experimental.gluon.language.core import check_operand
from tritonx.experimental.gluon.language.nvidia.ampere import async_copy, mbarrier
from tritonx.experimental.gluon.language.nvidia.policy import CachePolicy, FractionalEvictionPolicy
from tritonx.experimental.gluon.layouts import NVMMADistributedLayout
from tritonx.experimental.gluon.values import layout_of_block
from tritonx.language.builtins.builtin import INJECTED, builtin
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor

if TYPE_CHECKING:
    from tritonx.experimental.gluon.semantics import GluonSemantics

__all__ = ["CachePolicy", "FractionalEvictionPolicy", "async_copy", "mbarrier", "mma_v2"]


@builtin
def mma_v2(
    a: tensor, b: tensor, acc: tensor, input_precision: Any = None, _semantic: GluonSemantics = INJECTED
) -> tensor:
    """``a @ b + acc`` by `mma.sync`: ``acc`` has an `NVMMADistributedLayout` of version 2, ``a`` and ``b`` that of its
    operands. Raises AssertionError for other layouts."""
    for value, name in ((a, "a"), (b, "b"), (acc, "acc")):
        assert isinstance(value, tensor), f"{name} must be a tensor"
    layout = layout_of_block(acc)
    assert isinstance(layout, NVMMADistributedLayout), "acc must have an NVMMADistributedLayout"
    assert layout.version == [2, 0], "MMA layout must have version 2.0"
    check_operand(a, 0, layout)
    check_operand(b, 1, layout)
    return _semantic.dot(a, b, acc, unwrap(input_precision), None, None, acc.dtype)
