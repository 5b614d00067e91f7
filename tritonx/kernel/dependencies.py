"""What a kernel's meaning depends on beside its own text: the functions it reaches and the globals it reads.

The walk follows names through the function's globals and closure, and attributes through modules. A compiled function
that is reached contributes its own ``cache_key``; a plain value is recorded, so that a later launch can tell that it
has changed; modules, classes, dtypes and the language's own builtins contribute nothing.
"""

from __future__ import annotations

import ast
import builtins
import copy
import hashlib
import sys
from dataclasses import dataclass
from enum import Enum
from inspect import unwrap
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, cast

_OWN_PACKAGE = __name__.split(".", 1)[0]


class _Held:
    """A constexpr, or what stands for one where a global is none."""

    value: object = None


_NO_HOLDER = _Held()


@dataclass(frozen=True, eq=False)
class Global:
    """A global that was read: ``scope[name]`` was the object ``seen``, of which ``value`` is a copy where a program may
    change it in place (``mutable``). A constexpr is a ``holder`` whose value was ``held``; a program may put another
    there."""

    name: str
    scope: dict[str, Any]
    seen: Any
    value: Any
    mutable: bool
    holder: _Held = _NO_HOLDER
    held: object = None

    @staticmethod
    def read(name: str, scope: dict[str, Any], seen: object) -> Global:
        """``scope[name]``, which is ``seen`` now."""
        mutable = _may_change(plain_value(seen))
        if _is_constexpr(seen):
            kept = _copied(seen) if mutable else copy.copy(seen)
            return Global(name, scope, seen, kept, mutable, cast("_Held", seen), plain_value(seen))
        return Global(name, scope, seen, _copied(seen) if mutable else seen, mutable)

    def changed(self) -> bool:
        """Whether a launch now would compile something else. Identity answers almost always."""
        current = self.scope.get(self.name)
        if current is self.seen and not self.mutable and self.holder.value is self.held:
            return False
        return not same_value(current, self.value)


@dataclass(frozen=True)
class Dependencies:
    """``digest`` covers the functions reached and the values read; ``globals`` are those values, callees' included;
    ``files`` are where the functions reached stand."""

    digest: str
    globals: tuple[Global, ...]
    files: frozenset[str]


class Dependent:
    """A function of kernels, whose meaning has a digest: what ``find_dependencies`` looks for and looks into."""

    noinline: bool
    runs_in_python: bool = False
    """Whether Python runs it while a kernel is compiled, so that no front end sees what it calls."""
    finding: bool = False
    """Whether its dependencies are being looked for: it is met again where it reaches itself."""

    __globals__: dict[str, Any]
    __qualname__: str

    @property
    def cache_key(self) -> str:
        """The digest."""
        raise NotImplementedError

    @property
    def dependencies(self) -> Dependencies:
        raise NotImplementedError

    @property
    def files(self) -> frozenset[str]:
        """Where the function stands, and those that it reaches."""
        raise NotImplementedError

    def parse(self) -> ast.Module:
        """The function's syntax tree."""
        raise NotImplementedError

    def enclosing_names(self) -> dict[str, Any]:
        """The function's closure variables."""
        raise NotImplementedError


def plain_value(value: Any) -> Any:
    """A constexpr's value, anything else as it is."""
    return value.value if type(value).__name__ == "constexpr" and hasattr(value, "value") else value


def same_value(a: object, b: object) -> bool:
    """Equality of values and of types, through constexpr; values that cannot be compared are equal if identical."""
    a, b = plain_value(a), plain_value(b)
    if a is b:
        return True
    try:
        return type(a) is type(b) and bool(a == b)
    except Exception:  # a foreign __eq__ may raise anything, and then identity is all there is
        return False


def _may_change(value: object) -> bool:
    """Whether a program may change ``value`` in place: a list or its like, alone or in tuples."""
    if isinstance(value, tuple):
        return any(map(_may_change, value))  # pyright: ignore[reportUnknownArgumentType]  # a user's tuple holds anything
    return type(value) in (list, dict, set, bytearray)


def _copied(value: object) -> object:
    try:
        return copy.deepcopy(value)
    except Exception:  # what is inside says how it is copied, and may refuse
        return copy.copy(value)


def is_type(value: object) -> bool:
    """Whether ``value`` is a type of the language, which a program may have under a name of its own."""
    return not isinstance(value, type) and hasattr(value, "cache_key_part")


def is_language_builtin(value: object) -> bool:
    """Whether the front end gives ``value`` its meaning, so that there is no source to depend on."""
    if getattr(value, "__triton_builtin__", False):
        return True
    module = getattr(value, "__module__", None) or ""
    if module.split(".", 1)[0] == _OWN_PACKAGE:
        return True
    code = getattr(value, "__code__", None)
    return code is not None and "_semantic" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def is_foreign_function(value: object) -> bool:
    """Whether ``value`` is a plain Python function, which kernels cannot call."""
    return isinstance(value, FunctionType | MethodType) and not is_language_builtin(value)


def _is_of_python(value: object) -> bool:
    """Whether the function is one of Python's own library."""
    return (getattr(value, "__module__", None) or "").split(".", 1)[0] in sys.stdlib_module_names


