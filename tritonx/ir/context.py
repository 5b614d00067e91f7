"""The context in which tritonx's text is parsed: every dialect, each loaded when its first op or type is met.

Backends, those of this package and others, add theirs through the entry-point group ``tritonx.dialects``, whose entries
name an xDSL ``Dialect`` under the dialect's name. They are looked for where a name is met that no dialect here has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar

from xdsl.context import Context
from xdsl.dialect_interfaces import DialectInterface
from xdsl.ir import Attribute, Dialect, Operation, TypeAttribute

DIALECTS: dict[str, tuple[str, str]] = {
    "builtin": ("xdsl.dialects.builtin", "Builtin"),
    "tt": ("tritonx.dialects.tile", "Tile"),
    "ttg": ("tritonx.dialects.gpu_layout", "GPULayout"),
    "arith": ("tritonx.dialects.arith", "Arith"),
    "math": ("tritonx.dialects.math", "Math"),
    "scf": ("tritonx.dialects.scf", "Scf"),
    "cf": ("tritonx.dialects.cf", "Cf"),
    "ub": ("tritonx.dialects.ub", "Ub"),
    "gpu": ("tritonx.dialects.gpu", "Gpu"),
    "proton": ("tritonx.dialects.proton", "Proton"),
    "gluon": ("tritonx.dialects.gluon", "Gluon"),
    "llvm": ("tritonx.dialects.llvm", "Llvm"),
    "func": ("xdsl.dialects.func", "Func"),
    "test": ("xdsl.dialects.test", "Test"),
}
"""Name of a dialect in the text → module and attribute that hold it: those that no backend brings."""


def _loader(module: str, attribute: str) -> Callable[[], Dialect]:
    def load() -> Dialect:
        return getattr(import_module(module), attribute)

    return load


DIALECT_GROUP = "tritonx.dialects"
OWN_PACKAGE = "tritonx"


@cache
def _brought() -> dict[str, EntryPoint]:
    """Name → entry point, of the dialects of backends. What this package has, no other replaces."""
    found = sorted(entry_points(group=DIALECT_GROUP), key=lambda entry: entry.module.split(".")[0] == OWN_PACKAGE)
    return {entry.name: entry for entry in found if entry.name not in DIALECTS}


def dialect_loaders() -> dict[str, Callable[[], Dialect]]:
    """Name → function that imports the dialect, of all that are installed; for drivers that register dialects
    themselves."""
    here = {name: _loader(*place) for name, place in DIALECTS.items()}
    return here | {name: _brought_loader(entry) for name, entry in _brought().items()}


def _brought_loader(entry: EntryPoint) -> Callable[[], Dialect]:
    def load() -> Dialect:
        try:
            dialect = entry.load()
        except Exception as error:  # whatever a plug-in does when it is imported
            where = f"entry point {entry.name} of {DIALECT_GROUP} ({entry.value})"
            raise TypeError(f"{where} cannot be imported: {type(error).__name__}: {error}") from error
        if not isinstance(dialect, Dialect) or dialect.name != entry.name:
            raise TypeError(f"entry point {entry.name} of {DIALECT_GROUP} names {dialect!r}, no dialect of that name")
        return dialect

    return load


InterfaceT = TypeVar("InterfaceT", bound=DialectInterface)


@cache
def dialect_interface(name: str, interface: type[InterfaceT]) -> InterfaceT:
    """What the dialect of this name has of an interface. Raises ``ValueError`` where there is no such dialect, or it
    does not have it."""
    load = dialect_loaders().get(name)
    found = None if load is None else load().get_interface(interface)
    if found is None:
        raise ValueError(f"no dialect '{name}' has {interface.__name__}")
    return found


class TextContext(Context):
    """It asks what is installed for the dialects that it does not know."""

    def _look_for(self, name: str) -> None:
        dialect, dot, _ = name.partition(".")
        if dot and dialect not in self._registered_dialects and (entry := _brought().get(dialect)) is not None:
            self.register_dialect(dialect, _brought_loader(entry))

    def get_optional_op(self, name: str, *, dialect_stack: Sequence[str] = ()) -> type[Operation] | None:
        self._look_for(name)
        return super().get_optional_op(name, dialect_stack=dialect_stack)

    def get_optional_type(self, name: str) -> type[TypeAttribute] | None:
        self._look_for(name)
        return super().get_optional_type(name)

    def get_optional_attr(self, name: str) -> type[Attribute] | None:
        self._look_for(name)
        return super().get_optional_attr(name)


def new_context(*, allow_unregistered: bool = False) -> Context:
    """A context that knows every dialect that is installed, with none but `builtin` loaded."""
    context = TextContext(allow_unregistered=allow_unregistered)
    for name, place in DIALECTS.items():
        context.register_dialect(name, _loader(*place))
    context.load_registered_dialect("builtin")
    return context
