"""Products of f32 through shorter formats: `tf32`, and the splits `tf32x3`, `bf16x3`, `bf16x6`.

`tf32` drops the low 13 bits of both operands. A split writes an operand as a sum of short numbers and adds the products
of the parts, those of small magnitude first; a NaN that only the small products have (an infinite operand has a NaN
remainder) is dropped before the product of the large parts. The same steps in the same order as
`interpreter/meanings/dot.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from tritonx.conversion.mathlib import Code
from tritonx.conversion.tile_to_loops.demand import needed_of
from tritonx.conversion.tile_to_loops.dot import each_product, operand_view, product_of, with_columns_together
from tritonx.conversion.tile_to_loops.emitter import Position, View
from tritonx.conversion.tile_to_loops.loops import each_chunk
from tritonx.conversion.tile_to_loops.writer import Lanes
from tritonx.dialects import tile
from tritonx.dialects.tile.enums import InputPrecision
from tritonx.ir.types import bf16, f32, shape_of

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_loops.emitter import Emitter

_TF32_MASK = 0xFFFFE000


def _truncate(e: Emitter, lanes: Lanes) -> Lanes:
    """Without the 13 low bits; a NaN stays one (infinities have those bits clear)."""
    code = Code(e.writer, lanes.width)
    kept = code.from_bits(code.int_op("and", code.bits(lanes.text), _TF32_MASK))
    return Lanes(code.select(code.compare("uno", lanes.text, lanes.text), lanes.text, kept), lanes.width)


def _to_bf16(e: Emitter, lanes: Lanes) -> Lanes:
    return e.convert(e.convert(lanes, f32, bf16), bf16, f32)


def _parts(e: Emitter, value: SSAValue, count: int, *, tf32: bool) -> list[View]:
    """The operand as `count` short numbers, the largest first."""
    shape = shape_of(value.type)
    source = operand_view(e, value)
    views = [e.new_view(shape, f32) for _ in range(count)]
    for position in each_chunk(e, shape, 4):
        rest = e.load_view(source, position)
        for n, view in enumerate(views):
            part = _truncate(e, rest) if tf32 else _to_bf16(e, rest)
            e.store_view(view, position, part)
            if n + 1 < count:
                code = Code(e.writer, rest.width)
                rest = Lanes(code.sub(rest.text, part.text), rest.width)
    return views


_PARTS = {InputPrecision.TF32: 1, InputPrecision.TF32x3: 2, InputPrecision.BF16x3: 2, InputPrecision.BF16x6: 3}


def parts_of(op: tile.DotOp) -> int:
    """How many short numbers an element of an operand becomes."""
    return _PARTS[InputPrecision(op.inputPrecision.value.data)]


def dot_in_parts(e: Emitter, op: tile.DotOp) -> None:
    precision = InputPrecision(op.inputPrecision.value.data)
    tf32 = precision in (InputPrecision.TF32, InputPrecision.TF32x3)
    count = parts_of(op)
    of_a = _parts(e, op.a, count, tf32=tf32)
    of_b = [with_columns_together(e, v, shape_of(op.b.type)) for v in _parts(e, op.b, count, tf32=tf32)]
    if count == 1:
        product_of(e, op, of_a[0], of_b[0], needed_of(e, op))
        return
    orders = [(i, order - i) for order in range(count - 1, 0, -1) for i in range(order, -1, -1)]
    _sum_of_products(e, op, [(of_a[i], of_b[j]) for i, j in orders], (of_a[0], of_b[0]))


def _sum_of_products(e: Emitter, op: tile.DotOp, small: list[tuple[View, View]], large: tuple[View, View]) -> None:
    shape = shape_of(op.results[0].type)
    total = e.new_view(shape, f32)

    def place(index: tuple[str, ...], width: int) -> Position:
        return Position(index, len(index) - 1, width)

    def start(index: tuple[str, ...], width: int) -> str:
        return Code(e.writer, width).const(0.0)

    def again(index: tuple[str, ...], width: int) -> str:
        return e.load_view(total, place(index, width)).text

    def without_nan(index: tuple[str, ...], width: int) -> str:
        code = Code(e.writer, width)
        value = again(index, width)
        return code.select(code.compare("uno", value, value), code.const(0.0), value)

    def keep(index: tuple[str, ...], lanes: Lanes) -> None:
        e.store_view(total, place(index, lanes.width), lanes)

    target = e.buffer_of(op.results[0])

    def finish(index: tuple[str, ...], lanes: Lanes) -> None:
        position = place(index, lanes.width)
        code = Code(e.writer, lanes.width)
        added = code.add(lanes.text, e.writer.widen("float", e.evaluate(op.c, position), lanes.width))
        e.store_view(target, position, Lanes(added, lanes.width))

    k = shape_of(op.a.type)[-1]
    for n, (a, b) in enumerate(small):
        each_product(e, a, b, k, shape, again if n else start, keep, f32)
    each_product(e, *large, k, shape, without_nan, finish, f32)
