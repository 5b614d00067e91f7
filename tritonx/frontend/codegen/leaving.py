"""``break`` and ``continue`` as structured statements.

The statements after an ``if`` of which a branch always leaves the loop's body belong to the other branch::

    if x < 0:               if x < 0:
        continue                (nothing)
    total += x              else:
                                total += x

Where a branch leaves on some ways only, it sets a flag, and the statements after it are put under a test of the flag. A
``break`` sets a flag besides that the loop asks before it goes on. Flags are compile-time values until branches of the
running kernel differ in them, so that a branch which is pruned costs nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from tritonx.language.values.constexpr import constexpr

if TYPE_CHECKING:
    from tritonx.frontend.codegen.function import FunctionGenerator

Loop = ast.For | ast.While


@dataclass(frozen=True, slots=True)
class StructuredBody:
    """The body of a loop without ``break`` and ``continue``, and the names of its flags in a scope. ``broke``: the loop
    was left. ``left``: this iteration was, which is asked if ``guards``."""

    statements: list[ast.stmt]
    broke: str
    left: str
    breaks: bool
    guards: bool

    def begin(self, gen: FunctionGenerator) -> None:
        """At the head of an iteration nothing has been left."""
        if self.breaks:
            gen.scope[self.broke] = constexpr(False)
        if self.guards:
            gen.scope[self.left] = constexpr(False)

    def end(self, gen: FunctionGenerator) -> None:
        """Behind the loop it is not read."""
        for name in (self.broke, self.left):
            gen.scope.pop(name, None)


class SetFlag(ast.stmt):
    """Not Python's: a flag becomes true, if anything asks for it."""

    _fields = ()

    name: str

    @staticmethod
    def of(name: str, position: ast.stmt) -> SetFlag:
        node = ast.copy_location(SetFlag(), position)
        node.name = name
        return node


def set_flag(gen: FunctionGenerator, node: SetFlag) -> None:
    if node.name in gen.scope:
        gen.scope[node.name] = constexpr(True)


def is_flag(name: str) -> bool:
    """Whether a name in a scope is a flag of a loop: none that Python has."""
    return name.startswith(".")


_BODIES: WeakKeyDictionary[Loop, StructuredBody | None] = WeakKeyDictionary()
"""Trees are kept and compiled many times. A cache, nothing else; not on the nodes, which errors carry along."""


def structured_body(loop: Loop) -> StructuredBody | None:
    """The body of a loop that is left by ``break`` or ``continue``, else None."""
    if loop not in _BODIES:
        _BODIES[loop] = _Structuring(loop).body() if any(map(_leaves, loop.body)) else None
    return _BODIES[loop]


def unless(flag: str, body: list[ast.stmt]) -> ast.If:
    """``body`` under the condition that the flag is not set."""
    name = ast.copy_location(ast.Name(flag, ast.Load()), body[0])
    test = ast.copy_location(ast.UnaryOp(ast.Not(), name), body[0])
    return ast.copy_location(ast.If(test, body, []), body[0])


class _Structuring:
    """Of one loop."""

    def __init__(self, loop: Loop) -> None:
        place = f"{loop.lineno}:{loop.col_offset}"
        self._loop, self._broke, self._left = loop, f".broke {place}", f".left {place}"
        self._breaks = self._guards = False

    def body(self) -> StructuredBody:
        statements = self._statements(self._loop.body)
        return StructuredBody(statements, self._broke, self._left, self._breaks, self._guards)

    def _statements(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        for index, node in enumerate(body):
            if _leaves(node):
                return [*body[:index], *self._leaving(node, body[index + 1 :])]
        return list(body)

    def _leaving(self, node: ast.stmt, rest: Sequence[ast.stmt]) -> list[ast.stmt]:
        """A statement that leaves, at least on some ways, and those behind it."""
        if isinstance(node, ast.If):
            return self._branches(node, rest)
        if isinstance(node, ast.With):
            inner = ast.copy_location(ast.With(node.items, self._statements(node.body)), node)
            return [inner] if _always_leaves(node.body) else [inner, *self._guarded(rest)]
        self._breaks |= isinstance(node, ast.Break)
        return [SetFlag.of(name, node) for name in (self._broke, self._left)[not isinstance(node, ast.Break) :]]

    def _branches(self, node: ast.If, rest: Sequence[ast.stmt]) -> list[ast.stmt]:
        ends = [_always_leaves(branch) for branch in (node.body, node.orelse)]
        if not any(ends):
            return [self._if(node, node.body, node.orelse), *self._guarded(rest)]
        behind: list[Sequence[ast.stmt]] = [() if end else rest for end in ends]
        return [self._if(node, [*node.body, *behind[0]], [*node.orelse, *behind[1]])]

    def _if(self, node: ast.If, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]) -> ast.If:
        return ast.copy_location(ast.If(node.test, self._statements(body), self._statements(orelse)), node)

    def _guarded(self, rest: Sequence[ast.stmt]) -> list[ast.stmt]:
        if not rest:
            return []
        self._guards = True
        return [unless(self._left, self._statements(rest))]


def _leaves(node: ast.stmt) -> bool:
    """Whether the statement may leave the loop in whose body it is; inner loops keep their own."""
    if isinstance(node, ast.If):
        return any(map(_leaves, [*node.body, *node.orelse]))
    return isinstance(node, ast.Break | ast.Continue) or (isinstance(node, ast.With) and any(map(_leaves, node.body)))


def _always_leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether control never comes out behind ``body``."""
    return any(
        isinstance(node, ast.Break | ast.Continue | ast.Return)
        or (isinstance(node, ast.If) and _always_leaves(node.body) and _always_leaves(node.orelse))
        or (isinstance(node, ast.With) and _always_leaves(node.body))
        for node in body
    )
