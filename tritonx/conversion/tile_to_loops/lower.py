"""A module of the tile dialect as LLVM text: the kernel's program, and the entry points around it."""

from __future__ import annotations

import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue

from tritonx.conversion.line_info import LineInfo
from tritonx.conversion.llvm_writer import Module
from tritonx.conversion.tile_to_loops import (
    atomic,
    branches,
    control,
    debug,
    elementwise,
    entry,
    external,
    memory,
    products,
    program,
    regions,
    scan,
    shape,
)
from tritonx.conversion.tile_to_loops.branches import Body
from tritonx.conversion.tile_to_loops.disjoint import Pair
from tritonx.conversion.tile_to_loops.distances import pairs_of
from tritonx.conversion.tile_to_loops.emitter import Emitter, unsupported
from tritonx.conversion.tile_to_loops.entry import PROGRAM
from tritonx.conversion.tile_to_loops.flatten import flat_types
from tritonx.conversion.tile_to_loops.index import IndexAnalysis
from tritonx.conversion.tile_to_loops.isa import HostIsa
from tritonx.conversion.tile_to_loops.launch_parameter import Parameter
from tritonx.conversion.tile_to_loops.separation import Separation
from tritonx.conversion.tile_to_loops.storage import share
from tritonx.conversion.tile_to_loops.streaming import FENCE, METADATA, traffic_of
from tritonx.conversion.tile_to_loops.tables import Tables
from tritonx.conversion.tile_to_loops.types import UnsupportedElement
from tritonx.dialects import tile
from tritonx.ir.failure import failed_op
from tritonx.ir.region_records import Regions
from tritonx.ir.types import is_tensor

TABLES = Tables(
    inline={**shape.INLINE, **memory.INLINE},
    elementwise={**elementwise.ELEMENTWISE, **external.ELEMENTWISE},
    effects={**memory.EFFECTS, **atomic.EFFECTS, **debug.EFFECTS},
    statements={
        **program.STATEMENTS,
        **shape.STATEMENTS,
        **memory.STATEMENTS,
        **products.STATEMENTS,
        **scan.STATEMENTS,
        **atomic.STATEMENTS,
        **debug.STATEMENTS,
        **external.STATEMENTS,
        **regions.STATEMENTS,
        **control.STATEMENTS,
        **branches.STATEMENTS,
    },
    region=control.emit_region,
)


@dataclass(frozen=True)
class Lowered:
    """LLVM text, the kernel's name, its assertions' messages with their places, a program's estimated instructions,
    the pairs of parameters that it takes to be apart, and the metadata on regions that are measured.
    """

    text: str
    name: str
    assertions: tuple[str, ...]
    cost: int
    pairs: tuple[Pair, ...]
    regions: dict[str, object]


def lower_module(
    module: ModuleOp,
    isa: HostIsa,
    *,
    data_layout: str,
    fuse: bool,
    irregular: bool = False,
    recorded: str = "",
    lines: LineInfo | None = None,
) -> Lowered:
    """The public function of `module` as a program that runs on `isa`.

    `fuse` allows a product and a sum to be contracted into one operation. `irregular` code takes no arguments to be
    apart, and may be given null pointers; other code leaves such launches to it. `recorded` is the mode in which
    regions are measured; `lines` says which lines of the source the text comes from. Raises `PassError` at an op that
    has no host form.
    """
    with _deep_recursion(module):
        return _lower(module, isa, data_layout, fuse, irregular, Regions.of(module, recorded, 1), lines)


