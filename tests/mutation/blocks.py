"""The blocks of a source file: runs of statements of a function of which either all or none are reached.

A block ends at a statement that has blocks of its own, since that may leave the function. What runs when a module is
imported belongs to no block. A block's name counts within its function, so a change elsewhere in the file keeps it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

Insert = Callable[[str], int]
"""The number under which a block of this name says that it was reached."""
PROBE = "_mutation_probes"
_INNER = (ast.If, ast.For, ast.While, ast.Try, ast.With, ast.Match)


def owners(tree: ast.Module) -> dict[int, str]:
    """The block of each node, by the node's ``id``; nodes that an import runs are missing."""
    walk = _Walk(None)
    walk.statements(tree.body, "")
    return walk.owner


def instrumented(text: str, path: str, number: Insert) -> str:
    """The file with a probe at the start of each block."""
    tree = ast.parse(text)
    _Walk(lambda name: number(f"{path}:{name}")).statements(tree.body, "")
    start = next((i for i, s in enumerate(tree.body) if not _must_come_first(s)), len(tree.body))
    tree.body.insert(start, ast.parse(f"from tritonx.{PROBE} import hit as {PROBE}").body[0])
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _must_come_first(statement: ast.stmt) -> bool:
    return _is_docstring(statement) or (isinstance(statement, ast.ImportFrom) and statement.module == "__future__")


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


class _Walk:
    """Names the blocks in the order of the text and, where ``number`` is given, puts probes into them."""

    def __init__(self, number: Insert | None) -> None:
        self.number, self.owner, self.counts = number, dict[int, str](), dict[str, int]()

    def block(self, function: str) -> str:
        self.counts[function] = count = self.counts.get(function, 0) + 1
        return f"{function}#{count}" if function.endswith("()") else ""

    def statements(self, body: list[ast.stmt], function: str) -> None:
        """``function`` is the path of names to here; it ends in ``()`` inside one."""
        block, probes = self.block(function), list[tuple[int, str]]()
        for index, statement in enumerate(body):
            if index == 0 or isinstance(body[index - 1], _INNER):
                block = block if index == 0 else self.block(function)
                probes.append((index + (index == 0 and _is_docstring(statement)), block))
            self.node(statement, block, function)
        if self.number and function.endswith("()"):
            for index, name in reversed(probes):
                body.insert(index, ast.parse(f"{PROBE}[{self.number(name)}] = 1").body[0])

    def node(self, node: ast.AST, block: str, function: str) -> None:
        if block:
            self.owner[id(node)] = block
        inside = function.removesuffix("()")
        for name, value in ast.iter_fields(node):
            own = isinstance(node, ast.FunctionDef | ast.ClassDef)
            if name == "body" and isinstance(node, ast.FunctionDef):
                self.statements(value, f"{inside}.{node.name}()")
            elif name == "body" and isinstance(node, ast.Lambda):
                self.in_lambda(node, inside)
            elif isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                self.statements(value, f"{inside}.{node.name}" if own else function)  # type: ignore[attr-defined]
            else:
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, ast.AST):
                        self.node(child, block, function)

    def in_lambda(self, node: ast.Lambda, inside: str) -> None:
        block = self.block(function := f"{inside}.lambda()")
        self.node(node.body, block, function)
        if self.number:
            probe = ast.parse(f"{PROBE}.__setitem__({self.number(block)}, 1) or 0", mode="eval").body
            node.body = ast.BoolOp(ast.Or(), [probe, node.body])
