"""Which way a product is emitted: as it stands (`dot`), or in parts of another type (`split_dot`). One with scales is a
plain one after `decompose-scaled-dots`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Operation

from tritonx.conversion.tile_to_loops.demand import needed_of
from tritonx.conversion.tile_to_loops.dot import operand_view, product_of, splits, with_columns_together
from tritonx.conversion.tile_to_loops.remarks import describe_product
from tritonx.conversion.tile_to_loops.split_dot import dot_in_parts, parts_of
from tritonx.conversion.tile_to_loops.tables import StatementRule
from tritonx.dialects import tile
from tritonx.ir.dispatch import case_in
from tritonx.ir.types import shape_of

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_loops.emitter import Emitter


def _dot(e: Emitter, op: tile.DotOp) -> None:
    in_parts = splits(op)
    describe_product(e, op, parts_of(op) if in_parts else 1)
    if in_parts:
        dot_in_parts(e, op)
        return
    a = operand_view(e, op.a)
    b = with_columns_together(e, operand_view(e, op.b), shape_of(op.b.type))
    product_of(e, op, a, b, needed_of(e, op))


STATEMENTS: dict[type[Operation], StatementRule] = {**case_in(tile.DotOp, _dot)}
