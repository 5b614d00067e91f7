"""Products by the matrix instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.experimental.gluon.language.core import check_operand
from tritonx.experimental.gluon.language.guard import amd_builtin
from tritonx.experimental.gluon.layouts import AMDMFMALayout, AMDWMMALayout, DotOperandLayout
from tritonx.experimental.gluon.values import layout_of_block
from tritonx.language.builtins.builtin import INJECTED
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor

if TYPE_CHECKING:
    from tritonx.experimental.gluon.semantics import GluonSemantics


@amd_builtin
def mfma(a: tensor, b: tensor, acc: tensor, cd_regclass: object = None, _semantic: GluonSemantics = INJECTED) -> tensor:
    """``a @ b + acc`` by `v_mfma`: ``acc`` has an `AMDMFMALayout`, ``a`` and ``b`` that of its operands.
    ``cd_regclass`` is "a" or "v" where sums should be in accumulation registers or not; it is recorded, and LLVM
    chooses. Raises AssertionError for other layouts, ValueError for another class."""
    check_blocks(a, b, acc)
    layout = layout_of_block(acc)
    assert isinstance(layout, AMDMFMALayout), f"acc must have an AMDMFMALayout, got {layout}"
    check_operand(a, 0, layout)
    check_operand(b, 1, layout)
    return _semantic.matrix_product(a, b, acc, unwrap(cd_regclass))


def check_blocks(a: object, b: object, acc: object) -> None:
    """AssertionError for what is no block of a product."""
    for value, name in ((a, "a"), (b, "b"), (acc, "acc")):
        assert isinstance(value, tensor) and value.type.is_block(), f"{name} must be a block, got {value}"


def check_waves(a: tensor, b: tensor, acc: tensor, version: int) -> None:
    """ValueError unless ``acc`` has an `AMDWMMALayout` of a version, and ``a`` and ``b`` layouts of operands of one."""
    check_blocks(a, b, acc)
    layout = layout_of_block(acc)
    if not isinstance(layout, AMDWMMALayout) or layout.version != version:
        raise ValueError(f"acc must have an AMDWMMALayout of version {version}, got {layout}")
    for value, name, number in ((a, "a", 0), (b, "b", 1)):
        operand = layout_of_block(value)
        fits = isinstance(operand, DotOperandLayout) and operand.operand_index == number and operand.parent == layout
        if not fits:
            raise ValueError(f"{name} must have the DotOperandLayout {number} of acc's layout, got {operand}")
