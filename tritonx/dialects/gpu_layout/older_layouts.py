"""Layouts of ops as Triton's versions before 3.9 want them, when text is printed for these.

Since 3.9 some ops may have any layouts by which no data moves between threads. Before, a broadcast has one layout, and
the result of a reshape the one that follows from the operand's. A conversion, which moves nothing, makes up the
difference."""

from __future__ import annotations

from xdsl.ir import Operation

from tritonx.dialects.gpu_layout.encodings import attribute_of
from tritonx.dialects.gpu_layout.memory import ConvertLayoutOp
from tritonx.dialects.gpu_layout.type_encodings import distributed_encoding
from tritonx.dialects.tile.shape import BroadcastOp, ReshapeOp
from tritonx.ir.spelling import Respelling, TextLevel
from tritonx.ir.types import encoding_of, is_tensor, shape_of, type_of, with_encoding
from tritonx.layouts import infer


class OlderLayouts(Respelling):
    """What tiles of `ttg` need before they are printed for a version."""

    def write(self, module: Operation, level: TextLevel) -> None:
        if level >= TextLevel.V3_9:
            return
        for op in list(module.walk()):
            if op.operands and op.results and encoding_of(type_of(op.operands[0])) is not None:
                if isinstance(op, BroadcastOp):
                    _convert_operand(op)
                elif isinstance(op, ReshapeOp) and op.allow_reorder is None:
                    _convert_result(op)


def _convert_operand(op: BroadcastOp) -> None:
    source, wanted = type_of(op.src), encoding_of(type_of(op.result))
    if encoding_of(source) == wanted or not is_tensor(source) or op.parent is None:
        return
    made = ConvertLayoutOp.create(
        operands=(op.src,), result_types=(with_encoding(source, wanted),), location=op.location
    )
    op.parent.insert_op_before(made, op)
    op.operands = made.results


def _convert_result(op: ReshapeOp) -> None:
    source, result = type_of(op.src), type_of(op.result)
    if not is_tensor(result) or op.parent is None:
        return
    follows = infer.reshaped(distributed_encoding(source), shape_of(source), shape_of(result))
    if infer.equivalent(follows, distributed_encoding(result), shape_of(result)):
        return
    laid = with_encoding(result, attribute_of(follows))
    made = ReshapeOp.create(operands=(op.src,), result_types=(laid,), properties=op.properties, location=op.location)
    op.parent.insert_op_before(made, op)
    converted = ConvertLayoutOp.create(operands=made.results, result_types=(result,), location=op.location)
    op.parent.insert_op_before(converted, op)
    converted.results[0].name_hint = op.result.name_hint
    op.result.replace_all_uses_with(converted.results[0])
    op.parent.erase_op(op)
