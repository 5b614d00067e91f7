"""Rewritings that the launch follows: arguments as constants, the grid's axes, persistent programs; and helpers."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import replace

from tests.styles.kinds import Kinds
from tests.styles.program import (
    Program,
    assign,
    blocks_of,
    called,
    is_pure,
    name,
    names_read,
    names_written,
    parse,
    substituted,
)
from tests.styles.sites import Draw, replace_node

GROUP = 8
"""Rows of blocks that programs in grouped order take together."""


def _as_constants(program: Program, draw: Draw, numbers: Iterable[str]) -> Program | None:
    moved = [n for n in numbers if n not in names_written([program.kernel]) and draw.takes()]
    if not moved:
        return None
    program = program.copied()
    for argument in program.kernel.args.args:
        if argument.arg in moved:
            argument.annotation = parse("tl.constexpr")
    body = program.kernel.body
    body[:] = [s for s in body if not (_assumes(s) and names_read([s]) <= {*moved, *program.constants})]
    constants = {**program.constants, **{n: program.numbers[n] for n in moved}}
    return replace(program, numbers={n: v for n, v in program.numbers.items() if n not in moved}, constants=constants)


def _assumes(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and called(statement.value) == "assume"


def _strides(program: Program) -> list[str]:
    return [n for n in program.numbers if n.startswith("stride")]


def constant_strides(program: Program, draw: Draw) -> Program | None:
    """``stride`` → ``stride: tl.constexpr``."""
    return _as_constants(program, draw, [n for n in _strides(program) if program.numbers[n] != "1"])


def constant_unit_strides(program: Program, draw: Draw) -> Program | None:
    """A stride that is 1 → ``stride: tl.constexpr``."""
    units = [n for n in _strides(program) if program.numbers[n] == "1" and n not in program.unspecialised]
    return _as_constants(program, draw, units)


def constant_sizes(program: Program, draw: Draw) -> Program | None:
    """Sizes → ``n: tl.constexpr``."""
    kinds = Kinds(program)
    others = set(_strides(program))
    sizes = [n for n in program.numbers if n not in others and kinds.names[n].what == "int"]
    return _as_constants(program, draw, sizes)


def unknown_unit_strides(program: Program, draw: Draw) -> Program | None:
    """A stride that is 1 → an argument that the launch does not specialise."""
    units = [n for n in _strides(program) if program.numbers[n] == "1" and draw.takes()]
    if not units or program.unspecialised:
        return None
    program = program.copied()
    program.kernel.decorator_list[:] = [parse(f"triton.jit(do_not_specialize={units!r})")]
    return replace(program, unspecialised=frozenset(units))


def wide_strides(program: Program, draw: Draw) -> Program | None:
    """``stride`` → ``stride: tl.int64``."""
    taken = [n for n in _strides(program) if program.numbers[n] != "1" and draw.takes()]
    if not taken:
        return None
    program = program.copied()
    for argument in program.kernel.args.args:
        if argument.arg in taken:
            argument.annotation = parse("tl.int64")
    return replace(program, wide=program.wide | set(taken))


class _ProgramIds(ast.NodeTransformer):
    """``tl.program_id(axis)`` → an expression, by axis."""

    def __init__(self, values: dict[int, ast.expr]) -> None:
        self.values = values

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if called(node) == "program_id" and isinstance(node.args[0], ast.Constant):
            axis = node.args[0].value
            if axis in self.values:
                return deepcopy(self.values[axis])
        return self.generic_visit(node)


def _grid_is_free(program: Program) -> bool:
    """Whether the kernel alone asks for program ids, and nothing for the grid's extents."""
    calls = [called(x) for helper in program.helpers for x in ast.walk(helper)]
    extents = any(called(x) == "num_programs" for x in ast.walk(program.kernel))
    return not extents and "program_id" not in calls and "num_programs" not in calls


def _one_axis(program: Program, lines: str, *, columns: bool) -> Program | None:
    """The first two axes as one: ``lines`` computes ``row`` and ``column`` of ``pid``, ``down`` and ``across``."""
    if len(program.grid) < 2 or not _grid_is_free(program):
        return None
    extents = [program.extent(axis) for axis in (0, 1)]
    if extents[0] is None or extents[1] is None:
        return None
    program = program.copied()
    stems = ("pid", "down", "across", "row", "column", "band", "height", "place", "first")
    fresh = {stem: name(program.fresh(stem)) for stem in stems}
    values = {0: fresh["row"], 1: fresh["column"], 2: parse("tl.program_id(1)")}
    body = [_ProgramIds(values).visit(statement) for statement in program.kernel.body]
    text = f"pid = tl.program_id(0)\ndown = {ast.unparse(extents[0])}\nacross = {ast.unparse(extents[1])}\n{lines}"
    program.kernel.body[:] = [*(_renamed(s, fresh) for s in ast.parse(text).body), *body]
    return replace(program, grid=(f"({program.grid[0]}) * ({program.grid[1]})", *program.grid[2:]))


def _renamed(statement: ast.stmt, names: dict[str, ast.Name]) -> ast.stmt:
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and node.id in names:
            node.id = names[node.id].id
    return statement


