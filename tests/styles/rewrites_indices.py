"""Rewritings of offsets and pointers: how sums are ordered, scaled, named and widened.

All of them take for granted that no sum of the kernel overflows.
"""

from __future__ import annotations

import ast
from copy import deepcopy

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
    same,
    substituted,
)
from tests.styles.sites import Draw, expressions, product, replace_node, sum_of, terms_of


def _is_index(node: ast.expr, kinds: Kinds) -> bool:
    return kinds.of(node).what in ("int", "pointer")


class _Sums(ast.NodeTransformer):
    """Orders the terms of the largest sums of integers and pointers again."""

    def __init__(self, program: Program, draw: Draw, order: str) -> None:
        self.kinds, self.draw, self.order = Kinds(program), draw, order
        self.changed = False

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        terms = terms_of(node)
        if len(terms) < 3 or not all(_is_index(term, self.kinds) for term in terms) or not self.draw.takes():
            return self.generic_visit(node)  # type: ignore[return-value]  # an expression stays one
        terms.sort(key=lambda term: self.kinds.of(term).what != "pointer")
        parts = [self.visit(term) for term in terms]
        new = self._ordered(parts)
        self.changed |= not same(new, node)
        return new

    def _ordered(self, parts: list[ast.expr]) -> ast.expr:
        if self.order == "left":
            return sum_of(parts)
        if self.order == "right":
            return ast.BinOp(parts[0], ast.Add(), self._ordered(parts[1:])) if len(parts) > 1 else parts[0]
        self.draw.random.shuffle(parts)
        return sum_of(parts)


def _sums(order: str):
    def rewriting(program: Program, draw: Draw) -> Program | None:
        program = program.copied()
        walk = _Sums(program, draw, order)
        program.kernel.body[:] = [walk.visit(statement) for statement in program.kernel.body]
        return program if walk.changed else None

    return rewriting


sums_to_the_left = _sums("left")
"""``p + (a + b)`` → ``(p + a) + b``."""
sums_to_the_right = _sums("right")
"""``(p + a) + b`` → ``p + (a + b)``."""
sums_in_any_order = _sums("any")
"""``p + (a + b)`` → ``(b + p) + a``."""


@expressions
def commuted(node: ast.expr, kinds: Kinds) -> ast.expr | None:
    """``a + b`` → ``b + a``; ``*`` and ``&`` too. Floats give the same bits."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult | ast.BitAnd):
        if isinstance(node.left, ast.Tuple) or kinds.of(node).what == "?":
            return None
        return ast.BinOp(node.right, node.op, node.left)
    return None


@expressions
def comparisons_turned(node: ast.expr, kinds: Kinds) -> ast.expr | None:
    """``a < b`` → ``b > a``."""
    turned = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in turned:
        return ast.Compare(node.comparators[0], [turned[type(node.ops[0])]()], [node.left])
    return None


def _expanding(node: ast.expr) -> bool:
    """Whether a subscript is ``[:, None]`` or ``[None, :]``."""
    return isinstance(node, ast.Subscript) and ast.unparse(node.slice).strip("()") in (":, None", "None, :")


@expressions
def scaled_before_expanding(node: ast.expr, kinds: Kinds) -> ast.expr | None:
    """``m[:, None] * s`` → ``(m * s)[:, None]``, of a scalar ``s``."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return None
    for tile, scalar in ((node.left, node.right), (node.right, node.left)):
        if isinstance(tile, ast.Subscript) and _expanding(tile) and kinds.of(scalar).rank == 0:
            return ast.Subscript(product(tile.value, scalar), tile.slice, ast.Load())
    return None


@expressions
def scaled_after_expanding(node: ast.expr, kinds: Kinds) -> ast.expr | None:
    """``(m * s)[:, None]`` → ``m[:, None] * s``, of a scalar ``s``."""
    if not isinstance(node, ast.Subscript) or not _expanding(node) or not isinstance(node.value, ast.BinOp):
        return None
    value = node.value
    if isinstance(value.op, ast.Mult) and kinds.of(value.left).rank == 1 and kinds.of(value.right).rank == 0:
        return ast.BinOp(ast.Subscript(value.left, node.slice, ast.Load()), ast.Mult(), value.right)
    return None


