"""What a package offers, as a program that imports it sees it: modules, names, signatures, members.

The same walk describes Triton and tritonx, so that `api_states` can hold one against the other. A name
belongs to the surface of a module where it has no leading underscore, or stands in `PRIVATE`, and is the package's own:
what a module has imported from others (``typing``, ``functools``) is no interface.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from dataclasses import dataclass
from enum import Enum
from types import ModuleType
from typing import Any, TypeVar, cast

PRIVATE: dict[str, frozenset[str]] = {
    "triton._filecheck": frozenset(),
    "triton._utils": frozenset({"_tuple_create"}),
    "triton.compiler.compiler": frozenset({"_raise_error"}),
    "triton.language.core": frozenset({"_aggregate", "_reduce_with_indices", "_unwrap_if_constexpr", "_unwrap_shape"}),
    "triton.language.standard": frozenset({"_argreduce", "_log2", "_sum_combine", "_xor_combine", "_elementwise_max"}),
    "triton.runtime.cache": frozenset({"_base32"}),
    "triton.runtime.interpreter": frozenset({"_patch_lang"}),
    "triton.testing": frozenset({"_quantile", "_summarize_statistics"}),
}
"""Names with a leading underscore that libraries import all the same."""

LEFT_OVER: dict[str, frozenset[str]] = {
    "triton._filecheck": frozenset(
        {"GluonASTSource", "create_function_from_signature", "filecheck_path", "triton_dir"}
    ),
    "triton._utils": frozenset({"TYPE_CHECKING", "k", "v"}),
    "triton.backends.amd.driver": frozenset({"dirname"}),
    "triton.backends.nvidia.driver": frozenset({"dirname"}),
    "triton.compiler.code_generator": frozenset({"TYPE_CHECKING"}),
    "triton.knobs": frozenset({"TYPE_CHECKING", "KernelAttr"}),
    "triton.language.extra": frozenset({"is_pkg", "module_name", "modules"}),
    "triton.tools.compile": frozenset({"desc"}),
    "triton.tools.link": frozenset({"desc"}),
}
"""Variables of loops and scripts that are names of a module by accident."""

OPERATORS = frozenset(
    f"__{prefix}{name}__"
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "and", "or", "xor", "lshift", "rshift")
    for prefix in ("", "r")
) | {f"__{name}__" for name in ("lt", "le", "gt", "ge", "eq", "ne", "neg", "invert", "not", "getitem")}
"""The members with underscores that a kernel's expressions call."""


@dataclass(frozen=True)
class Parameter:
    """One parameter: ``default`` is its text, None where there is none."""

    name: str
    kind: str
    default: str | None


@dataclass(frozen=True)
class Described:
    """What a name stands for. ``kind``: module, class, function, member, or value; ``text`` of a plain value."""

    name: str
    kind: str
    signature: tuple[Parameter, ...] | None = None
    text: str = ""


def modules(package: str) -> list[str]:
    """The package and its modules, sorted; not those whose name has an underscore, which only those of `PRIVATE`
    are imported by programs."""
    root = importlib.import_module(package)
    found = [one.name for one in pkgutil.walk_packages(root.__path__, package + ".", onerror=lambda name: None)]
    return sorted([package, *(name for name in found if name in PRIVATE or "._" not in name)])


def bindings(package: str) -> list[str]:
    """The modules of a package's compiled part, sorted."""
    compiled = importlib.import_module(f"{package}._C.libtriton")
    return sorted(f"{compiled.__name__}.{n}" for n, value in vars(compiled).items() if isinstance(value, ModuleType))


def _is_own(value: Any, package: str) -> bool:
    if isinstance(value, TypeVar) or value is ModuleType:
        return False
    if isinstance(value, ModuleType):
        return value.__name__.split(".")[0] == package
    home = getattr(value, "__module__", None)
    if not isinstance(home, str):
        home = type(value).__module__
    return home.split(".")[0] in (package, "builtins", "re")


def names(module: ModuleType) -> list[str]:
    """The names of a module's surface, sorted."""
    package = module.__name__.split(".")[0]
    private = PRIVATE.get(module.__name__, frozenset())
    shown = [n for n in dir(module) if n in private or not n.startswith("_")]
    left = LEFT_OVER.get(module.__name__, frozenset())
    return [n for n in shown if n not in left and _is_own(getattr(module, n), package)]


def _text(value: Any) -> str:
    """A default or a plain value, in words that do not name the package."""
    inner = value.value if type(value).__name__ == "constexpr" else value
    if inspect.isclass(inner) or inspect.isfunction(inner):
        return cast(str, inner.__qualname__)
    if isinstance(inner, Enum) or hasattr(type(inner), "__members__"):  # pybind's enumerations have those too
        return str(inner.name)
    return re.sub(r" at 0x[0-9a-f]+|\btritonx?\.", "", repr(inner))


def _callable_of(value: Any) -> Any:
    """The Python function below what ``@jit`` and its like have made of it."""
    while not inspect.isfunction(value) and not inspect.isclass(value) and not inspect.ismethod(value):
        inner = getattr(value, "fn", None) or getattr(value, "__func__", None)
        if inner is None:
            break
        value = inner
    return value


def signature(value: Any) -> tuple[Parameter, ...] | None:
    """The parameters of a callable that a caller may give; None where it has no signature."""
    try:
        found = inspect.signature(_callable_of(value))
    except (TypeError, ValueError):
        return None
    return tuple(
        Parameter(p.name, p.kind.name, None if p.default is p.empty else _text(p.default))
        for p in found.parameters.values()
        if not p.name.startswith("_")
    )


def describe(name: str, value: Any) -> Described:
    """What ``value`` is, under a name."""
    if isinstance(value, ModuleType):
        return Described(name, "module")
    if inspect.isclass(value):
        return Described(name, "class", signature(value))
    if callable(value):
        return Described(name, "function", signature(value))
    if value is None or isinstance(value, bool | int | float | str):
        return Described(name, "value", None, _text(value))
    return Described(name, "value")


def member(holder: Any, name: str) -> Described:
    """A member of a class or an instance, without running a property; a method without the parameter for its object.
    Raises AttributeError."""
    found = vars(holder).get(name) if hasattr(holder, "__dict__") and not inspect.isclass(holder) else None
    bound = found is not None
    if found is None:
        found = inspect.getattr_static(holder if inspect.isclass(holder) else type(holder), name, None)
    if found is None:
        found = getattr(holder, name)
    if not callable(found) and not isinstance(found, staticmethod | classmethod):
        return Described(name, "member")
    parameters = signature(found)
    own = bound or isinstance(found, staticmethod) or inspect.ismethod(found) or inspect.isclass(found)
    first = parameters[:1] if parameters and parameters[0].name not in NO_OBJECT else ()
    return Described(name, "member", parameters if own or parameters is None else parameters[len(first) :])


NO_OBJECT = ("args", "kwargs")
"""A method that takes anything takes its object with it."""


def members(holder: Any) -> list[str]:
    """The names of the members of a class, or of an instance (with what its initialiser sets)."""
    shown = [n for n in dir(holder) if n in OPERATORS or not n.startswith("_")]
    return [n for n in shown if not any(n in vars(base) for base in (object, type, Exception, Enum, dict))]
