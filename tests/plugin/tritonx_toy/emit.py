"""``tt`` as the text of a Python program over NumPy: one table from op class to the function that writes it.

The table has the ops that every kernel uses, and those with regions. Any other op is called by its meaning
(``meanings.py``), so that a new op of the language needs nothing here."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from tritonx.backends.api import Compilation
from tritonx.backends.tile import (
    PassError,
    SplatAttr,
    UnsupportedInInterpreter,
    arith,
    dtype_of,
    element_type,
    is_pointer,
    is_tensor,
    math,
    pointee_of,
    scf,
    shape_of,
    source_of,
    tile,
)
from tritonx_toy import meanings
from tritonx_toy.dialect import CopyAsyncOp, FixedMultiplyOp, MmaOp, ReadOp, WaitOp

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
NATIVE = frozenset({"int8", "int16", "int32", "int64", "float32", "float64"})
"""The dtypes on which NumPy's operators do what the ops mean; to bools and short floats they do something else."""
SHORT = frozenset({"float16", "bfloat16"})
"""Those of the short floats of which a program may hold constants."""


def dtype(value: Any) -> str:
    """The NumPy name of a value's elements; pointers are int64."""
    try:
        return dtype_of(value.type).name
    except UnsupportedInInterpreter:
        raise PassError(value.owner, f"toy has no {element_type(value.type)} values") from None


def is_native(op: Any) -> bool:
    return all(dtype(value) in NATIVE for value in (*op.operands, *op.results))


class Writer:
    """The program so far, and the Python names of the values."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.indent = 0
        self.names: dict[Any, str] = {}
        self.meanings = meanings.Collector()
        self.ends: list[list[str]] = []
        """The names that the innermost region's last op assigns to; of a function's region, nothing: it returns."""

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def name(self, value: Any) -> str:
        return self.names.setdefault(value, f"v{len(self.names)}")

    def define(self, op: Any, expression: str) -> None:
        self.line(f"{', '.join(map(self.name, op.results))} = {expression}")

    def operands(self, op: Any) -> list[str]:
        return [self.names[operand] for operand in op.operands]

    def assign(self, names: list[str], values: list[str]) -> None:
        if names:
            self.line(f"{', '.join(names)}, = {', '.join(values)},")

    def block(self, block: Any, ends: list[str]) -> None:
        """The ops of a region's only block, one step to the right."""
        self.indent += 1
        self.ends.append(ends)
        for op in block.ops:
            self.op(op)
        self.line("pass")
        self.ends.pop()
        self.indent -= 1

    def op(self, op: Any) -> None:
        emit = TABLE.get(type(op), by_meaning)
        emit(self, op)

    def function(self, name: str, region: Any, extra: str = "") -> None:
        """A region as a Python function of its block's arguments."""
        block = only_block(region)
        self.line(f"def {name}({extra}{', '.join(map(self.name, block.args))}):")
        self.block(block, [])


def only_block(region: Any) -> Any:
    first, *others = region.blocks
    if others:
        raise PassError(region.parent, "toy has no jumps between blocks")
    return first


Emit = Callable[[Writer, Any], None]


def by_meaning(w: Writer, op: Any) -> None:
    """A call of what the interpreter says that the op means."""
    if not meanings.has(op):
        raise PassError(op, f"toy cannot run {op.name}")
    call = f"{w.meanings.add(op)}({', '.join(w.operands(op))})"
    if op.results:
        w.define(op, call)
    else:
        w.line(call)


def expression(template: str, *, when: Callable[[Any], bool] = is_native) -> Emit:
    """An op with one result: ``template`` over its operands."""

    def emit(w: Writer, op: Any) -> None:
        if when(op):
            w.define(op, template.format(*w.operands(op)))
        else:
            by_meaning(w, op)

    return emit


def constant(w: Writer, op: Any) -> None:
    attribute, kind = op.value, dtype(op.results[0])
    if kind not in NATIVE | SHORT or (not isinstance(attribute, SplatAttr) and is_tensor(op.results[0].type)):
        return by_meaning(w, op)
    number = attribute.value if isinstance(attribute, SplatAttr) else attribute.value.data
    scalar = f"np.dtype({kind!r}).type({f'float({str(number)!r})' if isinstance(number, float) else number})"
    shape = shape_of(op.results[0].type) if is_tensor(op.results[0].type) else None
    w.define(op, scalar if shape is None else f"np.full({shape}, {scalar})")