@expressions
def expanded_by_name(node: ast.expr, kinds: Kinds) -> ast.expr | None:
    """``x[:, None]`` → ``tl.expand_dims(x, 1)``."""
    if not isinstance(node, ast.Subscript) or not _expanding(node) or kinds.of(node.value).rank != 1:
        return None
    axis = 1 if ast.unparse(node.slice).strip("()") == ":, None" else 0
    return ast.Call(parse("tl.expand_dims"), [node.value, ast.Constant(axis)], [])


@expressions
def shifted_and_back(node: ast.expr, kinds: Kinds) -> ast.expr | None:
    """``a + tl.arange(0, B)`` → ``(a + tl.arange(0, B) - 3) + 3``."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add) or called(node.right) != "arange":
        return None
    return ast.BinOp(ast.BinOp(node, ast.Sub(), ast.Constant(3)), ast.Add(), ast.Constant(3))


@expressions
def remainder_by_quotient(node: ast.expr, kinds: Kinds) -> ast.expr | None:
    """``a % b`` → ``a - a // b * b``, which quotients that truncate give for all signs."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mod) or kinds.of(node).what != "int":
        return None
    if kinds.program.is_constant(node):  # Python rounds down
        return None
    quotient = ast.BinOp(deepcopy(node.left), ast.FloorDiv(), deepcopy(node.right))
    return ast.BinOp(node.left, ast.Sub(), ast.BinOp(quotient, ast.Mult(), node.right))


@expressions
def quotient_in_two_steps(node: ast.expr, kinds: Kinds) -> ast.expr | None:
    """``a // (b * c)`` → ``a // b // c``, where nothing is negative."""
    match node:
        case ast.BinOp(left=left, op=ast.FloorDiv(), right=ast.BinOp(left=b, op=ast.Mult(), right=c)):
            if all(map(kinds.is_natural, (left, b, c))) and not kinds.program.is_constant(node):
                return ast.BinOp(ast.BinOp(left, ast.FloorDiv(), b), ast.FloorDiv(), c)
    return None


@expressions
def blocks_counted_by_hand(node: ast.expr, kinds: Kinds) -> ast.expr | None:
    """``tl.cdiv(a, b)`` → ``(a + b - 1) // b``."""
    if called(node) != "cdiv" or not isinstance(node, ast.Call):
        return None
    a, b = node.args
    above = ast.BinOp(ast.BinOp(a, ast.Add(), b), ast.Sub(), ast.Constant(1))
    return ast.BinOp(above, ast.FloorDiv(), deepcopy(b))


def _widened(node: ast.expr, function: str, kinds: Kinds) -> ast.expr | None:
    """Not where blocks are described: where they start has 32 bits."""
    described = ("make_block_ptr", "make_tensor_descriptor")
    if called(node) != function or any(called(x) in described for x in ast.walk(kinds.program.kernel)):
        return None
    return ast.Call(ast.Attribute(node, "to", ast.Load()), [parse("tl.int64")], [])


@expressions
def wide_program_ids(node: ast.expr, kinds: Kinds) -> ast.expr | None:
    """``tl.program_id(0)`` → ``tl.program_id(0).to(tl.int64)``."""
    return _widened(node, "program_id", kinds)


@expressions
def wide_ranges(node: ast.expr, kinds: Kinds) -> ast.expr | None:
    """``tl.arange(0, B)`` → ``tl.arange(0, B).to(tl.int64)``."""
    return _widened(node, "arange", kinds)


@expressions
def marked_contiguous(node: ast.expr, kinds: Kinds) -> ast.expr | None:
    """``p * B + tl.arange(0, B)`` → ``tl.max_contiguous(tl.multiple_of(…, B), B)``."""
    match node:
        case ast.BinOp(left=ast.BinOp(op=ast.Mult(), right=size), op=ast.Add(), right=ast.Call(args=[_, extent])):
            if called(node.right) == "arange" and same(size, extent) and kinds.program.is_constant(size):
                whole, block = ast.unparse(node), ast.unparse(size)
                return parse(f"tl.max_contiguous(tl.multiple_of({whole}, {block}), {block})")
    return None


