"""Imports have no circle, and one inside a function is there for a reason that has a name.

Read from the syntax trees, so that it does not matter which module happens to be imported first.
"""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from import_graph import Import, circles, eager_edges, imports, loaded  # pyright: ignore[reportMissingImports]  # beside this file

ROOT = Path(__file__).resolve().parents[1]

LAZY: dict[str, str] = {
    "tritonx.backends": "a backend is listed, and a launch answered from the cache, without its compiler",
    "tritonx.compat.compile_workers": "only the process that PyTorch forks from loads the compiler",
    "tritonx.dialects.layout_constraints": "the front end and the CPU never look at a layout",
    "tritonx.explain": "the compiler, when something is explained, and a page's texts, when one is written",
    "tritonx.experimental.gluon": "declaring a kernel, and a policy of caches, loads no compiler",
    "tritonx.frontend.codegen.mistakes": "the language's names, for a mistake's hint",
    "tritonx.ir.define": "a format is compiled when its op is first parsed or printed",
    "tritonx.ir.errors": "the printer, for a mistake",
    "tritonx.ir.pipeline": "verifying and printing are switched on for debugging",
    "tritonx.ir.text": "who prints needs no parser",
    "tritonx.ir.verify": "only modules of `ttg` have layouts to verify",
    "tritonx.version": "`dataclasses`, when the version is asked for, and not by an import of the package",
    "tritonx.language.target_info": "the driver, when a kernel asks for its target",
    "tritonx.runtime": "decorating imports nothing heavy, and a launch answered from the cache no compiler",
    "tritonx.tools": "a command tells its usage and its mistakes before the compiler is loaded",
    "tritonx.transforms.pipelining.plan": "who makes a plan reads none",
}
"""A module, or a package with all in it, that imports modules of tritonx inside functions → why."""

LAZY_LIBRARIES: dict[str, str] = {
    "ctypes.util": "imports much; where a library of the system has another name",
    "difflib": "a mistake's hint only; slow to import",
    "filecheck": "tests of libraries only",
    "grp": "not on every system",
    "importlib": "names that are loaded when they are first used",
    "importlib.metadata": "slow to import",
    "io": "a mistake only",
    "llvmlite.binding": "LLVM, when something is compiled",
    "ml_dtypes": "imports NumPy",
    "numpy": "slow to import",
    "pickle": "a mistake only",
    "pwd": "not on every system",
    "pytest": "tests only",
    "resource": "not on every system",
    "jax": "optional",
    "torch": "optional",
    "xdsl": "slow to import",
}
"""Another library, or a package with all in it → why it is imported inside functions."""