def shaped(function: str) -> Emit:
    return lambda w, op: w.define(op, f"np.{function}({w.operands(op)[0]}, {shape_of(op.results[0].type)})")


def addptr(w: Writer, op: Any) -> None:
    pointer, offset = w.operands(op)
    if dtype(op.operands[1]) not in NATIVE:
        return by_meaning(w, op)
    size = dtype_of(pointee_of(element_type(op.results[0].type))).itemsize
    w.define(op, f"{pointer} + {offset}.astype('int64') * {size}")


def load(w: Writer, op: Any) -> None:
    if not is_pointer(element_type(op.operands[0].type)):
        raise PassError(op, "toy has no block pointers")
    w.define(op, f"memory.load({loaded(w, op)})")


def loaded(w: Writer, op: Any) -> str:
    """What ``memory.load`` is given for a load, or for a copy."""
    pointer, *rest = w.operands(op)
    kind = dtype_of(pointee_of(element_type(op.operands[0].type))).name
    return ", ".join([pointer, repr(kind), *rest])


def copy(w: Writer, op: Any) -> None:
    where = next((f"{at.file}:{at.line}" for at in source_of(op)), op.name)
    w.define(op, f"core.copy({where!r}, {loaded(w, op)})")


def store(w: Writer, op: Any) -> None:
    w.line(f"memory.store({', '.join(w.operands(op))})")


def compare(w: Writer, op: Any) -> None:
    predicate = op.properties["predicate"].value.data
    if predicate >= len(COMPARISONS) or dtype(op.operands[0]) not in NATIVE:
        return by_meaning(w, op)
    left, right = w.operands(op)
    w.define(op, f"{left} {COMPARISONS[predicate]} {right}")


def combination(w: Writer, op: Any, call: str) -> None:
    """A reduction or a scan: its region as a function of lanes."""
    w.function(f"combine_{w.name(op.results[0])}", op.regions[0])
    branches = any(inner.regions for inner in only_block(op.regions[0]).ops)
    combine = f"combine_{w.name(op.results[0])}"
    if branches:
        combine = f"tiles.lane_by_lane({combine})"
    axis = op.properties["axis"].value.data
    w.assign([w.name(r) for r in op.results], [f"*tiles.{call}({combine}, {axis}, {', '.join(w.operands(op))})"])


def reduce(w: Writer, op: Any) -> None:
    combination(w, op, "reduce")


def scan(w: Writer, op: Any) -> None:
    combination(w, op, "scan_back" if op.properties["reverse"].value.data else "scan")


def loop(w: Writer, op: Any) -> None:
    lower, upper, step, *initial = w.operands(op)
    if "unsignedCmp" in op.properties:
        raise PassError(op, "toy counts signed only")
    body = only_block(op.regions[0])
    index, *carried = map(w.name, body.args)
    w.assign(carried, initial)
    w.line(f"for {index} in np.arange({lower}, {upper}, {step}, dtype={dtype(body.args[0])!r}):")
    w.block(body, carried)
    w.assign([w.name(r) for r in op.results], carried)


def conditional(w: Writer, op: Any) -> None:
    results = [w.name(r) for r in op.results]
    for keyword, region in zip((f"if {w.operands(op)[0]}:", "else:"), op.regions, strict=True):
        if region.blocks:
            w.line(keyword)
            w.block(only_block(region), results)


def loop_while(w: Writer, op: Any) -> None:
    before, after = map(only_block, op.regions)
    state, passed = [w.name(a) for a in before.args], [w.name(a) for a in after.args]
    w.assign(state, w.operands(op))
    w.line("while True:")
    w.block(before, passed)
    w.block(after, state)
    w.assign([w.name(r) for r in op.results], passed)


def end_of_region(w: Writer, op: Any) -> None:
    w.assign(w.ends[-1], w.operands(op))


