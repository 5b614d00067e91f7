"""Who imports whom: the imports of a package's modules, read from their syntax trees. See `test_imports.py`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Import:
    """``module`` imports ``target`` in ``line``; ``lazy`` where only a call does, and not the import of ``module``."""

    module: str
    target: str
    line: int
    lazy: bool


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def imports(sources: Mapping[str, str]) -> list[Import]:
    """What the modules ``sources`` (name → text) import when they run: not what only a type checker sees."""
    return [found for module, text in sources.items() for found in _in(ast.parse(text), module, sources, False)]


def _in(node: ast.AST, module: str, sources: Mapping[str, str], lazy: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for statement in child.orelse:
                yield from _in(statement, module, sources, lazy)
        elif isinstance(child, ast.Import | ast.ImportFrom):
            yield from (Import(module, t, child.lineno, lazy) for t in _targets(child, module, sources))
        else:
            yield from _in(child, module, sources, lazy or isinstance(child, FUNCTIONS))


def _targets(node: ast.Import | ast.ImportFrom, module: str, sources: Mapping[str, str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    base = node.module or ""
    if node.level:
        package = module if any(name.startswith(module + ".") for name in sources) else module.rpartition(".")[0]
        parents = package.split(".")[: len(package.split(".")) - node.level + 1]
        base = ".".join([*parents, base] if base else parents)
    for alias in node.names:
        inner = f"{base}.{alias.name}"
        yield inner if inner in sources else base


def circles(found: list[Import]) -> list[list[str]]:
    """Modules that reach each other, a list for each circle, lazy imports included."""
    edges: dict[str, set[str]] = {}
    for one in found:
        edges.setdefault(one.module, set()).add(one.target)
    reached = {module: _reachable(edges, module) for module in edges}
    left = {module for module in edges if module in reached[module]}
    result: list[list[str]] = []
    while left:
        first = min(left)
        circle = {m for m in left if m in reached[first] and first in reached[m]}
        result.append(sorted(circle))
        left -= circle
    return result


def _reachable(edges: Mapping[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    waiting = list(edges.get(start, ()))
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            waiting += edges.get(module, ())
    return seen


def eager_edges(found: list[Import]) -> dict[str, set[str]]:
    """Module → what importing it imports directly, the package that holds it included."""
    edges: dict[str, set[str]] = {}
    for one in found:
        if not one.lazy:
            edges.setdefault(one.module, set()).add(one.target)
    for name in {one.module for one in found} | {one.target for one in found}:
        if "." in name:
            edges.setdefault(name, set()).add(name.rpartition(".")[0])
    return edges


def loaded(edges: Mapping[str, set[str]], module: str) -> set[str]:
    """What importing ``module`` imports."""
    return {module} | _reachable(edges, module)
