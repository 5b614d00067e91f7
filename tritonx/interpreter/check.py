"""What compiling refuses, the interpreter refuses, in the same words: before the lines of a kernel run, the front end
compiles it for the same arguments and options, and what it raises is raised.

So there is one list of what kernels may contain, and it is the compiler's. The target is none in particular: a kernel
that is looked at with NumPy arrays may be meant for any device. What is written to look into a running
kernel (`print`, `breakpoint()`, `import pdb; pdb.set_trace()`) is not looked at. `tl.static_print` prints here, once,
as it does when a kernel is compiled.
"""

from __future__ import annotations

import ast
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from tritonx.frontend.codegen.function import FunctionGenerator
from tritonx.frontend.codegen.module import ModuleGenerator
from tritonx.frontend.codegen.statements import STATEMENTS
from tritonx.frontend.compile import make_module
from tritonx.interpreter.combine import TARGET
from tritonx.kernel.declaration import KernelDeclaration
from tritonx.runtime.compiling.request import Request
from tritonx.runtime.compiling.sources import entry_symbol

DEBUGGERS = frozenset({"pdb", "ipdb", "pudb", "debugpy"})

_CHECKED: WeakKeyDictionary[object, dict[object, str]] = WeakKeyDictionary()
"""The symbols of what was found good, by the Python function: under digests of the source with keys of launches. A
cache, nothing else."""


def check(kernel: KernelDeclaration, request: Request) -> str:
    """Raise what compiling `kernel` for `request` raises; once for each specialisation. Returns the symbol that the
    compiled kernel has."""
    checked = _CHECKED.setdefault(kernel.fn, {})
    key = (kernel.cache_key, request.key)
    if key not in checked:
        wanted = request.wanted
        facts = (wanted.signature, wanted.constants, wanted.attrs)
        module = make_module(kernel, *facts, request.options, TARGET, generator=LenientGenerator)
        checked[key] = entry_symbol(module, kernel.__name__)
    return checked[key]


def _expression_statement(gen: FunctionGenerator, node: ast.Expr) -> None:
    if not _is_debugging(node.value):
        STATEMENTS[ast.Expr](gen, node)


def _import_statement(gen: FunctionGenerator, node: ast.Import) -> None:
    if not {alias.name for alias in node.names} <= DEBUGGERS:
        raise gen.unsupported(node)


def stops(node: ast.Call) -> bool:
    """Whether the call is one of a debugger's."""
    if isinstance(node.func, ast.Name):
        return node.func.id == "breakpoint"
    return (
        isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id in DEBUGGERS
    )


def _is_debugging(node: ast.expr) -> bool:
    """Whether the call is there for whoever watches the kernel run."""
    if not isinstance(node, ast.Call):
        return False
    return stops(node) or (isinstance(node.func, ast.Name) and node.func.id == "print")


class LenientGenerator(ModuleGenerator):
    """The front end's generator, blind to debugging."""

    statements: ClassVar[Any] = {
        **STATEMENTS,
        ast.Expr: _expression_statement,
        ast.Import: _import_statement,
    }