@expressions
def unmarked(node: ast.expr, kinds: Kinds) -> ast.expr | None:
    """``tl.multiple_of(x, B)`` → ``x``."""
    return node.args[0] if isinstance(node, ast.Call) and called(node) in ("multiple_of", "max_contiguous") else None


def no_assumptions(program: Program, draw: Draw) -> Program | None:
    """No ``tl.assume``."""
    program = program.copied()
    changed = False
    for block in blocks_of(program.kernel):
        kept = [s for s in block if not (isinstance(s, ast.Expr) and called(s.value) == "assume" and draw.takes())]
        changed |= len(kept) < len(block)
        block[:] = kept
    return program if changed else None


def assumptions(program: Program, draw: Draw) -> Program | None:
    """``tl.assume(pid >= 0)`` behind scalars that are made of program ids, and of the sizes that the launch passes."""
    program = program.copied()
    kinds = Kinds(program)
    body = program.kernel.body
    for statement in list(body):
        match statement:
            case ast.Assign(targets=[ast.Name(id=identifier)], value=value):
                scalar = kinds.of(value).rank == 0 and kinds.of(value).what == "int"
                if scalar and kinds.is_natural(value) and not program.is_constant(value) and draw.takes():
                    body.insert(body.index(statement) + 1, ast.Expr(parse(f"tl.assume({identifier} >= 0)")))
    for identifier, value in program.numbers.items():
        if value != "1" and kinds.names[identifier].what == "int" and draw.takes():
            body.insert(0, ast.Expr(parse(f"tl.assume({identifier} > 0)")))
    return program


def named_terms(program: Program, draw: Draw) -> Program | None:
    """``p + m[:, None] * s`` → ``rows = m[:, None] * s`` in front, and ``p + rows``."""
    program = program.copied()
    kinds = Kinds(program)
    changed = False
    for block in blocks_of(program.kernel):
        for statement in list(block):
            if not isinstance(statement, ast.Assign | ast.Expr):
                continue
            for node in _products(statement, kinds):
                if not draw.takes():
                    continue
                identifier = program.fresh("term")
                replace_node(statement, node, name(identifier))
                block.insert(block.index(statement), assign(identifier, node))
                changed = True
    return program if changed else None


def _products(statement: ast.stmt, kinds: Kinds) -> list[ast.BinOp]:
    """The products inside sums of pointers, none inside another."""
    sums = [x for x in ast.walk(statement) if isinstance(x, ast.BinOp) and kinds.of(x).what == "pointer"]
    return [
        term for x in sums if not any(x is not y and x in ast.walk(y) for y in sums) for term in terms_of(x)
        if isinstance(term, ast.BinOp) and isinstance(term.op, ast.Mult) and is_pure(term)
    ]  # fmt: skip


def names_replaced(program: Program, draw: Draw) -> Program | None:
    """A name that is assigned once → what it is, wherever it is read."""
    program = program.copied()
    written = names_written([program.kernel])
    changed = False
    for block in blocks_of(program.kernel):
        for statement in list(block):
            match statement:
                case ast.Assign(targets=[ast.Name(id=identifier)], value=value):
                    pass
                case _:
                    continue
            rest = block[block.index(statement) + 1 :]
            steady = all(written.count(x) <= 1 for x in (identifier, *names_read([value])))
            parameters = set(program.parameters())
            moved = set(names_written([program.kernel])) & names_read([value]) & parameters
            reads = _reads(program.kernel, identifier)
            if not is_pure(value) or not steady or moved or identifier in parameters or not reads:
                continue
            if isinstance(value, ast.Constant) or reads != sum(_reads(x, identifier) for x in rest) or not draw.takes():
                continue
            position = block.index(statement)
            block[position:] = [substituted(x, {identifier: value}) for x in rest]
            changed = True
            return names_replaced(program, draw) or program
    return program if changed else None


def _reads(node: ast.AST, identifier: str) -> int:
    return sum(isinstance(x, ast.Name) and x.id == identifier and isinstance(x.ctx, ast.Load) for x in ast.walk(node))
