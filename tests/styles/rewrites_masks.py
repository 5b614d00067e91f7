"""Rewritings of masks, hints and how an operation is spelled."""

from __future__ import annotations

import ast
from collections.abc import Iterator
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
    same,
)
from tests.styles.sites import Draw, expressions


def keyword(call: ast.Call, identifier: str) -> ast.expr | None:
    return next((k.value for k in call.keywords if k.arg == identifier), None)


def _accesses(node: ast.AST) -> Iterator[ast.Call]:
    """Loads and stores that have a mask, of a statement but not of the blocks in it."""
    for x in ast.walk(node):
        if isinstance(x, ast.Call) and called(x) in ("load", "store") and keyword(x, "mask") is not None:
            yield x


def _set_mask(call: ast.Call, mask: ast.expr | None) -> None:
    rest = [k for k in call.keywords if k.arg != "mask" and (mask is not None or k.arg != "other")]
    call.keywords[:] = [*([ast.keyword("mask", mask)] if mask is not None else []), *rest]


def masks_in_front(program: Program, draw: Draw) -> Program | None:
    """A mask gets a name: in front of the statement, or of the loops that do not change it."""
    program = program.copied()
    changed = False
    for block in list(blocks_of(program.kernel)):
        for statement in list(block):
            if not isinstance(statement, ast.Assign | ast.Expr):
                continue
            for call in _accesses(statement):
                mask = keyword(call, "mask")
                if mask is None or isinstance(mask, ast.Name) or not is_pure(mask) or not draw.takes():
                    continue
                identifier = program.fresh("mask")
                _set_mask(call, name(identifier))
                where, before = outermost(program, block, statement, mask)
                where.insert(where.index(before), assign(identifier, mask))
                changed = True
    return program if changed else None


def outermost(
    program: Program, block: list[ast.stmt], statement: ast.stmt, value: ast.expr
) -> tuple[list[ast.stmt], ast.stmt]:
    """The block and the statement of it in front of which a value may stand: of loops that write nothing of it."""
    for outer in blocks_of(program.kernel):
        for loop in outer:
            inside = isinstance(loop, ast.For | ast.While) and statement in list(ast.walk(loop))
            if inside and not names_read([value]) & set(names_written([loop])):
                return outer, loop
    return block, statement


@expressions
def chosen_for_masks(node: ast.expr, kinds: Kinds) -> ast.expr | None:
    """``tl.load(p, mask=m, other=o)`` → ``tl.where(m, tl.load(p, mask=m), o)``."""
    if called(node) != "load" or not isinstance(node, ast.Call):
        return None
    mask, other = keyword(node, "mask"), keyword(node, "other")
    if mask is None or other is None or not is_pure(mask) or kinds.of(mask).rank != kinds.of(node.args[0]).rank:
        return None
    node.keywords[:] = [k for k in node.keywords if k.arg != "other"]
    return ast.Call(parse("tl.where"), [deepcopy(mask), node, other], [])


@expressions
def other_as_integer(node: ast.expr, kinds: Kinds) -> ast.expr | None:
    """``other=0.0`` → ``other=0``."""
    if called(node) != "load" or not isinstance(node, ast.Call):
        return None
    other = keyword(node, "other")
    if not isinstance(other, ast.Constant) or other.value != 0 or not isinstance(other.value, float):
        return None
    node.keywords[:] = [ast.keyword("other", ast.Constant(0)) if k.arg == "other" else k for k in node.keywords]
    return node


def counted(loop: ast.stmt) -> tuple[str, ast.expr, ast.expr, bool] | None:
    """Of a loop over blocks: its variable, what is cut, the block's size, and whether the variable counts elements
    (``range(0, K, B)``) or blocks (``range(tl.cdiv(K, B))``)."""
    if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name) or not isinstance(loop.iter, ast.Call):
        return None
    if ast.unparse(loop.iter.func) not in ("range", "tl.range") or loop.iter.keywords:
        return None
    match loop.iter.args:
        case [ast.Constant(value=0), ast.Call(args=[size, block]) as count] | [ast.Call(args=[size, block]) as count]:
            return (loop.target.id, size, block, False) if called(count) == "cdiv" else None
        case [ast.Constant(value=0), size, block]:
            return loop.target.id, size, block, True
        case _:
            return None


