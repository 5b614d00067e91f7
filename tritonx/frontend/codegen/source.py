"""What the code generator needs to know of a jit function: its tree, its place in a file, and the names around it."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from tritonx.frontend.codegen.names import MISSING
from tritonx.frontend.codegen.python_builtins import BUILTINS, INSTEAD
from tritonx.kernel.source import JITCallable


class FunctionSource:
    """A jit function as source. ``text`` starts at ``def``, which is line 1 and is on line ``first_line`` of
    ``file``; ``indentation`` columns were cut off each line."""

    __slots__ = ("closure", "definition", "file", "first_line", "function", "globals", "indentation", "name", "text")

    def __init__(self, function: JITCallable) -> None:
        self.function = function
        self.name: str = function.__name__
        self.text: str = function.src
        definition = function.parse().body[0]
        assert isinstance(definition, ast.FunctionDef)
        self.definition = definition
        self.file: str = function.file_name
        self.first_line: int = function.def_line_number
        self.indentation: int = function.indentation
        self.globals: dict[str, Any] = function.__globals__
        self.closure: dict[str, Any] = function.enclosing_names() if function.fn.__closure__ else {}

    def free_variable(self, name: str) -> Any:
        """The Python object that ``name`` refers to outside the function, or ``MISSING``; builtins are not looked
        at."""
        if name in self.closure:
            return self.closure[name]
        return self.globals.get(name, MISSING)

    def similar_name(self, name: str, scope: Iterable[str]) -> str | None:
        """What to write in place of a function of Python that kernels do not have, or the name that ``name`` is a
        misspelling of, if there is one."""
        if name in INSTEAD:
            return f"kernels do not have Python's {name}: {INSTEAD[name]}"
        candidates = [*scope, *self.closure, *self.globals, *BUILTINS]
        from difflib import get_close_matches  # only for a mistake: it takes longer to import than this file

        found = get_close_matches(name, candidates, n=1, cutoff=0.75)
        return f"did you mean '{found[0]}'?" if found else None
