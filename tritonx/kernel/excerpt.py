"""A mistake shown at the kernel's own lines: where it is, the source around it, the caret."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tritonx.kernel.declaration import KernelDeclaration

SOURCE_LINES_SHOWN = 12


@dataclass(frozen=True, slots=True)
class SourcePosition:
    """A position as an editor understands it: 1-based line and 0-based column in ``file``, inside jit function
    ``function``."""

    file: str
    line: int
    column: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column} in {self.function}"


def excerpt(src: str | None, node: ast.AST | None, count: int = SOURCE_LINES_SHOWN) -> str:
    """``at LINE:COL:``, the ``count`` lines of source that end with ``node``'s first line, the caret under ``node``."""
    line_number: int | None = getattr(node, "lineno", None)
    if src is None:
        text = " <source unavailable>"
    elif line_number is None:
        text = src
    else:
        lines = src.split("\n")[:line_number][-count:]
        text = "\n".join([*lines, _underline(lines[-1], node)]) if lines else " <source empty>"
    if line_number is None:
        return text
    return f"at {line_number}:{getattr(node, 'col_offset', 0)}:\n{text}"


def _underline(line: str, node: ast.AST | None) -> str:
    """A caret at ``node``'s column and tildes to its end, or to the end of the line where it goes on below.

    AST columns count UTF-8 bytes; the underline counts characters.
    """
    encoded = line.encode()
    start: int = getattr(node, "col_offset", 0)
    end: int | None = getattr(node, "end_col_offset", None)
    if getattr(node, "end_lineno", None) != getattr(node, "lineno", None):
        end = len(encoded)
    if isinstance(node, _COMPOUND):
        end = len(encoded.rstrip().removesuffix(b":"))
    indent = len(encoded[:start].decode(errors="replace"))
    width = len(encoded[start:end].decode(errors="replace").rstrip()) if end is not None else 1
    return " " * indent + "^" + "~" * (width - 1)


_COMPOUND = (ast.If, ast.For, ast.While, ast.With, ast.FunctionDef, ast.Try, ast.ClassDef)


def not_launched(kernel: KernelDeclaration) -> RuntimeError:
    """A call of a kernel by the host."""
    hint = f"launch it: {kernel.__name__}[(x, y, z)](...)"
    message = "Cannot call @triton.jit'd outside of the scope of a kernel"
    return RuntimeError(shown(kernel, None, message, hint))


def shown(kernel: KernelDeclaration, parameter: str | None, message: str, hint: str | None = None) -> str:
    """``message`` with the kernel's ``def`` and a caret under ``parameter``, or under all of it, as the front end has
    it."""
    definition = kernel.parse().body[0]
    assert isinstance(definition, ast.FunctionDef)
    given = definition.args
    nodes = [n for n in (*given.posonlyargs, *given.args, *given.kwonlyargs) if n.arg == parameter]
    node = nodes[0] if nodes else definition
    line = kernel.def_line_number + node.lineno - 1
    position = SourcePosition(kernel.file_name, line, node.col_offset + kernel.indentation, kernel.__name__)
    lines = [excerpt(kernel.src, node), message, f"  --> {position}"]
    return "\n".join(lines if hint is None else [*lines, f"hint: {hint}"])