def condition(w: Writer, op: Any) -> None:
    proceed, *passed = w.operands(op)
    w.assign(w.ends[-1], passed)
    w.line(f"if not {proceed}: break")


def end_of_function(w: Writer, op: Any) -> None:
    w.line(f"return ({''.join(f'{name}, ' for name in w.operands(op))})")


def call(w: Writer, op: Any) -> None:
    text = f"{function_name(op.callee.root_reference.data)}({', '.join(['core', *w.operands(op)])})"
    w.assign([w.name(r) for r in op.results] or ["_"], [f"*{text}" if op.results else text])


def single_product(op: Any) -> bool:
    return all(dtype(v) == "float32" for v in op.operands) and op.inputPrecision.value.data == tile.InputPrecision.IEEE


TABLE: dict[type, Emit] = {
    arith.ConstantOp: constant,
    arith.AddiOp: expression("{0} + {1}"),
    arith.SubiOp: expression("{0} - {1}"),
    arith.MuliOp: expression("{0} * {1}"),
    arith.AndIOp: expression("{0} & {1}", when=lambda op: True),
    arith.OrIOp: expression("{0} | {1}", when=lambda op: True),
    arith.CmpiOp: compare,
    arith.AddfOp: expression("{0} + {1}"),
    arith.SubfOp: expression("{0} - {1}"),
    arith.MulfOp: expression("{0} * {1}"),
    arith.DivfOp: expression("{0} / {1}"),
    arith.MaxnumfOp: expression("np.fmax({0}, {1})"),
    arith.SelectOp: expression("np.where({0}, {1}, {2})", when=lambda op: True),
    math.ExpOp: expression("np.exp({0})"),
    tile.GetProgramIdOp: lambda w, op: w.define(op, f"np.int32(core.program[{op.properties['axis'].value.data}])"),
    tile.GetNumProgramsOp: lambda w, op: w.define(op, f"np.int32(core.grid[{op.properties['axis'].value.data}])"),
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
    tile.DotOp: expression("{0} @ {1} + {2}", when=single_product),
    MmaOp: expression("units.multiply({0}, {1}, {2})", when=lambda op: True),
    FixedMultiplyOp: expression("units.fixed_multiply({0}, {1})", when=lambda op: True),
    CopyAsyncOp: copy,
    WaitOp: lambda w, op: w.line(f"core.wait({op.left.value.data})"),
    ReadOp: expression("core.read({0})", when=lambda op: True),
    tile.ReduceOp: reduce,
    tile.ReduceReturnOp: end_of_function,
    tile.ScanOp: scan,
    tile.ScanReturnOp: end_of_function,
    tile.CallOp: call,
    tile.ReturnOp: end_of_function,
    scf.ForOp: loop,
    scf.IfOp: conditional,
    scf.WhileOp: loop_while,
    scf.ConditionOp: condition,
    scf.YieldOp: end_of_region,
}


def function_name(symbol: str) -> str:
    """No name of the program's own."""
    return f"tt_{symbol}"


def emit_module(module: Any, compilation: Compilation) -> str:
    """The program: a function ``kernel(core, *arguments)``."""
    functions = [op for op in module.ops if isinstance(op, tile.FuncOp)]
    (kernel,) = [f for f in functions if f.sym_visibility is None or f.sym_visibility.data == "public"]
    w = Writer()
    for function in functions:
        w.function(function_name(function.sym_name.data), function.body, extra="core, ")
    parameters = only_block(kernel.body).args
    names = [f"a{i}" for i in range(len(parameters))]
    w.line(f"def kernel(core, {', '.join(names)}):")
    w.indent = 1
    if getattr(compilation.options, "trace", False):
        w.line("print(core.program)")
    values = [f"tiles.argument({name}, {dtype(p)!r})" for name, p in zip(names, parameters, strict=True)]
    w.line(f"{function_name(kernel.sym_name.data)}({', '.join(['core', *values])})")
    head = [
        f"# {kernel.sym_name.data} for {compilation.target}",
        "import numpy as np",
        "from tritonx_toy import memory, tiles, units",
    ]
    return "\n".join(itertools.chain(head, w.meanings.lines(), w.lines)) + "\n"
