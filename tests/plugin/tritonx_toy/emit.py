"""``tt`` as the text of a Python program over NumPy: one table from op class to the function that writes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tritonx.backends.api import Compilation
from tritonx.dialects import arith, math, scf, tile
from tritonx.ir.splat import SplatAttr
from tritonx.ir.types import element_type, is_pointer, is_tensor, pointee_of, shape_of
from tritonx.runtime.errors import TritonError

DTYPES = {
    "i1": "bool",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "f16": "float16",
    "f32": "float32",
}
DTYPES["f64"] = "float64"
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


class UnsupportedByToy(TritonError):
    """The kernel uses an op or a type that this backend does not know."""


def dtype(type: Any) -> str:
    """The NumPy name of a type's elements; pointers are int64."""
    element = element_type(type)
    if is_pointer(element):
        return "int64"
    if str(element) not in DTYPES:
        raise UnsupportedByToy(f"toy has no {element} values")
    return DTYPES[str(element)]


class Writer:
    """The program so far, and the Python names of the values."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.indent = 0
        self.names: dict[Any, str] = {}

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def name(self, value: Any) -> str:
        return self.names.setdefault(value, f"v{len(self.names)}")

    def define(self, op: Any, expression: str) -> None:
        self.line(f"{self.name(op.results[0])} = {expression}")

    def operands(self, op: Any) -> list[str]:
        return [self.names[operand] for operand in op.operands]

    def block(self, block: Any) -> None:
        for op in block.ops:
            emit = TABLE.get(type(op))
            if emit is None:
                raise UnsupportedByToy(f"toy cannot run {op.name}")
            emit(self, op)


Emit = Callable[[Writer, Any], None]


def expression(template: str) -> Emit:
    """An op with one result: ``template`` over its operands."""
    return lambda w, op: w.define(op, template.format(*w.operands(op), dtype=dtype(op.results[0].type)))


def constant(w: Writer, op: Any) -> None:
    attribute = op.value
    number = attribute.value if isinstance(attribute, SplatAttr) else attribute.value.data
    text = f"float('{number}')" if isinstance(number, float) else str(number)
    type = op.results[0].type
    scalar = f"np.{dtype(type)}({text})" if dtype(type) != "bool" else f"np.bool_({bool(number)})"
    w.define(op, f"np.full({shape_of(type)}, {scalar})" if is_tensor(type) else scalar)


def shaped(function: str) -> Emit:
    return lambda w, op: w.define(op, f"np.{function}({w.operands(op)[0]}, {shape_of(op.results[0].type)})")


def addptr(w: Writer, op: Any) -> None:
    pointer, offset = w.operands(op)
    pointee = pointee_of(element_type(op.results[0].type))
    w.define(op, f"{pointer} + np.int64({offset}) * np.dtype({dtype(pointee)!r}).itemsize")


def load(w: Writer, op: Any) -> None:
    pointer, *rest = w.operands(op)
    mask, other = (*rest, "None", "None")[:2]
    w.define(op, f"memory.load({pointer}, {dtype(op.results[0].type)!r}, {mask}, {other})")


def store(w: Writer, op: Any) -> None:
    w.line(f"memory.store({', '.join(w.operands(op))})")


def compare(w: Writer, op: Any) -> None:
    predicate = op.properties["predicate"].value.data
    if predicate >= len(COMPARISONS):
        raise UnsupportedByToy("toy compares signed integers only")
    left, right = w.operands(op)
    w.define(op, f"{left} {COMPARISONS[predicate]} {right}")


def reduce(w: Writer, op: Any) -> None:
    if len(op.operands) != 1:
        raise UnsupportedByToy("toy reduces one tile at a time")
    body = op.regions[0].blocks.first
    combine = f"combine_{w.name(op.results[0])}"
    w.line(f"def {combine}({', '.join(w.name(a) for a in body.args)}):")
    w.indent += 1
    w.block(body)
    w.indent -= 1
    axis = op.properties["axis"].value.data
    w.define(op, f"functools.reduce({combine}, np.moveaxis({w.operands(op)[0]}, {axis}, 0))")


def loop(w: Writer, op: Any) -> None:
    lower, upper, step, *initial = w.operands(op)
    body = op.regions[0].blocks.first
    index, *carried = body.args
    for argument, value in zip(carried, initial, strict=True):
        w.line(f"{w.name(argument)} = {value}")
    w.line(f"for {w.name(index)} in np.arange({lower}, {upper}, {step}):")
    w.indent += 1
    w.block(body)
    w.indent -= 1
    for result, argument in zip(op.results, carried, strict=True):
        w.line(f"{w.name(result)} = {w.name(argument)}")


def end_of_loop(w: Writer, op: Any) -> None:
    carried = [w.name(a) for a in op.parent.args[1:]]
    if carried:
        w.line(f"{', '.join(carried)}, = {', '.join(w.operands(op))},")
    else:
        w.line("pass")


TABLE: dict[type, Emit] = {
    arith.ConstantOp: constant,
    arith.AddiOp: expression("{0} + {1}"),
    arith.SubiOp: expression("{0} - {1}"),
    arith.MuliOp: expression("{0} * {1}"),
    arith.AndIOp: expression("{0} & {1}"),
    arith.OrIOp: expression("{0} | {1}"),
    arith.CmpiOp: compare,
    arith.AddfOp: expression("{0} + {1}"),
    arith.SubfOp: expression("{0} - {1}"),
    arith.MulfOp: expression("{0} * {1}"),
    arith.DivfOp: expression("{0} / {1}"),
    arith.MaxnumfOp: expression("np.fmax({0}, {1})"),
    arith.SelectOp: expression("np.where({0}, {1}, {2})"),
    arith.ExtSIOp: expression("{0}.astype('{dtype}')"),
    math.ExpOp: expression("np.exp({0})"),
    tile.GetProgramIdOp: lambda w, op: w.define(op, f"np.int32(program[{op.properties['axis'].value.data}])"),
    tile.GetNumProgramsOp: lambda w, op: w.define(op, f"np.int32(grid[{op.properties['axis'].value.data}])"),
    tile.MakeRangeOp: lambda w, op: w.define(
        op, f"np.arange({op.properties['start'].value.data}, {op.properties['end'].value.data}, dtype=np.int32)"
    ),
    tile.SplatOp: shaped("broadcast_to"),
    tile.BroadcastOp: shaped("broadcast_to"),
    tile.ReshapeOp: shaped("reshape"),
    tile.ExpandDimsOp: shaped("reshape"),
    tile.AddPtrOp: addptr,
    tile.LoadOp: load,
    tile.StoreOp: store,
    tile.DotOp: expression("{0} @ {1} + {2}"),
    tile.ReduceOp: reduce,
    tile.ReduceReturnOp: lambda w, op: w.line(f"return {w.operands(op)[0]}"),
    tile.ReturnOp: lambda w, op: w.line("return"),
    scf.ForOp: loop,
    scf.YieldOp: end_of_loop,
}


def emit_module(module: Any, compilation: Compilation) -> str:
    """The program: a function ``kernel(program, grid, *arguments)``."""
    (function,) = [op for op in module.ops if isinstance(op, tile.FuncOp)]
    body = function.body.blocks.first
    w = Writer()
    w.line(f"# {function.sym_name.data} for {compilation.target}")
    w.line("import functools")
    w.line("import numpy as np")
    w.line("from tritonx_toy import memory")
    w.line(f"def kernel(program, grid, {', '.join(w.name(a) for a in body.args)}):")
    w.indent = 1
    for argument in body.args:
        w.line(f"{w.name(argument)} = np.{dtype(argument.type).replace('bool', 'bool_')}({w.name(argument)})")
    if getattr(compilation.options, "trace", False):
        w.line("print(program)")
    w.block(body)
    return "\n".join(w.lines) + "\n"