class _Finder(ast.NodeVisitor):
    """Walks one function's tree; ``scopes`` are where its free names may be found, innermost first."""

    def __init__(self, scopes: list[dict[str, Any]], own_name: str, runs_in_python: bool = False) -> None:
        self.scopes = scopes
        self.own_name = own_name
        self.runs_in_python = runs_in_python
        self.digests: list[str] = []
        self.globals: dict[tuple[str, int], Global] = {}
        self.files: set[str] = set()
        self.local: set[str] = set()
        self.in_default = False

    def merge(self, function: Dependent) -> None:
        if function.finding:  # recursion: the function is already part of the digest
            self.digests.append(f"recursive {function.__qualname__}")
            return
        self.digests.append(function.cache_key + str(function.noinline))
        self.files |= function.files
        for found in function.dependencies.globals:
            self._record(found, function.__qualname__)

    def _record(self, found: Global, inner: str | None = None) -> None:
        """``inner`` is the function that read it, where it is not this one."""
        key = (found.name, id(found.scope))
        before = self.globals.get(key)
        if before is not None and not same_value(before.value, found.value):
            mine, theirs = (before, found) if inner is not None else (found, before)
            raise RuntimeError(
                f"Global variable {found.name} has value {mine.value} when compiling {self.own_name}, but inner kernel "
                f"{inner or 'called there'} has conflicting value {theirs.value} from when it was first compiled.  "
                f"This is not allowed."
            )
        self.globals[key] = found

    def reference(self, value: object, name: str, scope: dict[str, Any] | None) -> None:
        if isinstance(value, type):
            self.struct(value)
            return
        if value is None or isinstance(value, ModuleType | BuiltinFunctionType):
            return
        if isinstance(value, Dependent):
            self.merge(value)
            return
        inner = getattr(value, "fn", None)
        if isinstance(inner, Dependent):  # an autotuned kernel that another kernel names
            self.merge(inner)
            return
        if is_language_builtin(value) and not (_is_constexpr(value) or is_type(value) or isinstance(value, Enum)):
            return
        if is_foreign_function(value):
            if self.runs_in_python and not _is_of_python(value):
                raise RuntimeError(
                    f"Unsupported function referenced: {value!r} in {self.own_name}. What it gives may change without "
                    f"the kernel being compiled again: decorate it with @constexpr_function, or pass the value"
                )
            return  # the front end refuses it, with the line, where it is used
        if isinstance(value, tuple):
            for element in value:  # pyright: ignore[reportUnknownVariableType]  # a user's tuple holds anything
                if isinstance(element, Dependent):
                    self.merge(element)
        if scope is not None and not self.in_default:  # Python takes defaults once, where the function is defined
            self._record(Global.read(name, scope, cast("object", value)))

    def struct(self, cls: type) -> None:
        """What an aggregate's class is made of: its fields and methods; nothing of another class."""
        if not hasattr(cls, "__triton_aggregate__"):
            return
        self.digests.append(repr(getattr(cls, "__fields__", None)))
        for method in getattr(cls, "hash_attrs", ()):
            if isinstance(method, Dependent):
                self.merge(method)
            else:
                self.digests.append(_code_text(unwrap(method).__code__))

    def visit_Name(self, node: ast.Name) -> Any:
        if isinstance(node.ctx, ast.Store):
            self.local.add(node.id)
            return None
        if node.id in self.local:
            return None
        for scope in self.scopes:
            if node.id in scope:
                value = scope[node.id]
                self.reference(value, node.id, scope)
                return value
        return getattr(builtins, node.id, None)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        owner = self.visit(node.value)
        if owner is None:
            return None
        value = getattr(owner, node.attr, None)
        if isinstance(owner, ModuleType):
            in_language = owner.__name__.split(".", 1)[0] == _OWN_PACKAGE
            self.reference(value, node.attr, None if in_language else vars(owner))
        elif isinstance(owner, type):
            self.reference(value, node.attr, None)
        return value

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
        self.local |= {a.arg for a in every}
        for default in [*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)]:
            self.in_default = True
            self.visit(default)
            self.in_default = False
        for statement in node.body:
            self.visit(statement)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)  # before the targets: in `x = x + 1` the right-hand x is still the global
        for target in node.targets:
            self.visit(target)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
        self.visit(node.target)

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)
        self.visit(node.target)
        for statement in [*node.body, *node.orelse]:
            self.visit(statement)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self.visit(node.iter)
        self.visit(node.target)
        for condition in node.ifs:
            self.visit(condition)

    def _visit_elements_first(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> None:
        for generator in node.generators:
            self.visit(generator)
        self.visit(node.elt)

    visit_ListComp = visit_GeneratorExp = visit_SetComp = _visit_elements_first


def _code_text(code: CodeType) -> str:
    """All that a plain Python function does, the functions inside it too, but not where it stands."""

    def constant(value: object) -> str:
        if isinstance(value, frozenset):  # in no order that another process would have
            return str(sorted(map(constant, value)))  # pyright: ignore[reportUnknownArgumentType]  # a set of anything
        return _code_text(value) if isinstance(value, CodeType) else repr(value)

    return f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {[constant(c) for c in code.co_consts]}"


def _is_constexpr(value: object) -> bool:
    return type(value).__name__ == "constexpr"


def _describe(found: Global) -> str:
    value = plain_value(found.value)
    kind = "constexpr " if _is_constexpr(found.value) else ""  # what a kernel may read, and what it may not
    return f"{kind}{found.name}={value!r}" if not callable(value) else f"{kind}{found.name}={type(value).__name__}"


def find_dependencies(function: Dependent) -> Dependencies:
    """What ``function`` depends on. Raises RuntimeError where a global changed between two compiles."""
    closure = function.enclosing_names()
    finder = _Finder(
        [closure, function.__globals__], f"{function.__module__}.{function.__qualname__}", function.runs_in_python
    )
    function.finding = True
    try:
        finder.visit(function.parse())
    finally:
        function.finding = False
    values = tuple(finder.globals[key] for key in sorted(finder.globals, key=lambda k: k[0]))
    parts = [*finder.digests, *sorted(_describe(v) for v in values)]
    return Dependencies(hashlib.sha256("\n".join(parts).encode()).hexdigest(), values, frozenset(finder.files))