def unmasked_if_even(program: Program, draw: Draw) -> Program | None:
    """``EVEN: tl.constexpr``: where the loop's blocks are whole, its loads have no mask along it."""
    program = program.copied()
    constants = dict(program.constants)
    for block in blocks_of(program.kernel):
        for loop in block:
            found = counted(loop)
            if found is None or not isinstance(loop, ast.For) or not isinstance(found[1], ast.Name):
                continue
            variable, size, extent, _ = found
            if program.numbers.get(size.id, program.constants.get(size.id)) != size.id or not draw.takes():
                continue
            identifier = program.fresh("EVEN")
            if _unmask(program, loop, variable, size.id, identifier):
                constants[identifier] = f"{size.id} % ({ast.unparse(extent)}) == 0"
                program.kernel.args.args.append(ast.arg(identifier, parse("tl.constexpr")))
    return replace(program, constants=constants) if len(constants) > len(program.constants) else None


def _unmask(program: Program, loop: ast.For, variable: str, size: str, even: str) -> bool:
    """Write the loads of a loop twice, if some can do without the mask."""
    moving = {variable}
    for statement in loop.body:
        if isinstance(statement, ast.Assign) and names_read([statement.value]) & moving and is_pure(statement.value):
            moving |= set(names_written([statement]))
    changed = False
    for position, statement in enumerate(loop.body):
        if not isinstance(statement, ast.Assign) or called(statement.value) != "load":
            continue
        load = statement.value
        assert isinstance(load, ast.Call)
        parts = _conjuncts(keyword(load, "mask"))
        kept = [x for x in parts if not ({size} <= names_read([x]) and names_read([x]) & moving)]
        if len(kept) == len(parts):
            continue
        bare = deepcopy(statement)
        assert isinstance(bare.value, ast.Call)
        _set_mask(bare.value, _all(kept))
        loop.body[position] = ast.If(name(even), [bare], [statement])
        changed = True
    return changed


def _conjuncts(mask: ast.expr | None) -> list[ast.expr]:
    if mask is None:
        return []
    if isinstance(mask, ast.BinOp) and isinstance(mask.op, ast.BitAnd):
        return [*_conjuncts(mask.left), *_conjuncts(mask.right)]
    return [mask]


def _all(parts: list[ast.expr]) -> ast.expr | None:
    if not parts:
        return None
    total = deepcopy(parts[0])
    for part in parts[1:]:
        total = ast.BinOp(total, ast.BitAnd(), deepcopy(part))
    return total


@expressions
def transposed_by_name(node: ast.expr, kinds: Kinds) -> ast.expr | None:
    """``tl.trans(x)`` → ``tl.permute(x, (1, 0))``, ``x.T`` → ``tl.trans(x)``."""
    if isinstance(node, ast.Attribute) and node.attr == "T":
        return ast.Call(parse("tl.trans"), [node.value], [])
    if isinstance(node, ast.Call) and called(node) == "trans" and len(node.args) == 1:
        return ast.Call(parse("tl.permute"), [node.args[0], parse("(1, 0)")], [])
    return None


@expressions
def transposed_by_attribute(node: ast.expr, kinds: Kinds) -> ast.expr | None:
    """``tl.trans(x)`` → ``x.T``."""
    if isinstance(node, ast.Call) and called(node) == "trans" and len(node.args) == 1:
        return ast.Attribute(node.args[0], "T", ast.Load())
    return None


@expressions
def cast_by_name(node: ast.expr, kinds: Kinds) -> ast.expr | None:
    """``x.to(T)`` → ``tl.cast(x, T)``."""
    if isinstance(node, ast.Call) and called(node) == "to" and isinstance(node.func, ast.Attribute):
        return ast.Call(parse("tl.cast"), [node.func.value, *node.args], node.keywords)
    return None


