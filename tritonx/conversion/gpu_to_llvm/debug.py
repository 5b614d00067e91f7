"""Printing and assertions from a kernel."""

from __future__ import annotations

from typing import Any

from xdsl.ir import Operation

from tritonx.conversion.gpu_to_llvm.elementwise import cast_float, convert_tile
from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.dialects import tile
from tritonx.ir.places import source_of
from tritonx.ir.types import FLOAT8_TYPES, element_type, f32, is_tensor, shape_of

_PROMOTED = {"half": "double", "bfloat": "double", "float": "double", "double": "double"}


def print_(op: Any, f: FunctionEmitter) -> None:
    """One line for each element a thread holds: ``pid (x, y, z) idx (i, j) prefix: value``."""
    pids = [(f.program_id(axis), "i32", True) for axis in range(3)]
    prefix = op.prefix.data.replace("%", "%%")
    signed = list(op.isSigned.get_values())
    if not op.args:
        f.machine.print_line(f, f"pid (%d, %d, %d){prefix}\n", pids)
        return
    for number, value in enumerate(op.args):
        tile_ = f.get(value)
        if element_type(value.type) in FLOAT8_TYPES:
            tile_ = cast_float(f, tile_, value.type, f32)
        tile_ = widen(f, tile_, bool(signed[number]) if number < len(signed) else True)
        spec = specifier(tile_.elem, bool(op.hex.value.data), bool(signed[number]) if number < len(signed) else True)
        operand = f"(operand {number}) " if len(op.args) > 1 else ""
        type_ = value.type
        rank = len(shape_of(type_))
        layout = f.indices(f.layout(type_)) if is_tensor(type_) else None
        for r, name in enumerate(f.scalars(tile_)):
            coordinates = [] if layout is None else [(layout.dim(d)[r], "i32", True) for d in range(rank)]
            where = ", ".join(["%d"] * rank)
            text = f"pid (%d, %d, %d) idx ({where}){prefix}{operand}{spec}\n"
            f.machine.print_line(f, text, [*pids, *coordinates, (name, tile_.elem, True)])


def widen(f: FunctionEmitter, value: Tile, signed: bool) -> Tile:
    """The value as C's variable arguments pass it: doubles, and integers of 32 or 64 bits."""
    if value.elem in _PROMOTED:
        return convert_tile(f, "fpext", value, "double")
    if value.elem.startswith("ptr"):
        return convert_tile(f, "ptrtoint", value, "i64")
    if int(value.elem[1:]) < 32:
        return convert_tile(f, "sext" if signed and value.elem != "i1" else "zext", value, "i32")
    return value


def specifier(elem: str, hex_: bool, signed: bool) -> str:
    if hex_:
        return "0x%016llx" if elem in ("i64", "double") else "0x%08x"
    if elem == "double":
        return "%f"
    return ("%lld" if signed else "%llu") if elem == "i64" else ("%d" if signed else "%u")


def assert_(op: Any, f: FunctionEmitter) -> None:
    """Every thread checks its own elements; the kernel's file, line and function go with the message."""
    place = next(iter(source_of(op)), None)
    file, line, function = (place.file, place.line, f.symbol) if place is not None else ("unknown", 0, f.symbol)
    failed: str | None = None
    for name in dict.fromkeys(f.scalars(f.get(op.condition))):
        here = f.inst(f"xor i1 {name}, true")
        failed = here if failed is None else f.inst(f"or i1 {failed}, {here}")
    if failed is not None:
        f.machine.assert_(f, failed, op.message.data, file, line, function)


TABLE: dict[type[Operation], Emit] = {
    tile.PrintOp: print_,
    tile.AssertOp: assert_,
}
