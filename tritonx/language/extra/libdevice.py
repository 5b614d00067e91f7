"""``tl.extra.libdevice``: math functions of the target's device library, by name.

A name resolves when a kernel is compiled, through the table of the target's backend (``Backend.extern_functions``).
Argument types must be those of an overload: integers are not promoted to floats.
``tritonx.language.extra.libdevice_table`` lists the names.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

from tritonx.language.builtins.builtin import INJECTED, builtin
from tritonx.language.extra.libdevice_table import PREDICATES, names, overloads

if TYPE_CHECKING:
    from tritonx.frontend.semantics import Semantics


LANGUAGE_NAMES = {"fp32": "float32", "fp64": "float64"}
"""A type's name in signatures → in the language, where it is another."""


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
    function.__doc__ = _described(name)
    return builtin(function)


def _described(name: str) -> str:
    """The docstring of a function of the library."""
    results = {types: "int1" if name in PREDICATES else result for types, result in overloads(name).items()}
    ways = [f"({', '.join(types)}) → {result}" for types, result in results.items()]
    types, result = next(iter(results.items()))
    ones = ", ".join(f"tl.full((16,), 1, tl.{LANGUAGE_NAMES.get(type_, type_)})" for type_ in types)
    return f"""The device library's ``{name}``, elementwise: {", ".join(ways)}.

    Operands are blocks or scalars of shapes that broadcast, to which the result has the shape; several are brought to
    one type as an operator's are. Types that are not listed are a ValueError, and a function that the target's library
    lacks an AttributeError: both are the cause of a CompilationError with the kernel's line.

    >>> result = tl.extra.libdevice.{name}({ones})
    >>> tl.static_assert(result.dtype == tl.{LANGUAGE_NAMES.get(result, result)})
    """


def __getattr__(name: str) -> Any:
    if name not in names():
        raise AttributeError(f"module 'libdevice' has no attribute {name!r}")
    function = globals()[name] = _make(name)
    return function


def __dir__() -> list[str]:
    return sorted(names())
