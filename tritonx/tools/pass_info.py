"""What a pass says of itself, read off its class: a summary, its options, where it belongs."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import textwrap
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING

from tritonx.backends.registry import BACKEND_GROUP
from tritonx.ir.contract import Contract
from tritonx.ir.target_pass import TargetModulePass
from tritonx.transforms.registry import entry_of

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

SENTENCE = re.compile(r".*?\.(?=\s|$)", re.DOTALL)


@dataclass(frozen=True)
class Option:
    """An option as it is written in a pipeline: ``name{option=value}``. ``default`` is "" where it must be given."""

    name: str
    type: str
    default: str
    meaning: str

    def __str__(self) -> str:
        return f"{self.name}: {self.type}" + (f" = {self.default}" if self.default else "")


@dataclass(frozen=True)
class Home:
    """Who brings a pass: a backend, another distribution, or tritonx itself, of which ``name`` is ""."""

    name: str = ""
    is_backend: bool = False

    def __str__(self) -> str:
        return f"{'backend ' if self.is_backend else ''}{self.name}"


def summary(kind: type[ModulePass]) -> str:
    """The first sentence of the docstring, on one line."""
    text = " ".join((inspect.getdoc(kind) or "").split("\n\n")[0].split())
    found = SENTENCE.match(text)
    return found[0] if found else text


def options(kind: type[ModulePass]) -> tuple[Option, ...]:
    """The options, in order, each with the docstring below its field."""
    meanings = {name: text for cls in reversed(kind.__mro__) for name, text in _field_docstrings(cls).items()}
    return tuple(_option(kind, field, meanings.get(field.name, "")) for field in dataclasses.fields(kind))


def _option(kind: type[ModulePass], field: dataclasses.Field[object], meaning: str) -> Option:
    name = field.name.replace("_", "-")
    if field.name == "target" and issubclass(kind, TargetModulePass):
        return Option(name, '"backend:arch"', "", meaning)
    default = "" if field.default is dataclasses.MISSING else _literal(field.default)
    return Option(name, field.type if isinstance(field.type, str) else field.type.__name__, default, meaning)


def _literal(value: object) -> str:
    """A default as a pipeline would have it."""
    if isinstance(value, tuple):
        return ",".join(map(_literal, value)) or "none"  # pyright: ignore[reportUnknownArgumentType]  # of what it may
    text = str(value)
    return text.lower() if value is None or isinstance(value, bool) else text or '""'


def _field_docstrings(cls: type) -> dict[str, str]:
    """Field → the string below it in the class."""
    if "__annotations__" not in vars(cls) or not cls.__module__.partition(".")[0] != "xdsl":
        return {}
    try:
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    except (OSError, TypeError):  # a class without source
        return {}
    assert isinstance(definition, ast.ClassDef)
    found: dict[str, str] = {}
    for field, below in zip(definition.body, definition.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            found[ast.unparse(field.target)] = " ".join(inspect.cleandoc(str(below.value.value)).split())
    return found


def home(name: str) -> Home:
    """Whose the pass is: the backend's in whose package it lies, else the distribution's that names it."""
    entry = entry_of(name)
    if entry is None:
        return Home()
    backends = [each for each in _backends() if _lies_in(entry, each)]
    if backends:
        return Home(max(backends, key=lambda each: len(each.module)).name, is_backend=True)
    return Home("an unknown distribution" if entry.dist is None else entry.dist.name)


@cache
def _backends() -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=BACKEND_GROUP))


def _lies_in(entry: EntryPoint, backend: EntryPoint) -> bool:
    return f"{entry.module}.".startswith(f"{backend.module}.")


def level(contract: Contract | None) -> str:
    """From which level to which, as a heading."""
    return "level not declared" if contract is None else str(contract)


def level_order(contract: Contract | None) -> tuple[int, ...]:
    """Sorts by the way of a kernel: on `tt`, on either level, from one to the other, on `ttg`."""
    if contract is None:
        return (2,)
    return (int(contract.takes == ("ttg",)), int(contract.leaves is not None), len(contract.takes))
