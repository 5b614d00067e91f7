"""Rewritings of loops and of the pointers that go through them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import deepcopy

from tests.styles.kinds import Kinds
from tests.styles.program import (
    Program,
    Substitution,
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
from tests.styles.rewrites_masks import counted
from tests.styles.sites import Draw, product, replace_node, sum_of, terms_of


def _loops(program: Program, draw: Draw) -> Iterator[tuple[list[ast.stmt], ast.For]]:
    """Loops whose variable the body does not write and nothing behind them reads, with the blocks that they are in."""
    for block in list(blocks_of(program.kernel)):
        for loop in list(block):
            if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
                continue
            variable = loop.target.id
            inside = sum(isinstance(x, ast.Name) and x.id == variable for x in ast.walk(loop))
            whole = sum(isinstance(x, ast.Name) and x.id == variable for x in ast.walk(program.kernel))
            if inside == whole and variable not in names_written(loop.body) and draw.takes():
                yield block, loop


class _Blocks(ast.NodeTransformer):
    """``i * B`` → the offset; ``i`` alone → the offset divided by ``B``."""

    def __init__(self, variable: str, block: ast.expr, offset: str) -> None:
        self.variable, self.block, self.offset = variable, block, offset

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if isinstance(node.op, ast.Mult):
            for a, b in ((node.left, node.right), (node.right, node.left)):
                if isinstance(a, ast.Name) and a.id == self.variable and same(b, self.block):
                    return name(self.offset)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id != self.variable:
            return node
        return ast.BinOp(name(self.offset), ast.FloorDiv(), deepcopy(self.block))


def stepping_by_blocks(program: Program, draw: Draw) -> Program | None:
    """``for i in range(tl.cdiv(K, B))`` → ``for start in range(0, K, B)``."""
    program = program.copied()
    changed = False
    for _, loop in _loops(program, draw):
        found = counted(loop)
        if found is None or found[3] or not program.is_constant(found[2]):
            continue
        variable, size, block, _ = found
        offset = program.fresh("start")
        loop.body[:] = [_Blocks(variable, block, offset).visit(s) for s in loop.body]
        loop.target = ast.Name(offset, ast.Store())
        loop.iter = ast.Call(name("range"), [ast.Constant(0), size, block], [])
        changed = True
    return program if changed else None


def counting_blocks(program: Program, draw: Draw) -> Program | None:
    """``for k in range(0, K, B)`` → ``for i in range(0, tl.cdiv(K, B))``."""
    program = program.copied()
    changed = False
    for _, loop in _loops(program, draw):
        found = counted(loop)
        if found is None or not found[3] or not program.is_constant(found[2]):
            continue
        variable, size, block, _ = found
        number = program.fresh("step")
        value = ast.BinOp(name(number), ast.Mult(), block)
        loop.body[:] = [substituted(s, {variable: value}) for s in loop.body]
        loop.target = ast.Name(number, ast.Store())
        loop.iter = ast.Call(name("range"), [ast.Constant(0), ast.Call(parse("tl.cdiv"), [size, block], [])], [])
        changed = True
    return program if changed else None


def _bounds(loop: ast.For) -> tuple[ast.expr, ast.expr, ast.expr] | None:
    """Start, end and step of a loop over ``range``."""
    if not isinstance(loop.iter, ast.Call) or ast.unparse(loop.iter.func) not in ("range", "tl.range"):
        return None
    if loop.iter.keywords:
        return None
    start, end, step = ast.Constant(0), ast.Constant(0), ast.Constant(1)
    match loop.iter.args:
        case [end]:
            return start, end, step
        case [start, end]:
            return start, end, step
        case [start, end, step]:
            return start, end, step
        case _:
            return None


def while_loops(program: Program, draw: Draw) -> Program | None:
    """``for k in range(a, b, s)`` → ``k = a``, ``while k < b``, ``k += s``, of a positive step."""
    program = program.copied()
    kinds = Kinds(program)
    changed = False
    for block, loop in _loops(program, draw):
        bounds = _bounds(loop)
        if bounds is None or not kinds.is_natural(bounds[2]) or not isinstance(loop.target, ast.Name):
            continue
        start, end, step = bounds
        if names_read([end, step]) & set(names_written(loop.body)) or _leaves(loop):
            continue
        variable = loop.target.id
        following = ast.AugAssign(ast.Name(variable, ast.Store()), ast.Add(), step)
        new = ast.While(ast.Compare(name(variable), [ast.Lt()], [end]), [*loop.body, following], [])
        position = block.index(loop)
        block[position : position + 1] = [assign(variable, start), new]
        changed = True
    return program if changed else None


def _leaves(loop: ast.For) -> bool:
    return any(isinstance(x, ast.Break | ast.Continue | ast.Return) for x in ast.walk(loop))


def triton_ranges(program: Program, draw: Draw) -> Program | None:
    """``range(…)`` → ``tl.range(…)``."""
    program = program.copied()
    changed = False
    for _, loop in _loops(program, draw):
        if isinstance(loop.iter, ast.Call) and ast.unparse(loop.iter.func) == "range":
            loop.iter.func = parse("tl.range")
            changed = True
    return program if changed else None


def _number(loop: ast.For) -> tuple[ast.expr, ast.expr] | None:
    """Which iteration it is, as ``value / divisor``: of ``range(n)`` and of ``range(0, n, step)``."""
    bounds = _bounds(loop)
    if bounds is None or not isinstance(loop.target, ast.Name):
        return None
    start, _, step = bounds
    return (name(loop.target.id), step) if isinstance(start, ast.Constant) and start.value == 0 else None


def pointers_recomputed(program: Program, draw: Draw) -> Program | None:
    """``p`` and ``p += step`` at the end of a loop → ``p + i * step``."""
    program = program.copied()
    kinds = Kinds(program)
    changed = False
    for _, loop in _loops(program, draw):
        number = _number(loop)
        if number is None:
            continue
        for statement in list(loop.body):
            match statement:
                case ast.AugAssign(target=ast.Name(id=pointer), op=ast.Add(), value=step):
                    pass
                case _:
                    continue
            if kinds.of(name(pointer)).what != "pointer" or not _only_advances(program, loop, statement, pointer):
                continue
            offset = product(*_divided(number, step)) if _divided(number, step) else None
            if offset is None:
                whole = ast.BinOp(deepcopy(number[0]), ast.FloorDiv(), deepcopy(number[1]))
                offset = product(whole, step)
            loop.body.remove(statement)
            now = ast.BinOp(name(pointer), ast.Add(), offset)
            loop.body[:] = [Substitution({pointer: now}).visit(s) for s in loop.body]  # in place
            changed = True
    return program if changed else None


def _divided(number: tuple[ast.expr, ast.expr], step: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """Factors of ``value / divisor * step`` where the division is none: the step has the divisor as a factor."""
    value, divisor = number
    if isinstance(divisor, ast.Constant) and divisor.value == 1:
        return value, step
    if same(step, divisor):
        return value, ast.Constant(1)
    match step:
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            for a, b in ((left, right), (right, left)):
                if same(a, divisor):
                    return value, b
    return None


def _only_advances(program: Program, loop: ast.For, advance: ast.stmt, pointer: str) -> bool:
    """Whether a pointer is read in front of its advance alone, and by what does not change it in the loop."""
    assert isinstance(advance, ast.AugAssign)
    behind = loop.body[loop.body.index(advance) + 1 :]
    reads = [x for x in ast.walk(program.kernel) if isinstance(x, ast.Name) and x.id == pointer]
    inside = [x for x in ast.walk(loop) if isinstance(x, ast.Name) and x.id == pointer]
    steady = not names_read([advance.value]) & set(names_written([loop])) and is_pure(advance.value)
    written = names_written([program.kernel]).count(pointer)
    parameter = pointer in program.parameters()
    once = written == (1 if parameter else 2) and names_written(loop.body).count(pointer) == 1
    last = not _read_behind(program, loop, pointer)
    return steady and once and last and len(reads) > 0 and len(inside) > 0 and pointer not in names_read(behind)


def _read_behind(program: Program, loop: ast.For, identifier: str) -> bool:
    """Whether a name is read behind a loop; also if it is in another loop, whose next round is behind."""
    for block in blocks_of(program.kernel):
        if loop in block:
            in_loop = any(loop in ast.walk(x) and loop is not x for x in ast.walk(program.kernel)
                          if isinstance(x, ast.For | ast.While))  # fmt: skip
            return in_loop or identifier in names_read(block[block.index(loop) + 1 :])
    return True


def slope(node: ast.expr, variable: str, kinds: Kinds) -> ast.expr | None:
    """By what an expression grows when a variable grows by 1, a scalar; None where that is not known."""
    zero = ast.Constant(0)
    if variable not in names_read([node]):
        return zero
    match node:
        case ast.Name():
            return ast.Constant(1)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            a, b = slope(left, variable, kinds), slope(right, variable, kinds)
            if a is None or b is None:
                return None
            parts = [x for x in (a, b) if not (isinstance(x, ast.Constant) and x.value == 0)]
            return sum_of(parts) if parts else zero
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            for moving, factor in ((left, right), (right, left)):
                if variable not in names_read([factor]) and kinds.of(factor).rank == 0:
                    inner = slope(moving, variable, kinds)
                    return None if inner is None else product(inner, factor)
            return None
        case ast.Subscript(value=value):
            return slope(value, variable, kinds)
        case _:
            return None


def pointers_advanced(program: Program, draw: Draw) -> Program | None:
    """``tl.load(a + i * step + …)`` in a loop → a pointer made in front of it, and ``p += step`` at its end."""
    program = program.copied()
    changed = False
    for block, loop in _loops(program, draw):
        bounds = _bounds(loop)
        if bounds is None or not isinstance(loop.target, ast.Name) or _leaves(loop):
            continue
        start, _, step = bounds
        kinds = Kinds(program)
        inner = _definitions(loop)
        for call in [x for s in loop.body for x in _own_calls(s) if called(x) in ("load", "store")]:
            pointer = _expanded(call.args[0], inner)
            if kinds.of(pointer).what != "pointer" or isinstance(call.args[0], ast.Name):
                continue
            grows = slope(pointer, loop.target.id, kinds)
            moved = set(names_written([loop])) - {loop.target.id}
            if grows is None or names_read([pointer, grows, step]) & moved or not is_pure(pointer):
                continue
            identifier = program.fresh("pointer")
            first = substituted(pointer, {loop.target.id: start})
            replace_node(loop, call.args[0], name(identifier))
            block.insert(block.index(loop), assign(identifier, first))
            if not (isinstance(grows, ast.Constant) and grows.value == 0):
                by = product(grows, step)
                loop.body.append(ast.AugAssign(ast.Name(identifier, ast.Store()), ast.Add(), by))
            changed = True
    return program if changed else None


def _own_calls(statement: ast.stmt) -> Iterator[ast.Call]:
    """Calls of a statement that holds no others."""
    if isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr):
        yield from (x for x in ast.walk(statement) if isinstance(x, ast.Call))


def _definitions(loop: ast.For) -> dict[str, ast.expr]:
    """Names that a loop's body assigns once, to what is computed of indices."""
    written = names_written([loop])
    return {
        s.targets[0].id: s.value for s in loop.body
        if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name) and is_pure(s.value)
        and written.count(s.targets[0].id) == 1
    }  # fmt: skip


def _expanded(node: ast.expr, definitions: dict[str, ast.expr]) -> ast.expr:
    for _ in range(len(definitions)):
        node = substituted(node, definitions)
    return node


def sums_of_pointers_split(program: Program, draw: Draw) -> Program | None:
    """``p = x + rows + columns`` → ``p = x + rows`` and ``p += columns``, outside loops."""
    program = program.copied()
    kinds = Kinds(program)
    changed = False
    body = program.kernel.body
    for statement in list(body):
        match statement:
            case ast.Assign(targets=[ast.Name(id=identifier)], value=ast.BinOp() as value):
                terms = terms_of(value)
            case _:
                continue
        if kinds.of(value).what != "pointer" or len(terms) < 3 or identifier in names_read([value]) or not draw.takes():
            continue
        if kinds.of(terms[0]).what != "pointer":
            continue
        first, second = program.fresh("rows"), program.fresh("both")
        position = body.index(statement)
        body[position : position + 1] = [
            assign(first, sum_of(terms[:-1])),
            assign(second, ast.BinOp(name(first), ast.Add(), terms[-1])),
            assign(identifier, name(second)),
        ]
        changed = True
    return program if changed else None
