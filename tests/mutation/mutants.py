"""What a mutant is: one place of a source file, changed as a slip of the hand would change it.

A site is named by its number in the walk of the file's syntax tree, so that a draw can be repeated. Left alone are what
no test should fix: annotations, the text of errors (whatever stands in a ``raise``), imports for type checkers only.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from blocks import owners  # pyright: ignore[reportImplicitRelativeImport]

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip
LARGEST = 4096
"""Constants above are addresses, masks and the like: one more is no likely slip."""


@dataclass(frozen=True)
class Mutant:
    """Site number ``site`` of the file ``path`` (relative to the repository)."""

    path: str
    site: int


@dataclass(frozen=True)
class Change:
    """What a mutant does to its file: the whole new text and the block (blocks.py; None for what an import runs), and
    for the report the line and both readings."""

    mutant: Mutant
    text: str
    block: str | None
    line: int
    kind: str
    before: str
    after: str


def draw(root: Path, folder: str, count: int, seed: int) -> list[Mutant]:
    """``count`` mutants of the files under ``folder``, every site as likely as any other. A
    larger draw with the same seed begins with the smaller one."""
    files = [root / folder] if folder.endswith(".py") else sorted((root / folder).rglob("*.py"))
    every = [
        Mutant(str(path.relative_to(root)), number)
        for path in files
        for number in range(len(_sites(ast.parse(path.read_text()))))
    ]
    return random.Random(f"{seed} {folder}").sample(every, len(every))[:count]


def change(root: Path, mutant: Mutant) -> Change:
    """The file of ``mutant`` with its change made."""
    tree = ast.parse((root / mutant.path).read_text())
    kind, node, mutate = _sites(tree)[mutant.site]
    line, before, block = node.lineno, ast.unparse(node), owners(tree).get(id(node))
    mutate()
    after = ast.unparse(ast.fix_missing_locations(node))
    return Change(mutant, ast.unparse(ast.fix_missing_locations(tree)) + "\n", block, line, kind, before, after)


Site = tuple[str, ast.expr | ast.Expr, Callable[[], None]]


def _sites(tree: ast.Module) -> list[Site]:
    left_alone = {id(inner) for outer in _not_for_tests(tree) for inner in ast.walk(outer)}
    return [site for node in ast.walk(tree) if id(node) not in left_alone for site in _of(node)]


def _not_for_tests(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        for field in ("annotation", "returns"):
            if (hint := getattr(node, field, None)) is not None:
                yield hint
        if isinstance(node, ast.Raise) or (
            isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        ):
            yield node


def _of(node: ast.AST) -> Iterator[Site]:
    if isinstance(node, ast.Compare) and (compared := COMPARISONS.get(type(node.ops[0]))):
        yield "comparison", node, lambda: node.ops.__setitem__(0, compared())
    elif isinstance(node, ast.BoolOp):
        other = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        yield "and/or", node, lambda: setattr(node, "op", other)
    elif isinstance(node, ast.BinOp) and (operator := OPERATORS.get(type(node.op))) and not _is_text(node.left):
        yield "operator", node, lambda: setattr(node, "op", operator())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not", node, lambda: setattr(node, "operand", ast.UnaryOp(ast.Not(), node.operand))
    elif isinstance(node, ast.Constant) and type(node.value) is int and node.value < LARGEST:
        more = node.value + 1
        yield "constant", node, lambda: setattr(node, "value", more)
    elif isinstance(node, ast.IfExp):
        sides = node.orelse, node.body
        yield "sides", node, lambda: (setattr(node, "body", sides[0]), setattr(node, "orelse", sides[1]))[0]
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield "dropped call", node, lambda: setattr(node, "value", ast.Constant(None))


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
