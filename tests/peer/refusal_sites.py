"""Every place of Triton's front end that can refuse a program, read from a wheel's syntax trees.

A *site* is one ``raise`` or ``assert``, and is named by file, function, exception and a digest of the text of what is
raised or of the condition, without spaces: the name survives moved lines and reworded assertions, and changes when what
is refused changes. Nothing is imported."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

FILES = (
    "_utils.py",
    "language/core.py",
    "language/math.py",
    "language/random.py",
    "language/semantic.py",
    "language/standard.py",
    "language/target_info.py",
    "compiler/code_generator.py",
    "compiler/compiler.py",
    "runtime/_allocation.py",
    "runtime/_async_compile.py",
    "runtime/autotuner.py",
    "runtime/interpreter.py",
    "runtime/jit.py",
    "tools/tensor_descriptor.py",
)
"""The front end: what turns a kernel and its arguments into a module, and what launches and tunes it."""


@dataclass(frozen=True)
class Site:
    """``name`` is ``file:function:exception:digest``, with a number where one function has the statement twice."""

    name: str
    file: str
    first: int
    last: int


def sites(package: Path) -> list[Site]:
    """The sites of an installed package, in the order of the files."""
    found: list[Site] = []
    for file in FILES:
        text = (package / file).read_text()
        seen: Counter[str] = Counter()
        for function, node in _refusals(ast.parse(text), ()):
            told = ast.get_source_segment(text, node.test if isinstance(node, ast.Assert) else node) or ""
            digest = sha256(re.sub(r"[\s()]+", "", told).encode()).hexdigest()[:6]
            name = f"{file}:{function}:{_kind(node)}:{digest}"
            seen[name] += 1
            number = f"#{seen[name]}" if seen[name] > 1 else ""
            found.append(Site(name + number, file, node.lineno, node.end_lineno or node.lineno))
    return found


def _refusals(node: ast.AST, scope: tuple[str, ...]) -> Iterator[tuple[str, ast.Raise | ast.Assert]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Assert) or (isinstance(child, ast.Raise) and child.exc is not None):
            yield ".".join(scope), child
        named = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        yield from _refusals(child, (*scope, child.name) if named else scope)


def _kind(node: ast.Raise | ast.Assert) -> str:
    if isinstance(node, ast.Assert):
        return "assert"
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    assert raised is not None
    return ast.unparse(raised).rpartition(".")[2]


def site_of(found: list[Site], file: str, line: int) -> str | None:
    """The site that a line of a file belongs to."""
    return next((s.name for s in found if s.file == file and s.first <= line <= s.last), None)
