"""What a name in a kernel may refer to: locals, and Python names outside the kernel under Triton's rules.

A kernel may only read globals that are known to stay what they are, because its compiled code outlives them:
constexprs, jit and constexpr functions, the language, modules, types. Everything else is an error that says how to
pass the value instead.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from tritonx.frontend.codegen.values import is_named_tuple
from tritonx.kernel.source import JITCallable
from tritonx.language.values.base import base_type, base_value
from tritonx.language.values.constexpr import constexpr

_LANGUAGES = ("tritonx.language", "triton.language", "tritonx.experimental.gluon", "triton.experimental.gluon")


class Missing:
    """The type of ``MISSING``, which stands for no value where None is one."""


MISSING = Missing()


@dataclass(frozen=True, slots=True)
class Undefined:
    """In a scope: a name that Python would find assigned only on some of the ways that lead here, or one that a loop
    could have carried (``carrying`` is that loop, and the name there)."""

    reason: str
    carrying: tuple[ast.AST, str] | None = None


class Deferred:
    """In a scope: a value whose ops are created when, and where, the name is first read (a loop's variable after the
    loop)."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


def carrying(*values: object) -> tuple[ast.AST, str] | None:
    """What would have to be carried for one of them to be a value."""
    return next((v.carrying for v in values if isinstance(v, Undefined) and v.carrying is not None), None)


def is_absent(value: object) -> bool:
    """Whether a scope's entry is no value yet, or no longer."""
    return value is MISSING or isinstance(value, Undefined | Deferred)


def is_readable_global(value: object) -> bool:
    """Whether a kernel may read a global that is ``value``."""
    module: Any = getattr(value, "__module__", None)
    if value is None or isinstance(value, constexpr | base_type | JITCallable | ModuleType):
        return True
    if getattr(value, "__triton_builtin__", False) or getattr(value, "__triton_aggregate__", False):
        return True
    if is_named_tuple(value) or (isinstance(value, type) and issubclass(value, base_value)):
        return True
    return isinstance(module, str) and module.startswith(_LANGUAGES)


def cannot_access_global(name: str) -> str:
    """Triton's message for a global that a kernel may not read."""
    return (
        f"Cannot access global variable {name} from within @jit'ed function. "
        "Triton kernels can only access global variables that are instanstiated as constexpr "
        "(`x = triton.language.constexpr(42)`). Note that this is different from annotating a variable as constexpr "
        "(`x: triton.language.constexpr = 42`), which is not supported.  Alternatively, set the envvar "
        "TRITON_ALLOW_NON_CONSTEXPR_GLOBALS=1, but we do not promise to support this forever."
    )
