"""Every op that is declared can be read: its dialect has it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import tritonx.dialects
from tritonx.ir.context import dialect_loaders


def declared(text: str) -> Iterator[str]:
    """The names of the ops that a file declares."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef) and any("define" in ast.unparse(each) for each in node.decorator_list):
            for line in node.body:
                if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "name":
                    yield ast.literal_eval(line.value)


def test_every_declared_op_is_registered() -> None:
    files = Path(tritonx.dialects.__file__).parent.rglob("*.py")
    named = {name for file in files for name in declared(file.read_text())}
    assert len(named) > 100 and "tt.gather" in named
    assert named - {op.name for load in dialect_loaders().values() for op in load().operations} == set()


def test_an_op_is_found() -> None:
    text = '@define\nclass A(IRDLOperation):\n    name = "tt.a"\n\nclass B:\n    name = "tt.b"\n'
    assert [*declared(text)] == ["tt.a"]