@contextmanager
def _deep_recursion(module: ModuleOp) -> Generator[None]:
    """A tile is evaluated by evaluating its operands: a chain of a thousand ops recurses a few thousand calls deep."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 2000 + 12 * sum(1 for _ in module.walk())))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _lower(
    module: ModuleOp,
    isa: HostIsa,
    data_layout: str,
    fuse: bool,
    irregular: bool,
    measured: Regions | None,
    lines: LineInfo | None,
) -> Lowered:
    functions = {
        cast(StringAttr, op.properties["sym_name"]).data: op for op in module.ops if isinstance(op, tile.FuncOp)
    }
    kernel = _kernel(module, functions)
    output = Module()
    index = IndexAnalysis(Separation(assumed=not irregular))
    emitter = Emitter(output, isa, TABLES, fuse=fuse, index=index, lines=lines is not None)
    emitter.functions = dict(functions)
    name = cast(StringAttr, kernel.properties["sym_name"]).data
    emitter.traffic = traffic_of(kernel, isa.triple)
    try:
        parameters = _program(emitter, kernel, measured, lines)
    except UnsupportedElement as error:
        op = failed_op(error)
        raise unsupported(kernel if op is None or op is module else op, str(error)) from error
    cost, pairs = emitter.writer.cost, pairs_of(emitter.index, _numbers(emitter, kernel))
    output.declare("i64", "@llvm.umin.i64", ("i64", "i64"))
    output.declare("i64", "@llvm.umax.i64", ("i64", "i64"))
    output.declare("noalias ptr", "@aligned_alloc", ("i64", "i64"))
    output.declare("void", "@free", ("ptr",))
    fence = output.declare("void", FENCE, ()) if emitter.streams else ""
    output.define("@tx.worker", entry.worker(parameters, emitter.buffer_sizes, isa, fence=fence))
    output.define("@tx.run", entry.run(cost, isa))
    output.define("@tx.launch", entry.launcher(parameters, isa, pairs, guarded=irregular))
    metadata = {} if measured is None else measured.metadata()
    head = [f'target triple = "{isa.triple}"', f'target datalayout = "{data_layout}"', entry.GLOBALS]
    tail = [METADATA] if emitter.streams else []
    tail += [] if lines is None else lines.metadata()
    return Lowered(output.print(head, tail), name, tuple(emitter.assertions), cost, pairs, metadata)


def _kernel(module: ModuleOp, functions: Mapping[str, Operation]) -> Operation:
    public = [f for f in functions.values() if _visibility(f) != "private"]
    if len(public) != 1:
        raise unsupported(module, f"expected one public function, found {len(public)}")
    return public[0]


def _visibility(function: Operation) -> str:
    attribute = function.properties.get("sym_visibility")
    return attribute.data if isinstance(attribute, StringAttr) else "public"


def _numbers(e: Emitter, kernel: Operation) -> dict[SSAValue, int]:
    """The parameters that the kernel's arguments begin with, by the names that `_program` gave them."""
    block = kernel.regions[0].blocks.first
    assert block is not None
    return {argument: int(e.values[argument][0].removeprefix("%arg")) for argument in block.args}


def _program(e: Emitter, kernel: Operation, measured: Regions | None, lines: LineInfo | None) -> list[Parameter]:
    """Define the program; returns what it takes before the buffers and the program's place in the grid."""
    region = kernel.regions[0]
    block = region.blocks.first
    assert block is not None
    parameters: list[Parameter] = []
    for argument in block.args:
        kind = argument.type
        if is_tensor(kind):
            raise unsupported(kernel, "a kernel cannot take a tile")
        names: list[str] = []
        for ty in flat_types(kind):
            names.append(f"%arg{len(parameters)}")
            parameters.append(Parameter(str(kind), ty))
        e.values[argument] = tuple(names)
    if measured is not None:
        e.regions = measured
        e.region_variables = regions.begin(e, measured, f"%arg{len(parameters)}")
        parameters.append(regions.PARAMETER)
    body = Body(e, region, "exit")
    body.emit()
    e.writer.label("exit")
    if e.regions is not None and e.region_variables is not None:
        regions.end(e, e.regions, e.region_variables)
    e.writer.line("ret void")
    storage = share(e.writer.lines, e.buffer_sizes, e.writer.loops)
    e.writer.lines, e.buffer_sizes = storage.lines, storage.sizes
    origin = ""
    if lines is not None:
        assert isinstance(kernel, tile.FuncOp)
        origin = lines.function(kernel)
        lines.mark_each(e.writer.lines, e.writer.origins, kernel)
    arguments = [f"{p.llvm} %arg{i}" for i, p in enumerate(parameters)]
    arguments += [f"ptr noalias align 64 %b{i}" for i in range(len(e.buffer_sizes))]
    arguments += [f"i32 %{x}" for x in ("pid.x", "pid.y", "pid.z", "num.x", "num.y", "num.z")] + ["ptr %record"]
    # A loop over a row of a tile is shorter than a call of memcpy.
    attributes = f'noinline "no-builtin-memcpy" {e.isa.function_attributes()}'
    text = f"define internal void @{PROGRAM}({', '.join(arguments)}) {attributes}{origin} {{\n"
    e.module.define(f"@{PROGRAM}", f"{text}{e.writer.body()}\n}}")
    return parameters