def name_of(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def sources() -> dict[str, str]:
    return {name_of(path, ROOT): path.read_text() for path in (ROOT / "tritonx").rglob("*.py")}


def covering(name: str, table: dict[str, str]) -> str | None:
    """The entry of ``table`` that is ``name`` or the innermost package of it."""
    while name and name not in table:
        name = name.rpartition(".")[0]
    return name or None


def unreasonable(found: list[Import], lazy: dict[str, str], libraries: dict[str, str]) -> list[str]:
    """Imports inside functions that load nothing, or for which no table has a reason; entries that nothing needs."""
    edges = eager_edges(found)
    known: dict[str, set[str]] = {}
    used: set[str | None] = set()
    faults: list[str] = []
    own = {one.module for one in found} | {m for one in found for m in [one.target] if m.startswith("tritonx")}
    for one in (one for one in found if one.lazy):
        if one.module not in known:
            known[one.module] = loaded(edges, one.module)
        where = f"{one.module}:{one.line} imports {one.target} inside a function"
        reason = covering(one.module, lazy) if one.target in own else covering(one.target, libraries)
        used.add(reason)
        if one.target in known[one.module]:
            faults.append(f"{where}, which importing it loads anyway")
        elif reason is None:
            faults.append(f"{where} without a reason in the table")
    return faults + [f"nothing needs the reason of {name}" for name in [*lazy, *libraries] if name not in used]


def test_no_circle_of_imports() -> None:
    """Those inside functions count: none is there to break a circle."""
    assert circles(imports(sources())) == []


def test_an_import_inside_a_function_has_a_reason() -> None:
    assert unreasonable(imports(sources()), LAZY, LAZY_LIBRARIES) == []


BY_NAME: dict[str, str] = {
    "tritonx": "public names are loaded when they are first used",
    "tritonx.__main__": "the command that was asked for",
    "tritonx.compat": "the module that another name stands for",
    "tritonx.backends": "vendors' bindings and LLVM's, each where it is installed",
    "tritonx.experimental.gluon.modules": "the modules of a table of names that there are files of",
    "tritonx.interpreter": "its names are loaded when they are first used; NumPy's C functions have no other name",
    "tritonx.ir.context": "a dialect is loaded when a text mentions it",
    "tritonx.language.extra": "the functions of a device library, of which there is a table",
    "tritonx.language.standard": "Triton has the functions of `sort` in this module too",
    "tritonx.language.values.tensor": "methods of a tensor are functions that are written with tensors",
    "tritonx.layouts.linear": "a notebook's picture of a layout is drawn with layouts",
    "tritonx.profiler": "optional libraries",
    "tritonx.runtime": "names of Triton's package, what a backend or a file names, and a worker's task",
    "tritonx.testing": "optional libraries",
    "tritonx.transforms.registry": "a pass is loaded when a pipeline names it",
}
"""A module, or a package with all in it, that imports by a name that is computed, which no syntax tree shows → why."""


def importing_by_name(found: dict[str, str]) -> set[str]:
    """The modules that call ``import_module`` or ``__import__``."""

    def called(node: ast.AST) -> bool:
        function = node.func if isinstance(node, ast.Call) else None
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)
        return name in ("import_module", "__import__")

    return {name for name, text in found.items() if any(called(node) for node in ast.walk(ast.parse(text)))}


def test_modules_imported_by_a_computed_name_are_few() -> None:
    found = {name: covering(name, BY_NAME) for name in importing_by_name(sources())}
    assert [name for name, reason in found.items() if reason == "tritonx" != name] == []
    assert set(found.values()) == set(BY_NAME)


# Made-up violations: each check finds what it is there for.

CIRCLE = {
    "tritonx.a": "from tritonx.b import f",
    "tritonx.b": "def f():\n    from tritonx import c\n    return c",
    "tritonx.c": "import tritonx.a",
    "tritonx.d": "import tritonx.a",
}


def test_a_circle_is_found() -> None:
    assert circles(imports(CIRCLE)) == [["tritonx.a", "tritonx.b", "tritonx.c"]]


@pytest.mark.parametrize("broken", ["tritonx.a", "tritonx.b", "tritonx.c"])
def test_types_make_no_circle(broken: str) -> None:
    text = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    " + CIRCLE[broken].replace("\n", "\n    ")
    assert circles(imports({**CIRCLE, broken: text})) == []


def test_a_needless_import_inside_a_function_is_found() -> None:
    made = {"tritonx.a": "import tritonx.b\ndef f():\n    import tritonx.c", "tritonx.b": "import tritonx.c"}
    assert unreasonable(imports(made), {"tritonx.a": "?"}, {}) == [
        "tritonx.a:3 imports tritonx.c inside a function, which importing it loads anyway"
    ]


def test_an_import_inside_a_function_without_a_reason_is_found() -> None:
    made = {"tritonx.a.x": "def f():\n    from tritonx.c import g\n    import json", "tritonx.c": "def g(): ..."}
    assert unreasonable(imports(made), {"tritonx.b": "?"}, {}) == [
        "tritonx.a.x:2 imports tritonx.c inside a function without a reason in the table",
        "tritonx.a.x:3 imports json inside a function without a reason in the table",
        "nothing needs the reason of tritonx.b",
    ]
    assert unreasonable(imports(made), {"tritonx.a": "?"}, {"json": "?"}) == []


def test_an_import_by_name_is_found() -> None:
    assert importing_by_name({"a": "import importlib\nimportlib.import_module('b')", "c": "# import_module('b')"}) == {
        "a"
    }
