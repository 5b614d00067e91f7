"""``tl.extra.libdevice``: math functions of the target's device library, by name.

A name resolves when a kernel is compiled, through the table of the target's backend (``Backend.extern_functions``).
Argument types must be those of an overload: integers are not promoted to floats. ``tritonx.language.libdevice_table``
lists the names.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

from tritonx.language.builtin import INJECTED, builtin
from tritonx.language.libdevice_table import names

if TYPE_CHECKING:
    from tritonx.frontend.semantics import Semantics


def _make(name: str) -> Callable[..., Any]:
    count = names()[name].index(">")

    operands = [Parameter(f"arg{i}", Parameter.POSITIONAL_OR_KEYWORD) for i in range(count)]
    signature = Signature([*operands, Parameter("_semantic", Parameter.KEYWORD_ONLY, default=None)])

    def function(*args: object, _semantic: Semantics = INJECTED, **named: object) -> Any:
        if named:
            args = signature.bind(*args, **named).args
        if len(args) != count:
            raise TypeError(f"libdevice.{name} takes {count} argument{'s' if count > 1 else ''}, got {len(args)}")
        return _semantic.extern_function(name, args)

    function.__name__ = function.__qualname__ = name
    function.__signature__ = signature
    function.__doc__ = f"The device library's ``{name}``; overloads {names()[name]} (f fp32, d fp64, i int32, l int64)."
    return builtin(function)


def __getattr__(name: str) -> Any:
    if name not in names():
        raise AttributeError(f"module 'libdevice' has no attribute {name!r}")
    function = globals()[name] = _make(name)
    return function


def __dir__() -> list[str]:
    return sorted(names())