def one_axis_by_rows(program: Program, draw: Draw) -> Program | None:
    """A grid of two axes → of one, the columns fastest."""
    return _one_axis(program, "row = pid // across\ncolumn = pid % across", columns=False)


def one_axis_by_columns(program: Program, draw: Draw) -> Program | None:
    """A grid of two axes → of one, the rows fastest."""
    return _one_axis(program, "row = pid % down\ncolumn = pid // down", columns=True)


def one_axis_in_groups(program: Program, draw: Draw) -> Program | None:
    """A grid of two axes → of one, in the grouped order of the tutorials."""
    lines = f"""band = {GROUP} * across
first = pid // band * {GROUP}
height = min(down - first, {GROUP})
place = pid % band
row = first + place % height
column = place // height"""
    return _one_axis(program, lines, columns=False)


def axes_swapped(program: Program, draw: Draw) -> Program | None:
    """Axis 0 of the grid is axis 1, and the other way round."""
    if len(program.grid) < 2 or not _grid_is_free(program):
        return None
    program = program.copied()
    swap = _ProgramIds({0: parse("tl.program_id(1)"), 1: parse("tl.program_id(0)")})
    program.kernel.body[:] = [swap.visit(statement) for statement in program.kernel.body]
    return replace(program, grid=(program.grid[1], program.grid[0], *program.grid[2:]))


def persistent(program: Program, draw: Draw) -> Program | None:
    """One program → a loop over what a few programs share, of a grid of one axis."""
    extent = program.extent(0) if len(program.grid) == 1 else None
    writes = set(names_written([program.kernel])) & set(program.parameters())
    leaves = any(isinstance(x, ast.Return) for x in ast.walk(program.kernel))
    if extent is None or writes or leaves or not _grid_is_free(program):
        return None
    program = program.copied()
    tile = program.fresh("tile")
    body = [_ProgramIds({0: name(tile)}).visit(statement) for statement in program.kernel.body]
    bounds = [parse("tl.program_id(0)"), extent, parse("tl.num_programs(0)")]
    program.kernel.body[:] = [ast.For(ast.Name(tile, ast.Store()), ast.Call(name("range"), bounds, []), body, [])]
    return replace(program, grid=(f"min({program.grid[0]}, 4)",))


def helpers_made(program: Program, draw: Draw) -> Program | None:
    """``x = expression`` → ``x = helper(…)`` of a function that returns it, of at least two operations."""
    program = program.copied()
    made: list[ast.FunctionDef] = []
    known = {function.name for function in program.helpers}
    for block in list(blocks_of(program.kernel)):
        for statement in block:
            if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
                continue
            value = statement.value
            operations = sum(isinstance(x, ast.BinOp | ast.Call) for x in ast.walk(value))
            names = sorted(names_read([value]) - known)
            if operations < 2 or not names or program.is_constant(value) or not draw.takes():
                continue
            identifier = program.fresh(f"helper_{len(made)}")
            arguments = ", ".join(f"{n}: tl.constexpr" if n in program.constants else n for n in names)
            text = f"@triton.jit\ndef {identifier}({arguments}):\n    return {ast.unparse(value)}"
            made += [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
            statement.value = ast.Call(name(identifier), [name(n) for n in names], [])
    return replace(program, helpers=(*program.helpers, *made)) if made else None


def helpers_inlined(program: Program, draw: Draw) -> Program | None:
    """``helper(x)`` → what it returns, of helpers that are one expression and read each argument once or a name."""
    program = program.copied()
    bodies = {f.name: f for f in program.helpers if len(f.body) == 1 and isinstance(f.body[0], ast.Return)}
    changed = False
    for call in [x for x in ast.walk(program.kernel) if isinstance(x, ast.Call)]:
        helper = bodies.get(ast.unparse(call.func))
        if helper is None or call.keywords or not draw.takes():
            continue
        result = helper.body[0]
        if not isinstance(result, ast.Return) or result.value is None:
            continue
        values = dict(zip((argument.arg for argument in helper.args.args), call.args, strict=True))
        if not all(is_pure(value) or _reads(result.value, n) == 1 for n, value in values.items()):
            continue
        replace_node(program.kernel, call, substituted(result.value, values))
        changed = True
    return program if changed else None


def _reads(node: ast.AST, identifier: str) -> int:
    return sum(isinstance(x, ast.Name) and x.id == identifier for x in ast.walk(node))


def bases_in_front(program: Program, draw: Draw) -> Program | None:
    """``x`` → ``base = x + pid * stride``: the scalar terms of a pointer's sum get a name in front of the statement."""
    program = program.copied()
    kinds = Kinds(program)
    changed = False
    for block in list(blocks_of(program.kernel)):
        for statement in list(block):
            if not isinstance(statement, ast.Assign | ast.Expr):
                continue
            for node in [x for x in ast.walk(statement) if isinstance(x, ast.BinOp)]:
                scalar = kinds.of(node).rank == 0 and kinds.of(node).what == "pointer" and is_pure(node)
                if not scalar or not draw.takes() or node is getattr(statement, "value", None):
                    continue
                identifier = program.fresh("base")
                replace_node(statement, node, name(identifier))
                block.insert(block.index(statement), assign(identifier, node))
                changed = True
                break
    return program if changed else None
