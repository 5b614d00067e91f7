"""What all rewritings share: where they apply, and walking over expressions and statements."""

from __future__ import annotations

import ast
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from random import Random

from tests.styles.kinds import Kinds
from tests.styles.program import Program


@dataclass(frozen=True)
class Draw:
    """Which sites of a rewriting are taken: each with a probability. What a site becomes is drawn too."""

    random: Random
    share: float = 1.0

    def takes(self) -> bool:
        return self.share >= 1 or self.random.random() < self.share


Rewriting = Callable[[Program, Draw], Program | None]
"""Gives the program written otherwise; None where its condition holds nowhere, or no site is drawn."""

Change = Callable[[ast.expr, Kinds], ast.expr | None]


class _Expressions(ast.NodeTransformer):
    """Applies a change to every expression that it takes, operands first."""

    def __init__(self, change: Change, kinds: Kinds, draw: Draw) -> None:
        self.change, self.kinds, self.draw = change, kinds, draw
        self.changed = False

    def visit(self, node: ast.AST) -> ast.AST:
        node = self.generic_visit(node)
        if not isinstance(node, ast.expr) or isinstance(getattr(node, "ctx", None), ast.Store):
            return node
        new = self.change(node, self.kinds)
        if new is None or not self.draw.takes():
            return node
        self.changed = True
        return new


def in_expressions(program: Program, draw: Draw, change: Change) -> Program | None:
    """The program with a change made in the kernel's expressions."""
    program = program.copied()
    walk = _Expressions(change, Kinds(program), draw)
    program.kernel.body[:] = [walk.visit(statement) for statement in program.kernel.body]
    return program if walk.changed else None


def expressions(change: Change) -> Rewriting:
    """The rewriting that makes a change in expressions."""

    def rewriting(program: Program, draw: Draw) -> Program | None:
        return in_expressions(program, draw, change)

    rewriting.__doc__, rewriting.__name__ = change.__doc__, change.__name__
    return rewriting


class _Replaced(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def replace_node(root: ast.AST, old: ast.AST, new: ast.AST) -> None:
    """Put a node in the place of one inside ``root``."""
    _Replaced(old, new).visit(root)


def sum_of(parts: list[ast.expr]) -> ast.expr:
    """``((a + b) + c)``."""
    total = deepcopy(parts[0])
    for part in parts[1:]:
        total = ast.BinOp(total, ast.Add(), deepcopy(part))
    return total


def terms_of(node: ast.expr) -> list[ast.expr]:
    """What a sum adds."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*terms_of(node.left), *terms_of(node.right)]
    return [node]


def product(a: ast.expr, b: ast.expr) -> ast.expr:
    """``a * b``; a factor of 1 is left out."""
    if isinstance(a, ast.Constant) and a.value == 1:
        return deepcopy(b)
    if isinstance(b, ast.Constant) and b.value == 1:
        return deepcopy(a)
    return ast.BinOp(deepcopy(a), ast.Mult(), deepcopy(b))
