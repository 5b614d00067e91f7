"""Rewritings of pointers to tiles as block pointers and tensor descriptors, where the tile is one of a matrix:

    base + rows[:, None] * stride + columns[None, :]

each of the indices start + tl.arange(0, B), the mask rows < m and columns < n.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from tests.styles.kinds import Kinds
from tests.styles.program import (
    Program,
    assign,
    blocks_of,
    called,
    is_pure,
    name,
    names_written,
    parse,
    same,
    substituted,
)
from tests.styles.rewrites_masks import keyword, outermost
from tests.styles.sites import Draw, replace_node, sum_of, terms_of

EXPANDED = {":, None": 0, "None, :": 1}
"""Subscript → the dim along which the vector lies."""


@dataclass(frozen=True)
class Block:
    """A tile of a matrix; ``checked``: the dims along which it may reach beyond ``shape``."""

    base: ast.expr
    shape: tuple[ast.expr, ...]
    strides: tuple[ast.expr, ...]
    starts: tuple[ast.expr, ...]
    extents: tuple[ast.expr, ...]
    checked: tuple[int, ...]


def _definitions(program: Program) -> dict[str, ast.expr]:
    """Names that are assigned once, to what is computed of indices that nothing changes."""
    written = names_written([program.kernel])
    parameters = set(program.parameters())
    return {
        s.targets[0].id: s.value for block in blocks_of(program.kernel) for s in block
        if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name) and is_pure(s.value)
        and written.count(s.targets[0].id) == 1 and s.targets[0].id not in parameters
        and not any(isinstance(x, ast.Call) and called(x) in ("where", "zeros") for x in ast.walk(s.value))
    }  # fmt: skip


def _along(node: ast.expr, kinds: Kinds) -> tuple[int, ast.expr, ast.expr] | None:
    """Of ``x[:, None] * s`` or ``x[:, None]``: the dim, ``x``, ``s``."""
    stride: ast.expr = ast.Constant(1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        tile, stride = (node.left, node.right) if kinds.of(node.right).rank == 0 else (node.right, node.left)
        node = tile
    if not isinstance(node, ast.Subscript) or kinds.of(stride).rank != 0:
        return None
    dim = EXPANDED.get(ast.unparse(node.slice).strip("()"))
    return None if dim is None else (dim, node.value, stride)


def _start(vector: ast.expr, kinds: Kinds) -> tuple[ast.expr, ast.expr] | None:
    """Of ``start + tl.arange(0, B)``: ``start`` and ``B``."""
    terms = terms_of(vector)
    ranges = [term for term in terms if isinstance(term, ast.Call) and called(term) == "arange"]
    rest = [term for term in terms if term not in ranges]
    if len(ranges) != 1 or not all(kinds.of(term).rank == 0 and kinds.is_natural(term) for term in rest):
        return None
    return (sum_of(rest) if rest else ast.Constant(0)), ranges[0].args[1]


def _limits(mask: ast.expr | None, vectors: list[ast.expr], kinds: Kinds) -> dict[int, ast.expr] | None:
    """By dim, below what a mask has the indices be; None where it says something else."""
    limits: dict[int, ast.expr] = {}
    parts = [] if mask is None else [mask]
    while parts:
        part = parts.pop()
        match part:
            case ast.BinOp(left=left, op=ast.BitAnd(), right=right):
                parts += [left, right]
            case ast.Compare(left=ast.Subscript(value=vector, slice=at), ops=[ast.Lt()], comparators=[size]):
                dim = EXPANDED.get(ast.unparse(at).strip("()"))
                known = dim is not None and same(vector, vectors[dim]) and kinds.of(size).rank == 0
                if dim is None or not known or dim in limits:
                    return None
                limits[dim] = size
            case _:
                return None
    return limits


def _block(call: ast.Call, program: Program, kinds: Kinds) -> Block | None:
    """The tile of a matrix that a load or a store accesses. Where it starts must have 32 bits."""
    if any(isinstance(x, ast.Attribute) and x.attr == "int64" for s in program.kernel.body for x in ast.walk(s)):
        return None
    definitions = _definitions(program)

    def whole(node: ast.expr) -> ast.expr:
        for _ in range(len(definitions)):
            node = substituted(node, definitions)
        return node

    terms = terms_of(whole(call.args[0]))
    tiles = [found for term in terms if kinds.of(term).rank == 2 and (found := _along(term, kinds)) is not None]
    base = [term for term in terms if kinds.of(term).rank == 0]
    tiles.sort(key=lambda found: found[0])
    if [dim for dim, _, _ in tiles] != [0, 1] or len(tiles) + len(base) != len(terms) or not base:
        return None
    starts = [_start(vector, kinds) for _, vector, _ in tiles]
    mask = keyword(call, "mask")
    limits = _limits(None if mask is None else whole(mask), [vector for _, vector, _ in tiles], kinds)
    other = keyword(call, "other")
    zero = other is None or (isinstance(other, ast.Constant) and other.value == 0)
    if starts[0] is None or starts[1] is None or limits is None or not zero or kinds.of(base[0]).what != "pointer":
        return None
    both = (starts[0], starts[1])
    shape = tuple(limits.get(dim, sum_of([start, extent])) for dim, (start, extent) in enumerate(both))
    strides = tuple(stride for _, _, stride in tiles)
    firsts, extents = (both[0][0], both[1][0]), (both[0][1], both[1][1])
    return Block(sum_of(base), shape, strides, firsts, extents, tuple(sorted(limits)))


def _tuple(parts: tuple[ast.expr, ...]) -> ast.Tuple:
    return ast.Tuple(list(parts), ast.Load())


def _calls(program: Program) -> list[tuple[list[ast.stmt], ast.stmt, ast.Call]]:
    """Loads and stores through plain pointers, with the statement and its block."""
    return [
        (block, statement, x) for block in blocks_of(program.kernel) for statement in block
        if isinstance(statement, ast.Assign | ast.Expr)
        for x in ast.walk(statement) if isinstance(x, ast.Call) and called(x) in ("load", "store")
    ]  # fmt: skip


def block_pointers(program: Program, draw: Draw) -> Program | None:
    """``tl.load(base + rows[:, None] * s + columns[None, :], mask=…)`` → of a block pointer."""
    program = program.copied()
    kinds = Kinds(program)
    changed = False
    for _, _, call in _calls(program):
        block = _block(call, program, kinds)
        if block is None or not draw.takes():
            continue
        parts = (block.shape, block.strides, block.starts, block.extents)
        order = parse("(0, 1)" if _is_unit(block.strides[0], program) else "(1, 0)")
        call.args[0] = ast.Call(parse("tl.make_block_ptr"), [block.base, *map(_tuple, parts), order], [])
        checks = ast.keyword("boundary_check", _tuple(tuple(map(ast.Constant, block.checked))))
        pads = called(call) == "load" and block.checked
        padding = [ast.keyword("padding_option", ast.Constant("zero"))] if pads else []
        rest = [k for k in call.keywords if k.arg not in ("mask", "other")]
        call.keywords[:] = [*rest, *([checks] if block.checked else []), *padding]
        changed = True
    return program if changed else None


def _is_unit(stride: ast.expr, program: Program) -> bool:
    if isinstance(stride, ast.Name):
        known = program.numbers.get(stride.id, program.constants.get(stride.id))
        return known == "1" and stride.id not in program.unspecialised
    return isinstance(stride, ast.Constant) and stride.value == 1


def descriptors(program: Program, draw: Draw) -> Program | None:
    """``tl.load(base + rows[:, None] * s + columns[None, :], mask=…)`` → of a tensor descriptor, made in front of the
    loop that does not change it."""
    program = program.copied()
    kinds = Kinds(program)
    changed = False
    for block, statement, call in _calls(program):
        found = _block(call, program, kinds)
        if found is None or not _is_unit(found.strides[1], program) or program.unspecialised or not draw.takes():
            continue
        if called(call) == "store" and found.checked != (0, 1):
            continue
        parts = (found.shape, (found.strides[0], ast.Constant(1)), found.extents)
        made = ast.Call(parse("tl.make_tensor_descriptor"), [found.base, *map(_tuple, parts)], [])
        identifier = program.fresh("described")
        starts = ast.List(list(found.starts), ast.Load())
        values = [] if called(call) == "load" else call.args[1:]
        access = ast.Call(ast.Attribute(name(identifier), called(call), ast.Load()), [starts, *values], [])
        replace_node(statement, call, access)
        where, before = outermost(program, block, statement, made)
        where.insert(where.index(before), assign(identifier, made))
        changed = True
    return replace(program, aligned=True) if changed else None
