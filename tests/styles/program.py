"""A kernel as a program that can be written otherwise: its syntax tree, and how its launch passes what it needs.

Numbers, block sizes and the grid are expressions over the sizes of a `Case`, so that a rewriting may turn an argument
into a constant, or one axis of the grid into two, and the launch follows.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import TypeVar

T = TypeVar("T", bound=ast.AST)

INDEX_CALLS = frozenset(
    ("arange", "cdiv", "program_id", "num_programs", "multiple_of", "max_contiguous", "minimum", "maximum",
     "min", "max", "expand_dims", "where", "zeros", "full", "to", "cast")
)  # fmt: skip
"""Calls that have no effect and read no memory: what they give may be computed elsewhere, or again."""


@dataclass(frozen=True)
class Tensor:
    """A pointer argument: its element type, how many elements, and for integers the bound of the values."""

    dtype: str
    elements: str
    below: str = ""


@dataclass(frozen=True)
class Case:
    """A kernel and its launches.

    ``sizes``: what it is compiled for; ``small``: the range that each size of a run is drawn from, or its value;
    ``tolerance``: relative to the largest result, where a rewriting changes the order of sums.
    """

    name: str
    module: ModuleType
    tensors: Mapping[str, Tensor]
    numbers: Mapping[str, str]
    constants: Mapping[str, str]
    grid: tuple[str, ...]
    sizes: Mapping[str, int]
    small: Mapping[str, int | tuple[int, int]]
    options: Mapping[str, int] = field(default_factory=dict[str, int])
    tolerance: float = 1e-2
    title: str = ""
    """What names the case: several may be of one kernel."""
    without: frozenset[str] = frozenset()
    """Rewritings that are not valid for it, though their conditions hold."""
    exact: bool = True
    """Whether results do not depend on the order in which programs run."""

    def program(self) -> Program:
        """As the author wrote it, with the helpers that it calls."""
        tree = ast.parse(inspect.getsource(self.module))
        functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        kernel = functions[self.name]
        helpers = tuple(functions[name] for name in functions if name != self.name and name in names_read([kernel]))
        for function in (kernel, *helpers):
            _without_docstring(function)
        return Program(kernel, helpers, self.tensors, self.numbers, self.constants, self.grid)


@dataclass(frozen=True)
class Program:
    """See the module's docstring. A rewriting gets a copy (`copied`) that it may change, and returns it.

    ``wide``: numbers that are passed with 64 bits. ``unspecialised``: numbers of which the compiler learns nothing but
    the type. ``exact``: whether the arithmetic is the original's, operation by operation. ``aligned``: whether rows
    must start at multiples of 16 bytes.
    """

    kernel: ast.FunctionDef
    helpers: tuple[ast.FunctionDef, ...]
    tensors: Mapping[str, Tensor]
    numbers: Mapping[str, str]
    constants: Mapping[str, str]
    grid: tuple[str, ...]
    wide: frozenset[str] = frozenset()
    unspecialised: frozenset[str] = frozenset()
    exact: bool = True
    aligned: bool = False

    def copied(self) -> Program:
        return replace(self, kernel=deepcopy(self.kernel), helpers=deepcopy(self.helpers))

    def text(self, package: str = "tritonx") -> str:
        """The module that holds the program."""
        head = f"import {package} as triton\nimport {package}.language as tl\n"
        return "\n\n".join([head, *(ast.unparse(ast.fix_missing_locations(f)) for f in (*self.helpers, self.kernel))])

    def parameters(self) -> list[str]:
        return [argument.arg for argument in self.kernel.args.args]

    def fresh(self, stem: str) -> str:
        """A name that the program does not use."""
        used = {node.id for f in (self.kernel, *self.helpers) for node in ast.walk(f) if isinstance(node, ast.Name)}
        used |= {function.name for function in self.helpers} | set(self.parameters())
        return next(name for name in (stem, *(f"{stem}_{i}" for i in range(1, 1000))) if name not in used)

    def extent(self, axis: int) -> ast.expr | None:
        """The grid's extent as the kernel can compute it; None where the kernel does not know a size of it."""
        tree = ast.parse(self.grid[axis], mode="eval").body
        known = {name for name, value in (*self.numbers.items(), *self.constants.items()) if value == name}
        if not names_read([tree]) - {"cdiv"} <= known & set(self.parameters()):
            return None
        return _Cdiv().visit(tree)

    def is_constant(self, node: ast.expr) -> bool:
        """Whether the compiler knows the value."""
        return names_read([node]) <= set(self.constants) and not any(
            isinstance(x, ast.Call | ast.Subscript) for x in ast.walk(node)
        )


class _Cdiv(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.expr:
        return parse("tl.cdiv") if node.id == "cdiv" else node


def _without_docstring(function: ast.FunctionDef) -> None:
    if ast.get_docstring(function) is not None:
        del function.body[0]


def parse(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def name(identifier: str) -> ast.Name:
    return ast.Name(identifier, ast.Load())


def assign(identifier: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([ast.Name(identifier, ast.Store())], value)


def names_read(nodes: Sequence[ast.AST]) -> set[str]:
    """Names that the nodes read, without the modules' and the types'."""
    found = (x for node in nodes for x in ast.walk(node) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load))
    return {x.id for x in found} - {"tl", "triton", "range", "min", "max", "float"}


def names_written(nodes: Sequence[ast.AST]) -> list[str]:
    """Names that the nodes assign, once for each assignment."""
    return [
        x.id for node in nodes for x in ast.walk(node) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)
    ]  # fmt: skip


def called(node: ast.AST) -> str:
    """``arange`` of a call of ``tl.arange`` or of a method of that name; empty where it is no call."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)


def is_pure(node: ast.AST) -> bool:
    """Whether it only computes, of what the names hold: no memory is read, no product made."""
    return all(called(x) in INDEX_CALLS for x in ast.walk(node) if isinstance(x, ast.Call))


def same(a: ast.AST, b: ast.AST) -> bool:
    return ast.unparse(a) == ast.unparse(b)


def blocks_of(function: ast.AST) -> Iterator[list[ast.stmt]]:
    """Every list of statements, outermost first."""
    for node in ast.walk(function):
        for part in ("body", "orelse"):
            block = getattr(node, part, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block


class Substitution(ast.NodeTransformer):
    """Names that are read → expressions in their place."""

    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and node.id in self.values:
            return deepcopy(self.values[node.id])
        return node


def substituted(node: T, values: Mapping[str, ast.expr]) -> T:
    return Substitution(values).visit(deepcopy(node))
