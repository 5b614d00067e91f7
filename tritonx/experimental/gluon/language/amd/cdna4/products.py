"""Products of operands with scales (`v_mfma_scale`)."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from tritonx.experimental.gluon.language.amd.products import check_blocks
from tritonx.experimental.gluon.language.core import check_operand
from tritonx.experimental.gluon.language.guard import amd_builtin
from tritonx.experimental.gluon.layouts import AMDMFMALayout, DistributedLinearLayout, DotOperandLayout, layout_of
from tritonx.experimental.gluon.values import layout_of_block
from tritonx.language.builtins.builtin import INJECTED
from tritonx.language.types.dtypes import uint8
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.constexpr_function import constexpr_function
from tritonx.language.values.tensor import tensor
from tritonx.layouts.product_scales import GROUP, scale_encoding

if TYPE_CHECKING:
    from tritonx.experimental.gluon.semantics import GluonSemantics

FORMATS = ("e2m1", "e4m3", "e5m2")
ONE = 127
"""The code of the scale 1."""


@amd_builtin
def mfma_scaled(
    a: tensor,
    a_scale: object,
    a_format: object,
    b: tensor,
    b_scale: object,
    b_format: object,
    acc: tensor,
    cd_regclass: object = None,
    _semantic: GluonSemantics = INJECTED,
) -> tensor:
    """``(a * a_scale) @ (b * b_scale) + acc`` in float32: ``acc`` has an `AMDMFMALayout`, ``a`` and ``b`` that of its
    operands. Formats are "e2m1" (pairs along K in bytes), "e4m3" and "e5m2". A scale is None for 1, one code (e8m0,
    uint8), or a block of codes, [rows or columns, K / 32], in the layout of `get_mfma_scale_layout`. ``cd_regclass`` as
    for `mfma`. Raises AssertionError for other layouts, formats and shapes."""
    check_blocks(a, b, acc)
    layout = layout_of_block(acc)
    assert isinstance(layout, AMDMFMALayout), f"acc must have an AMDMFMALayout, got {layout}"
    check_operand(a, 0, layout)
    check_operand(b, 1, layout)
    kinds: list[str] = []
    for given, name in ((unwrap(a_format), "a_format"), (unwrap(b_format), "b_format")):
        assert isinstance(given, str) and given in FORMATS, f"{name} must be one of {FORMATS}, got {given}"
        kinds.append(given)
    left = _scales(a, 0, kinds[0], unwrap(a_scale), _semantic)
    right = _scales(b, 1, kinds[1], unwrap(b_scale), _semantic)
    return _semantic.scaled_matrix_product(a, left, kinds[0], b, right, kinds[1], acc, unwrap(cd_regclass))


def _scales(operand: tensor, index: int, kind: str, given: object, semantic: GluonSemantics) -> tensor:
    """The codes of an operand's scales as a block."""
    *batch, rows, columns = operand.type.shape
    rows, depth = (rows, columns) if index == 0 else (columns, rows)
    shape = [*batch, rows, depth * (2 if kind == "e2m1" else 1) // GROUP]
    if isinstance(given, tensor) and given.type.is_block() and prod(given.type.shape) != 1:
        assert prod(given.type.shape) == prod(shape), f"{shape} scales are needed, not {[*given.type.shape]}"
        return given
    assert given is None or isinstance(given, int | tensor), f"a scale is a code of e8m0, got {given}"
    layout = layout_of_block(operand)
    assert isinstance(layout, DotOperandLayout)
    return semantic.full_in(shape, ONE if given is None else given, uint8, scale_layout(layout, shape))


def scale_layout(operand: DotOperandLayout, shape: Sequence[int]) -> DistributedLinearLayout:
    """The layout of scales of ``shape``, [batch,] rows or columns, blocks of 32 elements of K."""
    parent = operand.parent
    assert isinstance(parent, AMDMFMALayout), f"expected the layout of an operand of mfma, got {operand}"
    *batch, rows, blocks = shape
    result = (*batch, rows, rows)
    found = layout_of(scale_encoding(parent.encoding(), operand.operand_index, result, blocks * GROUP))
    assert isinstance(found, DistributedLinearLayout)
    return found


@constexpr_function
def get_mfma_scale_layout(
    dot_operand_layout: DotOperandLayout, shape: Sequence[int], scale_factor: int = GROUP
) -> DistributedLinearLayout:
    """The layout that the scales of an operand of `mfma_scaled` need, for a block of scales of ``shape``. Raises
    AssertionError for the layout of another unit's operand, and for another ``scale_factor`` than 32 elements of K.

    >>> from tritonx.experimental.gluon import language as gl
    >>> unit = gl.amd.AMDMFMALayout(version=4, instr_shape=[16, 16, 128], transposed=True, warps_per_cta=[1, 1])
    >>> gl.amd.cdna4.get_mfma_scale_layout(gl.DotOperandLayout(0, unit, 16), [16, 4]).lane_bases
    [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 2]]
    """
    assert unwrap(scale_factor) == GROUP, f"a scale is one of {GROUP} elements of K, not of {scale_factor}"
    return scale_layout(unwrap(dot_operand_layout), [unwrap(extent) for extent in unwrap(shape)])
