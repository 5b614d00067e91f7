"""Printing and assertions.

A line is written with `dprintf` to standard output: one system call a line, so that lines of different threads do not
mix. A failed assertion fills in the launch's record (number of the assertion, program, element), if it is the first,
and ends the program; the launcher raises the error.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, Operation, SSAValue

from tritonx.conversion.tile_to_loops.emitter import Position, row_major
from tritonx.conversion.tile_to_loops.tables import EffectRule, StatementRule
from tritonx.conversion.tile_to_loops.types import register_type
from tritonx.conversion.tile_to_loops.writer import Lanes
from tritonx.dialects import cf, tile
from tritonx.ir import printed_text
from tritonx.ir.dispatch import case_in
from tritonx.ir.source import source_of
from tritonx.ir.types import element_type, f64, is_tensor, shape_of

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_loops.emitter import Emitter

# ---- print


def _print(e: Emitter, op: tile.PrintOp) -> None:
    prefix, hexadecimal = op.prefix.data, bool(op.hex.value.data)
    operands, signs = list(op.args), [bool(flag) for flag in op.isSigned.get_values()]
    if not operands:
        _line(e, printed_text.line(prefix), [])
    for number, (value, signed) in enumerate(zip(operands, signs, strict=True)):
        text = printed_text.line(
            prefix,
            op.printed_shape(number),
            printed_text.operand_name(number, len(operands)),
            printed_text.conversion(element_type(value.type), hexadecimal=hexadecimal, signed=signed),
        )
        _print_value(e, value, op.printed_shape(number), text, hexadecimal=hexadecimal, signed=signed)


def _line(e: Emitter, text: str, arguments: list[tuple[str, str]]) -> None:
    w = e.writer
    e.module.declare("i32", "@dprintf", ("i32", "ptr", "..."))
    values = [f"i32 %pid.{axis}" for axis in "xyz"] + [f"{t} {v}" for t, v in arguments]
    w.line(f"call i32 (i32, ptr, ...) @dprintf(i32 1, ptr {e.module.string(text)}, {', '.join(values)})")


def _print_value(
    e: Emitter, value: SSAValue, shape: Sequence[int], text: str, *, hexadecimal: bool, signed: bool
) -> None:
    index: list[str] = []
    with ExitStack() as stack:
        for extent in shape:
            index.append(stack.enter_context(e.writer.loop("print", extent)))
        e.fresh_chunk()
        element = element_type(value.type)
        name = e.evaluate(value, Position(tuple(index))).text
        given = _widened(e, name, element, hexadecimal=hexadecimal, signed=signed)
        numbers = [("i32", e.writer.inst(f"trunc i64 {i} to i32")) for i in index]
        _line(e, text, [*numbers, given])
    e.fresh_chunk()


def _widened(e: Emitter, text: str, element: Attribute, *, hexadecimal: bool, signed: bool) -> tuple[str, str]:
    """An element as C's variable arguments pass it: (LLVM type, value) of a double, or an integer of 32 or 64 bits."""
    w, kind = e.writer, register_type(element)
    if kind == "ptr":
        return "i64", w.inst(f"ptrtoint ptr {text} to i64")
    if printed_text.is_float_text(element):
        return "double", e.convert(Lanes(text, 0), element, f64).text
    if kind[0] != "i":
        bits = {"half": 16, "float": 32, "double": 64}[kind]
        text, kind = w.inst(f"bitcast {kind} {text} to i{bits}"), f"i{bits}"
    if int(kind[1:]) < 32:
        extension = "sext" if printed_text.is_signed_text(element, signed=signed) else "zext"
        return "i32", w.inst(f"{extension} {kind} {text} to i32")
    return kind, text


# ---- assert


def _number(e: Emitter, op: Operation, message: str) -> int:
    """Register an assertion; its number, from 1."""
    places = source_of(op)
    e.assertions.append(f"{places[0]}: assertion failed: {message}" if places else f"assertion failed: {message}")
    return len(e.assertions)


def _fail_unless(e: Emitter, condition: str, number: int, element: str) -> None:
    """Leave the program with a record unless the i1 `condition` holds; `element` is an i64, evaluated before the
    branch.
    """
    w = e.writer
    fail, after = w.new_label("fail"), w.new_label("asserted")
    w.branch_if(condition, after, fail)
    w.label(fail)
    pair = w.inst(f"cmpxchg ptr %record, i32 0, i32 {number} monotonic monotonic")
    first = w.inst(f"extractvalue {{ i32, i1 }} {pair}, 1")
    note = w.new_label("note")
    w.branch_if(first, note, "exit")
    w.label(note)
    for offset, (ty, text) in (
        (4, ("i32", "%pid.x")),
        (8, ("i32", "%pid.y")),
        (12, ("i32", "%pid.z")),
        (16, ("i64", element)),
    ):
        at = w.inst(f"getelementptr i8, ptr %record, i64 {offset}")
        w.line(f"store {ty} {text}, ptr {at}, align 4")
    w.branch("exit")
    w.label(after)


def _assert_effect(e: Emitter, op: tile.AssertOp, position: Position) -> None:
    """A group holds one assertion and emits one position: its number is taken here."""
    w = e.writer
    number = _number(e, op, op.message.data)
    lanes = e.evaluate(op.condition, position)
    strides = row_major(shape_of(op.condition.type))
    element = "0"
    for i, stride in zip(position.index, strides, strict=True):
        element = w.add(element, w.mul(i, str(stride)))
    condition = lanes.text
    if lanes.width:
        mask = f"<{lanes.width} x i1>"
        bits = w.inst(f"bitcast {mask} {lanes.text} to i{lanes.width}")
        condition = w.inst(f"icmp eq i{lanes.width} {bits}, -1")
        failed = w.inst(f"xor i{lanes.width} {bits}, -1")
        wide = w.inst(f"zext i{lanes.width} {failed} to i64") if lanes.width < 64 else failed
        lane = w.call("i64", "@llvm.cttz.i64", ("i64", wide), ("i1", "false"))
        element = w.add(element, w.mul(lane, str(strides[position.lane])))
    _fail_unless(e, condition, number, element)


def _assert_scalar(e: Emitter, op: tile.AssertOp) -> None:
    _fail_unless(e, e.scalar(op.condition), _number(e, op, op.message.data), "0")


def _cf_assert(e: Emitter, op: cf.AssertOp) -> None:
    _fail_unless(e, e.scalar(op.operands[0]), _number(e, op, op.msg.data), "0")


EFFECTS: dict[type[Operation], EffectRule] = {**case_in(tile.AssertOp, _assert_effect)}
STATEMENTS: dict[type[Operation], StatementRule] = {
    **case_in(tile.PrintOp, _print),
    **case_in(tile.AssertOp, _assert_scalar),
    **case_in(cf.AssertOp, _cf_assert),
}

__all__ = ["EFFECTS", "STATEMENTS", "is_tensor"]
