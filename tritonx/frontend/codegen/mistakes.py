"""Errors about what a kernel calls: plain Python functions, Python's own functions of run-time values, arguments that
do not fit, launches. Each is made here, and raised where it is found."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tritonx.frontend import errors
from tritonx.frontend.errors import CompilationError

if TYPE_CHECKING:
    from tritonx.frontend.codegen.function import FunctionGenerator

_HOOKS = ("_semantic", "_generator")


def plain_function(gen: FunctionGenerator, node: ast.AST, function: Any) -> CompilationError:
    """A function that Python could run, but neither a device nor the compiler."""
    name = function.__name__
    message = f"{name} is a plain Python function, which a kernel cannot call"
    hint = f"decorate {name} with @jit, or with @constexpr_function where it computes with compile-time values"
    return gen.error(errors.PlainFunctionCalled, node, message, hint=hint)


def computed_too_early(gen: FunctionGenerator, node: ast.AST, function: Any) -> CompilationError:
    """A function of Python, which runs while the kernel is compiled, of a value of the running kernel."""
    import tritonx.language as tl

    name = getattr(function, "__name__", type(function).__name__)
    hint = f"{name}() is computed while the kernel is compiled"
    if function in (int, float, bool):
        hint = f"convert with .to(...): {hint}"
    elif getattr(getattr(tl, name, None), "__triton_builtin__", False):
        hint = f"use tl.{name}: {hint}"
    return gen.error(errors.InvalidCall, node, f"{name}() of a value that is known only at run time", hint=hint)


def launch_in_kernel(gen: FunctionGenerator, node: ast.AST, kernel: object) -> CompilationError:
    """``kernel[grid]`` inside a kernel."""
    name = getattr(kernel, "__name__", "it")
    message = f"{name}[...] launches a kernel, which only the host does"
    hint = f"call {name}(...): a jit function that a kernel calls becomes part of it"
    return gen.error(errors.InvalidCall, node, message, hint=hint)


def refused(
    gen: FunctionGenerator,
    node: ast.AST,
    function: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    error: Exception,
) -> CompilationError:
    """What a function of the language raised; where its arguments do not fit, with the parameters that it has."""
    hint = hint_of(error)
    if hint is None and isinstance(error, TypeError):
        parameters = _parameters(function)
        if parameters is not None and not _fits(parameters, args, kwargs):
            hint = misfit_hint(function.__name__, [p for p in parameters.parameters if p not in _HOOKS], kwargs)
    return gen.error(errors.LanguageError, node, str(error), hint=hint)


def hint_of(error: BaseException) -> str | None:
    """What was noted at an exception where it was raised (``add_note``)."""
    notes: list[str] = getattr(error, "__notes__", [])
    return "; ".join(notes) or None


def misfit_hint(name: str, parameters: Sequence[str], given: Iterable[str]) -> str:
    """The parameter that a misspelt keyword means, else all of them."""
    from difflib import get_close_matches  # only for a mistake: it takes longer to import than this file

    for keyword in given:
        close = [] if keyword in parameters else get_close_matches(keyword, parameters, n=1, cutoff=0.6)
        if close:
            return f"did you mean '{close[0]}' by '{keyword}'?"
    return f"the parameters are {name}({', '.join(parameters)})"


def _parameters(function: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def _fits(parameters: inspect.Signature, args: Sequence[object], kwargs: Mapping[str, object]) -> bool:
    try:
        parameters.bind(*args, **kwargs)
    except TypeError:
        return False
    return True
