"""Facts that are read off the syntax tree alone, once per tree: which names a piece of code assigns, whether it
returns.

Trees are kept by the jit function and compiled many times (for each signature, for each configuration of an
autotuner), so what is found is remembered on the node.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any, cast

_FACTS = "_tritonx_facts"


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
        return  # an expression assigns nothing: kernels have no walrus, and a comprehension's names are its own
    for child in ast.iter_child_nodes(node):
        _collect(child, names)


def is_path(node: ast.expr) -> bool:
    """Whether ``node`` is a name, or an attribute of one: what may be evaluated twice, for it does nothing."""
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and is_path(node.value))


def may_return(statements: Iterable[ast.stmt]) -> bool:
    """Whether a ``return`` stands among ``statements``, nested ones included."""
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
