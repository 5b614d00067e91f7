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
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import partial
from inspect import Signature, unwrap
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any, cast

from tritonx.kernel.identity import loose
from tritonx.kernel.meaning import meaning
from tritonx.kernel.value_parts import code_text, is_lasting

_OWN_PACKAGE = __name__.split(".", 1)[0]


class _Held:
    """A constexpr, or what stands for one where a global is none."""

    value: object = None


_NO_HOLDER = _Held()


class _Cell:
    """A closure variable in the place of a scope: ``get("cell_contents")`` is what it is now."""

    def __init__(self, cell: CellType) -> None:
        self.get = cast("Callable[..., object]", partial(getattr, cell))
        self.cell = cell

    def __getitem__(self, name: str) -> object:
        return self.cell.cell_contents


_CONTENTS = "cell_contents"


class Cells(dict[str, Any]):
    """The closure variables of a function by name, as they are when it is made."""

    def __init__(self, function: FunctionType) -> None:
        super().__init__()
        self.cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        for name, cell in self.cells.items():
            try:
                self[name] = cell.cell_contents
            except ValueError:  # not assigned yet: a function that refers to itself or to a later name
                continue

    def place(self, name: str) -> dict[str, object]:
        """Where a variable is looked up."""
        return cast("dict[str, object]", _Cell(self.cells[name]))


@dataclass(frozen=True, eq=False)
class Global:
    """A global that was read: ``scope[at]`` was the object ``seen``, of which ``value`` is a copy where a program may
    change it in place (``mutable``), and ``means`` its identity. A constexpr is a ``holder`` whose value was ``held``;
    a program may put another there."""

    name: str
    scope: dict[str, Any]
    at: str
    seen: Any
    value: Any
    mutable: bool
    means: Hashable
    holder: _Held = _NO_HOLDER
    held: object = None

    @staticmethod
    def read(name: str, scope: dict[str, Any], seen: object) -> Global:
        """``scope[name]``, which is ``seen`` now."""
        held = plain_value(seen)
        mutable, means = _may_change(held), loose(held)
        place, at = (scope.place(name), _CONTENTS) if isinstance(scope, Cells) else (scope, name)
        if _is_constexpr(seen):
            kept = _copied(seen) if mutable else copy.copy(seen)
            return Global(name, place, at, seen, kept, mutable, means, cast("_Held", seen), held)
        return Global(name, place, at, seen, _copied(seen) if mutable else seen, mutable, means)

    def changed(self) -> bool:
        """Whether a launch now would compile something else. Identity answers almost always."""
        current = self.scope.get(self.at)
        if current is self.seen and not self.mutable and self.holder.value is self.held:
            return False
        return loose(plain_value(current)) != self.means


Name = tuple[Mapping[str, object], str, object]
"""A scope, a name, and the function or class that it stood for there."""


_NOTHING = object()
"""What a name stands for that is not there."""


def rebound(names: Iterable[Name]) -> bool:
    """Whether a name stands for something else now."""
    try:
        return any(scope[name] is not seen for scope, name, seen in names)
    except (KeyError, ValueError):  # it stands for nothing
        return True


@dataclass(frozen=True)
class Dependencies:
    """``digest`` covers the functions reached and the values read; ``globals`` are those values, callees' included, and
    ``functions`` the names of functions; ``files`` are those of the functions reached. ``others`` are names of
    modules, and those that stood for nothing or for what is Python's own; ``is_settled`` is false where it depends on
    what no launch looks at again, such as a class."""

    digest: str
    globals: tuple[Global, ...]
    files: frozenset[str]
    functions: tuple[Name, ...] = ()
    others: tuple[Name, ...] = ()
    is_settled: bool = True

    def still_hold(self) -> bool:
        """Whether they would be found again. Before the first launch a program may go on to say what a name is."""
        if not self.is_settled or any(scope.get(name, _NOTHING) is not seen for scope, name, seen in self.others):
            return False
        return not rebound(self.functions) and not any(found.changed() for found in self.globals)


class Dependent:
    """A function of kernels, whose meaning has a digest: what ``find_dependencies`` looks for and looks into."""

    noinline: bool
    runs_in_python: bool = False
    """Whether Python runs it while a kernel is compiled, so that no front end sees what it calls."""
    finding: bool = False
    """Whether its dependencies are being looked for: it is met again where it reaches itself."""

    __globals__: dict[str, Any]
    __qualname__: str
    signature: Signature

    @property
    def cache_key(self) -> str:
        """The digest."""
        raise NotImplementedError

    @property
    def dependencies(self) -> Dependencies:
        raise NotImplementedError

    @property
    def files(self) -> frozenset[str]:
        """The files of the function and of those that it reaches."""
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
    """Whether two values mean the same, through constexpr."""
    a, b = plain_value(a), plain_value(b)
    return a is b or loose(a) == loose(b)