@expressions
def reduced_dims_kept(node: ast.expr, kinds: Kinds) -> ast.expr | None:
    """``tl.sum(x, axis=1)[:, None]`` → ``tl.sum(x, axis=1, keep_dims=True)``."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Call):
        return None
    call = node.value
    axis = keyword(call, "axis")
    expected = {":, None": 1, "None, :": 0}.get(ast.unparse(node.slice).strip("()"))
    if called(call) not in ("sum", "max", "min") or not isinstance(axis, ast.Constant) or axis.value != expected:
        return None
    call.keywords.append(ast.keyword("keep_dims", ast.Constant(True)))
    return call


@expressions
def filled_with_zeros(node: ast.expr, kinds: Kinds) -> ast.expr | None:
    """``tl.zeros(shape, dtype=T)`` → ``tl.full(shape, 0, T)``."""
    if called(node) != "zeros" or not isinstance(node, ast.Call):
        return None
    dtype = node.args[1] if len(node.args) > 1 else keyword(node, "dtype")
    return None if dtype is None else ast.Call(parse("tl.full"), [node.args[0], ast.Constant(0), dtype], [])


@expressions
def cache_hints(node: ast.expr, kinds: Kinds) -> ast.expr | None:
    """``tl.load(p)`` → ``tl.load(p, eviction_policy="evict_last")``."""
    if called(node) != "load" or not isinstance(node, ast.Call) or keyword(node, "eviction_policy") is not None:
        return None
    node.keywords.append(ast.keyword("eviction_policy", ast.Constant("evict_last")))
    return node


def products_added(program: Program, draw: Draw) -> Program | None:
    """``acc = tl.dot(a, b, acc)`` → ``acc += tl.dot(a, b)``, which rounds once more."""
    return _products_by(program, draw, _added)


def products_accumulated(program: Program, draw: Draw) -> Program | None:
    """``acc += tl.dot(a, b)`` → ``acc = tl.dot(a, b, acc)``."""
    return _products_by(program, draw, _accumulated)


def _products_by(program: Program, draw: Draw, change) -> Program | None:
    program = program.copied()
    changed = False
    for block in blocks_of(program.kernel):
        for position, statement in enumerate(block):
            new = change(statement)
            if new is not None and draw.takes():
                block[position] = new
                changed = True
    return replace(program, exact=False) if changed else None


def _added(statement: ast.stmt) -> ast.stmt | None:
    match statement:
        case ast.Assign(targets=[ast.Name(id=target)], value=ast.Call(args=[a, b, ast.Name(id=acc)]) as dot):
            if called(dot) == "dot" and acc == target:
                bare = ast.Call(dot.func, [a, b], dot.keywords)
                return ast.AugAssign(ast.Name(target, ast.Store()), ast.Add(), bare)
    return None


def _accumulated(statement: ast.stmt) -> ast.stmt | None:
    match statement:
        case ast.AugAssign(target=ast.Name(id=target), op=ast.Add(), value=ast.Call(args=[a, b]) as dot):
            if called(dot) == "dot":
                return assign(target, ast.Call(dot.func, [a, b, name(target)], dot.keywords))
    return None


def masks_in_place(program: Program, draw: Draw) -> Program | None:
    """A mask that has a name → the mask where it is used; the name's assignment stays where others read it."""
    program = program.copied()
    written = names_written([program.kernel])
    masks = {
        s.targets[0].id: s.value for block in blocks_of(program.kernel) for s in block
        if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name) and is_pure(s.value)
    }  # fmt: skip
    changed = False
    for call in _accesses(program.kernel):
        mask = keyword(call, "mask")
        if not isinstance(mask, ast.Name) or mask.id not in masks:
            continue
        value = masks[mask.id]
        parameters = set(program.parameters())
        steady = all(written.count(x) <= (x not in parameters) for x in (mask.id, *names_read([value])))
        if steady and not same(value, mask) and draw.takes():
            _set_mask(call, deepcopy(value))
            changed = True
    return program if changed else None
