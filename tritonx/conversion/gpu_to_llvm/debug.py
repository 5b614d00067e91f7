"""Printing and assertions from a kernel."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation

from tritonx.conversion.gpu_to_llvm.elementwise import convert_tile
from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.types import bits
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.conversion.llvm_text import is_float
from tritonx.dialects import tile
from tritonx.ir import printed_text
from tritonx.ir.dispatch import case
from tritonx.ir.source import source_of
from tritonx.ir.types import element_type, is_tensor, shape_of


def print_(op: tile.PrintOp, f: FunctionEmitter) -> None:
    """One line for each element a thread holds, in the format of ``printed_text``."""
    pids = [(f.program_id(axis), "i32", True) for axis in range(3)]
    prefix, hexadecimal = op.prefix.data, bool(op.hex.value.data)
    if not op.args:
        f.machine.messages.print_line(f, printed_text.line(prefix), pids)
    for number, (value, signed) in enumerate(zip(op.args, op.isSigned.get_values(), strict=True)):
        element = element_type(value.type)
        given = widen(f, f.get(value), element, hexadecimal=hexadecimal, signed=bool(signed))
        text = printed_text.line(
            prefix,
            op.printed_shape(number),
            printed_text.operand_name(number, len(op.args)),
            printed_text.conversion(element, hexadecimal=hexadecimal, signed=bool(signed)),
        )
        layout = f.threads.indices(f.layout(value.type)) if is_tensor(value.type) else None
        for r, name in enumerate(f.scalars(given)):
            coordinates = [] if layout is None else [layout.dim(d)[r] for d in range(len(shape_of(value.type)))]
            with f.where(_inside(f, coordinates, shape_of(value.type), op.printed_shape(number))):
                f.machine.messages.print_line(
                    f, text, [*pids, *((c, "i32", True) for c in coordinates), (name, given.elem, True)]
                )


def _inside(f: FunctionEmitter, coordinates: Sequence[str], stored: Sequence[int], shape: Sequence[int]) -> str | None:
    """i1: whether an element is one of ``shape``, which may be less than is stored; None where all are."""
    inside: str | None = None
    for at, there, extent in zip(coordinates, stored, shape, strict=True):
        if extent < there:
            here = f.inst(f"icmp slt i32 {at}, {extent}")
            inside = here if inside is None else f.inst(f"and i1 {inside}, {here}")
    return inside


def widen(f: FunctionEmitter, value: Tile, element: Attribute, *, hexadecimal: bool, signed: bool) -> Tile:
    """The value as C's variable arguments pass it: a double, or an integer of 32 or 64 bits."""
    if value.elem.startswith("ptr"):
        return convert_tile(f, "ptrtoint", value, "i64")
    if printed_text.is_float_text(element):
        return value if value.elem == "double" else convert_tile(f, "fpext", value, "double")
    if is_float(value.elem):
        value = convert_tile(f, "bitcast", value, f"i{bits(value.elem)}")
    if int(value.elem[1:]) < 32:
        extension = "sext" if printed_text.is_signed_text(element, signed=signed) else "zext"
        return convert_tile(f, extension, value, "i32")
    return value


def assert_(op: tile.AssertOp, f: FunctionEmitter) -> None:
    """Every thread checks its own elements; the kernel's file, line and function go with the message."""
    place = next(iter(source_of(op)), None)
    file, line, function = (place.file, place.line, f.symbol) if place is not None else ("unknown", 0, f.symbol)
    failed: str | None = None
    for name in dict.fromkeys(f.scalars(f.get(op.condition))):
        here = f.inst(f"xor i1 {name}, true")
        failed = here if failed is None else f.inst(f"or i1 {failed}, {here}")
    if failed is not None:
        f.machine.messages.assert_(f, failed, op.message.data, file, line, function)


TABLE: dict[type[Operation], Emit] = {
    **case(tile.PrintOp, print_),
    **case(tile.AssertOp, assert_),
}
