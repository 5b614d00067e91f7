"""Facts that are read off the syntax tree alone, once per tree: which names a piece of code assigns, whether it
returns.

Trees are kept by the jit function and compiled many times (for each signature, for each configuration of an
autotuner), so what is found is remembered on the node.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable
from typing import Any, cast

from tritonx.frontend.codegen.values import Pattern

_FACTS, _NAMED = "_tritonx_facts", "_tritonx_named"


def assigned_names(node: ast.For | ast.While) -> frozenset[str]:
    """The names that the body of a loop may assign: the candidates for values carried by the loop.

    Syntax alone cannot tell which branches are pruned; a name that turns out unchanged is not carried in the end.
    """
    known: frozenset[str] | None = getattr(node, _FACTS, None)
    if known is None:
        names: set[str] = set()
        for statement in node.body:
            _collect(statement, names)
        known = frozenset(names)
        setattr(node, _FACTS, known)
    return known


def _collect(node: ast.AST, names: set[str]) -> None:
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Store):
            names.add(node.id)
        return
    if isinstance(node, ast.expr) and not isinstance(node, ast.Tuple | ast.List | ast.Starred):
        names |= named_in(node)  # a comprehension's names are its own
        return
    for child in ast.iter_child_nodes(node):
        _collect(child, names)


def named_in(node: ast.AST) -> frozenset[str]:
    """The names that ``(name := value)`` assigns in an expression."""
    known: frozenset[str] | None = getattr(node, _NAMED, None)
    if known is None:
        known = frozenset(inner.target.id for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr))
        setattr(node, _NAMED, known)
    return known


def asked_inside(node: ast.While) -> ast.While:
    """``while test`` as ``while True`` that breaks where ``test`` is false, if the test assigns a name: only what a
    body assigns is carried."""
    if not named_in(node.test):
        return node
    known: ast.While | None = getattr(node, _FACTS, None)
    if known is None:
        leave = ast.copy_location(ast.Break(), node.test)
        test = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
        asked = ast.copy_location(ast.If(test, [leave], []), node.test)
        known = ast.copy_location(
            ast.While(ast.copy_location(ast.Constant(True), node.test), [asked, *node.body], []), node
        )
        setattr(node, _FACTS, known)
    return known


def declared_pattern(target: ast.expr, declared: Container[str]) -> Pattern:
    """Of an assignment's target, which of its names are ``declared``."""
    if isinstance(target, ast.Name):
        return target.id in declared
    if not isinstance(target, ast.Tuple | ast.List):
        return False
    parts = tuple(declared_pattern(part, declared) for part in target.elts)
    return parts if any(parts) else False


def names_of(target: ast.expr) -> set[str]:
    """The names among an assignment's target."""
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def is_path(node: ast.expr) -> bool:
    """Whether ``node`` is a name, or an attribute of one: what may be evaluated twice, for it does nothing."""
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and is_path(node.value))


def may_return(statements: Iterable[ast.stmt]) -> bool:
    """Whether a ``return`` is among ``statements``, nested ones included."""
    return any(_may_return(statement) for statement in statements)


def _may_return(node: ast.stmt) -> bool:
    known: bool | None = getattr(node, _FACTS, None) if isinstance(node, ast.If) else None
    if known is not None:
        return known
    if isinstance(node, ast.Return):
        return True
    if isinstance(node, ast.If):
        known = may_return(node.body) or may_return(node.orelse)
        setattr(node, _FACTS, known)
        return known
    if isinstance(node, ast.For | ast.While):
        return may_return(node.body) or may_return(node.orelse)
    return isinstance(node, ast.With) and may_return(node.body)


def expanded_assignment(node: ast.AugAssign) -> ast.Assign:
    """``x += y`` as ``x = x + y`` at the same place."""
    known: ast.Assign | None = getattr(node, _FACTS, None)
    if known is None:
        target: Any = node.target
        fields = {name: value for name, value in ast.iter_fields(target) if name != "ctx"}
        load = ast.copy_location(type(target)(**fields, ctx=ast.Load()), target)
        operation = ast.copy_location(ast.BinOp(left=cast(ast.expr, load), op=node.op, right=node.value), node)
        known = ast.copy_location(ast.Assign(targets=[target], value=operation), node)
        setattr(node, _FACTS, known)
    return known