def _may_change(value: object) -> bool:
    """Whether a program may change ``value`` in place: a list or its like, alone or in tuples."""
    if isinstance(value, tuple):
        return any(map(_may_change, value))  # pyright: ignore[reportUnknownArgumentType]  # a user's tuple holds anything
    kind = type(value)
    if kind in (list, dict, set, bytearray):
        return True
    is_fixed = isinstance(value, type | Enum | Dependent | FunctionType | ModuleType) or hasattr(kind, "cache_key_part")
    if is_fixed or is_lasting(kind.__module__) or getattr(getattr(kind, "__dataclass_params__", None), "frozen", False):
        return False
    return hasattr(value, "__dict__")


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
        self.functions: dict[tuple[str, int], Name] = {}
        self.files: set[str] = set()
        self.local: set[str] = set()
        self.others: dict[tuple[str, int], Name] = {}
        self.is_settled = all(len(scope) == len(scope.cells) for scope in scopes if isinstance(scope, Cells))
        self.in_default = False

    def merge(self, function: Dependent) -> None:
        if function.finding:  # recursion: the function is already part of the digest
            self.digests.append(f"recursive {function.__qualname__}")
            return
        self.digests.append(function.cache_key + str(function.noinline))
        self.files |= function.files
        for found in function.dependencies.globals:
            self._record(found, function.__qualname__)
        inner = function.dependencies
        for found in inner.functions:
            self.functions[found[1], id(found[0])] = found
        self.others |= {(found[1], id(found[0])): found for found in inner.others}
        self.is_settled = self.is_settled and inner.is_settled

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

    def stands_for(self, name: str, value: object) -> None:
        """A name stands for what a launch does not look at again: the key says what it is."""
        said = f"module {value.__name__}" if isinstance(value, ModuleType) else meaning(value)
        self.digests.append(f"{name} is {said}")

    def reference(self, value: object, name: str, scope: dict[str, Any] | None) -> None:
        is_value = self._reference(value, name, scope)
        if scope is None or self.in_default or is_lasting(scope.get("__name__")):
            return
        if isinstance(value, ModuleType):
            self.is_settled = self.is_settled and not isinstance(scope, Cells)
            self.others[name, id(scope)] = scope, name, value
            return
        if not is_value:
            place = scope.place(name) if isinstance(scope, Cells) else scope
            self.functions[name, id(scope)] = place, name, value

    def _reference(self, value: object, name: str, scope: dict[str, Any] | None) -> bool:
        """Whether it is a value that was read, which launches compare; what else names stand for, the key says."""
        if isinstance(value, type):
            self.stands_for(name, value)
            self.struct(value)
            self.is_settled = False
            return False
        if value is None or isinstance(value, ModuleType | BuiltinFunctionType):
            self.stands_for(name, value)
            return False
        if isinstance(value, Dependent):
            self.merge(value)
            return False
        inner = getattr(value, "fn", None)
        if isinstance(inner, Dependent):  # an autotuned kernel that another kernel names
            self.merge(inner)
            return False
        if is_language_builtin(value) and not (_is_constexpr(value) or is_type(value) or isinstance(value, Enum)):
            self.stands_for(name, value)
            return False
        if is_foreign_function(value):
            self.stands_for(name, value)
            if self.runs_in_python and not _is_of_python(value):
                raise RuntimeError(
                    f"Unsupported function referenced: {value!r} in {self.own_name}. What it gives may change without "
                    f"the kernel being compiled again: decorate it with @constexpr_function, or pass the value"
                )
            return False  # the front end refuses it, with the line, where it is used
        if isinstance(value, tuple):
            for element in value:  # pyright: ignore[reportUnknownVariableType]  # a user's tuple holds anything
                if isinstance(element, Dependent):
                    self.merge(element)
        if self.in_default:  # Python takes defaults once, where the function is defined
            return False
        if scope is None:
            self.stands_for(name, cast("object", value))
            return False
        self._record(Global.read(name, scope, cast("object", value)))
        return True

    def struct(self, cls: type) -> None:
        """What an aggregate's class is made of: its fields and methods; nothing of another class."""
        if not hasattr(cls, "__triton_aggregate__"):
            return
        self.digests.append(repr([getattr(cls, name, None) for name in ("__fields__", "__defaults__")]))
        for method in getattr(cls, "hash_attrs", ()):
            if isinstance(method, Dependent):
                self.merge(method)
            else:
                self.digests.append(code_text(unwrap(method).__code__))

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
        self.others[node.id, id(self.scopes[-1])] = self.scopes[-1], node.id, _NOTHING
        return getattr(builtins, node.id, None)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        owner = self.visit(node.value)
        if owner is None:
            return None
        value = getattr(owner, node.attr, None)
        if isinstance(owner, ModuleType):
            in_language = owner.__name__.split(".", 1)[0] == _OWN_PACKAGE
            is_looked_up = node.attr in vars(owner)  # a module's __getattr__ and properties give what is in no scope
            self.is_settled = self.is_settled and (is_looked_up or in_language)
            self.reference(value, node.attr, vars(owner) if is_looked_up and not in_language else None)
        elif isinstance(owner, type):
            self.is_settled = False
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


def _is_constexpr(value: object) -> bool:
    return type(value).__name__ == "constexpr"


def _describe(found: Global) -> str:
    value = plain_value(found.value)
    kind = "constexpr " if _is_constexpr(found.value) else ""  # what a kernel may read, and what it may not
    return f"{kind}{found.name}={meaning(value)}"


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
    defaults = meaning([parameter.default for parameter in function.signature.parameters.values()])
    parts = [*finder.digests, defaults, *sorted(_describe(v) for v in values)]
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    functions, others = tuple(finder.functions.values()), tuple(finder.others.values())
    return Dependencies(digest, values, frozenset(finder.files), functions, others, finder.is_settled)
